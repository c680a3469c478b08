// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// A state machine that decides which push is sent when and which results are stored, without I/O or a clock.
///
/// Events change its state; ``takeActions(at:)`` then returns the actions to perform, once for many events. The caller
/// performs the actions and reports their results as events. A push is in one state at a time: claimed, in flight, or
/// waiting for the outbox to store its result. Each lane holds few pushes, however many wait in the outbox. Its
/// randomness comes from a seed.
struct DeliveryMachine {
    let policy: DeliveryPolicy
    let limits: Limits
    private(set) var lanes: [Lane: DeliveryLane] = [:]
    /// The lanes in round-robin order.
    private var turns: [Lane] = []
    private var nextTurn = 0
    /// The pushes that were sent and not answered yet.
    private var sending: [Int64: ClaimedPush] = [:]
    /// The pushes that have ended or are postponed, until the outbox has stored the result.
    private var settling: [SettlementKey: ClaimedPush] = [:]
    /// The settlements that have not been passed to the outbox yet.
    private var unsettled: [Settlement] = []
    /// The lanes whose provider tokens are to be replaced.
    private var renewals: [Lane] = []
    /// The time to use the outbox again, after it failed.
    private var storePausedUntil: Int64?
    /// The time of the last call of ``takeActions(at:)``.
    private var latest = Int64.min
    private var isDraining = false
    /// The lanes that operators have paused; nil until they are known, when nothing may be sent.
    private var pausedLanes: Set<Lane>? = []
    private var generator: SplitMix64

    init(
        policy: DeliveryPolicy = DeliveryPolicy(),
        limits: Limits = Limits(),
        seed: UInt64
    ) {
        self.policy = policy
        self.limits = limits
        generator = SplitMix64(state: seed)
    }

    // MARK: Events

    /// Adds a lane, with or without a limit of pushes per second.
    mutating func add(_ lane: Lane, rate: Int? = nil, at now: Int64) {
        guard lanes[lane] == nil else { return }
        lanes[lane] = DeliveryLane(rate: rate.map { RateLimit(rate: $0, at: now) }, limits: limits)
        lanes[lane]?.isPausedManually = pausedLanes?.contains(lane) ?? true
        turns.append(lane)
    }

    /// Sets the lanes that operators have paused, and resumes all others; nil while they are not known.
    mutating func pauseManually(_ paused: Set<Lane>?) {
        pausedLanes = paused
        for lane in turns {
            let isPaused = paused?.contains(lane) ?? true
            guard isPaused != lanes[lane]?.isPausedManually else { continue }
            lanes[lane]?.isPausedManually = isPaused
            if !isPaused { markReady(lane) }
        }
    }

    /// Changes the limit of pushes per second of a lane; nil for none.
    mutating func limit(_ lane: Lane, to rate: Int?, at now: Int64) {
        guard lanes[lane]?.rate?.rate != rate else { return }
        lanes[lane]?.rate = rate.map { RateLimit(rate: $0, at: now) }
    }

    /// Records that a lane was down when the relay was stopped; the outage lasts until Apple processes a push.
    mutating func recordEarlierOutage(of lane: Lane, since: Int64) {
        lanes[lane]?.recordEarlierOutage(since: since)
    }

    /// Makes the next attempt of a paused lane due now, since its credentials were replaced.
    mutating func tryAgain(_ lane: Lane, at now: Int64) {
        lanes[lane]?.tryAgain(at: now)
    }

    /// Marks an urgency of a lane as ready to claim; nil for all urgencies.
    mutating func markReady(_ lane: Lane, _ urgency: Urgency? = nil) {
        if let urgency { lanes[lane]?.change(urgency) { $0.isReady = true } } else { lanes[lane]?.markReady() }
    }

    mutating func claimed(_ claim: Claim, _ action: ClaimAction, at now: Int64) {
        lanes[action.lane]?.change(action.urgency) { queue in
            queue.isClaiming = false
            queue.add(claim.pushes, at: now)
            queue.nextDue = claim.nextDue
        }
        guard let lane = lanes[action.lane], lane.isReturningUnstarted, lane.inFlight == 0, !isReturning(action.lane)
        else { return }
        lanes[action.lane]?.recordIdleness()
    }

