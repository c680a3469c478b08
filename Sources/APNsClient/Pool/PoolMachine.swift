internal import APNs
internal import Wire

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decides everything about sending, as a struct without I/O: facts in, orders out.
///
/// Which push goes onto which connection when, when connections are opened and given up, what is tried again, and how
/// each push ends.
///
/// A push is in one place at a time:
///
/// ```
///   submitted ──▶ waiting ──▶ on the wire ──▶ settled
///       │          ▲   ▲          │  │
///       │          │   └──────────┘  │  the server provably left it alone
///       │          └── backing off ◀─┘  refused, and the policy grants another try
///       └──────────────────▲            it may not go out yet
/// ```
///
/// From every place it may be settled early: by its deadline, its caller, or the end of the client. The order
/// `settle` is given exactly once for each push that was submitted; the seeded simulation checks it.
///
/// Connections and what happens to them are in `PoolMachine+connections.swift`, what time brings about in
/// `PoolMachine+time.swift`.
struct PoolMachine {
    typealias ConnectionID = Int

    /// What the driver is to do, in this order.
    enum Order {
        /// Open a connection, and report everything about it under this number.
        case connect(ConnectionID)
        /// Put the push onto the connection.
        case open(PendingPush, ConnectionID)
        /// Take the push's stream back: nobody waits for it any more.
        case reset(PendingPush, ConnectionID)
        /// Ask the server for a sign of life.
        case ping(ConnectionID)
        /// End the connection; what is still in flight on it ends broken.
        case close(ConnectionID, WireError)
        /// APNs called the provider token of this time of issue expired.
        case renewToken(issuedAt: Date)
        /// Tell the caller how the push ended: with its ``PendingPush/failure``, or well.
        case settle(PendingPush)
        /// Tell whoever listens.
        case report(ClientEvent)
    }

    /// What an owner may choose.
    struct Settings {
        /// Whether one push at a time goes out until the first is answered, as APNs demands of connections that
        /// authenticate by token ("Establishing a connection to APNs").
        var startsWithOneStream: Bool
        /// The number of pushes that may wait for a stream or for their timestamp; more are refused.
        var waitingLimit: Int
        /// Connections at once.
        var connectionLimit = 4
        /// Whether to stop for a while when everything is refused for one reason.
        var breaksCircuit = true
    }

    /// A push that servers leave alone this often is not sent again.
    static let unprocessedLimit = 10

    var settings: Settings
    var orders: [Order] = []
    var connections: [PooledConnection] = []
    var waiting = RequestQueue<PendingPush>()
    /// Pushes that are settled and still lie in the queue.
    var settledInQueue = 0
    var backingOff = TimeHeap<PendingPush>()
    /// The number of pushes that wait for their timestamp before their first try.
    var delayedCount = 0
    var backoff = ReconnectBackoff()
    var circuit = CircuitBreaker()
    var random: SplitMix64
    var lastID: ConnectionID = 0
    var lastConnectedAt = MonotonicTime.zero
    /// Connections that are to be kept however little is sent, should the limit allow so many.
    var wantedConnections = 1
    /// No deadline is before this.
    var nextSweep = MonotonicTime.never
    /// When the driver has to call ``timerFired(at:)``, at the latest.
    var nextWake = MonotonicTime.never
    var isClosing = false
    /// Pushes that were submitted and not settled.
    private(set) var unsettled = 0
    var counters = ClientCounters()

    init(_ settings: Settings, seed: UInt64) {
        self.settings = settings
        random = SplitMix64(state: seed)
    }

    /// The orders given since the last call, in exchange for an empty list whose memory is used again.
    mutating func takeOrders(_ list: inout [Order]) {
        swap(&orders, &list)
    }

    /// How many pushes wait for a stream.
    var waitingCount: Int { waiting.count - settledInQueue }

    /// Whether as many pushes wait as may.
    private var isFull: Bool { waitingCount + delayedCount >= settings.waitingLimit }

    // MARK: Facts about pushes

