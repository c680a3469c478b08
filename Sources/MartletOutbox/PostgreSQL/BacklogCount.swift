// SPDX-License-Identifier: Apache-2.0

/// The number of waiting pushes in all nodes together, which is counted at intervals.
struct BacklogCount {
    /// The number of pushes that have not ended: the last count, adjusted by this node's changes since.
    var pushes = 0
    private(set) var lanes: [Backlog] = []
    private var nextCount = ContinuousClock.now

    /// Whether the pushes are to be counted.
    var isDue: Bool { ContinuousClock.now >= nextCount }

    /// Records a count; the longer it took, the later is the next one.
    mutating func update(_ lanes: [Backlog], after time: Duration) {
        self.lanes = lanes
        pushes = lanes.reduce(0) { $0 + $1.count }
        nextCount = time > .milliseconds(100) ? .now + time * 20 : .now
    }
}
