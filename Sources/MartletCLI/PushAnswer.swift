import Martlet
import MartletCommands

/// The answer to a push.
struct PushAnswer {
    /// The destination: a member `device-token` or `channel`.
    let destination: JSONValue.Member
    let receipt: PushReceipt

    /// The answer as JSON.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            destination, .init("status", 200), .init("apns-id", .string(receipt.id.description)),
        ]
        if let uniqueID = receipt.uniqueID { members.append(.init("apns-unique-id", .string(uniqueID))) }
        return .object(members)
    }

    /// The answer as text.
    var text: String { "200 accepted as \(receipt.id)\n" }
}
