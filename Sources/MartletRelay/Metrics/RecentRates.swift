// SPDX-License-Identifier: Apache-2.0

internal import MartletOutbox

/// The number of pushes that were sent and delivered per second in the last ten seconds, and the attempts of the last
/// minute, by lane.
struct RecentRates {
    /// The numbers of a lane since the start of the relay.
    struct Totals: Sendable, Hashable {
        /// Attempts that left the relay.
        var sent = 0
        /// Pushes that Apple accepted.
        var delivered = 0
        /// All attempts, and those of them that Apple did not accept.
        var attempts = 0
        var failures = 0

        /// Counts an attempt.
        mutating func attempted(wasSent: Bool, isAccepted: Bool) {
            attempts += 1
            if wasSent { sent += 1 }
            if !isAccepted { failures += 1 }
        }
    }

    /// The time over which the rate is measured, in milliseconds.
    private static let window: Int64 = 10_000
    /// The time over which failures are counted, in milliseconds.
    private static let failureWindow: Int64 = 60_000
    /// The shortest time between two totals, in milliseconds.
    private static let interval: Int64 = 1_000
    /// The longest time between two totals; after a longer one the clock was changed or the machine was suspended.
    private static let longestGap: Int64 = 60_000

    private var totals: [(time: Int64, lanes: [Lane: Totals])] = []
    /// Whether the relay has run for less than the time over which failures are counted: then all numbers are recent.
    private var isFromStart = true

    /// Returns whether the last total is old enough to add another.
    func wantsTotals(at now: Int64) -> Bool {
        totals.last.map { !(0..<RecentRates.interval).contains(now - $0.time) } ?? true
    }

    /// Adds the numbers since the start.
    mutating func record(_ lanes: [Lane: Totals], at now: Int64) {
        if let last = totals.last, !(0...RecentRates.longestGap).contains(now - last.time) {
            totals = []
            isFromStart = false
        }
        totals.append((now, lanes))
        while totals.count > 2, totals[1].time <= now - RecentRates.failureWindow {
            totals.removeFirst()
            isFromStart = false
        }
    }

    /// Returns the sent pushes per second of a lane, to a tenth; 0 before there are two totals.
    func rate(of lane: Lane) -> Double { rate(of: lane, \.sent) }

    /// Returns the delivered pushes per second of a lane, to a tenth; 0 before there are two totals.
    func deliveredRate(of lane: Lane) -> Double { rate(of: lane, \.delivered) }

    /// Returns the attempts of a lane in the last minute, or since its last outage ended if that was in this minute,
    /// and those of them that Apple did not accept.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - now: The numbers of the lane now.
    ///   - recovery: The numbers of the lane when its last outage ended; zeros without one.
    /// - Returns: The number of attempts, and that of failures among them.
    func recentAttempts(of lane: Lane, until now: Totals, since recovery: Totals) -> (all: Int, failed: Int) {
        let before = isRecent(recovery, of: lane) ? recovery : minuteStart(of: lane)
        return (max(0, now.attempts - before.attempts), max(0, now.failures - before.failures))
    }

    /// Returns whether the numbers of a lane are later than its first attempt in the last minute.
    func isRecent(_ numbers: Totals, of lane: Lane) -> Bool { numbers.attempts > minuteStart(of: lane).attempts }

    /// Returns the numbers of a lane at the start of the last minute.
    private func minuteStart(of lane: Lane) -> Totals {
        isFromStart ? Totals() : totals.first?.lanes[lane] ?? Totals()
    }

    private func rate(of lane: Lane, _ number: KeyPath<Totals, Int>) -> Double {
        guard let last = totals.last,
            let first = totals.last(where: { $0.time <= last.time - RecentRates.window }) ?? totals.first,
            last.time > first.time
        else { return 0 }
        let count = (last.lanes[lane] ?? Totals())[keyPath: number] - (first.lanes[lane] ?? Totals())[keyPath: number]
        return (Double(count) * 10_000 / Double(last.time - first.time)).rounded() / 10
    }
}
