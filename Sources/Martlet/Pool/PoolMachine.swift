internal import MartletCore
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The decisions about sending, a struct without I/O: events in, actions out.
///
/// It decides which push is sent on which connection and when, when connections are opened and closed, what is retried,
/// and the result of each push.
///
/// A push is in one state at a time:
///
/// ```
///   submitted ──▶ waiting ──▶ on the wire ──▶ settled
///       │          ▲   ▲          │  │
///       │          │   └──────────┘  │  the server certainly did not process it
///       │          └── backing off ◀─┘  rejected, and the policy permits a retry
///       └──────────────────▲            it may not be sent yet
/// ```
///
/// In every state it may be settled early: by its deadline, its caller, or the end of the client. The action `settle`
/// is returned exactly once for each push that was submitted; the seeded simulation verifies this.
///
/// `PoolMachine+connections.swift` handles connections and their events, `PoolMachine+time.swift` timeouts.
struct PoolMachine {
    typealias ConnectionID = Int

    /// An action for the driver; actions are performed in order.
    enum Order {
        /// Open a connection, and report its events under this identifier.
        case connect(ConnectionID)
        /// Send the push on the connection.
        case open(PendingPush, ConnectionID)
        /// Reset the push's stream, because its result is no longer needed.
        case reset(PendingPush, ConnectionID)
        /// Send a PING.
        case ping(ConnectionID)
        /// Close the connection; the streams of its pushes end as broken.
        case close(ConnectionID, WireError)
        /// Replace the provider token with this time of issue, which APNs rejected as expired.
        case renewToken(issuedAt: Date)
        /// Report the result of the push to the caller: its ``PendingPush/failure``, or success.
        case settle(PendingPush)
        /// Report the event to the listeners.
        case report(ClientEvent)
    }

    /// The settings of the owner.
    struct Settings {
        /// Whether only one push is sent until the first response, as APNs requires of connections that authenticate
        /// with provider tokens ("Establishing a connection to APNs").
        var startsWithOneStream: Bool
        /// The maximum number of pushes that wait for a stream or for their timestamp; further ones are rejected.
        var waitingLimit: Int
        /// The maximum number of connections.
        var connectionLimit = 4
        /// Whether to stop sending for a while when everything is rejected for one reason.
        var breaksCircuit = true
    }

    /// The number of times that a push which servers did not process is sent again.
    static let unprocessedLimit = 10

    var settings: Settings
    var orders: [Order] = []
    var connections: [PooledConnection] = []
    var waiting = RequestQueue<PendingPush>()
    /// The number of pushes in the queue that are already settled.
    var settledInQueue = 0
    var backingOff = TimeHeap<PendingPush>()
    /// The number of pushes that wait for their timestamp before their first attempt.
    var delayedCount = 0
    var backoff = ReconnectBackoff()
    var circuit = CircuitBreaker()
    var random: SplitMix64
    var lastID: ConnectionID = 0
    var lastConnectedAt = MonotonicTime.zero
    /// The number of connections that stay open even when idle, if the limit permits it.
    var wantedConnections = 1
    /// The time of the next check of deadlines, which is at most ``sweepInterval`` after the earliest deadline.
    var nextSweep = MonotonicTime.never
    /// The time at which the driver has to call ``timerFired(at:)`` at the latest.
    var nextWake = MonotonicTime.never
    var isClosing = false
    /// The number of pushes that were submitted and are not settled.
    private(set) var unsettled = 0
    var counters = ClientCounters()

    init(_ settings: Settings, seed: UInt64) {
        self.settings = settings
        random = SplitMix64(state: seed)
    }

    /// Returns the actions since the last call, in exchange for an empty list whose storage is reused.
    mutating func takeOrders(_ list: inout [Order]) {
        swap(&orders, &list)
    }

    /// The number of pushes that wait for a stream.
    var waitingCount: Int { waiting.count - settledInQueue }

    /// Whether the limit of waiting pushes is reached.
    private var isFull: Bool { waitingCount + delayedCount >= settings.waitingLimit }

