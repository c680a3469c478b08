// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The claimed pushes and the errors of one lane.
struct DeliveryLane {
    /// The queue of one urgency: the claimed pushes, and whether there may be more.
    struct ClaimQueue {
        /// The claimed pushes with the times of their claims in reverse order of sending, the next one last.
        private var reversed: [(push: ClaimedPush, since: Int64)] = []
        /// The maximum number of claimed pushes.
        ///
        /// Each queue has its own, because less urgent pushes wait for long while more urgent ones are sent.
        fileprivate(set) var window: SendWindow
        var isClaiming = false
        /// Whether there may be pushes that are due and not claimed.
        var isReady = true
        /// The time when the next unclaimed push is due.
        var nextDue: Int64?

        /// Creates an empty queue with the maximum number of claimed pushes.
        init(limit: Int) {
            window = SendWindow(limit: limit)
        }

        var count: Int { reversed.count }
        var isEmpty: Bool { reversed.isEmpty }

        /// The time when the next push has to be returned; nil without a push.
        var holdEnd: Int64? { reversed.last.map { $0.since + DeliveryLane.holdTime } }

        mutating func add(_ pushes: [ClaimedPush], at now: Int64) {
            reversed.insert(contentsOf: pushes.reversed().map { ($0, now) }, at: 0)
        }

        /// Puts back a push that was in flight, and is returned without another attempt: its hold time is over.
        mutating func putBack(_ push: ClaimedPush, at now: Int64) {
            reversed.append((push, now - DeliveryLane.holdTime))
        }

        mutating func next() -> ClaimedPush? { reversed.popLast()?.push }

        /// Moves the times back with a clock that was set back.
        mutating func setBack(by time: Int64) {
            for index in reversed.indices { reversed[index].since -= time }
            window.setBack(by: time)
        }

        mutating func clear() {
            reversed = []
            isReady = true
        }

        /// Returns whether to claim more: there may be due pushes, and at most half of the limit is held.
        func wantsMore(_ limit: Int, at now: Int64) -> Bool {
            let mayHaveMore = isReady || (nextDue.map { $0 <= now } ?? false)
            return mayHaveMore && !isClaiming && count <= limit / 2
        }
    }

    /// The queues, most urgent first.
    private(set) var queues: [ClaimQueue]
    var inFlight = 0
    /// The number of consecutive errors without a success.
    private(set) var failures = 0
    /// The number of consecutive server errors of Apple.
    private var serverErrors = 0
    /// The number of consecutive device tokens that Apple refused.
    private var badTokens = 0
    /// The time of the first of these, in milliseconds since 1970; nil when there is none.
    private var badTokensSince: Int64?
    /// The reason why the lane does not send; nil when it does.
    private(set) var outage: LaneOutage?
    /// The time since which pushes are sent and none is answered, in milliseconds since 1970; nil when none waits for
    /// an answer.
    private var unansweredSince: Int64?
    /// The start of an outage that a previous process of this relay has noticed; nil once Apple has processed a push.
    private var earlierOutage: Int64?
    /// The time of the first push since Apple's last answer whose connection was lost; nil when there is none.
    private var lostSince: Int64?
    /// The time of the next attempt, in milliseconds since 1970; nil when the lane sends.
    var pausedUntil: Int64? { outage?.nextTry }
    /// Whether an operator has paused the lane.
    var isPausedManually = false {
        // The pushes that Apple left unanswered before a pause do not tell whether it answers after it.
        didSet {
            guard oldValue, !isPausedManually else { return }
            unansweredSince = nil
            unstartedSince = nil
        }
    }
    var credentials = CredentialRefusals()
    var rate: RateLimit?
    /// The maximum number of pushes in flight.
    private(set) var window: SendWindow
    /// The time since which pushes are returned because no connection takes them; nil when none is returned.
    private var unstartedSince: Int64?

    /// The time after its claim in which a push must be passed to the client, in milliseconds.
    ///
    /// A push is returned afterwards, because its phone may have got another user since the claim.
    static let holdTime: Int64 = 250

    /// The time without an answer after which the lane counts as down, in milliseconds.
    ///
    /// Apple answers within a second. A push that is not answered fails only after the timeout of the client.
    static let silenceLimit: Int64 = 10_000

    /// The number of consecutive refused device tokens after which the lane is down: they are probably tokens of the
    /// other environment.
    static let badTokenLimit = 100

    /// The time after a lost connection in which further losses count as the same one, in milliseconds.
    ///
    /// All pushes on a connection are lost together, and several connections when a server of Apple's restarts.
    static let lossInterval: Int64 = 500
    /// The time after which a lost connection is not counted any more, in milliseconds; a lost push is sent again
    /// within two seconds.
    static let lossMemory: Int64 = 60_000

