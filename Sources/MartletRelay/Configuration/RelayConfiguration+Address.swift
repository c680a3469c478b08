// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

extension RelayConfiguration {
    /// An address to listen on.
    package struct Address: Sendable, Hashable, CustomStringConvertible {
        /// The host: an address literal, or `localhost` for both loopback addresses.
        package var host: String
        /// The port; 0 for any free port.
        package var port: UInt16

        /// Creates an address; by default only this machine can reach it.
        package init(host: String = "127.0.0.1", port: UInt16) {
            self.host = host
            self.port = port
        }

        /// The error message for text that is not an address.
        package static let rule =
            "must be an IP address with a port, such as 127.0.0.1:2197 or [::1]:2197, or localhost with a port"

        /// Creates an address from text such as `127.0.0.1:2197`, `[::1]:2197` or `:2197`; nil for text of another
        /// form.
        package init?(_ text: String) {
            guard let address = try? HostPort(text.hasPrefix(":") ? "0.0.0.0" + text : text), let port = address.port,
                address.host == "localhost" || SocketAddress(literal: address.host, port: port) != nil
            else { return nil }
            self.init(host: address.host, port: port)
        }

        /// The address as in a configuration file.
        package var description: String { "\(SocketAddress.bracketed(host)):\(port)" }
    }
}

extension RelayConfiguration.Address {
    var isOfThisMachine: Bool { host == "localhost" || SocketAddress(literal: host, port: 0)?.isLoopback == true }
}
