internal import MartletTransport

extension PoolMachine {
    /// The minimum interval between checks of deadlines, because a check visits every push.
    static let sweepInterval = Duration.milliseconds(10)

    /// Handles the timer that was set for ``nextWake``.
    mutating func timerFired(at now: MonotonicTime) {
        nextDue = .never
        if now >= nextSweep { settleOverdue(at: now) }
        while let push = backingOff.removeDue(by: now) {
            guard !pushes.isSettled(push) else { continue }
            if pushes[push].phase == .delayed { delayedCount -= 1 }
            enqueue(push, at: now)
        }
        connections.timerFired(at: now, &actions)
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
}
