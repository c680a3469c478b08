/// The result of waiting for pushes.
public enum WaitResult: Sendable, Hashable {
    /// The pushes, oldest first.
    case found([ReceivedPush])
    /// The wait timed out before enough pushes came.
    case timedOut(Shortfall)

    /// The state of a wait when it timed out.
    public struct Shortfall: Sendable, Hashable {
        /// The matching pushes, oldest first.
        public let found: [ReceivedPush]
        /// The pushes that almost matched, closest first, at most five.
        public let nearMisses: [NearMiss]
        /// The number of the newest push at that time, from which the next wait can start.
        public let lastNumber: Int
    }

    /// A push that almost matched the query.
    public struct NearMiss: Sendable, Hashable {
        /// The push.
        public let push: ReceivedPush
        /// The terms of the query that the push does not match.
        public let misses: [String]
    }
}

/// The waiters for pushes, without I/O or a clock.
struct PushWaiting {
    /// The maximum number of near misses in a result.
    private static let nearMissLimit = 5

    /// A request for pushes, with the pushes that match so far.
    struct Wish {
        let query: PushQuery
        /// The number after which pushes count.
        let since: Int
        let count: Int
        private(set) var found: [ReceivedPush]

        init(_ query: PushQuery, since: Int, count: Int, among pushes: [ReceivedPush]) {
            self.query = query
            self.since = since
            self.count = count
            found = pushes.filter { $0.number > since && query.matches($0) }
        }

        mutating func arrived(_ push: ReceivedPush) {
            if push.number > since, query.matches(push) { found.append(push) }
        }

        /// The result, once enough pushes match; nil before.
        var fulfilment: WaitResult? {
            found.count >= count ? .found(Array(found.prefix(count))) : nil
        }

        /// Returns the result of a wait that times out.
        func shortfall(among pushes: [ReceivedPush], lastNumber: Int) -> WaitResult {
            .timedOut(
                WaitResult.Shortfall(found: found, nearMisses: nearMisses(among: pushes), lastNumber: lastNumber)
            )
        }

        /// Returns the pushes that almost match, closest first.
        func nearMisses(among pushes: [ReceivedPush]) -> [WaitResult.NearMiss] {
            let close = pushes.filter { $0.number > since }
                .map { WaitResult.NearMiss(push: $0, misses: query.misses($0)) }
                .filter { !$0.misses.isEmpty }
                .sorted { ($0.misses.count, -$0.push.number) < ($1.misses.count, -$1.push.number) }
            return Array(close.prefix(PushWaiting.nearMissLimit))
        }
    }

    private struct Waiter {
        let id: Int
        var wish: Wish
        let finish: (WaitResult) -> Void
    }

    private var waiters: [Waiter] = []
    private var lastID = 0

    /// The number of waiters.
    var count: Int { waiters.count }

    /// Adds a waiter, whose `finish` is called once.
    ///
    /// - Returns: The identifier for `giveUp`.
    mutating func add(_ wish: Wish, finish: @escaping (WaitResult) -> Void) -> Int {
        lastID += 1
        waiters.append(Waiter(id: lastID, wish: wish, finish: finish))
        return lastID
    }

    /// Passes a received push to the waiters.
    mutating func arrived(_ push: ReceivedPush) {
        for index in waiters.indices { waiters[index].wish.arrived(push) }
        waiters.removeAll { waiter in
            guard let result = waiter.wish.fulfilment else { return false }
            waiter.finish(result)
            return true
        }
    }

    /// Ends a wait by time-out; a nil identifier ends all.
    mutating func giveUp(_ id: Int?, among pushes: [ReceivedPush], lastNumber: Int) {
        waiters.removeAll { waiter in
            guard id == nil || waiter.id == id else { return false }
            waiter.finish(waiter.wish.shortfall(among: pushes, lastNumber: lastNumber))
            return true
        }
    }
}
