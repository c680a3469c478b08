internal import Wire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushClient {
    /// Trust, bounds and checks of a client.
    public struct Configuration: Sendable {
        /// PEM certificates to trust besides the system's, such as the authority of a local stand-in; nil by default.
        public var additionalAuthorities: String?
        /// The HTTP proxy to go through; nil, the default, for none.
        public var proxy: Proxy?
        /// The oldest version of TLS that is spoken; 1.2, which Apple demands, by default.
        public var minimumTLSVersion: TLSVersion
        /// Bound on name resolution, connecting and TLS together; 10 seconds by default.
        public var connectTimeout: Duration
        /// Bound on one send with everything that belongs to it: waiting, all tries, and the time between them; 60
        /// seconds by default.
        public var sendTimeout: Duration
        /// When a push that failed is sent again; ``RetryPolicy/standard`` by default.
        public var retry: RetryPolicy
        /// Whether failed pushes are retried at all, by whatever policy; true by default, and false when the
        /// environment variable `MARTLET_RETRY` is `off`.
        ///
        /// Turn retries off to see each failure of the server as it happens.
        public var allowsRetries: Bool
        /// Connections at once, 4 by default: the first is opened for the first push, a further one when pushes wait
        /// 50 ms for a stream.
        public var connectionLimit: Int
        /// Threads that connections live on, each with its share of pushes and connections; 1 by default.
        ///
        /// One is enough for several ten thousand pushes a second. Each opens a connection when it first sends.
        public var eventLoops: Int
        /// Whether to stop for 30 seconds when many pushes in a row are refused for a reason that no push can mend: 100
        /// times `BadDeviceToken`, or 20 times a status of 403; true by default.
        public var breaksCircuit: Bool
        /// The number of sends that may wait at once; 100 000 by default.
        ///
        /// They wait for a stream or, as updates of a Live Activity do, for the second of their timestamp. Further ones
        /// fail with the code `overloaded`.
        public var waitingLimit: Int
        /// Whether what APNs would refuse is refused before it is sent; true by default.
        ///
        /// Turn it off to see the server's own answer.
        public var checksBeforeSending: Bool

        /// The share of each of several loops in the limits.
        func share(ofLoops count: Int) -> Configuration {
            var share = self
            share.connectionLimit = max(1, connectionLimit / count)
            share.waitingLimit = waitingLimit > 0 ? max(1, waitingLimit / count) : waitingLimit
            return share
        }

        /// The defaults, save what is given.
        public init(
            additionalAuthorities: String? = nil,
            proxy: Proxy? = nil,
            minimumTLSVersion: TLSVersion = .tls12,
            connectTimeout: Duration = .seconds(10),
            sendTimeout: Duration = .seconds(60),
            retry: RetryPolicy = .standard,
            allowsRetries: Bool = Configuration.allowsRetriesByDefault,
            connectionLimit: Int = 4,
            eventLoops: Int = 1,
            breaksCircuit: Bool = true,
            waitingLimit: Int = 100_000,
            checksBeforeSending: Bool = true
        ) {
            self.additionalAuthorities = additionalAuthorities
            self.proxy = proxy
            self.minimumTLSVersion = minimumTLSVersion
            self.connectTimeout = connectTimeout
            self.sendTimeout = sendTimeout
            self.retry = retry
            self.allowsRetries = allowsRetries
            self.connectionLimit = max(1, connectionLimit)
            self.eventLoops = max(1, eventLoops)
            self.breaksCircuit = breaksCircuit
            self.waitingLimit = waitingLimit
            self.checksBeforeSending = checksBeforeSending
        }
    }
}

extension PushClient.Configuration {
    /// Whether the environment of this process allows retries: false when `MARTLET_RETRY` is `off`, else true.
    ///
    /// The variable is read once.
    public static let allowsRetriesByDefault = allowsRetries(in: ProcessInfo.processInfo.environment)

    /// Whether an environment allows retries.
    static func allowsRetries(in environment: [String: String]) -> Bool {
        environment["MARTLET_RETRY"] != "off"
    }
}

extension PushClient {
    /// Versions of TLS.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 and newer.
        case tls12
        /// TLS 1.3 and newer.
        case tls13
    }

    /// An HTTP proxy that passes connections on with CONNECT (RFC 9110 §9.3.6).
    public struct Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let wire: HTTPProxy

        /// A proxy from its parts.
        ///
        /// - Parameters:
        ///   - host: A host name or an address literal.
        ///   - port: The port.
        ///   - user: The name to give with the basic scheme (RFC 7617); nil, the default, to give none.
        ///   - password: The password that belongs to it.
        public init(host: String, port: UInt16, user: String? = nil, password: String = "") {
            wire = HTTPProxy(host: host, port: port, user: user, password: password)
        }

        /// Host and port, never the password.
        public var description: String { "Proxy(\(wire.host):\(wire.port))" }

        /// No more than ``description``.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
}
