internal import MartletCore
internal import MartletTransport

extension PoolMachine {
    /// The time for which a push waits for a stream before another connection is opened, and the minimum time after the
    /// last new connection.
    static let growthDelay = Duration.milliseconds(50)

    // MARK: Events

    mutating func connected(_ id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id), case .connecting = connections[index].phase else { return }
        connections[index].phase = .open
        connections[index].receivedInput(at: now)
        lastConnectedAt = now
        counters.connectionsOpened += 1
        actions.append(.report(.connected(connection: id)))
        leaveSurplus(at: now)
        wake(at: now.advanced(by: PoolMachine.idlePingInterval))
        openWantedConnections(at: now)
        serve(at: now)
    }

    /// Records the number of streams that the server's settings allow.
    mutating func allowed(streams: Int, on id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        connections[index].peerLimit = streams
        connections[index].receivedInput(at: now)
        serve(at: now)
    }

    /// Records that the server accepts no more pushes on this connection.
    ///
    /// The last stream identifier in the frame needs no handling here: nghttp2 closes later streams with
    /// REFUSED_STREAM, so their pushes end in ``broken(_:on:_:at:)`` as unprocessed and are sent again on another
    /// connection. The other pushes in flight complete on this connection.
    mutating func wentAway(_ goAway: HTTP2GoAway, on id: ConnectionID, at now: MonotonicTime) {
        guard index(of: id) != nil else { return }
        let answer = try? JSONReader.read(goAway.debugData)
        let reason = answer?["reason"]?.stringValue.map(Reason.init(rawValue:))
        actions.append(.report(.goAway(connection: id, reason)))
        drain(id, at: now)
        serve(at: now)
    }

    /// Records the acknowledgement of a PING.
    mutating func ponged(on id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        connections[index].receivedInput(at: now)
    }

    /// Records that a connection could not be opened, or has ended; the failures of its pushes follow.
    mutating func disconnected(_ id: ConnectionID, _ error: TransportError, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        let connection = connections.remove(at: index)
        switch connection.phase {
        case .connecting:
            backoff.failed(at: now, using: &random)
            counters.connectionsFailed += 1
            actions.append(.report(.connectionFailed(APNsError(error))))
            if !connections.contains(where: \.isUsable) { connectFailed(error, at: now) }
        case .open, .draining, .closing:
            if connection.isUsable { noteEnd(of: connection, at: now) }
            // With TLS 1.3 a server rejects a client's certificate after the handshake.
            if error.kind.isPermanent, !connections.contains(where: \.isUsable) { connectFailed(error, at: now) }
            actions.append(.report(.disconnected(connection: id, APNsError(error))))
        }
        for (push, _) in tokens.closed(id) { notOpened(push, on: id, at: now) }
        serve(at: now)
    }

    // MARK: Decisions

    /// Handles the reason of a rejected push, apart from a retry.
    mutating func handle(_ error: APNsError, from push: PushKey, on id: ConnectionID, at now: MonotonicTime) {
        switch error.reason?.advice {
        case .renewToken:
            // The result of a push that was cancelled may have been taken.
            if !pushes.isSettled(push), let issuedAt = pushes[push].tokenIssuedAt {
                tokens.rejected(tokenIssuedAt: issuedAt)
            }
            // Operators have observed that a connection keeps rejecting pushes after an expired token, so use another
            // one.
            replace(id, at: now)
        case .reconnect:
            replace(id, at: now)
        case .backOff, .mendFirst, nil:
            backoff.succeeded()
        }
    }

    /// Counts a failed connection attempt for waiting pushes, and fails those that have reached their limit.
    private mutating func connectFailed(_ error: TransportError, at now: MonotonicTime) {
        for push in waiting.all where !pushes.isSettled(push) {
            pushes[push].failedConnects += 1
            let state = pushes[push]
            let lastFailure = pushes.lastFailure(of: push)
            let failure = APNsError(error, id: state.id, outcome: lastFailure?.outcome ?? .neverSent)
            let isEnough = state.failedConnects > state.limits.retry.limit(isUrgent: state.limits.isUrgent)
            if isEnough || isClosing || error.kind.isPermanent {
                settledInQueue += 1
                settle(push, failure, at: now)
            } else if lastFailure == nil {
                pushes.failed(push, failure)
            }
        }
    }

    /// Opens the first connection when a push waits, and further ones when it waits too long.
    mutating func openConnectionIfNeeded(at now: MonotonicTime) {
        guard waitingCount > 0, let oldest = oldestWaiting,
            !connections.contains(where: { $0.phase == .connecting })
        else { return }
        var due = backoff.notBefore
        let usable = connections.count(where: \.isUsable)
        if usable > 0 {
            // Before the first response on a connection all pushes have to wait, and another connection would be no
            // faster.
            guard usable < settings.connectionLimit,
                connections.allSatisfy({ !$0.isUsable || $0.hasBeenAnswered })
            else { return }
            due = max(due, max(pushes[oldest].since, lastConnectedAt).advanced(by: PoolMachine.growthDelay))
        }
        if now >= due { connect(at: now) } else { wake(at: due) }
    }

    /// Stops using connections that have carried pushes, and opens others.
    mutating func renewConnections(at now: MonotonicTime) {
        leave(connections.filter { $0.hasBeenUsed && $0.isUsable }.map(\.id), at: now)
        // Without connections, the next push opens one, after the delay since the last failure.
        if !connections.isEmpty { openWantedConnections(at: now) }
        serve(at: now)
    }

    /// Opens connections, one after the other, up to this number.
    mutating func warmUp(to count: Int, at now: MonotonicTime) {
        wantedConnections = max(1, count)
        openWantedConnections(at: now)
    }

    /// Limits the number of connections that accept pushes; pushes in flight on further connections complete.
    mutating func limitConnections(to count: Int, at now: MonotonicTime) {
        settings.connectionLimit = max(1, count)
        leaveSurplus(at: now)
        // A client that has sent nothing needs no connections.
        if !connections.isEmpty { openWantedConnections(at: now) }
        serve(at: now)
    }

    private mutating func leaveSurplus(at now: MonotonicTime) {
        leave(connections.filter(\.isUsable).dropFirst(settings.connectionLimit).map(\.id), at: now)
    }

    /// Stops using connections that have no error.
    private mutating func leave(_ ids: [ConnectionID], at now: MonotonicTime) {
        for id in ids {
            guard let index = index(of: id) else { continue }
            connections[index].phase = .draining
            closeIfDrained(id, at: now)
        }
    }

    /// The number of connections that stay open even when idle.
    var keptConnections: Int { min(wantedConnections, settings.connectionLimit) }

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
        actions.append(.connect(lastID))
    }

    func index(of id: ConnectionID) -> Int? {
        connections.firstIndex { $0.id == id }
    }

    /// Stops using the connection, and closes it when its pushes in flight have ended.
    mutating func drain(_ id: ConnectionID, at now: MonotonicTime) {
        if let index = index(of: id) { drain(at: index, now) }
    }

    /// Moves further pushes to another connection, after a delay: APNs treats rapid opening and closing of connections
    /// as an attack ("Establishing a connection to APNs").
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

    /// Treats a connection that never carried a response like a failed attempt to connect.
    private mutating func noteEnd(of connection: PooledConnection, at now: MonotonicTime) {
        if !connection.hasBeenAnswered { backoff.failed(at: now, using: &random) }
    }

    mutating func closeIfDrained(_ id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id), case .draining = connections[index].phase,
            connections[index].inFlight == 0
        else { return }
        close(at: index, TransportError(.closedLocally, "the connection is not needed any more"))
    }

    mutating func close(at index: Int, _ reason: TransportError) {
        guard connections[index].phase != .closing else { return }
        connections[index].phase = .closing
        actions.append(.close(connections[index].id, reason))
    }

    mutating func closeAllIfFinished() {
        guard isFinished else { return }
        for index in connections.indices { close(at: index, TransportError(.closedLocally, "the client was closed")) }
    }
}

extension TransportError.Kind {
    /// Whether another attempt to connect would fail in the same way.
    var isPermanent: Bool {
        switch self {
        case .certificateRejected, .notHTTP2, .badCredentials, .cannotListen, .addressNotAvailable: true
        case .system, .nameNotResolved, .connectionRefused, .timedOut, .tlsFailed, .closedByPeer,
            .protocolViolation, .closedLocally:
            false
        }
    }
}
