// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// Pausing, resuming and purging lanes.
extension Dispatcher {
    /// The number of pushes that one commit of a purge cancels, so that other calls need not wait for long.
    private static let purgeLimit = 500
    /// The interval between checks whether a paused lane has returned its pushes to the outbox.
    private static let returnInterval = Duration.milliseconds(10)
    /// The number of these checks: half a second in total, as a store that takes longer fails the purge itself.
    private static let returnChecks = 50

    /// Pauses a lane in all relays that share the outbox; other relays notice within about a second.
    ///
    /// - Returns: The pause; the first one for a lane that was already paused.
    /// - Throws: ``OutboxError``; nothing has changed then.
    func pause(_ lane: Lane, by caller: String) async throws(OutboxError) -> LanePause {
        let pause = try await context.outbox.records.pause(lane, by: caller, at: context.now)
        laneControl.recordChange()
        await syncLanes()
        return pause
    }

    /// Resumes a lane in all relays that share the outbox, and returns whether it was paused.
    func resume(_ lane: Lane) async throws(OutboxError) -> Bool {
        let wasPaused = try await context.outbox.records.resume(lane)
        laneControl.recordChange()
        await syncLanes()
        return wasPaused
    }

    /// Cancels the waiting pushes of a lane, except those that are accepted meanwhile.
    ///
    /// It stops early when the client disconnects or the relay shuts down.
    ///
    /// - Returns: The number of cancelled pushes.
    /// - Throws: ``OutboxError`` with the number of pushes that were cancelled before.
    func purge(_ lane: Lane) async throws(OutboxError) -> Int {
        if laneControl.pause(of: lane) != nil {
            // A purge cannot cancel claimed pushes, so wait until the lane has returned them to the outbox.
            for _ in 0..<Dispatcher.returnChecks where machine.isReturning(lane) {
                try? await Task.sleep(for: Dispatcher.returnInterval)
            }
        }
        let context = context
        let remedy = "GET /v1/status shows how many pushes wait, and a repeated call continues"
        var last: Int64?
        var count = 0
        while true {
            let (start, limit) = (last, Dispatcher.purgeLimit)
            do throws(OutboxError) {
                let step = try await context.change(remedy: remedy) { () async throws(OutboxError) -> PurgedPushes in
                    let step = try await context.outbox.purge(lane, upTo: start, limit: limit, at: context.now)
                    await self.recordRemoval(of: step.pushes)
                    return step
                }
                last = step.last
                count += step.pushes.count
                if step.pushes.count < limit || Task.isCancelled || isDraining { return count }
            } catch {
                guard count > 0 else { throw error }
                let cancelled = count.counted("push was", "pushes were")
                throw OutboxError(error.kind, "\(error); \(cancelled) cancelled before")
            }
        }
    }

    /// Reads the paused lanes from the outbox, applies and logs the differences.
    func syncLanes() async {
        let changes = laneControl.changes
        guard let pauses = try? await context.outbox.records.pauses(),
            let differences = laneControl.update(pauses, requestedAfter: changes)
        else { return }
        machine.pauseManually(laneControl.lanes)
        for difference in differences { context.log.laneChange(difference) }
        actSoon()
    }
}