    init(rate: RateLimit? = nil, limits: DeliveryMachine.Limits = DeliveryMachine.Limits()) {
        self.rate = rate
        queues = [ClaimQueue](repeating: ClaimQueue(limit: limits.claimedAhead), count: Urgency.allCases.count)
        window = SendWindow(limit: limits.inFlightPerLane)
    }

    /// Changes a queue in place, because a copy would copy all pushes that it holds.
    mutating func change(_ urgency: Urgency, _ body: (inout ClaimQueue) -> Void) {
        body(&queues[urgency.rawValue])
    }

    /// The time when the next claimed push has to be returned; nil without one.
    var holdEnd: Int64? { queues.lazy.compactMap(\.holdEnd).min() }

    var hasClaimed: Bool { queues.contains { !$0.isEmpty } }

    mutating func markReady() {
        for index in queues.indices { queues[index].isReady = true }
    }

    /// Removes and returns the next push to send, most urgent first.
    mutating func next() -> ClaimedPush? {
        for index in queues.indices {
            if let push = queues[index].next() { return push }
        }
        return nil
    }

    /// Removes and returns the next push whose hold time has passed.
    mutating func nextReturn(at now: Int64) -> ClaimedPush? {
        guard let index = queues.firstIndex(where: { queue in queue.holdEnd.map { $0 <= now } ?? false }) else {
            return nil
        }
        let count = queues[index].count
        // A lane that is down claims a single push.
        if outage == nil { queues[index].window.returned(of: count, at: now) }
        return queues[index].next()
    }

    /// Records that a push that was passed to the client was not sent, because no connection had a free stream.
    mutating func notStarted(at now: Int64) {
        // A lane that is down sends a single push.
        if outage == nil { window.returned(of: inFlight, at: now) }
        inFlight -= 1
        unstartedSince = unstartedSince ?? unansweredSince
        if inFlight == 0 { unansweredSince = nil }
    }

    /// Records that the lane has nothing to deliver.
    mutating func recordIdleness() {
        unstartedSince = nil
    }

    /// Whether pushes are returned because no connection takes them.
    var isReturningUnstarted: Bool { unstartedSince != nil }

    /// Records that a push of an urgency was passed to the client.
    mutating func sent(_ urgency: Urgency, at now: Int64) {
        queues[urgency.rawValue].window.succeeded()
        inFlight += 1
        if unansweredSince == nil { unansweredSince = now }
    }

    /// Records the result of an attempt to send a push; a final one is not sent again.
    mutating func ended(_ result: SendResult, isFinal: Bool, at now: Int64) {
        inFlight -= 1
        switch result {
        case .accepted, .refused:
            unansweredSince = inFlight > 0 ? now : nil
            unstartedSince = nil
            lostSince = nil
            window.succeeded()
        case .neverSent, .unknown, .lost:
            guard inFlight == 0 else { return }
            // A lane with nothing left to deliver is not waiting for an answer, and neither is one that lost its
            // connections; one without an answer for long still has none.
            if isFinal ? !hasClaimed : result == .lost && silence(at: now) == nil { unansweredSince = nil }
        }
    }

    /// Returns the reason why the lane delivers nothing; nil when it delivers or has nothing to deliver.
    ///
    /// Silence of Apple is reported and changes nothing about what is sent: each push has a timeout.
    func problem(at now: Int64) -> LaneProblem? {
        if let outage {
            let nextTry = outage.nextTry > now ? outage.nextTry : nil
            return LaneProblem(since: outage.since, reason: outage.reason, nextTry: nextTry, lastTry: outage.lastTry)
        }
        return silence(at: now).map { LaneProblem(since: $0, reason: SendResult.noAnswer, nextTry: nil) }
    }

    /// The time since which Apple has not answered, if that is long ago.
    private func silence(at now: Int64) -> Int64? {
        let since = min(unansweredSince ?? now, unstartedSince ?? now)
        return now - since >= DeliveryLane.silenceLimit ? since : nil
    }

    /// Whether no push is claimed or in flight, and no attempt of a lane that is down is awaited.
    func isIdle(at now: Int64) -> Bool {
        inFlight == 0 && !hasClaimed && !queues.contains(where: \.isClaiming) && pausedUntil.map { $0 <= now } ?? true
    }

    /// Ends an outage, because another relay has delivered pushes and this one has none that could show it.
    mutating func endOutage() {
        // A single refused token would begin the next outage otherwise. A lane that is not down keeps the count: it
        // often has no pushes for a moment.
        if outage != nil { (badTokens, badTokensSince) = (0, nil) }
        outage = nil
        unansweredSince = nil
        unstartedSince = nil
        lostSince = nil
        earlierOutage = nil
        failures = 0
        serverErrors = 0
    }

