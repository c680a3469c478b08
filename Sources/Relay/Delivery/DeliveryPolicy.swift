internal import APNs
internal import Outbox

/// When a push is tried again, and when it is not: a value that decides without a clock or a network.
///
/// All times are in milliseconds.
struct DeliveryPolicy: Sendable {
    /// What an answer means for a push and for its lane.
    enum Verdict: Equatable {
        /// The push has ended.
        case end(Outcome, isTokenDead: Bool)
        /// The push is to be tried again.
        case again(after: Int64, attempts: Int, unknownTries: Int)
        /// The lane cannot send for now, which is not the push's fault; nil for as long as such troubles take.
        case pause(Int64?)
        /// Apple refused the credentials: the push is at fault if Apple accepts others of the lane, else the lane is.
        case credentialsRefused(Outcome, Int64?)
    }

    /// Apple's advice after a fault of its own: "If you receive an HTTP status code of 500 or above, wait 15 minutes".
    ///
    /// Source: "Handling notification responses from APNs".
    static let serverErrorDelay: Int64 = 15 * 60 * 1_000

    /// Tries after which a push is given up, 16 by default: with the growing waits that takes two days.
    var attemptLimit = 16
    /// The wait after the first answer that says "later", doubled for each further one.
    var baseDelay: Int64 = 10_000
    /// The wait after a try that was never answered, doubled for each further one.
    var unknownDelay: Int64 = 1_000
    /// The longest wait.
    var longestDelay: Int64 = 4 * 3_600 * 1_000
    /// The longest wait after a refusal of the credentials, as long as the longest pause of a lane.
    var longestCredentialsDelay: Int64 = 60_000
    /// The number of refusals of its credentials, while Apple accepts other pushes of the lane, that end a push.
    var credentialsRefusalLimit = 3

    /// What an answer means.
    ///
    /// - Parameters:
    ///   - result: How the last try ended.
    ///   - push: The push, as it was before that try.
    ///   - now: The time.
    ///   - generator: The source of chance.
    /// - Returns: The verdict.
    func verdict(
        on result: SendResult,
        for push: ClaimedPush,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
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
            return .end(outcome, isTokenDead: false)
        case .neverSent(_, let retryAfter):
            return .pause(retryAfter)
        case .unknown:
            // What a crash left open is nothing that a longer wait would mend.
            let wait = wait(unknownDelay, min(push.unknownTries, push.attempts), using: &generator)
            let outcome = Outcome(.dead, reason: "NoAnswer", attempts: attempts, unknownTries: push.unknownTries + 1)
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
            if DeliveryPolicy.isOfToken(reason) { return .pause(retryAfter) }
            if status == 403 { return .credentialsRefused(outcome, retryAfter) }
            guard DeliveryPolicy.isPassing(status, reason) else {
                return .end(outcome, isTokenDead: status == 410)
            }
            let base = status >= 500 ? max(baseDelay, DeliveryPolicy.serverErrorDelay) : baseDelay
            let wait = retryAfter ?? wait(base, push.attempts, using: &generator)
            return again(push, after: wait, or: outcome, at: now)
        }
    }

    /// Another try, unless there have been enough, or it would come too late.
    private func again(_ push: ClaimedPush, after wait: Int64, or outcome: Outcome, at now: Int64) -> Verdict {
        var outcome = outcome
        if let end = push.push.expiresAt, now + wait >= end {
            outcome.state = .expired
            return .end(outcome, isTokenDead: false)
        }
        guard outcome.attempts < attemptLimit else {
            outcome.state = .dead
            return .end(outcome, isTokenDead: false)
        }
        return .again(after: wait, attempts: outcome.attempts, unknownTries: outcome.unknownTries)
    }

    private func wait(_ base: Int64, _ tries: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let wait = min(base << Int64(min(tries, 20)), max(base, longestDelay))
        // So that what failed together does not come back together.
        return wait + Int64.random(in: 0...max(1, wait / 4), using: &generator)
    }

    /// The time after which a push is sent again whose credentials Apple refused.
    ///
    /// It is short compared with other waits, because the next try may be the one that shows that the key was replaced.
    ///
    /// - Parameters:
    ///   - refusals: The number of such refusals, at least 1.
    ///   - generator: The source of randomness.
    /// - Returns: Milliseconds.
    func credentialsDelay(after refusals: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let wait = min(baseDelay << Int64(min(max(refusals - 1, 0), 20)), longestCredentialsDelay)
        return wait + Int64.random(in: 0...max(1, wait / 4), using: &generator)
    }

    /// Whether Apple refused the provider token for its age or for changing too often, which no push is at fault for.
    private static func isOfToken(_ reason: Reason?) -> Bool {
        reason?.advice == .renewToken || reason == .tooManyProviderTokenUpdates
    }

    /// Whether the same push may fare better later.
    private static func isPassing(_ status: Int, _ reason: Reason?) -> Bool {
        status == 429 || status >= 500 || (reason?.advice ?? .mendFirst) != .mendFirst
    }
}
