internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Periodic maintenance.
extension RelayMonitor {
    /// The number of rows that one commit changes, so that other calls need not wait for long.
    private static let batch = 500
    /// The maximum number of commits in one run; more than a relay without a backlog needs.
    private static let batchesPerRun = 20
    /// The interval between keep-alive comments to event streams, in seconds.
    private static let secondsBetweenKeepAlives: Int64 = 15

    /// Runs the maintenance; called once a second.
    func runMaintenance() async {
        let now = context.now
        // Before all else, because the outbox may take long.
        await intake.finishExpiredStreams(at: now / 1_000)
        logExpiry(isStart: false)
        await server.logOmittedRefusals(at: now)
        await syncFleet()
        // Other relays pause lanes too, and the outbox may have been unavailable at the start.
        let state = await dispatcher.snapshot
        if context.sharedOutbox != nil || !state.knowsPauses { await dispatcher.syncLanes() }
        // Only the leader, because several relays would conflict.
        if state.fleet.isLeader {
            // Pushes may be due because the clock was set forward, which no timer notices.
            await dispatcher.actSoon()
            await endExpired(at: now)
            await webhooks.callDue()
        }
        if now / 1_000 % RelayMonitor.secondsBetweenKeepAlives == 0 { await intake.sendKeepAlive() }
        if history.wants(at: now) {
            await takeSample()
            returnMemory()
        }
        await checkOutbox()
        if state.fleet.isLeader { await forgetOutcomes(before: now - context.configuration.retention) }
    }

    /// Publishes this relay's data and reads that of the other relays.
    private func syncFleet() async {
        guard let shared = context.sharedOutbox else { return }
        await shared.publish(FleetView.text(of: snapshot.ownFacts))
        do throws(OutboxError) {
            fleet.update(try await shared.nodes(), at: context.now)
            context.outboxHealth.noteRead(at: context.now)
        } catch {
            context.noteOutbox(error)
        }
        for number in fleet.takeDuplicates() {
            context.log.warning(
                .duplicateNodeName,
                ["name": .string(context.configuration.node), "relay": .whole(number)]
            )
        }
    }

    /// Ends expired pushes.
    private func endExpired(at now: Int64) async {
        for _ in 0..<RelayMonitor.batchesPerRun {
            let expired = (try? await context.outbox.expire(at: now, limit: RelayMonitor.batch)) ?? []
            await dispatcher.noteRemoval(of: expired)
            if expired.count < RelayMonitor.batch { return }
        }
    }

    /// Deletes outcomes from before a time.
    private func forgetOutcomes(before time: Int64) async {
        for _ in 0..<RelayMonitor.batchesPerRun {
            let count = (try? await context.outbox.forgetOutcomes(before: time, limit: RelayMonitor.batch)) ?? 0
            if count < RelayMonitor.batch { return }
        }
    }

    private func returnMemory() {
        guard memoryReturn.isDue(at: FreedMemory.residentBytes) else { return }
        FreedMemory.returnToSystem()
        memoryReturn.finished(at: FreedMemory.residentBytes)
    }

    private func takeSample() async {
        let backlog = await backlog()
        if let backlog { await dispatcher.endOutages(without: backlog) }
        let snapshot = snapshot
        history.add(snapshot.historySample(backlog), at: snapshot.now)
    }

    /// Warns of keys and certificates that expire soon or have expired.
    ///
    /// - Parameter isStart: Whether to repeat earlier warnings, because the configuration is new.
    func logExpiry(isStart: Bool = true) {
        if isStart { expiryLog = ExpiryLog() }
        for warning in expiryLog.take(from: context.configuration, at: context.now / 1_000) {
            context.log.warning(warning.event, warning.fields)
        }
    }
}