    // MARK: Push events

    /// Handles new pushes.
    mutating func submitted(_ pushes: [PendingPush], at now: MonotonicTime) {
        for push in pushes { submitted(push, at: now) }
    }

    /// Handles a new push.
    mutating func submitted(_ push: PendingPush, at now: MonotonicTime) {
        unsettled += 1
        counters.sends += 1
        guard !push.progress.isCancelled else {
            settle(push, .cancelled, "the task was cancelled", at: now)
            return
        }
        guard !isClosing else {
            settle(push, .closed, "the client is closed", at: now)
            return
        }
        if let error = circuit.refusal(at: now) {
            settle(push, error, at: now)
            return
        }
        guard push.limits.timeout > .zero else {
            settle(push, .timedOut, "its timeout had passed before it could be sent", at: now)
            return
        }
        push.progress.deadline = now.advanced(by: push.limits.timeout)
        nextSweep = min(nextSweep, push.progress.deadline)
        wake(at: nextSweep)
        let isDelayed = push.limits.delay > .zero
        if !isDelayed, waiting.isEmpty, let index = roomyConnection {
            dispatch(push, onto: index, at: now)
            return
        }
        guard !isFull else {
            settle(push, .overloaded, "\(settings.waitingLimit) sends wait already: send slower", at: now)
            return
        }
        guard !isDelayed else {
            delayedCount += 1
            hold(push, in: .delayed, for: push.limits.delay, at: now)
            return
        }
        enqueue(push, at: now)
        serve(at: now)
    }

    /// Handles the cancellation of a push by its caller.
    mutating func cancelled(_ push: PendingPush, at now: MonotonicTime) {
        switch push.progress.place {
        case .nowhere:
            // The cancellation arrived before the push.
            push.progress.isCancelled = true
        case .settled:
            break
        case .waiting, .delayed, .backingOff, .onWire:
            end(push, .cancelled, "the task was cancelled", at: now)
        }
    }

    /// Ends the pushes of a stopped bulk send that have not been sent.
    mutating func takenBack(at now: MonotonicTime, where isUnwanted: (PendingPush) -> Bool) {
        for push in allPushes where !push.progress.isSettled && isUnwanted(push) {
            if case .onWire = push.progress.place, !push.progress.isHeldBack { continue }
            end(push, .cancelled, "the sending was stopped", at: now)
        }
    }

    /// Handles a push that could not be opened on a connection that accepts no more; nothing of it was sent.
    mutating func notOpened(_ push: PendingPush, on id: ConnectionID, at now: MonotonicTime) {
        if let index = index(of: id) {
            connections[index].remove(push, at: now)
            drain(at: index, now)
        }
        if !push.progress.isSettled {
            push.progress.attempts -= 1
            putBack(push, at: now)
        }
        serve(at: now)
    }

    /// Handles a push that was settled before it was opened on a connection.
    mutating func notWanted(_ push: PendingPush, on id: ConnectionID, at now: MonotonicTime) {
        if let index = index(of: id) { connections[index].remove(push, at: now) }
        closeIfDrained(id, at: now)
        serve(at: now)
    }

    /// Handles a push that cannot be sent because no provider token is available.
    mutating func unsendable(_ push: PendingPush, on id: ConnectionID, _ error: APNsError, at now: MonotonicTime) {
        if let index = index(of: id) { connections[index].remove(push, at: now) }
        if !push.progress.isSettled {
            push.progress.attempts -= 1
            settle(push, error, at: now)
        }
        closeIfDrained(id, at: now)
    }

    /// Fails the waiting pushes, because no provider token is available and they would only request it again.
    mutating func failWaiting(_ error: APNsError, at now: MonotonicTime) {
        for push in waiting.all where !push.progress.isSettled {
            settledInQueue += 1
            settle(push, error, at: now)
        }
        serve(at: now)
    }

