internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The relay's operations for the JSON API.
extension PushRelay {
    /// Returns the builder that turns the requests of a call into pushes off the event loop.
    ///
    /// - Parameter call: The call.
    /// - Returns: The builder.
    /// - Throws: ``APIProblem`` when the relay is overloaded, or for an empty `Idempotency-Key`.
    func desk(for call: RelayAPI.Call) throws(APIProblem) -> OrderDesk {
        let key = call.fields["idempotency-key"]
        guard key != "" else {
            throw APIProblem(400, "Idempotency-Key must not be empty; leave it out, or send a text")
        }
        let caller = call.service.caller
        let app = caller.apps.count == 1 ? caller.apps.first : nil
        if case .refuse(let refusal, let seconds) = gate.verdict(on: 1, load(of: app, by: caller), at: now) {
            counts.refused(1, by: caller.name, refusal)
            throw APIProblem(503, message(of: refusal), retryAfter: seconds)
        }
        return OrderDesk(
            caller: caller,
            apps: configuration.apps,
            clients: clients,
            idempotencyKey: key,
            traceParent: call.fields["traceparent"].flatMap(TraceContext.init)?.text,
            now: now,
            generator: SplitMix64(state: generator.next())
        )
    }

    /// The pushes and requests under way.
    var load: LoadGate.Load {
        LoadGate.Load(
            incoming: incoming.count,
            otherApps: incoming.counts.count,
            waitsSince: incoming.waitsSince,
            waiting: waiters.count
        )
    }

    /// Returns the pushes and requests under way, with the part of an app and a caller.
    func load(of app: String?, by caller: Callers.Caller) -> LoadGate.Load {
        var load = load
        load.waitingOfCaller = waiters.count(of: caller.name)
        guard let app else { return load }
        let own = incoming.counts[app, default: 0]
        load.incomingOfApp = own
        if own > 0 { load.otherApps -= 1 }
        return load
    }

    /// Stores pushes.
    ///
    /// - Parameters:
    ///   - pushes: The pushes. Those of a batch are passed in parts, each of which is stored together.
    ///   - caller: The caller that sends them.
    ///   - limit: The maximum time to wait for capacity, for parts of batches.
    /// - Returns: An answer for each push, once they are stored, and the time that is stored with them.
    func accept(
        _ pushes: [OutboxPush],
        from caller: Callers.Caller,
        waitingForRoom limit: Duration = .zero
    ) async -> (answers: [Result<Acceptance, OutboxError>], time: Int64) {
        guard !pushes.isEmpty else { return ([], now) }
        if let error = await roomProblem(for: pushes, from: caller, within: limit) {
            if let refusal = error.refusal { counts.refused(pushes.count, by: caller.name, refusal) }
            let error = error.error
            return ([Result<Acceptance, OutboxError>](repeating: .failure(error), count: pushes.count), now)
        }
        return await withCheckedContinuation { continuation in
            accept(pushes) { result, time in
                switch result {
                case .success(let answers):
                    self.counts.shed(answers.count { $0 == .full }, by: caller.name)
                    continuation.resume(returning: (answers.map { .success($0) }, time))
                case .failure(let error):
                    self.counts.callers.notStored(pushes.count, by: caller.name)
                    continuation.resume(returning: ([Result](repeating: .failure(error), count: pushes.count), time))
                }
            }
        }
    }

    /// Waits until there is capacity for pushes; returns the error when there is none in time, with the refusal unless
    /// the relay is shutting down.
    private func roomProblem(
        for pushes: [OutboxPush],
        from caller: Callers.Caller,
        within limit: Duration
    ) async -> (error: OutboxError, refusal: LoadGate.Refusal?)? {
        let end = ContinuousClock.now + limit
        while true {
            if isDraining { return (OutboxError(.closed, "the relay is shutting down"), nil) }
            guard let refusal = refusal(of: pushes, from: caller, isBatch: limit > .zero) else { return nil }
            guard ContinuousClock.now < end, !Task.isCancelled else {
                return (OutboxError(.full, message(of: refusal)), refusal)
            }
            try? await Task.sleep(for: PushRelay.roomInterval)
        }
    }

    private func refusal(
        of pushes: [OutboxPush],
        from caller: Callers.Caller,
        isBatch: Bool
    ) -> LoadGate.Refusal? {
        let counts = pushes.reduce(into: [:]) { $0[$1.lane.app, default: 0] += 1 }
        for (app, count) in counts {
            let verdict = gate.verdict(on: count, load(of: app, by: caller), isBatch: isBatch, at: now)
            if case .refuse(let refusal, _) = verdict { return refusal }
        }
        return nil
    }

    /// The interval between checks for capacity.
    private static let roomInterval = Duration.milliseconds(20)

    /// Returns the statuses of submitted pushes, after waiting for an outcome if a time is given.
    func statuses(
        of pushes: [OutboxPush],
        _ answers: [Result<Acceptance, OutboxError>],
        storedAt acceptedAt: Int64,
        for caller: Callers.Caller,
        waiting time: Duration?
    ) async throws(APIProblem) -> [PushAnswer] {
        let first = zip(answers, pushes).map { PushAnswer($0, $1, at: acceptedAt) }
        guard let time, pushes.count == 1, case .status(let status) = first[0], !status.hasEnded,
            let end = await end(of: status.id, of: status.lane.app, for: caller, within: time)
        else { return first }
        var ended = status
        ended.place = .ended(end.outcome, at: end.time)
        return [.status(ended)]
    }

