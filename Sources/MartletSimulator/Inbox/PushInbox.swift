/// The received pushes, with the waiters and followers to notify of them, without I/O or a clock.
///
/// The owner calls ``tell()`` soon after ``hasNews`` becomes true. Waiters are notified immediately.
struct PushInbox {
    private(set) var log: PushLog
    private var waiting = PushWaiting()
    private var followers = Followers()
    /// Whether there are events to pass to followers.
    var hasNews: Bool { followers.hasNews }
    /// The number of waiters and followers.
    var listenerCount: Int { waiting.count + followers.count }
    /// Whether there are followers.
    var hasFollowers: Bool { !followers.isEmpty }

    init(limit: Int, longestAge: Duration) {
        log = PushLog(limit: limit, longestAge: longestAge)
    }

    // MARK: Pushes

    /// Restores earlier pushes, oldest first, without notifying followers.
    mutating func restore(_ pushes: [ReceivedPush], lastNumber: Int) {
        log.restore(pushes, lastNumber: lastNumber)
    }

    /// Adds a push.
    mutating func receive(_ push: ReceivedPush) {
        prune(at: push.arrival)
        note(forgotten: log.append(push))
        waiting.arrived(push)
        // Without followers, no event is created.
        if hasFollowers { followers.note(.received(push)) }
    }

    /// Records a delivery event of a push; does nothing for a forgotten push.
    mutating func note(_ event: DeliveryEvent, on number: Int) {
        log.note(event, on: number)
        if !followers.isEmpty, let push = log[number] { followers.note(.changed(push)) }
    }

    /// Records that the answer to a push was not written.
    mutating func loseAnswer(of number: Int, to loss: AnswerLoss) {
        log.loseAnswer(of: number, to: loss)
        if !followers.isEmpty, let push = log[number] { followers.note(.changed(push)) }
    }

    /// Forgets the pushes that are too old at a time in seconds since 1970.
    mutating func prune(at now: Int64) {
        note(forgotten: log.prune(at: now))
    }

    /// Forgets the pushes that match a condition.
    ///
    /// - Returns: The number of forgotten pushes.
    mutating func remove(where isUnwanted: (ReceivedPush) -> Bool) -> Int {
        let (count, ranges) = log.remove(where: isUnwanted)
        for numbers in ranges { note(forgotten: numbers) }
        return count
    }

    private mutating func note(forgotten numbers: ClosedRange<Int>?) {
        if let numbers { followers.note(.forgotten(numbers)) }
    }

    // MARK: Followers and waiters

    /// Records another event.
    mutating func note(_ event: SimulatorEvent) {
        followers.note(event)
    }

    /// Adds a follower that is passed every later event until `tell` returns false.
    mutating func follow(_ tell: @escaping (SimulatorEvent) -> Bool) {
        followers.add(tell)
    }

    /// Passes the recorded events to the followers.
    mutating func tell() {
        followers.tell()
    }

    /// Waits for pushes that match a query.
    ///
    /// `finish` is called once, and immediately if the pushes are there already.
    ///
    /// - Returns: The identifier for ``giveUp(_:)``; nil when `finish` has been called.
    mutating func wait(
        for query: PushQuery,
        count: Int,
        after number: Int,
        canWait: Bool,
        finish: @escaping (WaitResult) -> Void
    ) -> Int? {
        let wish = PushWaiting.Wish(query, since: number, count: max(1, count), among: log.pushes)
        if let result = wish.fulfilment {
            finish(result)
            return nil
        }
        guard canWait else {
            finish(wish.shortfall(among: log.pushes, lastNumber: log.lastNumber))
            return nil
        }
        return waiting.add(wish, finish: finish)
    }

    /// Ends a wait by time-out; nil ends all.
    mutating func giveUp(_ id: Int?) {
        waiting.giveUp(id, among: log.pushes, lastNumber: log.lastNumber)
    }

    /// Passes the last events to the followers and removes them, because no more pushes will come.
    mutating func end() {
        tell()
        followers.removeAll()
    }
}
