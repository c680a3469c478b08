internal import APNs
internal import Wire

extension PoolMachine {
    /// Waiting this long for a stream opens another connection; and so long a new one has to prove itself.
    static let growthDelay = Duration.milliseconds(50)

    // MARK: Facts

    /// The connection is there.
    mutating func connected(_ id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id), case .connecting = connections[index].phase else { return }
        connections[index].phase = .open
        connections[index].heard(at: now)
        lastConnectedAt = now
        counters.connectionsOpened += 1
        orders.append(.report(.connected(connection: id)))
        leaveSurplus(at: now)
        wake(at: now.advanced(by: PoolMachine.idlePingInterval))
        openWantedConnections(at: now)
        serve(at: now)
    }

    /// The server's settings allow this many streams.
    mutating func allowed(streams: Int, on id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        connections[index].peerLimit = streams
        connections[index].heard(at: now)
        serve(at: now)
    }

    /// The server will take no more pushes on this connection.
    mutating func wentAway(_ goAway: HTTP2GoAway, on id: ConnectionID, at now: MonotonicTime) {
        guard index(of: id) != nil else { return }
        let answer = try? JSONReader.read(goAway.debugData)
        let reason = answer?["reason"]?.stringValue.map(Reason.init(rawValue:))
        orders.append(.report(.goAway(connection: id, reason)))
        drain(id, at: now)
        serve(at: now)
    }

    /// The server gave a sign of life.
    mutating func ponged(on id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        connections[index].heard(at: now)
    }

    /// The connection could not be opened, or has ended; what was in flight breaks right after.
    mutating func disconnected(_ id: ConnectionID, _ error: WireError, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        let connection = connections.remove(at: index)
        switch connection.phase {
        case .connecting:
            backoff.failed(at: now, using: &random)
            counters.connectionsFailed += 1
            orders.append(.report(.connectionFailed(APNsError(error))))
            if !connections.contains(where: \.isUsable) { connectFailed(error, at: now) }
        case .open, .draining, .closing:
            if connection.isUsable { noteEnd(of: connection, at: now) }
            // With TLS 1.3 a server rejects a client's certificate after the handshake.
            if error.kind.isPermanent, !connections.contains(where: \.isUsable) { connectFailed(error, at: now) }
            orders.append(.report(.disconnected(connection: id, APNsError(error))))
        }
        serve(at: now)
    }

    // MARK: Decisions

    /// Does what the reason of a refusal asks for, besides trying again.
    mutating func heed(_ error: APNsError, from push: PendingPush, on id: ConnectionID, at now: MonotonicTime) {
        switch error.reason?.advice {
        case .renewToken:
            if let issuedAt = push.tokenIssuedAt { orders.append(.renewToken(issuedAt: issuedAt)) }
            // A connection is stuck with an expired token, as senders have found: what follows goes onto another.
            replace(id, at: now)
        case .reconnect:
            replace(id, at: now)
        case .backOff, .mendFirst, nil:
            backoff.succeeded()
        }
    }

    /// What waits has seen a connection fail: some of it has seen enough.
    private mutating func connectFailed(_ error: WireError, at now: MonotonicTime) {
        for push in waiting.all where !push.progress.isSettled {
            push.progress.failedConnects += 1
            let failure = APNsError(error, id: push.id, outcome: push.lastError?.outcome ?? .neverSent)
            let isEnough = push.progress.failedConnects > push.limits.retry.limit(isUrgent: push.limits.isUrgent)
            if isEnough || isClosing || error.kind.isPermanent {
                settledInQueue += 1
                settle(push, failure, at: now)
            } else if push.lastError == nil {
                push.lastError = failure
            }
        }
    }

    /// Opens the first connection when something waits, and further ones when it waits for too long.
    mutating func openConnectionIfNeeded(at now: MonotonicTime) {
        guard waitingCount > 0, let oldest = waiting.first,
            !connections.contains(where: { $0.phase == .connecting })
        else { return }
        var due = backoff.notBefore
        let usable = connections.count(where: \.isUsable)
        if usable > 0 {
            // Before the first answer everything waits, as it must: another connection would be no quicker.
            guard usable < settings.connectionLimit,
                connections.allSatisfy({ !$0.isUsable || $0.hasBeenAnswered })
            else { return }
            due = max(due, max(oldest.progress.since, lastConnectedAt).advanced(by: PoolMachine.growthDelay))
        }
        if now >= due { connect(at: now) } else { wake(at: due) }
    }

    /// What follows has to go over other connections than those that have carried something.
    mutating func renewConnections(at now: MonotonicTime) {
        leave(connections.filter { $0.hasBeenUsed && $0.isUsable }.map(\.id), at: now)
        openWantedConnections(at: now)
        serve(at: now)
    }

    /// Opens connections, one after the other, up to the number that is wanted.
    mutating func warmUp(to count: Int, at now: MonotonicTime) {
        wantedConnections = max(1, count)
        openWantedConnections(at: now)
    }

    /// No more connections than these take pushes from now on; what is in flight on others ends there.
    mutating func limitConnections(to count: Int, at now: MonotonicTime) {
        settings.connectionLimit = max(1, count)
        leaveSurplus(at: now)
        // Nothing is opened for a client that has sent nothing.
        if !connections.isEmpty { openWantedConnections(at: now) }
        serve(at: now)
    }

    private mutating func leaveSurplus(at now: MonotonicTime) {
        leave(connections.filter(\.isUsable).dropFirst(settings.connectionLimit).map(\.id), at: now)
    }

    /// Puts nothing more onto connections that nothing is wrong with.
    private mutating func leave(_ ids: [ConnectionID], at now: MonotonicTime) {
        for id in ids {
            guard let index = index(of: id) else { continue }
            connections[index].phase = .draining
            closeIfDrained(id, at: now)
        }
    }

    /// Connections that are kept however little is sent.
    var keptConnections: Int { min(wantedConnections, settings.connectionLimit) }

    /// Whether as many connections are open as are wanted.
    var isWarm: Bool { connections.count(where: \.isUsable) >= keptConnections }

    private mutating func openWantedConnections(at now: MonotonicTime) {
        guard !isClosing, !isWarm, keptConnections > 1 || connections.isEmpty,
            !connections.contains(where: { $0.phase == .connecting })
        else { return }
        connect(at: now)
    }

    private mutating func connect(at now: MonotonicTime) {
        lastID += 1
        connections.append(PooledConnection(id: lastID, at: now))
        orders.append(.connect(lastID))
    }

    func index(of id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }

    /// Puts nothing more onto the connection, and ends it when what is in flight has ended.
    mutating func drain(_ id: ConnectionID, at now: MonotonicTime) {
        if let index = index(of: id) { drain(at: index, now) }
    }

    /// Has what follows go onto another connection, though not at once: to open and close them rapidly is taken for
    /// an attack ("Establishing a connection to APNs").
    mutating func replace(_ id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id), connections[index].isUsable else { return }
        backoff.failed(at: now, using: &random)
        drain(at: index, now)
    }

    mutating func drain(at index: Int, _ now: MonotonicTime) {
        guard connections[index].isUsable else { return }
        noteEnd(of: connections[index], at: now)
        connections[index].phase = .draining
        closeIfDrained(connections[index].id, at: now)
    }

    /// One that never carried an answer is no better than one that never came about.
    private mutating func noteEnd(of connection: PooledConnection, at now: MonotonicTime) {
        if !connection.hasBeenAnswered { backoff.failed(at: now, using: &random) }
    }

    mutating func closeIfDrained(_ id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id), case .draining = connections[index].phase,
            connections[index].inFlight.isEmpty
        else { return }
        close(at: index, WireError(.closedLocally, "nothing more goes over the connection"))
    }

    mutating func close(at index: Int, _ reason: WireError) {
        guard connections[index].phase != .closing else { return }
        connections[index].phase = .closing
        orders.append(.close(connections[index].id, reason))
    }

    mutating func closeAllIfFinished() {
        guard isFinished else { return }
        for index in connections.indices { close(at: index, WireError(.closedLocally, "the client was closed")) }
    }
}

extension WireError.Kind {
    /// Whether another try at connecting would end the same way.
    var isPermanent: Bool {
        switch self {
        case .certificateRejected, .notHTTP2, .badCredentials, .cannotListen, .addressNotAvailable: true
        case .system, .nameNotResolved, .connectionRefused, .timedOut, .tlsFailed, .closedByPeer,
            .protocolViolation, .closedLocally:
            false
        }
    }
}