    /// A caller wants these sent.
    mutating func submitted(_ pushes: [PendingPush], at now: MonotonicTime) {
        for push in pushes { submitted(push, at: now) }
    }

    /// A caller wants this sent.
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

    /// The caller no longer waits.
    mutating func cancelled(_ push: PendingPush, at now: MonotonicTime) {
        switch push.progress.place {
        case .nowhere:
            // Word of it came before the push itself.
            push.progress.isCancelled = true
        case .settled:
            break
        case .waiting, .delayed, .backingOff, .onWire:
            end(push, .cancelled, "the task was cancelled", at: now)
        }
    }

    /// Whoever sends to many wants those of these pushes back that have not gone out.
    mutating func takenBack(at now: MonotonicTime, where isUnwanted: (PendingPush) -> Bool) {
        for push in allPushes where !push.progress.isSettled && isUnwanted(push) {
            if case .onWire = push.progress.place, !push.progress.isHeldBack { continue }
            end(push, .cancelled, "the sending was stopped", at: now)
        }
    }

    /// The push could not be put onto the connection, which takes no more; nothing of it was sent.
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

    /// The push was settled before it could be put onto the connection.
    mutating func notWanted(_ push: PendingPush, on id: ConnectionID, at now: MonotonicTime) {
        if let index = index(of: id) { connections[index].remove(push, at: now) }
        closeIfDrained(id, at: now)
        serve(at: now)
    }

    /// The push cannot be sent at all, for want of a provider token.
    mutating func unsendable(_ push: PendingPush, on id: ConnectionID, _ error: APNsError, at now: MonotonicTime) {
        if let index = index(of: id) { connections[index].remove(push, at: now) }
        if !push.progress.isSettled {
            push.progress.attempts -= 1
            settle(push, error, at: now)
        }
        closeIfDrained(id, at: now)
    }

    /// There is no provider token to be had: what waits would only ask for it again.
    mutating func failWaiting(_ error: APNsError, at now: MonotonicTime) {
        for push in waiting.all where !push.progress.isSettled {
            settledInQueue += 1
            settle(push, error, at: now)
        }
        serve(at: now)
    }

    /// APNs answered, or something in its place did; a push without a refusal is accepted.
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

    /// The push's stream, or its connection, ended without an answer.
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

    /// The owner wants no more pushes taken, and those there are finished.
    mutating func close(at now: MonotonicTime) {
        isClosing = true
        closeAllIfFinished()
    }

    /// Time is up: everything ends now.
    mutating func giveUp(at now: MonotonicTime) {
        isClosing = true
        for push in allPushes where !push.progress.isSettled { end(push, .closed, "the client was closed", at: now) }
        closeAllIfFinished()
    }

    /// Whether the owner has closed and every push is settled.
    var isFinished: Bool { isClosing && unsettled == 0 }

    // MARK: Doing

    /// Puts waiting pushes onto connections, as long as there is room.
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

    /// The first connection with room for another push: those that came later stay idle and can be let go.
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

    /// Lets a push that was not acted on go first.
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
        // A try after the deadline would be none.
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

    /// Lets a push wait before it is sent.
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

    /// Settles a push wherever it is.
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
            // What is known of the last try is what is known of the push.
            error.outcome = last.outcome
            error.status = last.status
            error.reason = last.reason
            error.description += "; the last try: \(last.description)"
        }
        error.lastFailure = push.lastError
        settle(push, error, at: now)
    }

    /// Ends a push: with a failure, or well.
    mutating func settle(_ push: PendingPush, _ failure: APNsError?, at now: MonotonicTime) {
        push.progress.move(to: .settled, at: now)
        unsettled -= 1
        if var failure {
            failure.id = push.id
            failure.attempts = push.progress.attempts
            failure.unknownTries = push.progress.unknownTries
            failure.timing = push.progress.timing
            // What was known of the last try does not undo what is not known of an earlier one.
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

    /// The driver is wanted no later than this.
    mutating func wake(at time: MonotonicTime) {
        nextWake = min(nextWake, time)
    }
}
