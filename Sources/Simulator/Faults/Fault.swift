public import APNs

/// Something that goes wrong: with which requests, how often, and what it is.
public struct Fault: Sendable, Hashable {
    /// With which requests it may happen; what is nil matches all.
    public struct Match: Sendable, Hashable {
        /// The topic, as it is sent.
        public var topic: String?
        /// The push type, as it is sent.
        public var pushType: String?
        /// The priority, as it is sent.
        public var priority: String?
        /// How the device token begins, in lower-case hexadecimal digits.
        public var devicePrefix: String?
        /// How the device token ends, in lower-case hexadecimal digits.
        public var deviceSuffix: String?

        /// A match from its parts.
        public init(
            topic: String? = nil,
            pushType: String? = nil,
            priority: String? = nil,
            devicePrefix: String? = nil,
            deviceSuffix: String? = nil
        ) {
            self.topic = topic
            self.pushType = pushType
            self.priority = priority
            self.devicePrefix = devicePrefix
            self.deviceSuffix = deviceSuffix
        }
    }

    /// What goes wrong.
    public enum Action: Sendable, Hashable {
        /// The answer is this one, whatever the request.
        ///
        /// With `ExpiredProviderToken` the request's provider token counts as expired from then on, on every
        /// connection, until ``SimulatedAPNs/setFaults(_:seed:)``; the one that replaces it is accepted.
        case respond(Reason, status: Int? = nil, retryAfter: Int? = nil)
        /// The answer comes this much later, and up to `jitter` more.
        case delay(Duration, jitter: Duration = .zero)
        /// No answer comes.
        case hang
        /// The stream is reset with this code (RFC 9113 §7); 7 is REFUSED_STREAM.
        case resetStream(code: UInt32)
        /// The connection takes no more streams, and says why with these bytes; of those there are it acts on the ones
        /// up to the request's, or up to the one before it.
        case goAway(code: UInt32 = 0, debugData: String = "", includesRequest: Bool = true)
        /// The connection shuts down gracefully (RFC 9113 §6.8): a GOAWAY that names the highest stream there can be,
        /// and one with these bytes and the last stream when those under way have arrived; all of them are answered.
        case drain(debugData: String = "")
        /// The connection ends in order, without an answer.
        case close
        /// The connection ends with a TCP reset, without an answer.
        case resetConnection
        /// The next clients are dropped before their TLS handshake, this many of them.
        case refuseConnections(Int)
        /// At most this many streams may be open on a connection.
        ///
        /// A fault without conditions sets the limit in the first SETTINGS frame of each connection. A fault with a
        /// match, ``Fault/probability``, ``Fault/count``, ``Fault/after`` or ``Fault/every`` sets it for the connection
        /// of each request that it happens with. The limit ends with the connection, or when faults are removed.
        case limitStreams(UInt32)
        /// So many octets may be sent on a stream before the server makes room for more.
        case limitWindow(UInt32)
        /// The connection ends with GOAWAY after this many answers with a status from 400 to 499; one with
        /// `BadDeviceToken` counts twice, and 410 does not count. The one frame has the reason of the answer that
        /// caused it as debug data.
        ///
        /// Apple says that too many errors end a connection, and does not say how many ("Handling notification
        /// responses from APNs").
        case limitErrors(Int)
        /// More than this many requests in a second to one device are too many.
        case throttle(perDevice: Int)
        /// The server's clock is this far ahead from now on, or behind.
        case skewClock(Duration)
    }

    /// With which requests it may happen.
    public var match: Match
    /// How likely it is with each of those, from 0 to 1.
    public var probability: Double
    /// How often it happens at most; nil for no limit.
    public var count: Int?
    /// How many of those requests pass before it may happen.
    public var after: Int
    /// The interval in requests; 1 by default.
    ///
    /// With 5, the fault may happen with the first request after those of ``after``, and then with every fifth one.
    public var every: Int
    /// What goes wrong.
    public var action: Action

    /// A fault that happens with every request unless it is told otherwise.
    ///
    /// - Parameters:
    ///   - action: What goes wrong.
    ///   - match: With which requests.
    ///   - probability: How likely it is with each of those, from 0 to 1.
    ///   - count: How often it happens at most; nil for no limit.
    ///   - after: How many of those requests pass before it may happen.
    ///   - every: The interval in requests: with 5 and an `after` of 4, the fault may happen with the fifth, the tenth
    ///     and so on.
    public init(
        _ action: Action,
        with match: Match = Match(),
        probability: Double = 1,
        count: Int? = nil,
        after: Int = 0,
        every: Int = 1
    ) {
        self.action = action
        self.match = match
        self.probability = probability
        self.count = count
        self.after = after
        self.every = max(1, every)
    }
}
