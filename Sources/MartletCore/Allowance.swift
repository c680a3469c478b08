// SPDX-License-Identifier: Apache-2.0

/// A number that one is taken from at a time, and that grows by one in each interval up to a limit.
package struct Allowance: Sendable, Hashable {
    private let limit: Int
    private let interval: Int64
    private var count: Int
    /// The time from which the current interval counts.
    private var since: Int64

    /// Creates an allowance that has reached its limit.
    ///
    /// - Parameters:
    ///   - limit: The limit, at least 1.
    ///   - interval: The interval, at least 1, in the unit of the times.
    ///   - now: The time.
    package init(_ limit: Int, interval: Int64, at now: Int64) {
        self.limit = max(1, limit)
        self.interval = max(1, interval)
        count = self.limit
        since = now
    }

    /// Takes one; returns false when none is left.
    package mutating func take(at now: Int64) -> Bool {
        // A clock that was set back adds nothing.
        let elapsed = now > since ? now.subtractingReportingOverflow(since).partialValue : 0
        let gained = max(0, elapsed) / interval
        if gained > 0 {
            count = gained >= Int64(limit) ? limit : min(limit, count + Int(gained))
            since = count == limit ? now : since + gained * interval
        }
        guard count > 0 else { return false }
        if count == limit { since = now }
        count -= 1
        return true
    }
}
