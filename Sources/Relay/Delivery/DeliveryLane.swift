internal import Outbox

/// What is claimed, on its way and in trouble in one lane.
struct DeliveryLane {
    /// One urgency's share: what is claimed, and whether there may be more.
    struct Shelf {
        /// Claimed pushes in the order that they are to go, the next one last.
        private var reversed: [ClaimedPush] = []
        var isClaiming = false
        /// Whether something may have come that has not been claimed.
        var isStirred = true
        /// When the next one is due that has not been claimed.
        var nextDue: Int64?

        var count: Int { reversed.count }
        var isEmpty: Bool { reversed.isEmpty }

        mutating func add(_ pushes: [ClaimedPush]) {
            reversed.insert(contentsOf: pushes.reversed(), at: 0)
        }

        mutating func putBack(_ push: ClaimedPush) {
            reversed.append(push)
        }

        mutating func next() -> ClaimedPush? { reversed.popLast() }

        mutating func clear() {
            reversed = []
            isStirred = true
        }

        /// Whether more is to be claimed: there may be some, and half of what may be held has gone.
        func wantsMore(_ limit: Int, at now: Int64) -> Bool {
            let mayHaveMore = isStirred || (nextDue.map { $0 <= now } ?? false)
            return mayHaveMore && !isClaiming && count <= limit / 2
        }
    }

    /// The shelves, the most urgent first.
    private(set) var shelves = [Shelf](repeating: Shelf(), count: Urgency.allCases.count)
    /// Pushes that were sent and not answered yet.
    var inFlight = 0
    /// Troubles in a row, without a success between them.
    private(set) var troubles = 0
    /// Faults of Apple's in a row.
    private var faults = 0
    /// The reason why the lane does not send; nil when it does.
    private(set) var outage: LaneOutage?
    /// The time of the next try, in milliseconds since 1970; nil when the lane sends.
    var pausedUntil: Int64? { outage?.nextTry }
    /// Whether an operator has paused the lane.
    var isPausedManually = false
    private var credentials = CredentialRefusals()
    var rate: RateLimit?

    init(rate: RateLimit? = nil) {
        self.rate = rate
    }

    /// Changes one shelf where it is: a copy of it would be one of all that it holds.
    mutating func change(_ urgency: Urgency, _ body: (inout Shelf) -> Void) {
        body(&shelves[urgency.rawValue])
    }

    var hasClaimed: Bool { shelves.contains { !$0.isEmpty } }

    mutating func stir() {
        for index in shelves.indices { shelves[index].isStirred = true }
    }

    /// The next push to go, the most urgent first.
    mutating func next() -> ClaimedPush? {
        for index in shelves.indices {
            if let push = shelves[index].next() { return push }
        }
        return nil
    }

    /// Notes that the lane cannot send.
    ///
    /// - Parameters:
    ///   - result: The result that shows it.
    ///   - wait: The milliseconds that Apple, or the client, said to wait; nil when neither said so.
    ///   - now: The time.
    ///   - generator: The source of chance.
    mutating func pause(
        after result: SendResult,
        _ wait: Int64?,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        // The others that were on their way meet the same trouble, which counts once.
        // `outage` is read once, since the optimiser of Swift 6.3.1 fails on two reads here.
        let before = outage
        if let before, before.nextTry > now { return }
        let usual = min(Int64(250) << Int64(min(troubles, 8)), LaneOutage.longestPause(after: result))
        troubles += 1
        let wait = min(max(wait ?? usual, 1), 3_600_000)
        outage = LaneOutage(
            since: before?.since ?? now,
            after: result,
            nextTry: now + wait + Int64.random(in: 0...max(1, wait / 4), using: &generator)
        )
    }

    /// Makes the next try due now, since its cause may be gone.
    mutating func tryAgain(at now: Int64) {
        outage?.nextTry = now
        troubles = 0
    }

    /// Notes that the clock was set back: the rest is no longer for that, and what was to come later may be due now.
    mutating func setBack(by time: Int64) {
        outage?.nextTry -= time
        outage?.since -= time
        stir()
    }

    /// Notes that Apple has a fault of its own; a lane that meets one after the other is paused.
    mutating func falter(
        after result: SendResult,
        _ wait: Int64?,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        faults += 1
        if faults >= 3 { pause(after: result, wait, at: now, using: &generator) }
    }

    /// Notes that Apple refused the credentials that were sent with a push.
    ///
    /// - Returns: What is at fault, and the number of refusals of this push.
    mutating func refuseCredentials(of number: Int64) -> (fault: CredentialRefusals.Fault, count: Int) {
        credentials.refused(number, isTrial: outage != nil)
    }

    /// Forgets the refusals of a push that has ended.
    mutating func forgetRefusals(of number: Int64) {
        credentials.forget(number)
    }

    /// Notes that Apple has answered in a way that shows the lane to be sound.
    mutating func recover() {
        credentials.accepted()
        troubles = 0
        faults = 0
        outage = nil
    }

    /// Whether the lane is paused, by an operator or after an error.
    func sendsNothing(at now: Int64) -> Bool { isPausedManually || pausedUntil.map { now < $0 } ?? false }

    /// Whether a push may go now; after a trouble one goes first, to see.
    func maySend(_ limit: Int, at now: Int64) -> Bool {
        guard hasClaimed, !isPausedManually else { return false }
        guard let pausedUntil else { return inFlight < limit }
        return now >= pausedUntil && inFlight < 1
    }
}
