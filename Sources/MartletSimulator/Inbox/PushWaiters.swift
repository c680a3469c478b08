// SPDX-License-Identifier: Apache-2.0

/// The callers that wait for pushes, without I/O or a clock.
struct PushWaiters {
    private struct Waiter {
        let id: Int
        var search: PushSearch
        let finish: (SimulatedAPNs.WaitResult) -> Void
    }

    private var waiters: [Waiter] = []
    private var lastID = 0

    /// The number of waiters.
    var count: Int { waiters.count }

    /// Adds a waiter, whose `finish` is called once; returns the identifier for ``end(_:with:)``.
    mutating func add(_ search: PushSearch, finish: @escaping (SimulatedAPNs.WaitResult) -> Void) -> Int {
        lastID += 1
        waiters.append(Waiter(id: lastID, search: search, finish: finish))
        return lastID
    }

    /// Passes a received push to the waiters.
    mutating func receive(_ push: ReceivedPush) {
        for index in waiters.indices { waiters[index].search.receive(push) }
        waiters.removeAll { waiter in
            guard let result = waiter.search.result else { return false }
            waiter.finish(result)
            return true
        }
    }

    /// Ends a wait before enough pushes match; a nil identifier ends all.
    mutating func end(_ id: Int?, with log: PushLog) {
        waiters.removeAll { waiter in
            guard id == nil || waiter.id == id else { return false }
            waiter.finish(waiter.search.shortfall(in: log))
            return true
        }
    }
}
