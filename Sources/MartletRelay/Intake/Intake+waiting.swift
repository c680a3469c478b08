// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The callers that wait for outcomes.
extension Intake {
    /// The interval between checks whether other relays have delivered pushes that callers of this one wait for.
    private static let fleetInterval = Duration.milliseconds(200)
    /// The maximum number of pushes in one check.
    private static let fleetLimit = 1_000
    /// The precision of the waiters' deadlines.
    private static let deadlinePrecision = Duration.milliseconds(20)

    /// Returns the statuses of submitted pushes, after waiting for an outcome if a time is given.
    ///
    /// Those of a long list are made off the event loop.
    nonisolated func statuses(
        of pushes: [OutboxPush],
        _ answers: [Answer],
        for caller: Callers.Caller,
        waiting time: Duration?
    ) async -> [PushAnswer] {
        let first = zip(answers, pushes).map { PushAnswer($0, $1) }
        guard let time, pushes.count == 1, case .status(let status) = first[0], !status.hasEnded,
            let ended = await end(of: status.id, of: status.lane.app, for: caller, within: time)
        else { return first }
        return [.status(ended)]
    }

    /// Waits for the end of a push; returns nil after the time, when the caller waits for too many pushes already, or
    /// when its client has disconnected.
    func end(
        of id: APNsID,
        of app: String,
        for caller: Callers.Caller,
        within time: Duration
    ) async -> PushStatus? {
        guard gate.mayWait(load(of: nil, by: caller)) else { return nil }
        let number = waiters.makeNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(number, for: id, of: app, by: caller, within: time) { continuation.resume(returning: $0) }
                // The push may have ended before the waiter was added.
                Task {
                    if let status = try? await context.outbox.status(of: id, of: app) { waiters.report(status) }
                }
            }
        } onCancel: {
            // Runs after the waiter was added, because that happens on the event loop, too.
            loop.execute { [weak self] in self?.assumeIsolated { $0.waiters.cancel(number) } }
        }
    }

    /// Waits for the outcome of a push, and passes nil when there is none in time.
    func wait(
        _ number: Int? = nil,
        for id: APNsID,
        of app: String,
        by caller: Callers.Caller,
        within time: Duration,
        _ completion: @escaping OutcomeWaiters.Completion
    ) {
        let deadline = loop.now.advanced(by: time)
        let number = number ?? waiters.makeNumber()
        waiters.add(number, for: id, of: app, by: caller.name, until: deadline, completion)
        scheduleWaiterCheck()
    }

    /// Schedules the removal of waiters whose time is over.
    private func scheduleWaiterCheck() {
        guard let deadline = waiters.nextDeadline, deadline < nextWaiterCheck ?? .never else { return }
        nextWaiterCheck = deadline
        let wait = Duration.nanoseconds(deadline.nanoseconds - loop.now.nanoseconds)
        // Several waiters share a timer, because they have waited for seconds and need no exact deadline.
        loop.schedule(after: max(wait, Intake.deadlinePrecision)) { [weak self] in
            self?.assumeIsolated { intake in
                intake.nextWaiterCheck = nil
                intake.waiters.expire(at: intake.loop.now)
                intake.scheduleWaiterCheck()
            }
        }
    }

    /// Checks at intervals whether other relays have delivered pushes that callers of this one wait for.
    func watchOtherRelays() {
        guard context.sharedOutbox != nil, !isDraining else { return }
        loop.schedule(after: Intake.fleetInterval) { [weak self] in
            guard let self else { return }
            Task { await self.findEnds() }
        }
    }

    private func findEnds() async {
        let names = waiters.names.prefix(Intake.fleetLimit)
        if let shared = context.sharedOutbox, !names.isEmpty {
            for push in (try? await shared.fleet.ended(among: Array(names))) ?? [] { waiters.report(push) }
        }
        watchOtherRelays()
    }
}