    /// Handles a response of APNs, or of a server in its place; a push without `refusal` is accepted.
    mutating func answered(
        _ push: PendingPush,
        on id: ConnectionID,
        refusal: APNsError?,
        at now: MonotonicTime
    ) {
        if let index = index(of: id) {
            connections[index].remove(push, at: now)
            connections[index].heard(at: now)
            connections[index].hasBeenAnswered = true
        }
        breakCircuit(after: refusal, at: now)
        if let refusal {
            heed(refusal, from: push, on: id, at: now)
            if !push.progress.isSettled { retryOrSettle(push, refusal, at: now) }
        } else {
            backoff.succeeded()
            if !push.progress.isSettled { settle(push, nil, at: now) }
        }
        closeIfDrained(id, at: now)
        serve(at: now)
    }

    /// Handles a push whose stream, or connection, ended without a response.
    mutating func broken(
        _ push: PendingPush,
        on id: ConnectionID,
        _ failure: StreamFailure,
        at now: MonotonicTime
    ) {
        if let index = index(of: id) { connections[index].remove(push, at: now) }
        if !push.progress.isSettled {
            let outcome: APNsError.Outcome = failure.isUnprocessed ? .unprocessed : .unknown
            let error = APNsError(failure.cause, id: push.id, outcome: outcome)
            push.lastError = error
            let isWorthwhile = push.progress.timesUnprocessed < PoolMachine.unprocessedLimit && !isClosing
            if failure.cause.kind.isPermanent {
                settle(push, error, at: now)
            } else if failure.isUnprocessed, isWorthwhile {
                push.progress.timesUnprocessed += 1
                counters.resends += 1
                putBack(push, at: now)
            } else {
                retryOrSettle(push, error, at: now)
            }
        }
        closeIfDrained(id, at: now)
        serve(at: now)
    }

    // MARK: Closing

    /// Stops accepting pushes, and finishes the existing ones.
    mutating func close(at now: MonotonicTime) {
        isClosing = true
        closeAllIfFinished()
    }

    /// Ends all pushes immediately, because the time for closing has passed.
    mutating func giveUp(at now: MonotonicTime) {
        isClosing = true
        for push in allPushes where !push.progress.isSettled { end(push, .closed, "the client was closed", at: now) }
        closeAllIfFinished()
    }

    /// Whether the owner has closed the pool and every push is settled.
    var isFinished: Bool { isClosing && unsettled == 0 }

    // MARK: Sending

    /// Sends waiting pushes on connections that have capacity.
    mutating func serve(at now: MonotonicTime) {
        while !waiting.isEmpty, let index = roomyConnection {
            guard let push = waiting.popFirst() else { return }
            if push.progress.isSettled {
                settledInQueue -= 1
            } else {
                dispatch(push, onto: index, at: now)
            }
        }
        if waitingCount > 0 { openConnectionIfNeeded(at: now) }
    }

    /// The index of the first connection with capacity, so that later connections stay idle and can be closed.
    private var roomyConnection: Int? {
        connections.firstIndex { $0.hasRoom(startsWithOneStream: settings.startsWithOneStream) }
    }

    private mutating func dispatch(_ push: PendingPush, onto index: Int, at now: MonotonicTime) {
        let id = connections[index].id
        push.progress.move(to: .onWire(id), at: now)
        push.progress.attempts += 1
        connections[index].add(push, at: now)
        if connections[index].inFlight.count == 1 { wake(at: now.advanced(by: PoolMachine.silenceTimeout)) }
        orders.append(.open(push, id))
    }

    mutating func enqueue(_ push: PendingPush, at now: MonotonicTime) {
        push.progress.move(to: .waiting, at: now)
        waiting.append(push)
    }

    /// Puts a push that was not processed at the front of the queue.
    private mutating func putBack(_ push: PendingPush, at now: MonotonicTime) {
        push.progress.move(to: .waiting, at: now)
        waiting.prepend(push)
    }

