/// What came in, and those who want to know of it: a struct without I/O or a clock.
///
/// Its owner calls ``tell()`` soon after ``hasNews`` has become true; whoever waits for a push hears of it at once.
struct PushInbox {
    private(set) var log: PushLog
    private var waiting = PushWaiting()
    private var followers = Followers()
    /// Whether followers are still to be told something.
    var hasNews: Bool { followers.hasNews }
    /// Those who wait, or follow.
    var listenerCount: Int { waiting.count + followers.count }
    /// Whether somebody listens.
    var hasFollowers: Bool { !followers.isEmpty }

    init(limit: Int, longestAge: Duration) {
        log = PushLog(limit: limit, longestAge: longestAge)
    }

    // MARK: Pushes

    /// Begins with what came in earlier, oldest first; nobody is told.
    mutating func restore(_ pushes: [ReceivedPush], lastNumber: Int) {
        log.restore(pushes, lastNumber: lastNumber)
    }

    /// Takes in a push.
    mutating func receive(_ push: ReceivedPush) {
        prune(at: push.arrival)
        note(forgotten: log.append(push))
        waiting.arrived(push)
        // Nothing is made for nobody.
        if hasFollowers { followers.note(.received(push)) }
    }

    /// Notes what became of a push; one that has been forgotten stays so.
    mutating func note(_ event: DeliveryEvent, on number: Int) {
        log.note(event, on: number)
        if !followers.isEmpty, let push = log[number] { followers.note(.changed(push)) }
    }

    /// Notes that the answer to a push was not written.
    mutating func loseAnswer(of number: Int, to loss: AnswerLoss) {
        log.loseAnswer(of: number, to: loss)
        if !followers.isEmpty, let push = log[number] { followers.note(.changed(push)) }
    }

    /// Forgets what is too old at this time in seconds since 1970.
    mutating func prune(at now: Int64) {
        note(forgotten: log.prune(at: now))
    }

    /// Forgets the pushes that a condition is true of.
    ///
    /// - Returns: How many those were.
    mutating func remove(where isUnwanted: (ReceivedPush) -> Bool) -> Int {
        let (count, ranges) = log.remove(where: isUnwanted)
        for numbers in ranges { note(forgotten: numbers) }
        return count
    }

    private mutating func note(forgotten numbers: ClosedRange<Int>?) {
        if let numbers { followers.note(.forgotten(numbers)) }
    }

    // MARK: Those who want to know

    /// Notes what happened besides.
    mutating func note(_ event: SimulatorEvent) {
        followers.note(event)
    }

    /// Adds one who is told of everything from now on, until `tell` returns false.
    mutating func follow(_ tell: @escaping (SimulatorEvent) -> Bool) {
        followers.add(tell)
    }

    /// Tells the followers what has happened.
    mutating func tell() {
        followers.tell()
    }

    /// Has somebody wait for what is wished for; `finish` is called once, at once when it is there already.
    ///
    /// - Returns: A number to give up by; nil when nobody waits any more.
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

    /// The time of one who waits is over, or of all.
    mutating func giveUp(_ id: Int?) {
        waiting.giveUp(id, among: log.pushes, lastNumber: log.lastNumber)
    }

    /// Nothing more will come.
    mutating func end() {
        tell()
        followers.removeAll()
    }
}
