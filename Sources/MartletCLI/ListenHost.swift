// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletTransport

/// The address of this machine that a server listens on.
struct ListenHost: ArgumentValue, CustomStringConvertible {
    /// Both loopback addresses.
    static let loopback = ListenHost(address: "localhost")

    /// The numeric address, or `localhost`.
    let address: String
    var description: String { address }
    /// Whether the address is a loopback address.
    var isLoopback: Bool { address == "localhost" || SocketAddress(literal: address, port: 0)?.isLoopback == true }

    private init(address: String) {
        self.address = address
    }

    /// Parses an address.
    init(argument: String) throws(UsageError) {
        guard argument == "localhost" || SocketAddress(literal: argument, port: 0) != nil else {
            throw UsageError(
                "must be localhost or an IP address of this machine, such as 127.0.0.1, 0.0.0.0 or ::1 (found "
                    + "\(ShownValue.quoted(argument)))"
            )
        }
        address = argument
    }

    static var valueName: String { "address" }
}
