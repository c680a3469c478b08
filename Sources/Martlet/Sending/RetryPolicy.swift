// SPDX-License-Identifier: Apache-2.0

public import MartletCore

/// The conditions and delays for retrying failed pushes.
///
/// A push that the server certainly did not process is sent again immediately, regardless of the policy. The policy is
/// for rejected pushes and for pushes without a response. These are retried:
///
/// - any response with status 500 or more, whether its reason is known or not, and status 429;
/// - the reasons in ``retryableReasons``;
/// - a push without a response, if ``unknownOutcome`` is ``UnknownOutcome/resend``.
///
/// Reasons in ``neverRetriedReasons`` are not retried, regardless of the policy. The environment variable
/// `MARTLET_RETRY=off` turns retries off; see ``PushClient/Configuration/allowsRetries``.
public struct RetryPolicy: Sendable, Hashable {
    /// The handling of a push that was sent and not answered, and may or may not have been delivered.
    public enum UnknownOutcome: Sendable, Hashable {
        /// Report the failure to the caller.
        case report
        /// Send the push again, which may deliver it twice.
        case resend
    }

    /// The maximum number of retries; 3 by default.
    public var retries: Int
    /// The maximum number of retries for a push of priority 10, which is useless when late; 2 by default.
    public var urgentRetries: Int
    /// The delay before the first retry, doubled for each further one; 100 ms by default, twice that at priority 10.
    public var baseDelay: Duration
    /// The maximum delay; 5 s by default, twice that at priority 10.
    public var maximumDelay: Duration
    /// Whether a random delay of up to ``baseDelay`` is added, so that clients do not retry at the same time; true by
    /// default.
    public var hasJitter: Bool
    /// The minimum delay after a status of 500 or more; none by default.
    ///
    /// Apple advises 15 minutes, which only a queue can wait for; see ``apple``. Source: "Handling notification
    /// responses from APNs".
    public var serverErrorDelay: Duration?
    /// The handling of a push that was sent and not answered; by default it is reported to the caller.
    ///
    /// A response with status 500 or more is retried regardless of this property, even one without a reason, which a
    /// proxy between the client and APNs may have sent. The retry has the same `apns-id`.
    public var unknownOutcome: UnknownOutcome
    /// The reasons that are retried, besides status 429 and statuses of 500 or more; ``standardRetryableReasons`` by
    /// default.
    public var retryableReasons: Set<APNsReason>

    /// Creates a policy with the default values, except for the given ones.
    public init(
        retries: Int = 3,
        urgentRetries: Int = 2,
        baseDelay: Duration = .milliseconds(100),
        maximumDelay: Duration = .seconds(5),
        hasJitter: Bool = true,
        serverErrorDelay: Duration? = nil,
        unknownOutcome: UnknownOutcome = .report,
        retryableReasons: Set<APNsReason> = standardRetryableReasons
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

    /// The reasons that a later attempt, a new connection or a new provider token may resolve: those whose
    /// `APNsReason.advice` is not `fixFirst`.
    public static let standardRetryableReasons = Set(APNsReason.all.filter { RefusalCause($0).isPassing })
    /// The reasons that are never retried, because the same push cannot be accepted later.
    ///
    /// Source: "Handling notification responses from APNs".
    public static let neverRetriedReasons: Set<APNsReason> = [
        .badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .forbidden, .payloadTooLarge, .topicDisallowed,
        .unregistered,
    ]

    /// A few attempts within a few seconds, for callers that wait.
    public static let standard = RetryPolicy()
    /// No retries.
    public static let none = RetryPolicy(retries: 0, urgentRetries: 0)
    /// Apple's advice: retries no sooner than 15 minutes after a server error; the send needs a suitable timeout.
    ///
    /// Source: "Handling notification responses from APNs".
    public static let apple = RetryPolicy(maximumDelay: .seconds(3_600), serverErrorDelay: .seconds(900))

    func limit(isUrgent: Bool) -> Int {
        max(0, isUrgent ? min(retries, urgentRetries) : retries)
    }

    /// Returns the delay before a retry; nil when there is no retry.
    ///
    /// - Parameters:
    ///   - retry: The index of the retry, counted from 0.
    ///   - isUrgent: Whether the push has priority 10.
    ///   - error: The failure of the last attempt.
    ///   - generator: The random number generator.
    /// - Returns: The delay.
    func delay(
        before retry: Int,
        isUrgent: Bool,
        after error: APNsError,
        using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard retry < limit(isUrgent: isUrgent), isTemporary(error) else { return nil }
        if let wait = error.retryAfter { return max(.zero, wait) }
        let factor = isUrgent ? 2 : 1
        let base = RetryPolicy.bounded(baseDelay) * factor
        var delay = base.doubled(retry, upTo: RetryPolicy.bounded(maximumDelay) * factor)
        if let status = error.status, status >= 500, let least = serverErrorDelay { delay = max(delay, least) }
        guard hasJitter else { return delay }
        return delay + base * Double.random(in: 0..<1, using: &generator)
    }

    /// Returns the delay, limited to a range that cannot overflow: no push is stored for longer than 30 days.
    private static func bounded(_ delay: Duration) -> Duration {
        min(max(.zero, delay), .seconds(30 * 86_400))
    }

    /// Returns whether the same push may be accepted at another time.
    private func isTemporary(_ error: APNsError) -> Bool {
        if let reason = error.reason, RetryPolicy.neverRetriedReasons.contains(reason) { return false }
        if let status = error.status, RefusalCause(status: status, reason: nil).isPassing { return true }
        return switch error.outcome {
        case .answered: error.reason.map(retryableReasons.contains) ?? false
        case .unknown: unknownOutcome == .resend
        case .neverSent, .unprocessed: true
        }
    }
}
