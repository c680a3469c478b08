// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCommands

extension PushReceipt {
    /// Returns the receipt as JSON, preceded by the destination: a member `device-token` or `channel`.
    func json(to destination: JSONValue.Member) -> JSONValue {
        let uniqueID = uniqueID.map { [JSONValue.Member("apns-unique-id", .string($0))] } ?? []
        return .object([destination, .init("status", 200), .init("apns-id", .string(id.description))] + uniqueID)
    }

    /// The receipt as text.
    var text: String { "200 accepted as \(id)\n" }
}
