// SPDX-License-Identifier: Apache-2.0

internal import MartletTransport

/// The server to which a client sends: APNs, a relay or a simulator.
public struct APNsEndpoint: Sendable, Hashable {
    /// A host name or an address literal.
    public var host: String
    /// The port.
    public var port: UInt16
    /// Whether the connection uses TLS; only servers on the same machine work without it.
    public var isEncrypted: Bool

    /// The address for managing channels; nil for the same host and port.
    public var channels: Address?

    /// A host with a port.
    public struct Address: Sendable, Hashable {
        /// A host name or an address literal.
        public var host: String
        /// The port.
        public var port: UInt16

        /// Creates an address from its parts.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// Creates an endpoint other than Apple's.
    public init(host: String, port: UInt16 = 443, isEncrypted: Bool = true, channels: Address? = nil) {
        self.host = host
        self.port = port
        self.isEncrypted = isEncrypted
        self.channels = channels
    }

    /// Apple's production servers, for apps from the App Store, TestFlight and in-house distribution.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let production = APNsEndpoint(
        host: "api.push.apple.com",
        channels: Address(host: "api-manage-broadcast.push.apple.com", port: 2196)
    )

    /// Apple's development servers ("sandbox"), for apps run from Xcode.
    ///
    /// Source: "Sending notification requests to APNs".
    public static let development = APNsEndpoint(
        host: "api.sandbox.push.apple.com",
        channels: Address(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)
    )

    var channelEndpoint: APNsEndpoint {
        guard let channels else { return self }
        return APNsEndpoint(host: channels.host, port: channels.port, isEncrypted: isEncrypted)
    }

    /// The host and port as in requests; port 443 is omitted.
    var authority: String {
        let host = SocketAddress.bracketed(host)
        return port == 443 ? host : "\(host):\(port)"
    }
}
