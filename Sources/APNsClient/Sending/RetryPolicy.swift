public import APNs

/// When a push that failed is sent again, and after how long; a value that decides without a clock or a network.
///
/// A push that the server provably did not act on is sent again at once, whatever the policy says. The policy is about
/// refusals and about pushes without an answer. These are retried:
///
/// - any answer with status 500 or more, whether its reason is known or not, and status 429;
/// - the reasons in ``retryableReasons``;
/// - a push without an answer, if ``unknownOutcome`` says so.
///
/// ``neverRetriedReasons`` are not, whatever the policy says. The environment variable `MARTLET_RETRY=off` turns
/// retries off: see ``PushClient/Configuration/allowsRetries``.
public struct RetryPolicy: Sendable, Hashable {
    /// What to do with a push that went out and was never answered: it may or may not have arrived.
    public enum UnknownOutcome: Sendable, Hashable {
        /// Tell the caller.
        case report
        /// Send it again, which may show it twice.
        case resend
    }

    /// Tries after the first; 3 by default.
    public var retries: Int
    /// Tries after the first for a push of priority 10, which is of no use late; 2 by default.
    public var urgentRetries: Int
    /// The wait before the first retry, doubled for each further one; 100 ms by default, twice that at priority 10.
    public var baseDelay: Duration
    /// The longest wait; 5 s by default, twice that at priority 10.
    public var maximumDelay: Duration
    /// Whether up to ``baseDelay`` is added by chance, so that many senders do not come back at once; true by default.
    public var hasJitter: Bool
    /// The least wait after a status of 500 or more; none by default.
    ///
    /// Apple advises 15 minutes, which only a queue can wait for: see ``apple``.
    /// Source: "Handling notification responses from APNs".
    public var serverErrorDelay: Duration?
    /// The handling of a push that was sent and not answered; by default it is reported to the caller.
    ///
    /// An answer with status 500 or more is retried whatever this says, also one without a reason, which something
    /// between the client and APNs may have given. The retry has the same `apns-id`.
    public var unknownOutcome: UnknownOutcome
    /// The reasons that are retried, besides status 429 and statuses of 500 or more;
    /// ``standardRetryableReasons`` by default.
    public var retryableReasons: Set<Reason>

    /// The defaults, save what is given.
    public init(
        retries: Int = 3,
        urgentRetries: Int = 2,
        baseDelay: Duration = .milliseconds(100),
        maximumDelay: Duration = .seconds(5),
        hasJitter: Bool = true,
        serverErrorDelay: Duration? = nil,
        unknownOutcome: UnknownOutcome = .report,
        retryableReasons: Set<Reason> = standardRetryableReasons
    ) {
        self.retries = retries
        self.urgentRetries = urgentRetries
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.hasJitter = hasJitter
        self.serverErrorDelay = serverErrorDelay
        self.unknownOutcome = unknownOutcome
        self.retryableReasons = retryableReasons
    }

    /// The reasons that a later try, a new connection or a fresh provider token may resolve: those whose
    /// `Reason.advice` is not `mendFirst`.
    public static let standardRetryableReasons = Set(Reason.all.filter { $0.advice != .mendFirst })
    /// The reasons that are never retried, since the same push cannot be accepted later.
    ///
    /// Source: "Handling notification responses from APNs".
    public static let neverRetriedReasons: Set<Reason> = [
        .badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .forbidden, .payloadTooLarge, .topicDisallowed,
        .unregistered,
    ]

    /// A few tries within a few seconds, for callers that wait.
    public static let standard = RetryPolicy()
    /// No second try.
    public static let none = RetryPolicy(retries: 0, urgentRetries: 0)
    /// As Apple advises: after a fault of APNs no sooner than 15 minutes; give the send time enough.
    ///
    /// Source: "Handling notification responses from APNs".
    public static let apple = RetryPolicy(maximumDelay: .seconds(3_600), serverErrorDelay: .seconds(900))

    /// Tries after the first that a push may have.
    func limit(isUrgent: Bool) -> Int {
        max(0, isUrgent ? min(retries, urgentRetries) : retries)
    }

    /// How long to wait before a retry; nil when there shall be none.
    ///
    /// - Parameters:
    ///   - retry: Which retry it would be, counted from 0.
    ///   - isUrgent: Whether the push has priority 10.
    ///   - error: How the last try ended.
    ///   - generator: The source of chance.
    /// - Returns: The wait.
    func delay(
        before retry: Int,
        isUrgent: Bool,
        after error: APNsError,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard retry < limit(isUrgent: isUrgent), isPassing(error) else { return nil }
        if let wait = error.retryAfter { return max(.zero, wait) }
        let factor = isUrgent ? 2 : 1
        let base = RetryPolicy.bounded(baseDelay) * factor
        var delay = min(base * (1 << min(retry, 20)), RetryPolicy.bounded(maximumDelay) * factor)
        if let status = error.status, status >= 500, let least = serverErrorDelay { delay = max(delay, least) }
        guard hasJitter else { return delay }
        return delay + base * Double.random(in: 0..<1, using: &generator)
    }

    /// What a caller asked for, within what can be reckoned with: no push outlives 30 days.
    private static func bounded(_ delay: Duration) -> Duration {
        min(max(.zero, delay), .seconds(30 * 86_400))
    }

    /// Whether the same push may be accepted at another time.
    private func isPassing(_ error: APNsError) -> Bool {
        if let reason = error.reason, RetryPolicy.neverRetriedReasons.contains(reason) { return false }
        if let status = error.status, status >= 500 || status == 429 { return true }
        return switch error.outcome {
        case .answered: error.reason.map(retryableReasons.contains) ?? false
        case .unknown: unknownOutcome == .resend
        case .neverSent, .unprocessed: true
        }
    }
}
