// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The health of the outbox, as the results of its use show it.
///
/// The status, `/readyz`, the incidents, the metrics and the log take from it whether pushes can be stored, so that
/// they agree.
struct StoreHealth: Sendable {
    enum Change: Equatable {
        /// The outbox has failed since a time in milliseconds since 1970; with the number of failures that were not
        /// logged before.
        case failed(problem: String, since: Int64, omitted: Int)
        /// The outbox can be used again.
        case recovered
    }

    /// The time without a write after which the outbox is checked, in milliseconds.
    private static let checkInterval: Int64 = 10_000

    /// The time without an error after which a small write shows that a full disk has room again, in milliseconds.
    private static let roomInterval: Int64 = 5_000

    /// A reason why no pushes are stored.
    private struct Problem {
        var text: String
        var kind: OutboxError.Kind
        /// The start in milliseconds since 1970.
        var since: Int64
    }

    /// The error of the last write, with the time of the first one since the last success; nil when it succeeded.
    private var failure: Problem?
    /// The commit that takes too long; nil when there is none.
    private var stall: Problem?
    /// Whether the stored data is damaged, which retrying cannot repair.
    private(set) var isDamaged = false
    /// Whether the database does not answer.
    private(set) var isUnreachable = false
    /// The time of the last success; nil when there was none.
    private var answeredAt: Int64?
    /// The time of the last error.
    private var failedAt: Int64 = 0
    /// The time of the last write or attempt to write.
    private var triedAt: Int64 = 0
    /// The limit for log lines about errors.
    private var throttle = GrowingThrottle()
    /// The limit for log lines about errors that requests of phones have met.
    var phoneErrors = LogThrottle()

    /// The reason why no pushes are stored: the error of the last write, or a commit that takes too long; nil when they
    /// are stored.
    var problem: String? { (failure ?? stall)?.text }
    /// The kind of the problem; nil when pushes are stored.
    var problemKind: OutboxError.Kind? { (failure ?? stall)?.kind }
    /// The start of the problem in milliseconds since 1970; nil when pushes are stored.
    var problemSince: Int64? { [failure?.since, stall?.since].compactMap(\.self).min() }
    /// Whether the last write has failed, and not only takes too long.
    var hasFailed: Bool { failure != nil }
    /// The start of a commit that takes too long, in milliseconds since 1970; nil when there is none.
    var stalledSince: Int64? { stall?.since }

    /// The error for pushes that are refused without a write, as the next check finds out whether the outbox works
    /// again.
    var refusal: OutboxError? {
        guard isDamaged || isUnreachable else { return nil }
        return OutboxError(isDamaged ? .damaged : .unreachable, problem ?? "")
    }

    /// Records the result of a write.
    ///
    /// - Parameters:
    ///   - error: The error; nil for a success.
    ///   - hasPushes: Whether the write stored new pushes. On a full disk, a smaller write may succeed between two that
    ///     fail, and shows nothing.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The change to log; nil when there is none.
    mutating func record(_ error: OutboxError?, hasPushes: Bool = false, at now: Int64) -> Change? {
        triedAt = now
        guard let error else {
            answeredAt = now
            isUnreachable = false
            // A write to a damaged file may succeed; the outbox stays marked as damaged nevertheless.
            guard !isDamaged, let failure else { return nil }
            let isRecent = (0..<StoreHealth.roomInterval).contains(now - failedAt)
            guard failure.kind != .full || hasPushes || !isRecent else { return nil }
            self.failure = nil
            return recovery()
        }
        failedAt = now
        let since = problemSince ?? now
        let text = describe(error)
        isUnreachable = error.kind == .unreachable
        isDamaged = isDamaged || error.kind == .damaged
        failure = Problem(text: text, kind: isDamaged ? .damaged : error.kind, since: since)
        return throttle.take(at: now).map { .failed(problem: text, since: since, omitted: $0) }
    }

    /// Records the oldest commit that takes too long; nil when there is none any more.
    ///
    /// - Parameters:
    ///   - error: The problem of the commit.
    ///   - start: The start of the commit in milliseconds since 1970.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The change to log; nil when there is none.
    mutating func recordStall(_ error: OutboxError?, since start: Int64, at now: Int64) -> Change? {
        guard let error else {
            guard stall != nil else { return nil }
            stall = nil
            return recovery()
        }
        let isNew = stall == nil && failure == nil
        let text = "\(error)"
        stall = Problem(text: text, kind: error.kind, since: start)
        guard isNew else { return nil }
        return throttle.take(at: now).map { .failed(problem: text, since: start, omitted: $0) }
    }

    /// Returns the change to log when the last problem has ended.
    private mutating func recovery() -> Change? {
        guard failure == nil, stall == nil else { return nil }
        throttle.end()
        return .recovered
    }

    /// Records that the outbox has answered a read.
    mutating func recordRead(at now: Int64) {
        answeredAt = now
    }

    /// Returns whether to write to the outbox to find out whether it works: after an error, or a time without a write.
    func isCheckDue(at now: Int64) -> Bool {
        // A clock that was set back must not stop the checks.
        hasFailed || !(0..<StoreHealth.checkInterval).contains(now - triedAt)
    }

    private func describe(_ error: OutboxError) -> String {
        guard error.kind == .unreachable else { return "\(error)" }
        let since = answeredAt.map { "since " + Timestamp.text($0) } ?? "yet"
        return "the database has not answered \(since): \(error)"
    }
}
