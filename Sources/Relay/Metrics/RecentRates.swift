internal import Outbox

/// How many pushes a second went out lately, by lane: a value without a clock.
struct RecentRates {
    /// Looks back that far, in samples of about a second.
    private static let samples = 11

    private var totals: [(time: Int64, sent: [Lane: Int])] = []

    /// Notes how many were sent by now.
    mutating func note(_ sent: [Lane: Int], at now: Int64) {
        totals.append((now, sent))
        if totals.count > RecentRates.samples { totals.removeFirst() }
    }

    /// Pushes a second of a lane.
    func rate(of lane: Lane) -> Double {
        guard let first = totals.first, let last = totals.last, last.time > first.time else { return 0 }
        let count = last.sent[lane, default: 0] - first.sent[lane, default: 0]
        return (Double(count) * 10_000 / Double(last.time - first.time)).rounded() / 10
    }
}