    /// Records that Apple refused a device token; pauses the lane after many in a row, and after each further one.
    mutating func recordBadToken(
        after result: SendResult,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        let (count, since) = (badTokens + 1, badTokensSince ?? now)
        if count < DeliveryLane.badTokenLimit { recover() }
        (badTokens, badTokensSince) = (count, since)
        guard count >= DeliveryLane.badTokenLimit else { return }
        // The pushes that were refused before are lost because of the same cause.
        pause(after: result, LaneOutage.badTokenPause, since: since, at: now, using: &generator)
    }

    /// Pauses the lane after an error, for the time in milliseconds that Apple or the client asked for, if any; the
    /// outage may have begun before.
    mutating func pause(
        after result: SendResult,
        _ wait: Int64?,
        since start: Int64? = nil,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        // The other pushes in flight fail for the same reason, which counts once. `outage` is read once, since the
        // optimizer of Swift 6.3.1 fails on two reads here.
        let before = outage
        if let before, before.nextTry > now { return }
        let usual = Backoff(first: 250, longest: LaneOutage.longestPause(after: result)).wait(after: failures)
        failures += 1
        let wait = min(max(wait ?? usual, 1), 3_600_000)
        outage = LaneOutage(
            since: before?.since ?? earlierOutage ?? start ?? lostSince ?? silence(at: now) ?? now,
            after: result,
            at: now,
            nextTry: now + Backoff.spread(wait, using: &generator)
        )
    }

    /// The start of the outage, or of one before the relay was started that may last; nil without one.
    var outageStart: Int64? { outage?.since ?? earlierOutage }

    /// Records that the lane was down when the relay was stopped.
    mutating func recordEarlierOutage(since: Int64) {
        earlierOutage = since
        if let outage, outage.since > since { self.outage?.since = since }
    }

    /// Makes the next attempt due now, since the cause of the error may be gone.
    mutating func tryAgain(at now: Int64) {
        outage?.nextTry = now
        failures = 0
        (badTokens, badTokensSince) = (0, nil)
    }

    /// Moves the times of the lane back with the clock, so that a pause does not get longer.
    ///
    /// All urgencies are marked ready, because the known due times may be wrong.
    mutating func setBack(by time: Int64) {
        outage?.nextTry -= time
        outage?.since -= time
        outage?.lastTry -= time
        unansweredSince? -= time
        unstartedSince? -= time
        lostSince? -= time
        badTokensSince? -= time
        earlierOutage? -= time
        window.setBack(by: time)
        for index in queues.indices { queues[index].setBack(by: time) }
        markReady()
    }

    /// Records a server error of Apple; pauses the lane after three in a row.
    mutating func recordServerError(
        after result: SendResult,
        _ wait: Int64?,
        at now: Int64,
        using generator: inout some RandomNumberGenerator
    ) {
        serverErrors += 1
        if serverErrors >= 3 { pause(after: result, wait, at: now, using: &generator) }
    }

    /// Records that the connection of a push was lost before Apple answered it.
    ///
    /// Pauses the lane if it is down, or if another connection was lost before and Apple has answered nothing since.
    mutating func recordLoss(at now: Int64, using generator: inout some RandomNumberGenerator) {
        let last = lostSince
        let since = last.map { now - $0 < DeliveryLane.lossMemory ? $0 : now } ?? now
        lostSince = since
        guard outage != nil || now - since >= DeliveryLane.lossInterval else { return }
        pause(after: .lost, nil, at: now, using: &generator)
    }

    /// Records an answer that shows that Apple processes the lane's pushes.
    mutating func recover() {
        credentials.accepted()
        failures = 0
        serverErrors = 0
        (badTokens, badTokensSince) = (0, nil)
        earlierOutage = nil
        outage = nil
    }

    /// Returns whether the lane is paused, by an operator or after an error.
    func sendsNothing(at now: Int64) -> Bool { isPausedManually || pausedUntil.map { now < $0 } ?? false }

    /// Returns whether a push that is stored now waits until Apple can be reached again.
    ///
    /// The first push after the pause of an outage is the test of the lane and does not wait.
    func holdsNewPushes(at now: Int64) -> Bool {
        guard let outage else { return silence(at: now) != nil && inFlight > 0 }
        return now < outage.nextTry || inFlight > 0
    }

    /// Returns whether a push may be sent now; after an error a single one is sent as a test.
    func maySend(_ limit: Int, at now: Int64) -> Bool {
        guard hasClaimed, !isPausedManually else { return false }
        guard let pausedUntil else { return inFlight < min(limit, window.size) }
        return now >= pausedUntil && inFlight < 1
    }
}
