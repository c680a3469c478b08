// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The pushes of a pool, without the connections that carry them: which are accepted, which is sent next, which are
/// retried, and the result of each.
struct PoolPushes {
    typealias Actions = [PoolMachine.Action]

    /// The minimum interval between checks of deadlines, because a check visits every push.
    static let sweepInterval = Duration.milliseconds(10)
    /// The number of times that a push which servers did not process is sent again.
    static let unprocessedLimit = 10

    private let waitingLimit: Int
    private let breaksCircuit: Bool
    private(set) var table = PushTable()
    private(set) var queue = PushQueue()
    private(set) var circuit = CircuitBreaker()
    private var random: SplitMix64
    /// The time of the next check of deadlines, which is at most ``sweepInterval`` after the earliest deadline.
    private var nextSweep = MonotonicTime.never
    private(set) var isClosing = false
    private(set) var counters = ClientCounters()

    /// Creates the state without pushes.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of pushes that wait for a stream or for their timestamp.
    ///   - breaksCircuit: Whether to stop sending for a while when everything is rejected for one reason.
    ///   - seed: The seed of the random delays of retries.
    init(limit: Int, breaksCircuit: Bool, seed: UInt64) {
        waitingLimit = limit
        self.breaksCircuit = breaksCircuit
        random = SplitMix64(state: seed)
    }

    /// Whether no push is accepted any more, and all have been settled.
    var isFinished: Bool { isClosing && table.unsettledCount == 0 }

    /// The time at which ``timerFired(at:_:)`` has to be called at the latest.
    var nextWake: MonotonicTime { min(nextSweep, queue.nextDue) }

    /// The pushes that are not settled and of which no attempt is in flight.
    var unsent: [PushKey] { table.unsettled.filter { !table[$0].isInFlight } }

    /// Returns the time since which the next push waits for a stream; nil when none waits.
    mutating func nextWaitingSince() -> MonotonicTime? {
        guard let push = queue.first(in: table) else { return nil }
        return table[push].since
    }

    /// Returns the time of issue of the token with which a push was sent last; nil when the push is settled.
    func tokenIssuedAt(of push: PushKey) -> Date? {
        table.isSettled(push) ? nil : table[push].tokenIssuedAt
    }

    /// Returns the result of a settled push, whose key becomes invalid.
    mutating func takeResult(of push: PushKey) -> PushResult {
        table.takeResult(of: push)
    }

    // MARK: Before sending

    /// Adds a push, which is settled immediately when it may not be sent.
    mutating func submitted(
        _ id: APNsID,
        _ limits: SendLimits,
        isCancelled: Bool,
        at now: MonotonicTime,
        _ actions: inout Actions
    ) -> PushKey {
        counters.sends += 1
        let push = table.insert(PushState(id, limits))
        if let refusal = refusal(limits, isCancelled: isCancelled, at: now) {
            settle(push, refusal, at: now, &actions)
        } else {
            table[push].deadline = now.advanced(by: limits.timeout)
            if let start = limits.startTimeout { table[push].startDeadline = now.advanced(by: start) }
            nextSweep = min(nextSweep, table[push].nextDeadline)
        }
        return push
    }

    private mutating func refusal(_ limits: SendLimits, isCancelled: Bool, at now: MonotonicTime) -> APNsError? {
        if isCancelled { return APNsError(.cancelled, description: "the task was cancelled") }
        if isClosing { return APNsError(.closed, description: "the client is closed") }
        if let error = circuit.refusal(at: now) { return error }
        guard limits.timeout <= .zero else { return nil }
        return APNsError(.timedOut, description: "its timeout had passed before it could be sent")
    }

    /// Makes a push wait for a stream, or for its timestamp first; settles it when too many pushes wait.
    mutating func wait(_ push: PushKey, at now: MonotonicTime, _ actions: inout Actions) {
        guard queue.readyCount + queue.delayedCount < waitingLimit else {
            let description = "\(waitingLimit) sends are waiting already: send slower"
            return settle(push, APNsError(.overloaded, description: description), at: now, &actions)
        }
        let delay = table[push].limits.delay
        if delay > .zero { hold(push, in: .delayed, for: delay, at: now) } else { enqueue(push, at: now) }
    }

