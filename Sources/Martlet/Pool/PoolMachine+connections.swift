// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletTransport

extension PoolMachine {
    // MARK: Events

    mutating func connected(_ id: ConnectionID, at now: MonotonicTime) {
        guard connections.connected(id, at: now) else { return }
        actions.append(.report(.connected(connection: id)))
        connections.leaveSurplus(&actions)
        openWantedConnections(at: now)
        serve(at: now)
    }

    /// Records the number of streams that the server's settings allow.
    mutating func streamLimitReceived(_ streams: Int, on id: ConnectionID, at now: MonotonicTime) {
        connections.receivedInput(on: id, streams: streams, at: now)
        serve(at: now)
    }

    /// Records that the server accepts no more pushes on this connection.
    ///
    /// The last stream identifier in the frame needs no handling here: nghttp2 closes later streams with
    /// REFUSED_STREAM, so their pushes end in ``broken(_:on:_:at:)`` as unprocessed and are sent again on another
    /// connection. The other pushes in flight complete on this connection.
    mutating func goAwayReceived(_ goAway: HTTP2GoAway, on id: ConnectionID, at now: MonotonicTime) {
        guard connections.contains(id) else { return }
        let answer = try? JSONReader.read(goAway.debugData)
        let reason = answer?["reason"]?.stringValue.map(APNsReason.init(rawValue:))
        actions.append(.report(.goAway(connection: id, reason)))
        connections.drain(id, at: now, &actions)
        // Pushes that wait for a token on it were not opened, and are sent on another connection.
        for (push, _) in tokens.closed(id) { notOpened(push, on: id, at: now) }
        serve(at: now)
    }

    /// Records the acknowledgement of a PING.
    mutating func pongReceived(on id: ConnectionID, at now: MonotonicTime) {
        connections.receivedInput(on: id, at: now)
    }

    /// Records that a connection could not be opened, or has ended; the failures of its pushes follow.
    mutating func disconnected(_ id: ConnectionID, _ error: TransportError, at now: MonotonicTime) {
        guard let connection = connections.remove(id, at: now) else { return }
        switch connection.phase {
        case .connecting:
            actions.append(.report(.connectionFailed(APNsError(error))))
            if !connections.hasUsable { pushes.connectFailed(error, at: now, &actions) }
        case .open, .draining, .closing:
            // With TLS 1.3 a server rejects a client's certificate after the handshake. A server that is down may
            // accept connections and reset them; a single loss proves nothing.
            let isLost = connection.isLostUnanswered && connections.failRepeatedly
            let isFailedAttempt = error.kind.isPermanent || isLost
            if isFailedAttempt, !connections.hasUsable { pushes.connectFailed(error, at: now, &actions) }
            actions.append(.report(.disconnected(connection: id, APNsError(error))))
        }
        for (push, _) in tokens.closed(id) { notOpened(push, on: id, at: now) }
        serve(at: now)
    }

    // MARK: Decisions

    /// Stops using connections that have carried pushes, and opens others.
    mutating func renewConnections(at now: MonotonicTime) {
        connections.leaveUsed(&actions)
        // Without connections, the next push opens one, after the delay since the last failure.
        if !connections.isEmpty { openWantedConnections(at: now) }
        serve(at: now)
    }

    /// Opens connections, one after the other, up to this number.
    mutating func warmUp(to count: Int, at now: MonotonicTime) {
        connections.warmUp(to: count)
        openWantedConnections(at: now)
    }

    /// Limits the number of connections that accept pushes; pushes in flight on further connections complete.
    mutating func limitConnections(to count: Int, at now: MonotonicTime) {
        connections.setLimit(to: count, &actions)
        // A client that has sent nothing needs no connections.
        if !connections.isEmpty { openWantedConnections(at: now) }
        serve(at: now)
    }

    private mutating func openWantedConnections(at now: MonotonicTime) {
        if !pushes.isClosing { connections.openWanted(at: now, &actions) }
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
