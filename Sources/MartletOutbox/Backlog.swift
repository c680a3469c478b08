// SPDX-License-Identifier: Apache-2.0

/// The waiting pushes of a lane.
package struct Backlog: Sendable, Hashable {
    package var lane: Lane
    /// The number of pushes that have not ended.
    package var count: Int
    /// The earliest time when a push is due, in the future while all pushes wait for their time or for another attempt;
    /// nil while all wait behind others.
    package var oldest: Int64?

    /// The number of pushes that have been sent, and wait for another attempt or are in flight again.
    package var retrying: Int
    /// The time when the oldest of these was accepted; nil without one.
    package var oldestRetry: Int64?
    /// The number of pushes that wait behind others with their order key.
    package var blocked: Int

    package init(
        lane: Lane,
        count: Int,
        oldest: Int64?,
        retrying: Int = 0,
        oldestRetry: Int64? = nil,
        blocked: Int = 0
    ) {
        self.lane = lane
        self.count = count
        self.oldest = oldest
        self.retrying = retrying
        self.oldestRetry = oldestRetry
        self.blocked = blocked
    }
}
