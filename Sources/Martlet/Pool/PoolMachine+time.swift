internal import MartletTransport

extension PoolMachine {
    /// The time without input after which a connection with pushes in flight sends a PING.
    static let silenceTimeout = Duration.seconds(15)
    /// The interval between PINGs on an idle connection ("Sending notification requests to APNs").
    static let idlePingInterval = Duration.seconds(3_600)
    /// The time without an acknowledgement of a PING after which the connection is closed.
    static let pongTimeout = Duration.seconds(10)
    /// The time without a push after which a surplus connection is closed.
    static let idleTimeout = Duration.seconds(600)
    /// The minimum interval between checks of deadlines, because a check visits every push.
    static let sweepInterval = Duration.milliseconds(10)

    /// Handles the timer that was set for ``nextWake``.
    mutating func timerFired(at now: MonotonicTime) {
        nextWake = .never
        if now >= nextSweep { settleOverdue(at: now) }
        while let push = backingOff.removeDue(by: now) {
            guard !pushes.isSettled(push) else { continue }
            if pushes[push].phase == .delayed { delayedCount -= 1 }
            enqueue(push, at: now)
        }
        for id in connections.map(\.id) { watch(id, at: now) }
        serve(at: now)
        wake(at: nextSweep)
        if let earliest = backingOff.earliest { wake(at: earliest) }
    }

    private mutating func settleOverdue(at now: MonotonicTime) {
        nextSweep = .never
        for push in pushes.unsettled {
            let deadline = pushes[push].deadline
            if deadline <= now {
                end(push, .timedOut, "no response within \(pushes[push].limits.timeout)", at: now)
            } else {
                nextSweep = min(nextSweep, deadline)
            }
        }
        if nextSweep != .never { nextSweep = max(nextSweep, now.advanced(by: PoolMachine.sweepInterval)) }
    }

    /// Checks that the connection responds and is needed.
    private mutating func watch(_ id: ConnectionID, at now: MonotonicTime) {
        guard let index = index(of: id) else { return }
        let connection = connections[index]
        guard connection.phase == .open || connection.phase == .draining else { return }
        if connection.phase == .open, connection.inFlight == 0, isSpare(connection) {
            let due = connection.idleSince.advanced(by: PoolMachine.idleTimeout)
            guard now < due else {
                drain(at: index, now)
                return
            }
            wake(at: due)
        }
        if let pingSentAt = connection.pingSentAt {
            let due = pingSentAt.advanced(by: PoolMachine.pongTimeout)
            guard now < due else {
                drain(at: index, now)
                close(
                    at: index,
                    TransportError(.closedByPeer, "the server sends nothing and does not acknowledge a PING")
                )
                return
            }
            wake(at: due)
            return
        }
        let timeout = connection.inFlight == 0 ? PoolMachine.idlePingInterval : PoolMachine.silenceTimeout
        let due = connection.lastInputAt.advanced(by: timeout)
        guard now >= due else {
            wake(at: due)
            return
        }
        connections[index].pingSentAt = now
        actions.append(.ping(id))
        wake(at: now.advanced(by: PoolMachine.pongTimeout))
    }

    /// Returns whether more connections are open than wanted, and this one is not among the first.
    private func isSpare(_ connection: PooledConnection) -> Bool {
        let usable = connections.filter(\.isUsable)
        return !usable.prefix(keptConnections).contains { $0.id == connection.id }
    }
}
