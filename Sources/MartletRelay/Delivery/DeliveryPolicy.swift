// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// Decides whether and when a push is sent again.
///
/// All times are in milliseconds.
struct DeliveryPolicy: Sendable {
    /// The consequence of a result for a push and its lane.
    enum Decision: Equatable {
        /// The push has ended, or is to be sent again later.
        case settle(Settlement)
        /// The lane cannot send for now, for a reason that is not in the push; nil for the default pause.
        case pause(Int64?)
        /// Apple refused the credentials: the push is at fault if Apple accepts others of the lane, else the lane is.
        case credentialsRefused(Outcome, Int64?)

        /// Whether the push has ended.
        var isFinal: Bool {
            if case .settle(let settlement) = self { settlement.outcome != nil } else { false }
        }
    }

    /// Apple's advice after a server error: "If you receive an HTTP status code of 500 or above, wait 15 minutes".
    ///
    /// Source: "Handling notification responses from APNs".
    static let serverErrorDelay: Int64 = 15 * 60 * 1_000

    /// The number of attempts after which a push is abandoned; 16 by default.
    ///
    /// The growing waits add up to about two days after answers with status 500 or above, about one day after others,
    /// and at least eight hours when Apple asks for short waits.
    var attemptLimit = 16
    /// The wait after the first answer that asks for a later attempt, doubled for each further one.
    var baseDelay: Int64 = 10_000
    /// The wait after an attempt without an answer, doubled for each further one.
    var unknownDelay: Int64 = 1_000
    /// The longest wait.
    var longestDelay: Int64 = 4 * 3_600 * 1_000
    /// The longest wait after a refusal of the credentials, as long as the longest pause of a lane.
    var longestCredentialsDelay: Int64 = 60_000
    /// The number of refusals of its credentials, while Apple accepts other pushes of the lane, that end a push.
    var credentialsRefusalLimit = 3

    /// Decides about a push, as it was before the attempt, by the result of the attempt.
    func decision(
        on result: SendResult,
        for push: ClaimedPush,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Decision {
        let attempts = push.attempts + 1
        switch result {
        case .accepted(let uniqueID):
            let outcome = Outcome(
                .delivered,
                status: 200,
                uniqueID: uniqueID,
                attempts: attempts,
                unknownTries: push.unknownTries
            )
            return .settle(Settlement(push, .ended(outcome)))
        case .neverSent(_, let retryAfter):
            return .pause(retryAfter)
        case .unknown, .lost:
            // A longer wait does not help after a crash, so the attempts that it left open do not count.
            let wait = wait(unknownDelay, min(push.unknownTries, push.attempts), using: &generator)
            let tries = push.unknownTries + 1
            let outcome = Outcome(.dead, reason: result.reason, attempts: attempts, unknownTries: tries)
            return again(push, after: wait, or: outcome, at: now)
        case .refused(let status, let reason, let timestamp, let retryAfter):
            let outcome = Outcome(
                .refused,
                status: status,
                reason: reason?.rawValue,
                unregisteredAt: timestamp,
                attempts: attempts,
                unknownTries: push.unknownTries
            )
            switch RefusalCause(status: status, reason: reason, hasRetryAfter: retryAfter != nil) {
            case .providerToken: return .pause(retryAfter)
            case .credentials: return .credentialsRefused(outcome, retryAfter)
            case .deviceToken:
                return .settle(Settlement(push, .ended(outcome), isTokenUnregistered: true))
            case .push: return .settle(Settlement(push, .ended(outcome)))
            case .temporary: break
            }
            let base = status >= 500 ? max(baseDelay, DeliveryPolicy.serverErrorDelay) : baseDelay
            // Apple's time is a minimum: with a second for each attempt, a push would be abandoned within a minute.
            let shortest = Backoff(first: unknownDelay, longest: longestDelay).wait(after: push.attempts)
            let wait = retryAfter.map { max($0, shortest) } ?? wait(base, push.attempts, using: &generator)
            return again(push, after: wait, or: outcome, at: now)
        }
    }

    /// Returns another attempt, unless the limit is reached or the push would expire first.
    private func again(_ push: ClaimedPush, after wait: Int64, or outcome: Outcome, at now: Int64) -> Decision {
        var outcome = outcome
        if push.push.expires(by: now + wait) {
            outcome.state = .expired
        } else if outcome.attempts >= attemptLimit {
            outcome.state = .dead
        } else {
            let (attempts, unknownTries) = (outcome.attempts, outcome.unknownTries)
            return .settle(push.postponed(until: now + wait, attempts: attempts, unknownTries: unknownTries))
        }
        return .settle(Settlement(push, .ended(outcome)))
    }

    private func wait(_ base: Int64, _ tries: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        Backoff.spread(Backoff(first: base, longest: longestDelay).wait(after: tries), using: &generator)
    }

    /// Returns the wait in milliseconds after a number of refusals, at least 1, of a push's credentials.
    ///
    /// It is short compared with other waits, because the next attempt may be the one that shows that the key was
    /// replaced.
    func credentialsDelay(after refusals: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let backoff = Backoff(first: min(baseDelay, longestCredentialsDelay), longest: longestCredentialsDelay)
        return Backoff.spread(backoff.wait(after: refusals - 1), using: &generator)
    }
}
