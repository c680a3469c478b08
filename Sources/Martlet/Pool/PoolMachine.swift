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
/// ``PoolConnections`` decides when connections are opened and closed. `PoolMachine+results.swift` handles failures and
/// results, `PoolMachine+connections.swift` the events of connections, `PoolMachine+tokens.swift` provider tokens, and
/// `PoolMachine+time.swift` timeouts.
struct PoolMachine {
    typealias ConnectionID = Int

    /// An action for the driver; actions are performed in order.
    enum Action {
        /// Open a connection, and report its events under this identifier.
        case connect(ConnectionID)
        /// Send the push on the connection.
        case open(PushKey, ConnectionID)
        /// Reset the push's stream, because its result is no longer needed.
        case reset(PushKey, ConnectionID)
        /// Send a PING.
        case ping(ConnectionID)
        /// Close the connection; the streams of its pushes end as broken.
        case close(ConnectionID, TransportError)
        /// Ask the source for a provider token.
        case requestToken(PoolTokenMachine.Request)
        /// Take the result of the push with ``takeResult(of:)``, and report it to the caller.
        case settle(PushKey)
        /// Report the event to the listeners.
        case report(ClientEvent)
    }

    struct Settings {
        /// Whether pushes are sent with provider tokens.
        ///
        /// On each connection only one push is then sent until the first response, as APNs requires ("Establishing a
        /// connection to APNs").
        var usesProviderTokens: Bool
        /// The maximum number of pushes that wait for a stream or for their timestamp; further ones are rejected.
        var waitingLimit: Int
        var connectionLimit = 4
        /// Whether to stop sending for a while when everything is rejected for one reason.
        var breaksCircuit = true
    }

    /// The number of times that a push which servers did not process is sent again.
    static let unprocessedLimit = 10

    var settings: Settings
    var actions: [Action] = []
    var pushes = PushTable()
    var tokens = PoolTokenMachine()
    var connections: PoolConnections
    var waiting = RequestQueue<PushKey>()
    /// The number of pushes in the queue that are already settled.
    var settledInQueue = 0
    var backingOff = TimeHeap<PushKey>()
    /// The number of pushes that wait for their timestamp before their first attempt.
    var delayedCount = 0
    var circuit = CircuitBreaker()
    var random: SplitMix64
    /// The time of the next check of deadlines, which is at most ``sweepInterval`` after the earliest deadline.
    var nextSweep = MonotonicTime.never
    /// The time at which a push needs ``timerFired(at:)`` at the latest.
    var nextDue = MonotonicTime.never
    var isClosing = false
    var counters = ClientCounters()

    init(_ settings: Settings, seed: UInt64) {
        self.settings = settings
        connections = PoolConnections(limit: settings.connectionLimit, seed: seed)
        random = SplitMix64(state: seed)
    }

    /// The time at which the driver has to call ``timerFired(at:)`` at the latest.
    var nextWake: MonotonicTime { min(nextDue, connections.nextWake) }

    var isWarm: Bool { connections.isWarm }

    /// Returns the actions since the last call, in exchange for an empty list whose storage is reused.
    mutating func takeActions(_ list: inout [Action]) {
        swap(&actions, &list)
    }

    /// Returns the result of a settled push, whose key becomes invalid.
    mutating func takeResult(of key: PushKey) -> PushResult {
        pushes.takeResult(of: key)
    }

    var waitingCount: Int { waiting.count - settledInQueue }

    private var isFull: Bool { waitingCount + delayedCount >= settings.waitingLimit }

    // MARK: Push events

    /// Handles a new push.
    ///
    /// - Parameters:
    ///   - id: The identifier that is sent to APNs.
    ///   - limits: The timeout and the retry policy.
    ///   - isCancelled: Whether the caller has cancelled the push already.
    ///   - now: The current time.
    /// - Returns: The key of the push.
    mutating func submitted(
        _ id: APNsID,
        _ limits: SendLimits,
        isCancelled: Bool,
        at now: MonotonicTime
    ) -> PushKey {
        counters.sends += 1
        let push = pushes.insert(PushState(id, limits))
        if isCancelled {
            settle(push, APNsError(.cancelled, description: "the task was cancelled"), at: now)
        } else if isClosing {
            settle(push, APNsError(.closed, description: "the client is closed"), at: now)
        } else if let error = circuit.refusal(at: now) {
            settle(push, error, at: now)
        } else if limits.timeout <= .zero {
            settle(push, APNsError(.timedOut, description: "its timeout had passed before it could be sent"), at: now)
        } else {
            accept(push, limits, at: now)
        }
        return push
    }

    private mutating func accept(_ push: PushKey, _ limits: SendLimits, at now: MonotonicTime) {
        let deadline = now.advanced(by: limits.timeout)
        pushes[push].deadline = deadline
        nextSweep = min(nextSweep, deadline)
        wake(at: nextSweep)
        let isDelayed = limits.delay > .zero
        if !isDelayed, waiting.isEmpty,
            let index = connections.indexWithRoom(startsWithOneStream: settings.usesProviderTokens)
        {
            dispatch(push, onto: index, at: now)
            return
        }
        guard !isFull else {
            settle(
                push,
                APNsError(.overloaded, description: "\(settings.waitingLimit) sends are waiting already: send slower"),
                at: now
            )
            return
        }
        guard !isDelayed else {
            delayedCount += 1
            hold(push, in: .delayed, for: limits.delay, at: now)
            return
        }
        enqueue(push, at: now)
        serve(at: now)
    }

