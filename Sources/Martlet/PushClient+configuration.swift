// SPDX-License-Identifier: Apache-2.0

#if LoggingSupport
    public import Logging
#endif
#if MetricsSupport
    public import Metrics
#endif
#if TracingSupport
    public import Tracing
#endif

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PushClient {
    /// The security settings, limits and checks of a client.
    public struct Configuration: Sendable {
        /// PEM certificates to trust besides the system's, such as the authority of a local simulator; nil by default.
        public var additionalAuthorities: String?
        /// The HTTP proxy for connections; nil, the default, for none.
        ///
        /// ``PushClient/Proxy/from(environment:for:)`` returns the proxy that `HTTPS_PROXY` names.
        public var proxy: Proxy?
        /// The minimum version of TLS; 1.2, which Apple requires, by default.
        public var minimumTLSVersion: TLSVersion
        /// The timeout of name resolution, connecting and the TLS handshake together; 10 seconds by default.
        public var connectTimeout: Duration
        /// The timeout of one send including waiting, all attempts, and the delays between them; 60 seconds by default.
        public var sendTimeout: Duration
        /// The policy for retrying failed pushes; ``RetryPolicy/standard`` by default.
        public var retry: RetryPolicy
        /// Whether failed pushes are retried at all, with any policy; true by default, and false when the environment
        /// variable `MARTLET_RETRY` is `off`.
        ///
        /// Turn retries off to see each failure of the server as it happens.
        public var allowsRetries: Bool
        /// The maximum number of connections, by default 4: the first is opened for the first push, a further one when
        /// pushes wait 50 ms for a stream.
        public var connectionLimit: Int
        /// The number of event loop threads, each with its share of pushes and connections; 1 by default.
        ///
        /// One is enough for several ten thousand pushes per second. Each opens a connection when it first sends.
        public var eventLoops: Int
        /// The event loops that the client shares with others; nil, the default, for ``eventLoops`` of its own.
        ///
        /// The client uses ``eventLoops`` of them, at most all.
        public var sharedEventLoops: PushEventLoops?
        /// Whether to stop sending for 30 seconds when many consecutive pushes are rejected for a reason that further
        /// pushes cannot fix: 100 times `BadDeviceToken`, or 20 times a status of 403; true by default.
        public var breaksCircuit: Bool
        /// The maximum number of waiting sends; 100,000 by default.
        ///
        /// They wait for a stream or, as updates of a Live Activity do, for the second of their timestamp. Further ones
        /// fail with the code `overloaded`.
        public var waitingLimit: Int
        /// Whether pushes that APNs would reject are rejected before they are sent; true by default.
        ///
        /// Turn it off to see the server's own response.
        public var checksBeforeSending: Bool
        #if LoggingSupport
            /// The logger of the client's events and of each push; nil, the default, for none.
            ///
            /// The levels are `error` and `warning` for what concerns all pushes, `debug` for a push that fails and for
            /// connections, and `trace` for an accepted push. Device tokens are shortened; keys and payloads do not
            /// appear.
            public var logger: Logger?
        #endif
        #if MetricsSupport
            /// The factory of the client's figures; nil, the default, for that of `MetricsSystem`.
            public var metricsFactory: (any MetricsFactory)?
        #endif
        #if TracingSupport
            /// The tracer of the spans of sends; nil, the default, for that of `InstrumentationSystem`.
            public var tracer: (any Tracer)?
        #endif

        func share(ofLoops count: Int) -> Configuration {
            var share = self
            share.connectionLimit = max(1, connectionLimit / count)
            share.waitingLimit = waitingLimit > 0 ? max(1, waitingLimit / count) : waitingLimit
            return share
        }

        /// Creates a configuration with the default values, except for the given ones.
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
            sharedEventLoops: PushEventLoops? = nil,
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
            self.sharedEventLoops = sharedEventLoops
            self.breaksCircuit = breaksCircuit
            self.waitingLimit = waitingLimit
            self.checksBeforeSending = checksBeforeSending
        }
    }
}

extension PushClient.Configuration {
    /// Whether the environment of this process permits retries: false when `MARTLET_RETRY` is `off`, otherwise true.
    ///
    /// The variable is read once.
    public static let allowsRetriesByDefault = allowsRetries(in: ProcessInfo.processInfo.environment)

    static func allowsRetries(in environment: [String: String]) -> Bool {
        environment["MARTLET_RETRY"] != "off"
    }
}

extension PushClient {
    /// The minimum versions of TLS.
    public enum TLSVersion: Sendable, Hashable {
        /// TLS 1.2 and later.
        case tls12
        /// TLS 1.3 and later.
        case tls13
    }
}