    /// Waits for the end of a push; returns nil after the time, when the caller waits for too many pushes already, or
    /// when its client has disconnected.
    func end(
        of id: APNsID,
        of app: String,
        for caller: Callers.Caller,
        within time: Duration
    ) async -> OutcomeWaiters.End? {
        guard gate.verdict(on: 0, load(of: app, by: caller), at: now) != .take(mayWait: false) else { return nil }
        let number = waiters.makeNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(number, for: id, of: app, by: caller, within: time) { continuation.resume(returning: $0) }
                // The push may have ended before the waiter was added.
                Task {
                    if case .ended(let outcome, let time)? = (try? await outbox.status(of: id, of: app))?.place {
                        waiters.ended(id, of: app, outcome, at: time)
                    }
                }
            }
        } onCancel: {
            // Runs after the waiter was added, because that happens on the event loop, too.
            loop.execute { [weak self] in self?.assumeIsolated { $0.waiters.cancel(number) } }
        }
    }

    /// Adds a waiter that receives the outcome of a push, or nil when there is none in time.
    func wait(
        _ number: Int,
        for id: APNsID,
        of app: String,
        by caller: Callers.Caller,
        within time: Duration,
        _ completion: @escaping OutcomeWaiters.Completion
    ) {
        let deadline = loop.now.advanced(by: time)
        waiters.add(number, for: id, of: app, by: caller.name, until: deadline, completion)
        watchWaiters()
    }

    /// Schedules the removal of waiters whose time is over.
    private func watchWaiters() {
        guard let deadline = waiters.nextDeadline, deadline < waitersAreWatched ?? .never else { return }
        waitersAreWatched = deadline
        let wait = Duration.nanoseconds(deadline.nanoseconds - loop.now.nanoseconds)
        // Several waiters share a timer, because they have waited for seconds and need no exact deadline.
        loop.schedule(after: max(wait, PushRelay.patience)) { [weak self] in
            self?.assumeIsolated { relay in
                relay.waitersAreWatched = nil
                relay.waiters.giveUp(at: relay.loop.now)
                relay.watchWaiters()
            }
        }
    }

    private static let patience = Duration.milliseconds(20)

    /// Cancels a push.
    func cancel(_ id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        let now = now
        let status = try await outbox.cancel(id, of: app, at: now)
        // A push that had ended before was reported then.
        if let status, case .ended(_, at: now) = status.place {
            noteEnd(of: status)
            // Another push with its order key may be due now.
            machine.stir(status.lane)
            carryOutSoon()
        }
        return status
    }

    /// Returns the events about a caller's pushes.
    ///
    /// - Parameters:
    ///   - caller: The caller.
    ///   - lastID: The identifier of the last event that its client has seen; nil for events from now on.
    /// - Returns: The events.
    /// - Throws: ``APIProblem`` when too many streams are open, or the caller replays stored events too often.
    func listen(for caller: Callers.Caller, after lastID: String?) throws(APIProblem) -> OutcomeStream {
        guard events.hasRoom(for: caller.name) else {
            throw APIProblem(429, "too many event streams are open; close one, or retry later", retryAfter: 30)
        }
        let replay = events.replay(after: lastID)
        // A short replay costs no more than another request.
        if replay.count > OutcomeEvents.replayedTogether, let seconds = replays.take(for: caller.name, at: now) {
            throw APIProblem(
                429,
                "this key replays stored events too often; keep its event streams open, or retry later",
                retryAfter: seconds
            )
        }
        let (number, further) = events.listen(for: caller) { [weak self, loop] number in
            loop.execute { [weak self] in self?.assumeIsolated { $0.events.remove(number) } }
        }
        return OutcomeStream(relay: self, listener: number, replay: replay, further: further)
    }

    /// Opens a batch of a caller; it is closed when the returned value is released.
    ///
    /// - Throws: ``APIProblem`` when the caller has too many open batches.
    func openBatch(for caller: Callers.Caller) throws(APIProblem) -> OpenBatch {
        guard openBatches[caller.name, default: 0] < OpenBatch.limitPerCaller else {
            throw APIProblem(
                429,
                "\(OpenBatch.limitPerCaller) batches of this key are open already; end one, or retry later",
                retryAfter: 5
            )
        }
        openBatches[caller.name, default: 0] += 1
        return OpenBatch { [weak self, loop, name = caller.name] in
            loop.execute { [weak self] in
                self?.assumeIsolated { relay in
                    let rest = relay.openBatches[name, default: 0] - 1
                    relay.openBatches[name] = rest > 0 ? rest : nil
                }
            }
        }
    }

    /// Copies the outbox to a file beside its own.
    ///
    /// - Returns: The path of the copy; nil for an outbox without a file.
    /// - Throws: ``OutboxError`` when it cannot be copied.
    func backUp() async throws(OutboxError) -> String? {
        try await (outbox as? SQLiteOutbox)?.backUp()
    }

    /// Moves dead letters back to the queue.
    func requeueDeadLetters(_ ids: [APNsID]?, of app: String) async throws(OutboxError) -> Int {
        let count = try await outbox.requeueDeadLetters(ids, of: app, at: now)
        for lane in clients.keys where lane.app == app { machine.stir(lane) }
        carryOutSoon()
        return count
    }
}