    private mutating func hold(_ push: PushKey, in phase: PushState.Phase, for wait: Duration, at now: MonotonicTime) {
        table[push].move(to: phase, at: now)
        queue.hold(push, until: now.advanced(by: wait), isDelayed: phase == .delayed)
    }

    private mutating func enqueue(_ push: PushKey, at now: MonotonicTime) {
        table[push].move(to: .waiting, at: now)
        queue.append(push)
    }

    /// Puts a push that was not processed in front of the others that wait.
    private mutating func putBack(_ push: PushKey, at now: MonotonicTime) {
        table[push].move(to: .waiting, at: now)
        nextSweep = min(nextSweep, table[push].nextDeadline)
        queue.prepend(push)
    }

    // MARK: Sending

    /// Removes and returns the push that is sent next from those that wait for a stream, and settles those before it
    /// whose attempts may not begin any more.
    ///
    /// ``settleOverdue(at:_:)`` is up to ``sweepInterval`` late.
    mutating func next(at now: MonotonicTime, _ actions: inout Actions) -> PushKey? {
        while let push = queue.first(in: table), settleIfLate(push, at: now, &actions) {}
        return queue.popFirst(in: table)
    }

    /// Settles a push whose attempt may not begin any more; returns whether the push is settled.
    mutating func settleIfLate(_ push: PushKey, at now: MonotonicTime, _ actions: inout Actions) -> Bool {
        guard !table.isSettled(push) else { return true }
        guard table[push].startDeadline <= now else { return false }
        end(push, .overloaded, PoolPushes.notStarted(table[push].limits), at: now, &actions)
        return true
    }

    private static func notStarted(_ limits: SendLimits) -> String {
        "no connection had a free stream within \(limits.startTimeout ?? limits.timeout)"
    }

    /// Records that a push is assigned to a connection, and waits for a provider token.
    mutating func awaitsToken(_ push: PushKey, on id: PoolMachine.ConnectionID, at now: MonotonicTime) {
        table[push].move(to: .awaitingToken(id), at: now)
    }

    /// Records that a push is sent on a connection, with a token of this time of issue.
    mutating func sent(
        _ push: PushKey,
        on id: PoolMachine.ConnectionID,
        tokenIssuedAt: Date?,
        at now: MonotonicTime
    ) {
        table[push].move(to: .onWire(id), at: now)
        table[push].attempts += 1
        table[push].tokenIssuedAt = tokenIssuedAt
    }

    /// Puts a push back that could not be opened on its connection; nothing of it was sent.
    mutating func notOpened(_ push: PushKey, at now: MonotonicTime) {
        guard !table.isSettled(push) else { return }
        if table[push].isInFlight { table[push].attempts -= 1 }
        putBack(push, at: now)
    }

    /// Settles a push for which there is no provider token; nothing of it was sent.
    mutating func lacksToken(_ push: PushKey, _ error: APNsError, at now: MonotonicTime, _ actions: inout Actions) {
        guard !table.isSettled(push) else { return }
        settle(push, table.failure(of: push, because: error), at: now, &actions)
    }

    // MARK: Results

    /// Handles a response; a push without `refusal` is accepted.
    mutating func answered(_ push: PushKey, _ refusal: APNsError?, at now: MonotonicTime, _ actions: inout Actions) {
        if breaksCircuit, let stop = circuit.answered(refusal, at: now) {
            actions.append(.report(.circuitOpened(stop)))
            settleWaiting(stop, at: now, &actions)
        }
        guard !table.isSettled(push) else { return }
        guard let refusal else { return settle(push, nil, at: now, &actions) }
        retryOrSettle(push, refusal, at: now, &actions)
    }

    /// Handles a push whose stream, or connection, ended without a response.
    mutating func broken(_ push: PushKey, _ failure: StreamFailure, at now: MonotonicTime, _ actions: inout Actions) {
        guard !table.isSettled(push) else { return }
        let outcome: APNsError.Outcome = failure.isUnprocessed ? .unprocessed : .unknown
        let error = APNsError(failure.cause, id: table[push].id, outcome: outcome)
        table.failed(push, error)
        let isWorthwhile = table[push].timesUnprocessed < PoolPushes.unprocessedLimit && !isClosing
        if failure.cause.kind.isPermanent {
            settle(push, error, at: now, &actions)
        } else if failure.isUnprocessed, isWorthwhile {
            table[push].timesUnprocessed += 1
            counters.resends += 1
            putBack(push, at: now)
        } else {
            retryOrSettle(push, error, at: now, &actions)
        }
    }

