internal import MartletOutbox
internal import MartletTransport

/// Periodic maintenance.
extension PushRelay {
    /// The number of rows that one commit changes, so that other calls need not wait for long.
    private static let batch = 500
    /// The maximum number of commits in one run; more than a relay without a backlog needs.
    private static let batchesPerTurn = 20
    /// The interval between keep-alive comments to event streams, in seconds.
    private static let secondsBetweenSigns: Int64 = 15

    /// Runs the maintenance; called once a second.
    func keepHouse() async {
        let now = now
        // Before all else, because the outbox may take long.
        events.finishExpired(at: now / 1_000)
        logNewExpiry()
        logOmittedRefusals(at: now)
        await meetOthers()
        // Other relays pause lanes too, and the outbox may have been unavailable at the start.
        if shared != nil || !laneControl.isKnown { await syncLanes() }
        // Only the leader, because several relays would conflict.
        if fleet.leads {
            // Pushes may be due because the clock was set forward, which no timer notices.
            carryOutSoon()
            await endExpired(at: now)
            callWebhooks()
        }
        if now / 1_000 % PushRelay.secondsBetweenSigns == 0 { events.sign() }
        if history.wants(at: now) {
            await takeSample()
            returnMemory()
        }
        await checkStore()
        if fleet.leads { await forgetOutcomes(before: now - configuration.retention) }
    }

    /// Ends expired pushes.
    private func endExpired(at now: Int64) async {
        for _ in 0..<PushRelay.batchesPerTurn {
            let expired = (try? await outbox.expire(at: now, limit: PushRelay.batch)) ?? []
            for push in expired {
                noteEnd(of: push)
                // Another push with its order key may be due now.
                machine.stir(push.lane)
            }
            if !expired.isEmpty { carryOutSoon() }
            if expired.count < PushRelay.batch { return }
        }
    }

    /// Deletes outcomes from before a time.
    private func forgetOutcomes(before time: Int64) async {
        for _ in 0..<PushRelay.batchesPerTurn {
            let count = (try? await outbox.forgetOutcomes(before: time, limit: PushRelay.batch)) ?? 0
            if count < PushRelay.batch { return }
        }
    }

    private func returnMemory() {
        guard memoryReturn.isDue(at: FreedMemory.residentBytes) else { return }
        FreedMemory.returnToSystem()
        memoryReturn.finished(at: FreedMemory.residentBytes)
    }

    private func takeSample() async {
        let backlog = await backlog()
        if let backlog { endOutages(without: backlog) }
        // The time of the values, because reading the outbox may have taken long.
        let now = now
        var sample: [Lane: StatusHistory.LaneSample] = [:]
        for lane in machine.lanes.keys {
            sample[lane] = StatusHistory.LaneSample(
                backlog: backlog.map { $0[lane]?.count ?? 0 },
                oldest: backlog.map { max(0, now - ($0[lane]?.oldest ?? now)) / 1_000 },
                sent: facts(of: lane).sent
            )
        }
        history.add(sample, at: now)
    }
}