    mutating func claimFailed(_ action: ClaimAction, at now: Int64) {
        lanes[action.lane]?.change(action.urgency) { queue in
            queue.isClaiming = false
            queue.isReady = true
        }
        pauseStore(at: now)
    }

    /// Drops the claimed pushes that have not been sent, because other nodes have taken them over.
    mutating func claimsLost() {
        for name in lanes.keys {
            for urgency in Urgency.allCases { lanes[name]?.change(urgency) { $0.clear() } }
        }
    }

    /// Handles the result of an attempt to send a push.
    ///
    /// - Parameters:
    ///   - number: The number of the push.
    ///   - result: The result.
    ///   - failure: The entry for the history of the push; nil for an accepted one.
    ///   - now: The time.
    /// - Returns: The decision; nil for a push that was not in flight.
    @discardableResult
    mutating func answered(
        _ number: Int64,
        _ result: SendResult,
        failure: FailedAttempt? = nil,
        at now: Int64
    ) -> DeliveryPolicy.Decision? {
        guard var push = sending.removeValue(forKey: number) else { return nil }
        if let failure { push.history.append(failure) }
        let lane = push.push.lane
        let decision = policy.decision(on: result, for: push, at: now, using: &generator)
        let wasDown = lanes[lane]?.outage != nil
        lanes[lane]?.ended(result, isFinal: decision.isFinal, at: now)
        switch decision {
        case .settle(let settlement):
            recordAnswer(result, of: lane, at: now)
            settle(push, settlement)
        case .pause(let wait):
            lanes[lane]?.pause(after: result, wait, at: now, using: &generator)
            lanes[lane]?.change(push.push.urgency) { $0.putBack(push, at: now) }
        case .credentialsRefused(let outcome, let wait):
            refuseCredentials(of: push, result, outcome, wait, at: now)
        }
        // Once in an outage: Apple refuses tokens that are renewed too often.
        if case .refused(status: 403, _, _, _) = result, !wasDown, lanes[lane]?.outage != nil { renewals.append(lane) }
        return decision
    }

    /// Handles a push that was passed to the client and not sent, because no connection had a free stream.
    mutating func notStarted(_ number: Int64, at now: Int64) {
        guard let push = sending.removeValue(forKey: number) else { return }
        lanes[push.push.lane]?.notStarted(at: now)
        returnUnsent(push, at: now)
    }

    /// Notes what the result of an attempt shows about its lane.
    private mutating func recordAnswer(_ result: SendResult, of lane: Lane, at now: Int64) {
        switch result {
        case .refused(let status, _, _, let retryAfter) where status >= 500:
            lanes[lane]?.recordServerError(after: result, retryAfter, at: now, using: &generator)
        case .refused(_, .badDeviceToken?, _, _):
            lanes[lane]?.recordBadToken(after: result, at: now, using: &generator)
        case .accepted, .refused:
            lanes[lane]?.recover()
        case .unknown where lanes[lane]?.outage != nil:
            // The next try would otherwise follow at once, and each would use up a push's attempts.
            lanes[lane]?.pause(after: result, nil, at: now, using: &generator)
        case .lost:
            lanes[lane]?.recordLoss(at: now, using: &generator)
        case .neverSent, .unknown:
            break
        }
    }

    /// Ends the outage of a lane without claimed pushes, in which another relay delivers; returns whether it was down.
    mutating func endOutage(of lane: Lane, at now: Int64) -> Bool {
        guard let state = lanes[lane], state.isIdle(at: now) else { return false }
        lanes[lane]?.endOutage()
        return state.problem(at: now) != nil
    }

