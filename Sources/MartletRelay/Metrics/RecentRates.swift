// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The number of pushes that were sent per second in the last ten seconds, by lane.
struct RecentRates {
    /// The time over which the rate is measured, in milliseconds.
    private static let window: Int64 = 10_000
    /// The shortest time between two totals, in milliseconds.
    private static let interval: Int64 = 1_000
    /// The longest time between two totals; after a longer one the clock was changed or the machine was suspended.
    private static let longestGap: Int64 = 60_000

    private var totals: [(time: Int64, sent: [Lane: Int])] = []

    /// Returns whether the last total is old enough to add another.
    func wantsTotals(at now: Int64) -> Bool {
        totals.last.map { !(0..<RecentRates.interval).contains(now - $0.time) } ?? true
    }

    /// Adds the number of pushes that were sent since the start.
    mutating func record(_ sent: [Lane: Int], at now: Int64) {
        if let last = totals.last, !(0...RecentRates.longestGap).contains(now - last.time) { totals = [] }
        totals.append((now, sent))
        while totals.count > 2, totals[1].time <= now - RecentRates.window { totals.removeFirst() }
    }

    /// Returns the pushes per second of a lane, to a tenth; 0 before there are two totals.
    func rate(of lane: Lane) -> Double {
        guard let first = totals.first, let last = totals.last, last.time > first.time else { return 0 }
        let count = last.sent[lane, default: 0] - first.sent[lane, default: 0]
        return (Double(count) * 10_000 / Double(last.time - first.time)).rounded() / 10
    }
}
