// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletTransport

/// Heartbeats of this node, and polling for pushes that other nodes and back ends have stored.
extension PostgreSQLOutbox {
    /// Handles a change of a connection.
    func handle(_ event: DatabaseConnections.Event) {
        switch event {
        case .opened(.delivering) where membership.assumeIsolated({ $0.number }) != 0:
            progress.recordReconnection(at: .now)
            releaseLostClaims()
        case .notified:
            poll()
        case .notificationLost:
            eventsOut.yield(.notificationsLost)
        case .lost(let purpose, let error) where purpose != .maintaining && purpose != .enrolling:
            eventsOut.yield(.unreachable(OutboxError(error)))
        case .opened, .lost:
            break
        }
    }

    // MARK: Due pushes

    /// Schedules the next poll, and further polls.
    func schedulePoll() {
        loop.schedule(after: polls.interval) { [weak self] in
            self?.assumeIsolated {
                $0.poll()
                $0.schedulePoll()
            }
        }
    }

    /// Polls for due pushes in the lanes that this node delivers.
    private func poll() {
        guard !polls.isPolling, progress.hasQueues else { return }
        polls.isPolling = true
        Task {
            try? await findDuePushes()
            polls.isPolling = false
        }
    }

    private func findDuePushes() async throws(OutboxError) {
        let isComplete = polls.isCompleteDue
        let start = ContinuousClock.now
        let searches = progress.searches(isComplete: isComplete, at: start)
        let places = try await connections.query(
            isComplete ? .maintaining : .watching,
            """
            SELECT place FROM martlet.arrived($1, $2, $3, $4, martlet.milliseconds(clock_timestamp()))
            """,
            [
                .integers(searches.map { apps.number(ofKnown: $0.key.lane.app) ?? 0 }),
                .flags(searches.map(\.key.lane.environment.isProduction)),
                .integers(searches.map { Int64($0.key.urgency.rawValue) }), .integers(searches.map(\.start)),
            ]
        ) { rows in rows.all.map { Int($0.integer(at: 0)) - 1 } }
        if isComplete { polls.recordCompletePoll(lasting: ContinuousClock.now - start) }
        for place in places where searches.indices.contains(place) {
            let key = searches[place].key
            progress.recordDuePushes(in: key, isComplete: isComplete)
            eventsOut.yield(.arrived(key.lane, key.urgency))
        }
    }

    // MARK: Heartbeats

    /// Schedules the next heartbeat, and further heartbeats until the outbox is closed.
    func scheduleHeartbeat() {
        loop.schedule(after: options.lease / 3) { [weak self] in
            guard let self else { return }
            // On the event loop from the start: a lease must not expire because the program's threads are busy.
            Task(executorPreference: LoopTaskExecutor(loop)) { await self.beat() }
        }
    }

    private func beat() async {
        guard await !connections.isClosed else { return }
        defer { scheduleHeartbeat() }
        let isIdle = polls.isIdle
        do throws(PostgreSQLError) {
            guard let heartbeat = try await membership.renew(isIdle: isIdle) else { return }
            polls.isReportedIdle = isIdle
            releaseLostClaims()
            // The released pushes of a missing node were due in the past.
            if heartbeat.releasedPushes > 0 { progress.searchAllTimes() }
            if heartbeat.isToDrain { eventsOut.yield(.drainRequested) }
            eventsOut.yield(.fleet(nodes: heartbeat.nodes, isLeader: heartbeat.isLeader))
            if !heartbeat.isRegistered { try await registerAgain(insteadOf: heartbeat.node) }
            if backlogCount.isDue { try await countPushes() }
        } catch {
            // The next heartbeat follows in any case; the lease continues until it ends.
            return
        }
    }

    /// Registers this node under a new number, after other nodes took over its claims.
    func registerAgain(insteadOf lost: Int64) async throws(PostgreSQLError) {
        try await membership.registerAgain(insteadOf: lost) { [self] in
            assumeIsolated { outbox in
                // Reported before new claims can succeed, because the receiver drops all pushes that it holds.
                outbox.eventsOut.yield(.claimsLost)
                outbox.progress.loseClaims()
            }
        }
        progress.searchAllTimes()
    }

    /// Releases the pushes of claims whose results were lost with their connection.
    private func releaseLostClaims() {
        guard let claims = progress.claimsToKeep(at: .now) else { return }
        let node = membership.assumeIsolated { $0.number }
        let parameters: [Parameter] = [.integer(node), .integers(claims.map { Optional($0) })]
        connections.assumeIsolated { $0.send(.delivering, "SELECT martlet.release($1, $2, false)", parameters) }
    }
}
