// SPDX-License-Identifier: Apache-2.0

package import Martlet
internal import MartletCore
internal import MartletOutbox

/// The server to which a lane's pushes are sent, and the authorities that are trusted for it.
package struct LaneEndpoint: Sendable, Hashable {
    /// The endpoint of Apple, or of a server that replaces it.
    package var endpoint: APNsEndpoint
    /// PEM certificates to trust in addition to the system's; nil for none.
    package var authorities: String?

    /// Creates an endpoint.
    package init(_ endpoint: APNsEndpoint, authorities: String? = nil) {
        self.endpoint = endpoint
        self.authorities = authorities
    }
}

extension PushEnvironment {
    /// Apple's own servers.
    var apple: LaneEndpoint {
        switch self {
        case .production: LaneEndpoint(.production)
        case .development: LaneEndpoint(.development)
        }
    }
}

extension LaneEndpoint: ConfigurationPart {
    private static let host = SettingKey("host", .host, .required, .restart)
        .help("host of the server")
    private static let port = SettingKey("port", .port, .value(443), .restart).help("port of the server")
    private static let channelPort = SettingKey("channel-port", .port, .none, .restart)
        .help("port for requests about broadcast channels")
    private static let clear = SettingKey("clear", .flag, .value(false), .restart)
        .help("whether the server speaks HTTP/2 without TLS")
    private static let authorities = SettingKey("authorities", .file, .none, .restart)
        .help("PEM certificates to trust besides the system's")

    /// The settings of a server in place of Apple's.
    static let settings: [Setting<Self>] = [
        Setting(separate: host), Setting(separate: port), Setting(separate: channelPort), Setting(separate: clear),
        Setting(authorities, \.authorities),
    ]

    /// Reads a server in place of Apple's.
    init(_ object: ConfigurationField, _ places: ConfigurationDirectories) throws(RelayError) {
        let host = try Self.host.value(in: object, places)
        let channelPort = try Self.channelPort.valueIfPresent(in: object, places)
        self.init(
            APNsEndpoint(
                host: host,
                port: try Self.port.value(in: object, places),
                isEncrypted: !(try Self.clear.value(in: object, places)),
                channels: channelPort.map { APNsEndpoint.Address(host: host, port: $0) }
            )
        )
        try Self.settings.read(object, places, into: &self)
    }
}
