/// The waiting pushes of a lane.
package struct Backlog: Sendable, Hashable {
    package var lane: Lane
    /// The number of pushes that have not ended.
    package var count: Int
    /// The earliest time when a push is due, in the future while all pushes wait for their time or for another attempt;
    /// nil while all wait behind others.
    package var oldest: Int64?

    package init(lane: Lane, count: Int, oldest: Int64?) {
        self.lane = lane
        self.count = count
        self.oldest = oldest
    }
}
