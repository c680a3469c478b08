// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

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
///       └──▶ delayed ──▶ waiting        it may not be sent before its time
/// ```
///
/// Between `waiting` and `on the wire`, a push that is assigned to a connection waits for a provider token if there is
/// none (`awaitingToken`).
///
/// In every state it may be settled early: by its deadline, its caller, or the end of the client. The action `settle`
/// is returned exactly once for each push that was submitted; the seeded simulation verifies this.
///
/// ``PoolPushes`` decides about the pushes, ``PoolConnections`` about the connections, and ``PoolTokenMachine`` about
/// provider tokens. This type assigns pushes to connections. `PoolMachine+connections.swift` has the events of
/// connections, and `PoolMachine+tokens.swift` those of provider tokens.
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
        /// Take the result of the push with ``PoolPushes/takeResult(of:)``, and report it to the caller.
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

    private let usesProviderTokens: Bool
    var actions: [Action] = []
    var pushes: PoolPushes
    var connections: PoolConnections
    var tokens = PoolTokenMachine()

    init(_ settings: Settings, seed: UInt64) {
        usesProviderTokens = settings.usesProviderTokens
        pushes = PoolPushes(limit: settings.waitingLimit, breaksCircuit: settings.breaksCircuit, seed: seed)
        connections = PoolConnections(limit: settings.connectionLimit, seed: seed)
    }

    /// The time at which the driver has to call ``timerFired(at:)`` at the latest.
    ///
    /// An actor copies its machine to read this, so drivers use the value that ``takeActions(_:)`` returns.
    var nextWake: MonotonicTime { min(pushes.nextWake, connections.nextWake) }

    /// Whether the machine was closed, and every push has been settled.
    var isFinished: Bool { pushes.isFinished }

    var counters: ClientCounters { pushes.counters + connections.counters }

    /// Returns the actions since the last call, in exchange for an empty list whose storage is reused.
    ///
    /// - Returns: The time at which the driver has to call ``timerFired(at:)`` at the latest.
    mutating func takeActions(_ list: inout [Action]) -> MonotonicTime {
        swap(&actions, &list)
        return nextWake
    }

    // MARK: Push events

    /// Handles a new push.
    ///
    /// - Parameters:
    ///   - id: The identifier that is sent to APNs.
    ///   - limits: The timeout and the retry policy.
    ///   - isCancelled: Whether the caller has cancelled the push already.
    ///   - now: The current time.
    /// - Returns: The key of the push.
    mutating func submitted(_ id: APNsID, _ limits: SendLimits, isCancelled: Bool, at now: MonotonicTime) -> PushKey {
        let push = pushes.submitted(id, limits, isCancelled: isCancelled, at: now, &actions)
        guard !pushes.table.isSettled(push) else { return push }
        if limits.delay <= .zero, pushes.queue.isEmpty, let index = connectionWithRoom {
            dispatch(push, onto: index, at: now)
        } else {
            pushes.wait(push, at: now, &actions)
            serve(at: now)
        }
        return push
    }

    /// Handles the cancellation of a push by its caller.
    mutating func cancelled(_ push: PushKey, at now: MonotonicTime) {
        pushes.end(push, .cancelled, "the task was cancelled", at: now, &actions)
        serve(at: now)
    }

    /// Ends the pushes of a stopped bulk send that have not been sent.
    mutating func cancelUnsent(at now: MonotonicTime, where isUnwanted: (PushKey) -> Bool) {
        for push in pushes.unsent where isUnwanted(push) {
            pushes.end(push, .cancelled, "the bulk send was stopped", at: now, &actions)
        }
        serve(at: now)
    }

    /// Handles a push that could not be opened on a connection that accepts no more; nothing of it was sent.
    mutating func notOpened(_ push: PushKey, on id: ConnectionID, at now: MonotonicTime) {
        connections.releasePush(on: id, at: now)
        connections.drain(id, at: now, &actions)
        connections.closeIfDrained(id, &actions)
        pushes.notOpened(push, at: now)
        serve(at: now)
    }

    /// Handles a push that was settled before it was opened on a connection.
    mutating func settledBeforeOpening(_ push: PushKey, on id: ConnectionID, at now: MonotonicTime) {
        connections.releasePush(on: id, at: now)
        connections.closeIfDrained(id, &actions)
        serve(at: now)
    }

    /// Handles a response of APNs, or of a server in its place; a push without `refusal` is accepted.
    mutating func answered(_ push: PushKey, on id: ConnectionID, refusal: APNsError?, at now: MonotonicTime) {
        connections.releasePush(on: id, isAnswered: true, at: now)
        switch refusal?.reason?.advice {
        case .renewToken:
            if let issuedAt = pushes.tokenIssuedAt(of: push) { tokens.rejected(tokenIssuedAt: issuedAt) }
            // Operators have observed that a connection keeps rejecting pushes after an expired token, so use another
            // one.
            connections.replace(id, at: now, &actions)
        case .reconnect:
            connections.replace(id, at: now, &actions)
        case .backOff, .fixFirst, nil:
            connections.responded()
        }
        pushes.answered(push, refusal, at: now, &actions)
        connections.closeIfDrained(id, &actions)
        serve(at: now)
    }

    /// Handles a push whose stream, or connection, ended without a response.
    mutating func broken(_ push: PushKey, on id: ConnectionID, _ failure: StreamFailure, at now: MonotonicTime) {
        connections.releasePush(on: id, at: now)
        pushes.broken(push, failure, at: now, &actions)
        connections.closeIfDrained(id, &actions)
        serve(at: now)
    }

    // MARK: Closing

    /// Stops accepting pushes, and finishes the existing ones.
    mutating func close(at now: MonotonicTime) {
        pushes.close()
        serve(at: now)
    }

    /// Ends all pushes immediately, because the time for closing has passed.
    mutating func giveUp(at now: MonotonicTime) {
        pushes.close()
        for push in pushes.table.unsettled { pushes.end(push, .closed, "the client was closed", at: now, &actions) }
        serve(at: now)
    }

    // MARK: Sending

    /// The position of the first connection with a free stream, so that later connections stay idle and can be closed.
    private var connectionWithRoom: Int? { connections.indexWithRoom(startsWithOneStream: usesProviderTokens) }

    /// Sends waiting pushes on connections that have capacity, opens a connection for the others, and closes all
    /// connections when the last push was settled after ``close(at:)``.
    mutating func serve(at now: MonotonicTime) {
        guard !isFinished else {
            return connections.closeAll(TransportError(.closedLocally, "the client was closed"), &actions)
        }
        while !pushes.queue.isEmpty, let index = connectionWithRoom, let push = pushes.next(at: now, &actions) {
            dispatch(push, onto: index, at: now)
        }
        guard let since = pushes.nextWaitingSince() else { return }
        connections.open(forPushWaitingSince: since, at: now, &actions)
    }

    private mutating func dispatch(_ push: PushKey, onto index: Int, at now: MonotonicTime) {
        let id = connections.assignPush(at: index, at: now)
        let awaitsToken = usesProviderTokens && !tokens.isUsable(at: now)
        guard awaitsToken else { return open(push, on: id, at: now) }
        pushes.awaitsToken(push, on: id, at: now)
        if let request = tokens.wait(push, for: id) { actions.append(.requestToken(request)) }
    }

    mutating func open(_ push: PushKey, on id: ConnectionID, at now: MonotonicTime) {
        pushes.sent(push, on: id, tokenIssuedAt: tokens.issuedAt, at: now)
        actions.append(.open(push, id))
    }

    // MARK: Time

    /// Handles the timer that was set for ``nextWake``.
    mutating func timerFired(at now: MonotonicTime) {
        pushes.timerFired(at: now, &actions)
        connections.timerFired(at: now, &actions)
        serve(at: now)
    }
}