    /// Retries a failed push if its policy permits that, and settles it otherwise.
    private mutating func retryOrSettle(
        _ push: PushKey,
        _ error: APNsError,
        at now: MonotonicTime,
        _ actions: inout Actions
    ) {
        let (limits, retries) = (table[push].limits, table[push].retries)
        let wait = limits.retry.delay(before: retries, isUrgent: limits.isUrgent, after: error, using: &random)
        // A retry after the deadline would be useless.
        guard let wait, now.advanced(by: wait) < table[push].deadline, !isClosing else {
            return settle(push, error, at: now, &actions)
        }
        table[push].retries += 1
        if error.outcome == .unknown { table[push].unknownTries += 1 }
        table.failed(push, error)
        hold(push, in: .backingOff, for: wait, at: now)
        counters.retries += 1
        actions.append(.report(.retrying(table[push].id, after: wait, because: error)))
    }

    /// Counts a failed connection attempt for waiting pushes, and settles those that have reached their limit.
    mutating func connectFailed(_ error: TransportError, at now: MonotonicTime, _ actions: inout Actions) {
        for push in queue.waiting(in: table) {
            table[push].failedConnects += 1
            let state = table[push]
            let lastFailure = table.lastFailure(of: push)
            let failure = APNsError(error, id: state.id, outcome: lastFailure?.outcome ?? .neverSent)
            let isEnough = state.failedConnects > state.limits.retry.limit(isUrgent: state.limits.isUrgent)
            if isEnough || isClosing || error.kind.isPermanent {
                settle(push, failure, at: now, &actions)
            } else if lastFailure == nil {
                table.failed(push, failure)
            }
        }
    }

    /// Settles the pushes that wait for a stream because of an error that all of them would meet.
    mutating func settleWaiting(_ error: APNsError, at now: MonotonicTime, _ actions: inout Actions) {
        for push in queue.waiting(in: table) {
            settle(push, table.failure(of: push, because: error), at: now, &actions)
        }
    }

    /// Settles a push before its result, in any phase; has no effect on a settled one.
    mutating func end(
        _ push: PushKey,
        _ code: APNsError.Code,
        _ description: String,
        at now: MonotonicTime,
        _ actions: inout Actions
    ) {
        guard !table.isSettled(push) else { return }
        if case .onWire(let id) = table[push].phase { actions.append(.reset(push, id)) }
        let failure = table.failure(of: push, because: APNsError(code, description: description))
        settle(push, failure, at: now, &actions)
    }

    /// Settles a push with an error, or as accepted when it is nil.
    private mutating func settle(_ push: PushKey, _ error: APNsError?, at now: MonotonicTime, _ actions: inout Actions)
    {
        let phase = table[push].phase
        if let outcome = table.settle(push, error, at: now) {
            if outcome != .answered { circuit.unanswered() }
            counters.count(outcome)
        } else {
            counters.accepted += 1
        }
        queue.settled(in: phase, of: table)
        actions.append(.settle(push))
    }

    /// Closes the circuit, because the reason for which everything was rejected may not exist any more.
    mutating func closeCircuit() {
        circuit = CircuitBreaker()
    }

    // MARK: Time

    /// Settles the pushes whose deadline has passed, and makes those wait for a stream that were held until now.
    mutating func timerFired(at now: MonotonicTime, _ actions: inout Actions) {
        if now >= nextSweep { settleOverdue(at: now, &actions) }
        while let push = queue.removeDue(by: now, in: table) { enqueue(push, at: now) }
    }

    private mutating func settleOverdue(at now: MonotonicTime, _ actions: inout Actions) {
        nextSweep = .never
        for push in table.unsettled {
            let state = table[push]
            if state.deadline <= now {
                end(push, .timedOut, "no response within \(state.limits.timeout)", at: now, &actions)
            } else if state.nextDeadline <= now {
                end(push, .overloaded, PoolPushes.notStarted(state.limits), at: now, &actions)
            } else {
                nextSweep = min(nextSweep, state.nextDeadline)
            }
        }
        if nextSweep != .never { nextSweep = max(nextSweep, now.advanced(by: PoolPushes.sweepInterval)) }
    }

    /// Stops accepting pushes, and retrying them.
    mutating func close() {
        isClosing = true
    }
}
