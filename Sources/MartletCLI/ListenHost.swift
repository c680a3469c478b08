// SPDX-License-Identifier: Apache-2.0

import MartletCommands
import MartletCore
import MartletTransport

/// The IP address of this machine that a server listens on.
struct ListenHost: ArgumentValue, CustomStringConvertible {
    /// The IPv4 loopback address.
    static let loopback = ListenHost(address: "127.0.0.1")

    /// The numeric address.
    let address: String
    var description: String { address }
    /// Whether the address is a loopback address.
    var isLoopback: Bool { SocketAddress(literal: address, port: 0)?.isLoopback ?? false }

    private init(address: String) {
        self.address = address
    }

    /// Parses an address.
    init(argument: String) throws(UsageError) {
        guard SocketAddress(literal: argument, port: 0) != nil else {
            throw UsageError(
                "must be an IP address of this machine, such as 127.0.0.1, 0.0.0.0 or ::1 (found "
                    + "\(ShownValue.quoted(argument)))"
            )
        }
        address = argument
    }

    static var valueName: String { "address" }
}