    /// Handles a refusal of the credentials that a push was sent with.
    private mutating func refuseCredentials(
        of push: ClaimedPush,
        _ result: SendResult,
        _ outcome: Outcome,
        _ wait: Int64?,
        at now: Int64
    ) {
        let lane = push.push.lane
        guard let isTrial = lanes[lane].map({ $0.outage != nil }),
            let (fault, count) = lanes[lane]?.credentials.refused(push.number, isTrial: isTrial)
        else { return }
        if fault == .push, count >= policy.credentialsRefusalLimit {
            lanes[lane]?.credentials.forget(push.number)
            return settle(push, Settlement(push, .ended(outcome)))
        }
        if fault == .lane { lanes[lane]?.pause(after: result, wait, at: now, using: &generator) }
        let delay = wait ?? policy.credentialsDelay(after: count, using: &generator)
        if push.push.expires(by: now + delay) {
            lanes[lane]?.credentials.forget(push.number)
            var expired = outcome
            expired.state = .expired
            return settle(push, Settlement(push, .ended(expired)))
        }
        // Other pushes have to be sent before it, as only they can show that the lane is not at fault.
        settle(push, push.postponed(until: now + delay, attempts: fault == .push ? outcome.attempts : nil))
    }

    /// Removes settlements that the outbox has stored, and returns the pushes that have ended, with their outcomes.
    mutating func settled(_ settlements: [Settlement]) -> [(push: ClaimedPush, outcome: Outcome)] {
        storePausedUntil = nil
        var ended: [(push: ClaimedPush, outcome: Outcome)] = []
        for settlement in settlements {
            guard let push = settling.removeValue(forKey: SettlementKey(settlement)) else { continue }
            switch settlement.change {
            case .ended(let outcome):
                ended.append((push, outcome))
                // Another push with its order key may be due now, in any urgency.
                if push.push.orderKey != nil { markReady(push.push.lane) }
            case .postponed:
                markReady(push.push.lane, push.push.urgency)
            }
        }
        return ended
    }

    /// Keeps settlements that the outbox could not store, for another attempt.
    ///
    /// The outbox may have stored them before its answer was lost.
    mutating func settleFailed(_ settlements: [Settlement], at now: Int64) {
        unsettled += settlements
        pauseStore(at: now)
    }

    mutating func drain() {
        isDraining = true
    }

    // MARK: State

    /// Whether no push is in flight and all results are stored.
    var isIdle: Bool { sending.isEmpty && settling.isEmpty }

    /// The number of pushes that were sent and not answered yet.
    var inFlight: Int { sending.count }

    /// Whether there are claimed pushes, or claims under way.
    var holdsPushes: Bool {
        !sending.isEmpty || lanes.values.contains { $0.hasClaimed || $0.queues.contains(where: \.isClaiming) }
    }

    /// Returns the number of pushes of each lane that have expired while they wait for Apple's answer.
    func expiredInFlight(at now: Int64) -> [Lane: Int] {
        var counts: [Lane: Int] = [:]
        for push in sending.values where push.push.expires(by: now) { counts[push.push.lane, default: 0] += 1 }
        return counts
    }

    /// Returns whether a lane has claimed pushes that it has not sent, or results that the outbox has not stored.
    func isReturning(_ lane: Lane) -> Bool {
        guard let state = lanes[lane] else { return false }
        return state.hasClaimed || state.queues.contains(where: \.isClaiming)
            || settling.values.contains { $0.push.lane == lane }
    }

    // MARK: Actions

    /// Returns the actions to perform now.
    mutating func takeActions(at now: Int64) -> Actions {
        var actions = Actions()
        recordTime(now)
        returnClaims(at: now)
        actions.renewals = renewals
        renewals = []
        if !isDraining { actions.sends = takeSends(at: now) }
        if storePausedUntil.map({ $0 <= now }) ?? true {
            actions.settlements = unsettled
            unsettled = []
            if !isDraining { actions.claims = takeClaims(at: now) }
        }
        return actions
    }

    /// Moves all times back with a clock that was set back, so that no pause gets longer.
    private mutating func recordTime(_ now: Int64) {
        defer { latest = now }
        guard now < latest else { return }
        storePausedUntil? -= latest - now
        for name in turns { lanes[name]?.setBack(by: latest - now) }
    }

    /// Returns the time of the next action without a further event; nil when there is none.
    func nextTime(after now: Int64) -> Int64? {
        var times: [Int64?] = [storePausedUntil]
        for lane in lanes.values where !isDraining && !lane.isPausedManually {
            times.append(lane.pausedUntil)
            if lane.hasClaimed { times += [lane.rate?.nextTime, lane.holdEnd] }
            for queue in lane.queues where queue.count <= limits.claimedAhead / 2 { times.append(queue.nextDue) }
        }
        return times.compactMap(\.self).filter { $0 > now }.min()
    }

