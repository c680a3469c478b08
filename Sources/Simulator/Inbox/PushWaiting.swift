/// What came of waiting for pushes.
public enum WaitResult: Sendable, Hashable {
    /// They came, oldest first.
    case found([ReceivedPush])
    /// The time is over, and too few came.
    case timedOut(Shortfall)

    /// What there was when the time was over.
    public struct Shortfall: Sendable, Hashable {
        /// What did come, oldest first.
        public let found: [ReceivedPush]
        /// What came close, closest first, five at most.
        public let nearMisses: [NearMiss]
        /// The number of the newest push then, to wait from.
        public let lastNumber: Int
    }

    /// A push that was nearly what was waited for.
    public struct NearMiss: Sendable, Hashable {
        /// The push.
        public let push: ReceivedPush
        /// The words of the query that are not true of it.
        public let misses: [String]
    }
}

/// Those who wait for pushes, and what for: a struct without I/O or a clock.
struct PushWaiting {
    /// Near misses that are worth telling.
    private static let nearMissLimit = 5

    /// What somebody waits for, and what has come of it.
    struct Wish {
        let query: PushQuery
        /// Only pushes with higher numbers count.
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

        /// What was waited for, once enough of it is there.
        var fulfilment: WaitResult? {
            found.count >= count ? .found(Array(found.prefix(count))) : nil
        }

        /// What to say when the time is over.
        func shortfall(among pushes: [ReceivedPush], lastNumber: Int) -> WaitResult {
            .timedOut(
                WaitResult.Shortfall(found: found, nearMisses: nearMisses(among: pushes), lastNumber: lastNumber)
            )
        }

        /// What came close.
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

    /// How many wait.
    var count: Int { waiters.count }

    /// Somebody waits; `finish` is called once.
    ///
    /// - Returns: A number to give up by.
    mutating func add(_ wish: Wish, finish: @escaping (WaitResult) -> Void) -> Int {
        lastID += 1
        waiters.append(Waiter(id: lastID, wish: wish, finish: finish))
        return lastID
    }

    /// Something has come in.
    mutating func arrived(_ push: ReceivedPush) {
        for index in waiters.indices { waiters[index].wish.arrived(push) }
        waiters.removeAll { waiter in
            guard let result = waiter.wish.fulfilment else { return false }
            waiter.finish(result)
            return true
        }
    }

    /// The time of one is over, or of all.
    mutating func giveUp(_ id: Int?, among pushes: [ReceivedPush], lastNumber: Int) {
        waiters.removeAll { waiter in
            guard id == nil || waiter.id == id else { return false }
            waiter.finish(waiter.wish.shortfall(among: pushes, lastNumber: lastNumber))
            return true
        }
    }
}
