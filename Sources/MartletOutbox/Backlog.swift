/// The waiting pushes of a lane.
package struct Backlog: Sendable, Hashable {
    package var lane: Lane
    /// The number of pushes that have not ended.
    package var count: Int
    /// The time when the push that has waited longest became due; nil while all pushes wait behind others.
    package var oldest: Int64?

    package init(lane: Lane, count: Int, oldest: Int64?) {
        self.lane = lane
        self.count = count
        self.oldest = oldest
    }
}
