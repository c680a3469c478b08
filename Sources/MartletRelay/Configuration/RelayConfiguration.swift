package import Martlet
internal import MartletCore
package import MartletOutbox
package import MartletTransport

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The configuration of a relay: apps with their keys, callers, addresses and limits.
package struct RelayConfiguration: Sendable {
    /// An app for which pushes are sent.
    package struct App: Sendable {
        /// The name by which the relay and its callers identify it.
        package var name: String
        /// The bundle identifiers of the app, without suffixes.
        package var bundleIDs: [String]
        /// The key that signs the app's provider tokens.
        package var key: SigningKey
        /// The environments of Apple to which its pushes are sent.
        package var environments: [PushEnvironment]
        /// The maximum number of pushes per second in each environment; nil for as many as Apple accepts.
        package var rate: Int?
        /// The maximum number of connections to Apple in each environment, shared by all relays; nil for 4 a relay.
        package var connections: Int?
        /// The webhook that its unregistered tokens are reported to; nil for none.
        package var webhook: Webhook?

        /// Creates an app; by default its pushes are sent to production, as fast as Apple accepts them.
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

    /// A client that may use the API, in addition to clients that sign with an app's own key.
    package struct Caller: Sendable, Hashable {
        /// An action that a caller is permitted.
        package enum Scope: String, Sendable, Hashable, CaseIterable {
            /// Sending pushes, and cancelling them.
            case send
            /// Reading the status of pushes, and the feeds.
            case read
            /// Everything else, such as dead letters and tokens that have registered again.
            case manage
        }

        /// The name in logs and reports.
        package var name: String
        /// The SHA-256 of the key, 64 hexadecimal digits, because the key itself is not stored; nil without a key.
        package var hash: String?
        /// The client certificate that the caller may use in place of a key; nil for none.
        package var certificate: ClientCertificateRule?
        /// The time from which the key or the certificate is rejected; nil for never.
        package var expiresAt: Date?
        /// The names of the apps that the caller may use.
        package var apps: Set<String>
        /// The permitted actions.
        package var scopes: Set<Scope>

        /// Creates a caller.
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
        /// The host, as an address literal.
        package var host: String
        /// The port; 0 for any free port.
        package var port: UInt16

        /// Creates an address; by default only this machine can reach it.
        package init(host: String = "127.0.0.1", port: UInt16) {
            self.host = host
            self.port = port
        }

        /// The error message for text that is not an address.
        package static let rule = "must be an IP address with a port, such as 127.0.0.1:2197 or [::1]:2197"

        /// Creates an address from text such as `127.0.0.1:2197`, `[::1]:2197` or `:2197`; nil for text of another
        /// form.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            let host = text[..<colon].filter { $0 != "[" && $0 != "]" }
            guard host.isEmpty || SocketAddress(literal: host, port: port) != nil else { return nil }
            self.init(host: host.isEmpty ? "0.0.0.0" : host, port: port)
        }

        /// The address as in a configuration file.
        package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The store of the pushes: a file, or a database that several relays share.
    package var data: OutboxPlace
    /// The name of this relay among those that share a database.
    package var node = "relay"
    /// The options of an outbox in a file.
    package var outbox = SQLiteOutbox.Options()
    /// The maximum time for a database statement that needs a few rows; 3 seconds by default.
    package var statementTime = Duration.seconds(3)
    /// The apps.
    package var apps: [App]
    /// The callers.
    package var callers: [Caller] = []
    /// The addresses for APNs clients, by environment.
    package var listeners: [PushEnvironment: Address]
    /// The address of the JSON interface, over HTTP/1.1 without TLS; nil for none.
    package var http: Address?
    /// Whether routes that need the scope `manage` are also served on ``listeners``; false by default, so that an
    /// address for callers gives no administrative access.
    package var managesOverListeners = false
    /// The maximum size of a JSON request in bytes, except for batches, which are read while they arrive.
    var longestBody = 4 << 20
    /// The maximum number of HTTP/1.1 connections, further limited by the process's file descriptors.
    var connections = 16_384
    /// The certificate and key of the relay; nil for HTTP/2 without TLS.
    package var identity: TLSContext.Identity?
    /// The PEM certificates of the authorities that issue certificates for callers; nil for none.
    package var clientAuthorities: String?
    /// The servers that replace Apple's, by environment; Apple's own by default.
    package var endpoints: [PushEnvironment: LaneEndpoint] = [:]
    /// The time for which an APNs client waits for Apple's answer before it gets a 200 that means that the push is
    /// stored.
    ///
    /// It is shorter than the time-outs of common clients, the shortest of which is 5 seconds (node-apn): a client that
    /// times out sends the push again, often with another identifier, and the device receives it twice.
    package var answerTime = Duration.seconds(3)
    /// The time for which the outcome of a push is stored, in milliseconds; 7 days by default.
    package var retention: Int64 = 7 * 86_400_000
    /// The maximum number of streams that a caller may have open on a connection.
    package var streamsPerConnection: UInt32 = 1_000
    /// The lowest level that is logged.
    package var logLevel = Logger.Level.info
    /// The format of the log; nil for JSON, or for a readable format if the log goes to a terminal.
    package var logFormat: Logger.Format?
    /// The export of spans and metrics; nil for none.
    package var telemetry: TelemetrySettings?
    var limits = DeliveryMachine.Limits()
    var loadLimits = LoadGate.Limits()

    /// Creates a configuration with the defaults for everything that is not passed.
    package init(data: OutboxPlace, apps: [App], listeners: [PushEnvironment: Address]) {
        self.data = data
        self.apps = apps
        self.listeners = listeners
    }
}

/// The server to which a lane's pushes are sent, and the authorities that are trusted for it.
package struct LaneEndpoint: Sendable {
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
