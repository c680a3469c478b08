// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

/// The connections of a pool, without their pushes: it opens connections when pushes wait, drains those that fail or
/// exceed the limit, and closes those that are silent or not needed.
struct PoolConnections {
    typealias ID = PoolMachine.ConnectionID
    typealias Actions = [PoolMachine.Action]

    /// The time for which a push waits for a stream before another connection is opened, and the minimum time after the
    /// last new connection.
    static let growthDelay = Duration.milliseconds(50)
    /// The time without input after which a connection with pushes in flight sends a PING.
    static let silenceTimeout = Duration.seconds(15)
    /// The interval between PINGs on an idle connection ("Sending notification requests to APNs").
    static let idlePingInterval = Duration.seconds(3_600)
    /// The time without an acknowledgement of a PING after which the connection is closed.
    static let pongTimeout = Duration.seconds(10)
    /// The time without a push after which a surplus connection is closed.
    static let idleTimeout = Duration.seconds(600)

    private(set) var all: [PooledConnection] = []
    /// The maximum number of connections that accept pushes.
    private(set) var limit: Int
    /// The number of connections that stay open even when idle, if the limit permits it.
    private var wanted = 1
    private var backoff = ReconnectBackoff()
    private var lastID: ID = 0
    private var lastConnectedAt = MonotonicTime.zero
    /// The time at which ``timerFired(at:_:)`` has to be called at the latest.
    private(set) var nextWake = MonotonicTime.never
    /// The numbers of connections that were opened, and that failed.
    private(set) var counters = ClientCounters()
    private var random: SplitMix64

    init(limit: Int, seed: UInt64) {
        self.limit = limit
        random = SplitMix64(state: seed)
    }

    var isEmpty: Bool { all.isEmpty }

    var hasUsable: Bool { all.contains(where: \.isUsable) }

    /// Whether as many connections are open as stay open even when idle.
    var isWarm: Bool { all.count(where: \.isUsable) >= kept }

    /// The number of concurrent pushes that the server allows on all connections.
    var streamLimit: Int { all.reduce(0) { $0 + ($1.isUsable ? $1.peerLimit : 0) } }

    /// Whether connections have failed, or ended before any response, more than once in a row.
    var failRepeatedly: Bool { backoff.failures > 1 }

    private var kept: Int { min(wanted, limit) }

    private var isConnecting: Bool { all.contains { $0.phase == .connecting } }

    func contains(_ id: ID) -> Bool { index(of: id) != nil }

    /// Returns whether pushes may be sent on a connection.
    func isUsable(_ id: ID) -> Bool { index(of: id).map { all[$0].isUsable } ?? false }

    /// Returns whether more pushes are assigned to a connection than the server allows since its last settings.
    func exceedsLimit(_ id: ID) -> Bool { index(of: id).map { all[$0].inFlight > all[$0].peerLimit } ?? false }

    private func index(of id: ID) -> Int? {
        all.firstIndex { $0.id == id }
    }

    private mutating func wake(at time: MonotonicTime) {
        nextWake = min(nextWake, time)
    }

    // MARK: Events

    /// Records that a connection was established; returns false if it was not being opened.
    mutating func connected(_ id: ID, at now: MonotonicTime) -> Bool {
        guard let index = index(of: id), case .connecting = all[index].phase else { return false }
        all[index].phase = .open
        all[index].receivedInput(at: now)
        counters.connectionsOpened += 1
        lastConnectedAt = now
        wake(at: now.advanced(by: PoolConnections.idlePingInterval))
        return true
    }

    /// Records input, and the number of streams that the server's settings allow if the input is that.
    mutating func receivedInput(on id: ID, streams: Int? = nil, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        if let streams { all[index].peerLimit = streams }
        all[index].receivedInput(at: now)
    }

    /// Removes and returns a connection that could not be opened or has ended.
    mutating func remove(_ id: ID, at now: MonotonicTime) -> PooledConnection? {
        guard let index = index(of: id) else { return nil }
        let connection = all.remove(at: index)
        if connection.phase == .connecting {
            counters.connectionsFailed += 1
            backoff.failed(at: now, using: &random)
        }
        if connection.isUsable { recordEnd(of: connection, at: now) }
        return connection
    }

    /// Records a response that gives no reason to use another connection.
    mutating func responded() {
        backoff.succeeded()
    }

    // MARK: Pushes

    /// Returns the position of the first connection that has a free stream.
    func indexWithRoom(startsWithOneStream: Bool) -> Int? {
        all.firstIndex { $0.hasRoom(startsWithOneStream: startsWithOneStream) }
    }

    /// Assigns a push to the connection at this position.
    mutating func assignPush(at index: Int, at now: MonotonicTime) -> ID {
        all[index].add(at: now)
        if all[index].inFlight == 1 { wake(at: now.advanced(by: PoolConnections.silenceTimeout)) }
        return all[index].id
    }

    /// Ends the assignment of a push.
    mutating func releasePush(on id: ID, isAnswered: Bool = false, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        all[index].remove(at: now)
        guard isAnswered else { return }
        all[index].receivedInput(at: now)
        all[index].hasBeenAnswered = true
    }

    // MARK: Opening

