/// What came of waiting for pushes.
public enum WaitResult: Sendable, Hashable {
    /// They came, oldest first.
    case found([ReceivedPush])
    /// The time is over; these came close, closest first, with the words of the query that are not true of them.
    case timedOut(nearMisses: [NearMiss])

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

    /// What somebody waits for.
    struct Wish {
        var query: PushQuery
        /// Only pushes with higher numbers count.
        var since: Int
        var count: Int

        /// The pushes that were waited for, if enough are there.
        func fulfilled(by pushes: [ReceivedPush]) -> [ReceivedPush]? {
            let found = pushes.filter { $0.number > since && query.matches($0) }
            return found.count >= count ? Array(found.prefix(count)) : nil
        }

        /// What to say when the time is over.
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
        let wish: Wish
        let finish: (WaitResult) -> Void
    }

    private var waiters: [Waiter] = []
    private var lastID = 0

    /// Somebody waits; `finish` is called once.
    ///
    /// - Returns: A number to give up by.
    mutating func add(_ wish: Wish, finish: @escaping (WaitResult) -> Void) -> Int {
        lastID += 1
        waiters.append(Waiter(id: lastID, wish: wish, finish: finish))
        return lastID
    }

    /// Something has come in.
    mutating func arrived(_ push: ReceivedPush, among pushes: () -> [ReceivedPush]) {
        guard waiters.contains(where: { $0.wish.query.matches(push) }) else { return }
        let pushes = pushes()
        waiters.removeAll { waiter in
            guard let found = waiter.wish.fulfilled(by: pushes) else { return false }
            waiter.finish(.found(found))
            return true
        }
    }

    /// The time of one is over, or of all.
    mutating func giveUp(_ id: Int?, among pushes: [ReceivedPush]) {
        waiters.removeAll { waiter in
            guard id == nil || waiter.id == id else { return false }
            waiter.finish(.timedOut(nearMisses: waiter.wish.nearMisses(among: pushes)))
            return true
        }
    }
}