    /// Handles the cancellation of a push by its caller.
    mutating func cancelled(_ push: PushKey, at now: MonotonicTime) {
        if !pushes.isSettled(push) { end(push, .cancelled, "the task was cancelled", at: now) }
    }

    /// Ends the pushes of a stopped bulk send that have not been sent.
    mutating func takenBack(at now: MonotonicTime, where isUnwanted: (PushKey) -> Bool) {
        for push in pushes.unsettled where isUnwanted(push) {
            if case .onWire = pushes[push].phase, !pushes[push].isAwaitingToken { continue }
            end(push, .cancelled, "the bulk send was stopped", at: now)
        }
    }

    /// Handles a push that could not be opened on a connection that accepts no more; nothing of it was sent.
    mutating func notOpened(_ push: PushKey, on id: ConnectionID, at now: MonotonicTime) {
        connections.releasePush(on: id, at: now)
        connections.drain(id, at: now, &actions)
        connections.closeIfDrained(id, &actions)
        if !pushes.isSettled(push) {
            pushes[push].attempts -= 1
            putBack(push, at: now)
        }
        serve(at: now)
    }

    /// Handles a push that was settled before it was opened on a connection.
    mutating func notWanted(_ push: PushKey, on id: ConnectionID, at now: MonotonicTime) {
        connections.releasePush(on: id, at: now)
        connections.closeIfDrained(id, &actions)
        serve(at: now)
    }

    /// Handles a response of APNs, or of a server in its place; a push without `refusal` is accepted.
    mutating func answered(
        _ push: PushKey,
        on id: ConnectionID,
        refusal: APNsError?,
        at now: MonotonicTime
    ) {
        connections.releasePush(on: id, isAnswered: true, at: now)
        breakCircuit(after: refusal, at: now)
        if let refusal {
            handle(refusal, from: push, on: id, at: now)
            if !pushes.isSettled(push) { retryOrSettle(push, refusal, at: now) }
        } else {
            connections.responded()
            if !pushes.isSettled(push) { settle(push, nil, at: now) }
        }
        connections.closeIfDrained(id, &actions)
        serve(at: now)
    }

    /// Handles a push whose stream, or connection, ended without a response.
    mutating func broken(
        _ push: PushKey,
        on id: ConnectionID,
        _ failure: StreamFailure,
        at now: MonotonicTime
    ) {
        connections.releasePush(on: id, at: now)
        if !pushes.isSettled(push) {
            let outcome: APNsError.Outcome = failure.isUnprocessed ? .unprocessed : .unknown
            let error = APNsError(failure.cause, id: pushes[push].id, outcome: outcome)
            pushes.failed(push, error)
            let isWorthwhile = pushes[push].timesUnprocessed < PoolMachine.unprocessedLimit && !isClosing
            if failure.cause.kind.isPermanent {
                settle(push, error, at: now)
            } else if failure.isUnprocessed, isWorthwhile {
                pushes[push].timesUnprocessed += 1
                counters.resends += 1
                putBack(push, at: now)
            } else {
                retryOrSettle(push, error, at: now)
            }
        }
        connections.closeIfDrained(id, &actions)
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
        for push in pushes.unsettled { end(push, .closed, "the client was closed", at: now) }
        closeAllIfFinished()
    }

    var isFinished: Bool { isClosing && pushes.unsettledCount == 0 }

    // MARK: Sending

    /// Sends waiting pushes on connections that have capacity.
    mutating func serve(at now: MonotonicTime) {
        while !waiting.isEmpty, let index = connections.indexWithRoom(startsWithOneStream: settings.usesProviderTokens)
        {
            guard let push = waiting.popFirst() else { return }
            if pushes.isSettled(push) {
                settledInQueue -= 1
            } else {
                dispatch(push, onto: index, at: now)
            }
        }
        guard waitingCount > 0, let oldest = oldestWaiting else { return }
        connections.open(forPushWaitingSince: pushes[oldest].since, at: now, &actions)
    }

    /// The push that has waited for a stream for the longest time.
    var oldestWaiting: PushKey? {
        mutating get {
            while let push = waiting.first {
                guard pushes.isSettled(push) else { return push }
                _ = waiting.popFirst()
                settledInQueue -= 1
            }
            return nil
        }
    }

    /// The index of the first connection with capacity, so that later connections stay idle and can be closed.
    private mutating func dispatch(_ push: PushKey, onto index: Int, at now: MonotonicTime) {
        let id = connections.assignPush(at: index, at: now)
        pushes[push].move(to: .onWire(id), at: now)
        pushes[push].attempts += 1
        guard settings.usesProviderTokens, !tokens.isUsable(at: now) else { return open(push, on: id) }
        pushes[push].isAwaitingToken = true
        if let request = tokens.wait(push, for: id) { actions.append(.requestToken(request)) }
    }

    mutating func open(_ push: PushKey, on id: ConnectionID) {
        pushes[push].isAwaitingToken = false
        pushes[push].tokenIssuedAt = tokens.issuedAt
        actions.append(.open(push, id))
    }

    mutating func enqueue(_ push: PushKey, at now: MonotonicTime) {
        pushes[push].move(to: .waiting, at: now)
        waiting.append(push)
    }

    /// Puts a push that was not processed at the front of the queue.
    private mutating func putBack(_ push: PushKey, at now: MonotonicTime) {
        pushes[push].move(to: .waiting, at: now)
        waiting.prepend(push)
    }

    /// Makes the driver call ``timerFired(at:)`` no later than this time.
    mutating func wake(at time: MonotonicTime) {
        nextDue = min(nextDue, time)
    }
}
