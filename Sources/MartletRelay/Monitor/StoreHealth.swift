// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The health of the outbox, as the results of its use show it.
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

    /// The error of the last write; nil when it succeeded.
    private(set) var problem: String?
    /// The kind of the last write's error; nil when it succeeded.
    private(set) var problemKind: OutboxError.Kind?
    /// The time of the first error since the last success, in milliseconds since 1970; nil when there is none.
    private(set) var problemSince: Int64?
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
            guard !isDamaged, problem != nil else { return nil }
            let isRecent = (0..<StoreHealth.roomInterval).contains(now - failedAt)
            guard problemKind != .full || hasPushes || !isRecent else { return nil }
            problem = nil
            problemKind = nil
            problemSince = nil
            throttle.end()
            return .recovered
        }
        failedAt = now
        let since = problemSince ?? now
        problemSince = since
        let text = describe(error)
        problem = text
        isUnreachable = error.kind == .unreachable
        isDamaged = isDamaged || error.kind == .damaged
        problemKind = isDamaged ? .damaged : error.kind
        return throttle.take(at: now).map { .failed(problem: text, since: since, omitted: $0) }
    }

    /// Records that the outbox has answered a read.
    mutating func recordRead(at now: Int64) {
        answeredAt = now
    }

    /// Returns whether to write to the outbox to find out whether it works: after an error, or a time without a write.
    func isCheckDue(at now: Int64) -> Bool {
        // A clock that was set back must not stop the checks.
        problem != nil || !(0..<StoreHealth.checkInterval).contains(now - triedAt)
    }

    private func describe(_ error: OutboxError) -> String {
        guard error.kind == .unreachable else { return "\(error)" }
        let since = answeredAt.map { "since " + Timestamp.text($0) } ?? "yet"
        return "the database has not answered \(since): \(error)"
    }
}