    /// Takes pushes to send from the lanes, round-robin, up to the limit.
    private mutating func takeSends(at now: Int64) -> [ClaimedPush] {
        var sends: [ClaimedPush] = []
        var idleTurns = 0
        while !turns.isEmpty, idleTurns < turns.count, sending.count + settling.count < limits.inFlight {
            nextTurn = (nextTurn + 1) % turns.count
            if let push = takeSend(turns[nextTurn], at: now) {
                sends.append(push)
                idleTurns = 0
            } else {
                idleTurns += 1
            }
        }
        return sends
    }

    /// Takes the next push to send of a lane; pushes that must not be sent end instead.
    private mutating func takeSend(_ name: Lane, at now: Int64) -> ClaimedPush? {
        while lanes[name]?.maySend(limits.inFlightPerLane, at: now) ?? false {
            guard lanes[name]?.rate?.take(at: now) ?? true, let push = lanes[name]?.next() else { return nil }
            if let outcome = push.outcomeWithoutSending(at: now) {
                settle(push, Settlement(push, .ended(outcome)))
                continue
            }
            // After a lost claim, the push may be in flight already: the first answer is that of both attempts.
            let isInFlight = sending.updateValue(push, forKey: push.number) != nil
            if !isInFlight { lanes[name]?.sent(push.push.urgency, at: now) }
            return push
        }
        return nil
    }

    private mutating func takeClaims(at now: Int64) -> [ClaimAction] {
        var claims: [ClaimAction] = []
        for name in turns {
            if lanes[name]?.isPausedManually ?? true { continue }
            // A lane that is paused after an error claims nothing, and then one push to find out whether it can send
            // again.
            let pausedUntil = lanes[name]?.pausedUntil
            if let pausedUntil, now < pausedUntil { continue }
            // Claims are limited, because a claimed push cannot be cancelled, counts as possibly sent after a crash,
            // and is returned when it is not sent soon.
            let rate = (lanes[name]?.rate?.rate).map { max(1, $0 / Int(1_000 / DeliveryLane.holdTime)) } ?? .max
            let usual = min(rate, lanes[name]?.window.size ?? 1)
            let laneLimit = pausedUntil == nil ? usual : 1
            for urgency in Urgency.allCases {
                lanes[name]?.change(urgency) { queue in
                    let most = min(laneLimit, queue.window.size)
                    guard queue.wantsMore(most, at: now) else { return }
                    queue.isClaiming = true
                    queue.isReady = false
                    let limit = most - queue.count
                    claims.append(ClaimAction(lane: name, urgency: urgency, limit: limit))
                }
            }
        }
        return claims
    }

    /// Returns claimed pushes that cannot be sent for now, or were not sent soon, to the outbox.
    ///
    /// There they can be cancelled, and other relays that share the outbox can send them.
    private mutating func returnClaims(at now: Int64) {
        for name in turns where isDraining || lanes[name]?.sendsNothing(at: now) ?? false {
            while let push = lanes[name]?.next() { settle(push, push.postponed(until: now)) }
        }
        for name in turns {
            while let push = lanes[name]?.nextReturn(at: now) { returnUnsent(push, at: now) }
        }
    }

    /// Returns a push whose user may have changed since the claim to the outbox, where it keeps its place.
    private mutating func returnUnsent(_ push: ClaimedPush, at now: Int64) {
        if let outcome = push.outcomeWithoutSending(at: now) {
            settle(push, Settlement(push, .ended(outcome)))
        } else {
            settle(push, push.returned)
        }
    }

    private mutating func settle(_ push: ClaimedPush, _ settlement: Settlement) {
        var settlement = settlement
        settlement.history = push.history
        settling[SettlementKey(settlement)] = push
        unsettled.append(settlement)
    }

    /// Stops using the outbox for a second.
    private mutating func pauseStore(at now: Int64) {
        storePausedUntil = now + 1_000
    }
}
