// SPDX-License-Identifier: Apache-2.0

/// The pushes that the relay refuses because the outbox has reached its limit.
///
/// The queue counts as full until no push was refused for a while. Times are milliseconds since 1970.
struct FullQueue: Sendable {
    /// The time in which the queue is full.
    struct Period: Sendable, Hashable {
        /// The times of the first and the last refusal.
        var since: Int64
        var last: Int64
        /// The number of refused pushes by caller.
        var refused: [String: Int] = [:]

        var total: Int { refused.values.reduce(0, +) }

        /// The caller with the most refused pushes.
        var busiestCaller: String? { refused.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
    }

    /// The time without a refusal after which the queue no longer counts as full, in milliseconds.
    private static let memory: Int64 = 10_000

    private var period: Period?

    /// Counts refused pushes.
    mutating func refuse(_ count: Int, from caller: String, at now: Int64) {
        guard count > 0 else { return }
        var period = current(at: now) ?? Period(since: now, last: now)
        period.last = now
        period.refused[caller, default: 0] += count
        self.period = period
    }

    /// Returns the time in which the queue is full; nil when it is not.
    func current(at now: Int64) -> Period? {
        // A clock that was set back makes no period last for longer.
        period.flatMap { (0..<FullQueue.memory).contains(now - $0.last) ? $0 : nil }
    }

    /// Returns whether the relay refuses all pushes now.
    func isRefusing(at now: Int64) -> Bool {
        period.map { (0..<LoadGate.fullTime).contains(now - $0.last) } ?? false
    }
}