    /// Opens the first connection when a push waits, and further ones when it waits too long.
    mutating func open(forPushWaitingSince since: MonotonicTime, at now: MonotonicTime, _ actions: inout Actions) {
        guard !isConnecting else { return }
        var due = backoff.notBefore
        let usable = all.count(where: \.isUsable)
        if usable > 0 {
            // Before the first response on a connection all pushes have to wait, and another connection would be no
            // faster.
            guard usable < limit, all.allSatisfy({ !$0.isUsable || $0.hasBeenAnswered }) else { return }
            due = max(due, max(since, lastConnectedAt).advanced(by: PoolConnections.growthDelay))
        }
        if now >= due { connect(at: now, &actions) } else { wake(at: due) }
    }

    /// Opens the next of the connections that stay open even when idle.
    mutating func openWanted(at now: MonotonicTime, _ actions: inout Actions) {
        guard !isWarm, kept > 1 || all.isEmpty, !isConnecting else { return }
        connect(at: now, &actions)
    }

    private mutating func connect(at now: MonotonicTime, _ actions: inout Actions) {
        lastID += 1
        all.append(PooledConnection(id: lastID, at: now))
        actions.append(.connect(lastID))
    }

    mutating func warmUp(to count: Int) {
        wanted = max(1, count)
    }

    // MARK: Closing

    /// Limits the number of connections that accept pushes; pushes in flight on further connections complete.
    mutating func setLimit(to count: Int, _ actions: inout Actions) {
        limit = max(1, count)
        leaveSurplus(&actions)
    }

    mutating func leaveSurplus(_ actions: inout Actions) {
        leave(all.filter(\.isUsable).dropFirst(limit).map(\.id), &actions)
    }

    /// Stops using the connections that have carried pushes.
    mutating func leaveUsed(_ actions: inout Actions) {
        leave(all.filter { $0.hasBeenUsed && $0.isUsable }.map(\.id), &actions)
    }

    /// Stops using connections that have no error.
    private mutating func leave(_ ids: [ID], _ actions: inout Actions) {
        for id in ids {
            guard let index = index(of: id) else { continue }
            all[index].phase = .draining
            closeIfDrained(id, &actions)
        }
    }

    /// Moves further pushes to another connection, after a delay: APNs treats rapid opening and closing of connections
    /// as an attack ("Establishing a connection to APNs").
    mutating func replace(_ id: ID, at now: MonotonicTime, _ actions: inout Actions) {
        guard let index = index(of: id), all[index].isUsable else { return }
        backoff.failed(at: now, using: &random)
        drain(id, at: now, &actions)
    }

    /// Stops using the connection, and closes it when its pushes in flight have ended.
    mutating func drain(_ id: ID, at now: MonotonicTime, _ actions: inout Actions) {
        guard let index = index(of: id), all[index].isUsable else { return }
        recordEnd(of: all[index], at: now)
        all[index].phase = .draining
        closeIfDrained(id, &actions)
    }

    /// Treats a connection that never carried a response like a failed attempt to connect.
    private mutating func recordEnd(of connection: PooledConnection, at now: MonotonicTime) {
        if !connection.hasBeenAnswered { backoff.failed(at: now, using: &random) }
    }

    mutating func closeIfDrained(_ id: ID, _ actions: inout Actions) {
        guard let index = index(of: id), case .draining = all[index].phase, all[index].inFlight == 0 else { return }
        close(at: index, TransportError(.closedLocally, "the connection is not needed any more"), &actions)
    }

    mutating func closeAll(_ reason: TransportError, _ actions: inout Actions) {
        for index in all.indices { close(at: index, reason, &actions) }
    }

    private mutating func close(at index: Int, _ reason: TransportError, _ actions: inout Actions) {
        guard all[index].phase != .closing else { return }
        all[index].phase = .closing
        actions.append(.close(all[index].id, reason))
    }

    // MARK: Time

    /// Checks that each connection responds and is needed.
    mutating func timerFired(at now: MonotonicTime, _ actions: inout Actions) {
        nextWake = .never
        for id in all.map(\.id) { watch(id, at: now, &actions) }
    }

    private mutating func watch(_ id: ID, at now: MonotonicTime, _ actions: inout Actions) {
        guard let index = index(of: id) else { return }
        let connection = all[index]
        guard connection.phase == .open || connection.phase == .draining else { return }
        if connection.phase == .open, connection.inFlight == 0, isSpare(connection) {
            let due = connection.idleSince.advanced(by: PoolConnections.idleTimeout)
            guard now < due else { return drain(id, at: now, &actions) }
            wake(at: due)
        }
        if let pingSentAt = connection.pingSentAt {
            let due = pingSentAt.advanced(by: PoolConnections.pongTimeout)
            guard now >= due else { return wake(at: due) }
            drain(id, at: now, &actions)
            let reason = "the server sends nothing and does not acknowledge a PING"
            return close(at: index, TransportError(.closedByPeer, reason), &actions)
        }
        let isIdle = connection.inFlight == 0
        let timeout = isIdle ? PoolConnections.idlePingInterval : PoolConnections.silenceTimeout
        let due = connection.lastInputAt.advanced(by: timeout)
        guard now >= due else { return wake(at: due) }
        all[index].pingSentAt = now
        actions.append(.ping(id))
        wake(at: now.advanced(by: PoolConnections.pongTimeout))
    }

    /// Returns whether more connections are open than wanted, and this one is not among the first.
    private func isSpare(_ connection: PooledConnection) -> Bool {
        !all.filter(\.isUsable).prefix(kept).contains { $0.id == connection.id }
    }
}
