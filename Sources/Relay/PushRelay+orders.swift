internal import APNs
internal import Outbox
internal import WebAPI
internal import Wire

/// What the interface in JSON asks of the relay.
extension PushRelay {
    /// Where orders of a call are made into pushes; away from the loop, which has enough to do.
    ///
    /// - Parameter call: The call.
    /// - Returns: The desk.
    /// - Throws: ``APIProblem`` when so much comes in that nothing more is taken.
    func desk(for call: RelayAPI.Call) throws(APIProblem) -> OrderDesk {
        if case .refuse(let seconds) = gate.verdict(on: 1, load, at: now) {
            counts.shed += 1
            throw APIProblem(503, "more pushes come in than can be kept", retryAfter: seconds)
        }
        return OrderDesk(
            callers: callers,
            caller: call.service.caller,
            apps: configuration.apps,
            clients: clients,
            idempotencyKey: call.fields["idempotency-key"],
            traceParent: call.fields["traceparent"].flatMap(TraceContext.init)?.text,
            now: now,
            generator: SplitMix64(state: generator.next())
        )
    }

    /// How much is under way.
    var load: LoadGate.Load {
        LoadGate.Load(incoming: incoming.count, waitsSince: incoming.waitsSince, waiting: waiters.count)
    }

    /// Hands pushes to the outbox; one answer for each, once they are kept.
    func accept(_ pushes: [OutboxPush]) async -> [Result<Acceptance, OutboxError>] {
        guard !pushes.isEmpty else { return [] }
        let verdict = gate.verdict(on: pushes.count, load, at: now)
        guard !isDraining, verdict.isTaken else {
            counts.shed += pushes.count
            let error = OutboxError(.full, "more pushes come in than can be kept")
            return [Result<Acceptance, OutboxError>](repeating: .failure(error), count: pushes.count)
        }
        return await withCheckedContinuation { continuation in
            accept(pushes) { result in
                switch result {
                case .success(let answers): continuation.resume(returning: answers.map { .success($0) })
                case .failure(let error):
                    continuation.resume(returning: [Result](repeating: .failure(error), count: pushes.count))
                }
            }
        }
    }

    /// What is known of pushes that were handed in, after some time if that is asked for.
    func statuses(
        of pushes: [OutboxPush],
        _ answers: [Result<Acceptance, OutboxError>],
        waiting time: Duration?
    ) async throws(APIProblem) -> [PushAnswer] {
        let first = zip(answers, pushes).map { PushAnswer($0, $1, at: now) }
        guard let time, pushes.count == 1, case .status(let status) = first[0], !status.hasEnded,
            let outcome = await outcome(of: status.id, of: status.lane.app, within: time)
        else { return first }
        var ended = status
        ended.place = .ended(outcome, at: now)
        return [.status(ended)]
    }

    /// Waits for the end of a push; nil when it has not come by then.
    func outcome(of id: APNsID, of app: String, within time: Duration) async -> Outcome? {
        await withCheckedContinuation { continuation in
            wait(for: id, of: app, within: time) { continuation.resume(returning: $0) }
            // It may have ended before anybody waited.
            Task {
                if case .ended(let outcome, _)? = (try? await outbox.status(of: id, of: app))?.place {
                    waiters.ended(id, of: app, outcome)
                }
            }
        }
    }

    /// Has somebody told how a push ends; nil when it has not by then.
    func wait(
        for id: APNsID,
        of app: String,
        within time: Duration,
        _ completion: @escaping OutcomeWaiters.Completion
    ) {
        waiters.add(for: id, of: app, until: loop.now.advanced(by: time), completion)
        watchWaiters()
    }

    /// Sees to it that nobody waits for much longer than they want.
    private func watchWaiters() {
        guard let deadline = waiters.nextDeadline, deadline < waitersAreWatched ?? .never else { return }
        waitersAreWatched = deadline
        let wait = Duration.nanoseconds(deadline.nanoseconds - loop.now.nanoseconds)
        // A few together, since nobody counts milliseconds who has waited for seconds.
        loop.schedule(after: max(wait, PushRelay.patience)) { [weak self] in
            self?.assumeIsolated { relay in
                relay.waitersAreWatched = nil
                relay.waiters.giveUp(at: relay.loop.now)
                relay.watchWaiters()
            }
        }
    }

    private static let patience = Duration.milliseconds(20)

    /// Takes a push back.
    func cancel(_ id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        let now = now
        let status = try await outbox.cancel(id, of: app, at: now)
        // One that had ended before was told of then.
        if let status, case .ended(_, at: now) = status.place {
            noteEnd(of: status)
            // Another may have waited behind it.
            machine.stir(status.lane)
            carryOutSoon()
        }
        return status
    }

    /// Tells whoever wants to know how pushes end; nil when too many listen already.
    func listen(to apps: Set<String>, after lastID: String?) -> AsyncStream<[UInt8]>? {
        events.hasRoom ? events.listen(to: apps, after: lastID) : nil
    }

    /// Has pushes tried again that were given up.
    func requeueDeadLetters(_ ids: [APNsID]?, of app: String) async throws(OutboxError) -> Int {
        let count = try await outbox.requeueDeadLetters(ids, of: app, at: now)
        for lane in clients.keys where lane.app == app { machine.stir(lane) }
        carryOutSoon()
        return count
    }
}
