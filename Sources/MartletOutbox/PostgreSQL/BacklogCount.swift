// SPDX-License-Identifier: Apache-2.0

/// The number of waiting pushes in all nodes together, which is counted at intervals.
struct BacklogCount {
    /// The number of pushes up to which each count is new: a count that takes long then says more about the machine
    /// than about the pushes.
    private static let smallCount = 10_000

    /// The number of pushes that have not ended: the last count, adjusted by this node's changes since.
    var pushes = 0
    private(set) var lanes: [Backlog] = []
    private var nextCount = ContinuousClock.now

    /// Whether the pushes are to be counted.
    var isDue: Bool { ContinuousClock.now >= nextCount }

    /// Records a count; the longer that of many pushes took, the later is the next one.
    mutating func update(_ lanes: [Backlog], after time: Duration) {
        self.lanes = lanes
        pushes = lanes.reduce(0) { $0 + $1.count }
        nextCount = pushes > BacklogCount.smallCount && time > .milliseconds(100) ? .now + time * 20 : .now
    }
}