    private mutating func retryOrSettle(_ push: PendingPush, _ error: APNsError, at now: MonotonicTime) {
        let wait = push.limits.retry.delay(
            before: push.progress.retries,
            isUrgent: push.limits.isUrgent,
            after: error,
            using: &random
        )
        // A retry after the deadline would be useless.
        guard let wait, now.advanced(by: wait) < push.progress.deadline, !isClosing else {
            settle(push, error, at: now)
            return
        }
        push.progress.retries += 1
        if error.outcome == .unknown { push.progress.unknownTries += 1 }
        push.lastError = error
        hold(push, in: .backingOff, for: wait, at: now)
        counters.retries += 1
        orders.append(.report(.retrying(push.id, after: wait, because: error)))
    }

    /// Delays a push before it is sent.
    private mutating func hold(
        _ push: PendingPush,
        in place: PushProgress.Place,
        for wait: Duration,
        at now: MonotonicTime
    ) {
        push.progress.move(to: place, at: now)
        let due = now.advanced(by: wait)
        backingOff.insert(push, due: due)
        wake(at: due)
    }

    /// Settles a push in any state.
    mutating func end(_ push: PendingPush, _ code: APNsError.Code, _ description: String, at now: MonotonicTime) {
        switch push.progress.place {
        case .waiting:
            settledInQueue += 1
            settle(push, code, description, at: now)
            if settledInQueue > 1_000, settledInQueue > waiting.count / 2 {
                waiting.removeAll { $0.progress.isSettled }
                settledInQueue = 0
            }
        case .onWire(let id):
            orders.append(.reset(push, id))
            settle(push, code, description, at: now)
        case .delayed:
            delayedCount -= 1
            settle(push, code, description, at: now)
        case .backingOff, .nowhere:
            settle(push, code, description, at: now)
        case .settled:
            break
        }
    }

    private mutating func settle(
        _ push: PendingPush,
        _ code: APNsError.Code,
        _ description: String,
        at now: MonotonicTime
    ) {
        var error = APNsError(code, id: push.id, description: description)
        if case .onWire = push.progress.place, !push.progress.isHeldBack {
            error.outcome = .unknown
        } else if let last = push.lastError {
            // The result of the last attempt is the result of the push.
            error.outcome = last.outcome
            error.status = last.status
            error.reason = last.reason
            error.description += "; the last try: \(last.description)"
        }
        error.lastFailure = push.lastError
        settle(push, error, at: now)
    }

    /// Settles a push with a failure, or as accepted when `failure` is nil.
    mutating func settle(_ push: PendingPush, _ failure: APNsError?, at now: MonotonicTime) {
        push.progress.move(to: .settled, at: now)
        unsettled -= 1
        if var failure {
            failure.id = push.id
            failure.attempts = push.progress.attempts
            failure.unknownTries = push.progress.unknownTries
            failure.timing = push.progress.timing
            // A known outcome of the last attempt does not change the unknown outcome of an earlier one.
            if failure.unknownTries > 0, failure.outcome != .answered { failure.outcome = .unknown }
            if failure.outcome != .answered { circuit.unanswered() }
            counters.count(failure)
            push.failure = failure
        } else {
            counters.accepted += 1
        }
        orders.append(.settle(push))
        closeAllIfFinished()
    }

    /// Sends again, since the key that was rejected is not used any more.
    mutating func closeCircuit() {
        circuit = CircuitBreaker()
    }

    private mutating func breakCircuit(after error: APNsError?, at now: MonotonicTime) {
        guard settings.breaksCircuit, let stop = circuit.answered(error, at: now) else { return }
        orders.append(.report(.circuitOpened(stop)))
        for push in waiting.all where !push.progress.isSettled {
            settledInQueue += 1
            settle(push, stop, at: now)
        }
    }

    var allPushes: [PendingPush] {
        waiting.all + connections.flatMap(\.inFlight) + backingOff.all
    }

    /// Makes the driver call ``timerFired(at:)`` no later than this time.
    mutating func wake(at time: MonotonicTime) {
        nextWake = min(nextWake, time)
    }
}
