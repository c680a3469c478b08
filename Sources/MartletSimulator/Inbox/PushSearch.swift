// SPDX-License-Identifier: Apache-2.0

/// A search for pushes, with the pushes that match so far.
struct PushSearch {
    /// The maximum number of near misses in a result.
    private static let nearMissLimit = 5

    private let query: PushQuery
    /// The number after which pushes count.
    private let start: Int
    private let count: Int
    /// The matching pushes, oldest first.
    private(set) var found: [ReceivedPush]

    /// Searches pushes.
    init(_ query: PushQuery, after number: Int, count: Int, among pushes: [ReceivedPush]) {
        self.query = query
        start = number
        self.count = count
        found = pushes.filter { $0.number > number && query.matches($0) }
    }

    /// Adds a push if it matches.
    mutating func receive(_ push: ReceivedPush) {
        if push.number > start, query.matches(push) { found.append(push) }
    }

    /// The result, once enough pushes match; nil before.
    var result: SimulatedAPNs.WaitResult? {
        found.count >= count ? .found(Array(found.prefix(count))) : nil
    }

    /// Returns the result of a wait that ends before enough pushes match.
    func shortfall(in log: PushLog) -> SimulatedAPNs.WaitResult {
        .timedOut(
            SimulatedAPNs.WaitResult.Shortfall(
                found: found,
                nearMisses: nearMisses(among: log.pushes(after: start)),
                lastNumber: log.lastNumber
            )
        )
    }

    /// Returns the pushes that almost match, closest first.
    func nearMisses(among pushes: [ReceivedPush]) -> [SimulatedAPNs.WaitResult.NearMiss] {
        let close = pushes.filter { $0.number > start }
            .map { SimulatedAPNs.WaitResult.NearMiss(push: $0, misses: query.misses($0)) }
            .filter { !$0.misses.isEmpty }
            .sorted { ($0.misses.count, -$0.push.number) < ($1.misses.count, -$1.push.number) }
        return Array(close.prefix(PushSearch.nearMissLimit))
    }
}
