internal import APNs
package import APNsClient
package import Outbox
package import Wire

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// What a relay serves: apps with their keys, callers, addresses and bounds.
package struct RelayConfiguration: Sendable {
    /// An app that pushes are sent for.
    package struct App: Sendable {
        /// What the relay and its callers know it by.
        package var name: String
        /// The bundle identifiers that belong to it, without suffixes.
        package var bundleIDs: [String]
        /// The key that its pushes are signed with.
        package var key: SigningKey
        /// Apple's environments that it is sent to.
        package var environments: [PushEnvironment]
        /// Pushes a second at most, in each environment; nil for as many as Apple takes.
        package var rate: Int?
        /// Connections to Apple at most, in each environment, of all relays together; nil for four of each relay.
        package var connections: Int?
        /// Where its dead tokens are reported; nil for nowhere.
        package var webhook: Webhook?

        /// An app from its parts; by default it is sent to production, as fast as Apple takes it.
        package init(
            name: String,
            bundleIDs: [String],
            key: SigningKey,
            environments: [PushEnvironment] = [.production],
            rate: Int? = nil,
            connections: Int? = nil
        ) {
            self.name = name
            self.bundleIDs = bundleIDs
            self.key = key
            self.environments = environments
            self.rate = rate
            self.connections = connections
        }
    }

    /// Who may call, besides those who have an app's own signing key.
    package struct Caller: Sendable, Hashable {
        /// What a caller may do.
        package enum Scope: String, Sendable, Hashable, CaseIterable {
            /// Hand pushes in, and take them back.
            case send
            /// Ask what became of pushes, and read the feeds.
            case read
            /// Everything else: dead letters, tokens that are registered again.
            case manage
        }

        /// What logs and people know the key by.
        package var name: String
        /// The SHA-256 of the key, 64 hexadecimal digits, since the key itself is nowhere kept; nil without a key.
        package var hash: String?
        /// The certificate that the caller may show in place of a key; nil for none.
        package var certificate: ClientCertificateRule?
        /// The time from which on the key or the certificate is refused; nil for never.
        package var expiresAt: Date?
        /// The apps that it may act for.
        package var apps: Set<String>
        /// What it may do.
        package var scopes: Set<Scope>

        /// A caller from its parts.
        package init(
            name: String,
            hash: String?,
            certificate: ClientCertificateRule? = nil,
            expiresAt: Date? = nil,
            apps: Set<String>,
            scopes: Set<Scope>
        ) {
            self.name = name
            self.hash = hash
            self.certificate = certificate
            self.expiresAt = expiresAt
            self.apps = apps
            self.scopes = scopes
        }
    }

    /// An address to listen on.
    package struct Address: Sendable, Hashable, CustomStringConvertible {
        /// An address literal.
        package var host: String
        /// The port; 0 for any that is free.
        package var port: UInt16

        /// An address from its parts; by default this machine alone can reach it.
        package init(host: String = "127.0.0.1", port: UInt16) {
            self.host = host
            self.port = port
        }

        /// The rule for text that is an address.
        package static let rule = "must be an IP address with a port, such as 127.0.0.1:2197 or [::1]:2197"

        /// An address from text such as `127.0.0.1:2197`, `[::1]:2197` or `:2197`; nil for text of another form.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
            guard host.isEmpty || SocketAddress(literal: host, port: port) != nil else { return nil }
            self.init(host: host.isEmpty ? "0.0.0.0" : host, port: port)
        }

        /// As it is written in a configuration.
        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// Where pushes are kept: in a file, or in a database that several relays share.
    package var data: OutboxPlace
    /// What people know this relay by among those that share a database.
    package var node = "relay"
    /// How they are kept.
    package var outbox = SQLiteOutbox.Options()
    /// The longest time for a statement that needs a few rows of the database; 3 seconds by default.
    package var statementTime = Duration.seconds(3)
    /// The apps.
    package var apps: [App]
    /// The callers.
    package var callers: [Caller] = []
    /// Where APNs clients call, by the environment that they mean.
    package var listeners: [PushEnvironment: Address]
    /// Where the interface in JSON is, over HTTP/1.1 in the clear; nil for none.
    package var http: Address?
    /// Whether routes that need the scope `manage` answer on ``listeners``, too; false by default, so that an address
    /// for callers administers nothing.
    package var managesOverListeners = false
    /// Bytes that one request in JSON may have, except batches, which are read while they arrive.
    var longestBody = 4 << 20
    /// Connections over HTTP/1.1 at once, as far as the process may have so many descriptors.
    var connections = 16_384
    /// The certificate and key that the relay shows; nil for HTTP/2 in the clear.
    package var identity: TLSContext.Identity?
    /// PEM certificates of the authorities that issue certificates for callers; nil for none.
    package var clientAuthorities: String?
    /// Stand-ins for Apple's servers; Apple's own by default.
    package var endpoints: [PushEnvironment: LaneEndpoint] = [:]
    /// The time that an APNs client waits for Apple's answer before it gets a 200 that says that the push is stored.
    ///
    /// It is shorter than the time-outs of the clients in use, of which the shortest is 5 seconds (node-apn): a client
    /// that gives up sends the push again, often with another identifier, and the device gets it twice.
    package var answerTime = Duration.seconds(3)
    /// How long it is remembered how a push ended, in milliseconds; 7 days by default.
    package var retention: Int64 = 7 * 86_400_000
    /// Streams that a caller may have open at once.
    package var streamsPerConnection: UInt32 = 1_000
    /// The least that is logged.
    package var logLevel = Logger.Level.info
    /// How lines of the log are written; nil for JSON, and for people's eyes on a terminal.
    package var logFormat: Logger.Format?
    /// Where spans and numbers are exported to; nil for nowhere.
    package var telemetry: TelemetrySettings?
    var limits = DeliveryMachine.Limits()
    var loadLimits = LoadGate.Limits()

    /// A configuration with the defaults, save what is given.
    package init(data: OutboxPlace, apps: [App], listeners: [PushEnvironment: Address]) {
        self.data = data
        self.apps = apps
        self.listeners = listeners
    }
}

/// Where a lane's pushes go, and whom it trusts there.
package struct LaneEndpoint: Sendable {
    /// Apple, or a stand-in.
    package var endpoint: APNsEndpoint
    /// PEM certificates to trust besides the system's; nil for none.
    package var authorities: String?

    /// An endpoint from its parts.
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
