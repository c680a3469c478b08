internal import Outbox

/// What has to be done now and then.
extension PushRelay {
    /// Rows that one commit changes, so that nobody waits for long.
    private static let batch = 500
    /// Commits in one turn: more than any relay needs that is not behind.
    private static let batchesPerTurn = 20
    /// How often whoever listens is told that the relay is still there.
    private static let secondsBetweenSigns: Int64 = 15

    /// Looks after everything that nobody asks for; once a second.
    func keepHouse() async {
        let now = now
        // Before all else, as the outbox may take long.
        events.finishExpired(at: now / 1_000)
        await meetOthers()
        // Other relays pause lanes too, and the outbox may have been closed at the start.
        if shared != nil || !laneControl.isKnown { await syncLanes() }
        // Several would be in one another's way.
        if fleet.leads {
            // What is due by a clock that was set forward is not waited for.
            carryOutSoon()
            await endExpired(at: now)
            callWebhooks()
        }
        if now / 1_000 % PushRelay.secondsBetweenSigns == 0 { events.sign() }
        if history.wants(at: now) { await takeSample() }
        await checkStore()
        if fleet.leads { await forgetOutcomes(before: now - configuration.retention) }
    }

    /// What is of no use any more ends.
    private func endExpired(at now: Int64) async {
        for _ in 0..<PushRelay.batchesPerTurn {
            let expired = (try? await outbox.expire(at: now, limit: PushRelay.batch)) ?? []
            for push in expired {
                noteEnd(of: push)
                // Another may have waited behind it.
                machine.stir(push.lane)
            }
            if !expired.isEmpty { carryOutSoon() }
            if expired.count < PushRelay.batch { return }
        }
    }

    /// What is long over is forgotten.
    private func forgetOutcomes(before time: Int64) async {
        for _ in 0..<PushRelay.batchesPerTurn {
            let count = (try? await outbox.forgetOutcomes(before: time, limit: PushRelay.batch)) ?? 0
            if count < PushRelay.batch { return }
        }
    }

    private func takeSample() async {
        let backlog = await backlog()
        // The time of the numbers: the outbox may have taken long.
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
