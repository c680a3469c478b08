// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that accepts pushes: it decides whether there is capacity, stores them in few commits, and
/// reports their outcomes to waiting callers and event streams.
actor Intake {
    /// The numbers that the monitor reports.
    struct Snapshot: Sendable {
        var counts: IntakeCounts
        /// The number of waiting requests of each caller.
        var waiting: [String: Int]
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var context: RelayContext
    private let dispatcher: Dispatcher
    private var gate: LoadGate
    /// The pushes that came in and are not stored yet.
    private var incoming = IncomingPushes()
    private var isCommitScheduled = false
    /// The outcomes that arrived before the acceptance of their pushes was answered.
    private var earlyOutcomes = EarlyOutcomes()
    /// The callers that wait for the outcome of a push.
    var waiters = OutcomeWaiters()
    /// The time of the next check for waiters whose time is over; nil when none wait.
    var nextWaiterCheck: MonotonicTime?
    var events: OutcomeEvents
    var replays = ReplayBudget()
    var openBatches = OpenBatches()
    private var counts = IntakeCounts()
    private var isWatchingCommits = false
    private(set) var isDraining = false
    /// The source of the generators for push identifiers.
    private var generator = SplitMix64(state: .random(in: .min ... .max))

    init(_ context: RelayContext, dispatcher: Dispatcher) {
        loop = context.loop
        self.context = context
        self.dispatcher = dispatcher
        let configuration = context.configuration
        gate = LoadGate(limits: configuration.loadLimits.bounded(byConnections: configuration.connectionLimit))
        events = OutcomeEvents(run: context.startedAt)
    }

    /// Uses another configuration, with callers of these names.
    ///
    /// A caller that has lost a right receives no more events, and no outcomes that it waits for.
    func use(_ context: RelayContext, revoking revoked: RevokedAccess, callers: Set<String>) {
        self.context = context
        events.finish { caller, apps in !apps.isDisjoint(with: revoked.apps(of: caller, for: .read)) }
        waiters.cancelAll { !callers.contains($0) }
        counts.forgetCallers(except: callers)
    }

    var snapshot: Snapshot {
        Snapshot(counts: counts, waiting: waiters.countsByCaller)
    }

    func drain() {
        isDraining = true
    }

    /// Answers the callers that still wait, and ends the event streams.
    func finish() {
        waiters.cancelAll()
        events.finish()
    }

    // MARK: Admission

    var load: LoadGate.Load {
        LoadGate.Load(
            incoming: incoming.count,
            otherApps: incoming.counts.count,
            waitsSince: incoming.oldestCommit,
            waiting: waiters.count
        )
    }

    /// Returns the pushes and requests under way, with the part of an app and a caller.
    private func load(of app: String?, by caller: Callers.Caller) -> LoadGate.Load {
        var load = load
        load.waitingOfCaller = waiters.count(of: caller.name)
        guard let app else { return load }
        let own = incoming.counts[app, default: 0]
        load.incomingOfApp = own
        if own > 0 { load.otherApps -= 1 }
        return load
    }

    /// Decides whether a request of a caller is accepted, before its pushes are checked, so that a refusal is cheap.
    func decision(onRequestOf caller: Callers.Caller) -> LoadGate.Decision {
        let app = caller.apps.count == 1 ? caller.apps.first : nil
        let decision = gate.decision(on: 1, load(of: app, by: caller), at: context.now)
        if case .refuse(let refusal, _) = decision { counts.refused(1, from: caller.name, refusal) }
        return decision
    }

    /// Returns whether a caller may wait for the outcome of another push.
    func mayWait(_ caller: Callers.Caller) -> Bool { gate.mayWait(load(of: nil, by: caller)) }

    /// Returns the builder that turns the requests of a call into pushes off the event loop.
    func requestBuilder(for call: RelayAPI.Call) throws(APIProblem) -> PushRequestBuilder {
        let key = call.fields["idempotency-key"]
        guard key != "" else {
            throw APIProblem(400, "Idempotency-Key must not be empty")
        }
        return PushRequestBuilder(
            caller: call.service.caller,
            apps: context.configuration.apps,
            clients: dispatcher.assumeIsolated { $0.clients },
            idempotencyKey: key,
            traceParent: call.fields["traceparent"].flatMap(TraceContext.init)?.text,
            now: context.now,
            generator: SplitMix64(state: generator.next())
        )
    }

    // MARK: Storing

    /// Stores a group of pushes, at least one, in one commit with others of this turn of the event loop.
    ///
    /// The callback with the answers of the outbox is called on the event loop.
    func accept(_ pushes: [HashedPush], from caller: String, _ completion: @escaping IncomingPushes.Completion) {
        if let spans = context.spans {
            let traced = spans.record { tracer, time in
                pushes.map { hashed in
                    var push = hashed.push
                    let arrival = tracer.arrived(&push, at: time)
                    // The checksum includes the trace context.
                    return (push: arrival == nil ? hashed : HashedPush(push), arrival: arrival)
                }
            }
            incoming.add(traced.map(\.push), from: caller) { result, time in
                for (index, traced) in traced.enumerated() {
                    guard let arrival = traced.arrival else { continue }
                    let answer = result.map { $0[$0.startIndex + index] }
                    spans.record { $0.stored(arrival, answer, at: $1) }
                }
                completion(result, time)
            }
        } else {
            incoming.add(pushes, from: caller, completion)
        }
        scheduleCommit()
    }

    private func scheduleCommit() {
        guard !isCommitScheduled else { return }
        isCommitScheduled = true
        loop.atEndOfTurn { [weak self] in self?.assumeIsolated { $0.commitIncoming() } }
    }

    /// Stores the pushes of a request, in several commits if there are many; those of a batch may wait for capacity.
    ///
    /// - Returns: An answer for each push, once they are stored, and the time that is stored with the last of them.
    func accept(
        _ pushes: [HashedPush],
        from caller: Callers.Caller,
        waitingForRoom limit: Duration = .zero
    ) async -> (answers: [Result<Acceptance, OutboxError>], time: Int64) {
        guard !pushes.isEmpty else { return ([], context.now) }
        if let error = await capacityError(for: pushes, from: caller, within: limit) {
            return ([Result](repeating: .failure(error), count: pushes.count), context.now)
        }
        guard pushes.count > IncomingPushes.groupSize else { return await acceptGroup(pushes, from: caller.name) }
        // All of them count as incoming at once. The event loop runs the tasks in their order.
        var groups: [Task<(answers: [Result<Acceptance, OutboxError>], time: Int64), Never>] = []
        for start in stride(from: 0, to: pushes.count, by: IncomingPushes.groupSize) {
            let group = Array(pushes[start..<min(start + IncomingPushes.groupSize, pushes.count)])
            groups.append(Task { await acceptGroup(group, from: caller.name) })
        }
        var (answers, time): ([Result<Acceptance, OutboxError>], Int64) = ([], context.now)
        for group in groups {
            let stored = await group.value
            answers += stored.answers
            time = stored.time
        }
        return (answers, time)
    }

    private func acceptGroup(
        _ pushes: [HashedPush],
        from caller: String
    ) async -> (answers: [Result<Acceptance, OutboxError>], time: Int64) {
        await withCheckedContinuation { continuation in
            accept(pushes, from: caller) { result, time in
                let answers: [Result<Acceptance, OutboxError>] =
                    switch result {
                    case .success(let answers): answers.map { .success($0) }
                    case .failure(let error): [Result](repeating: .failure(error), count: pushes.count)
                    }
                continuation.resume(returning: (answers, time))
            }
        }
    }

    /// Waits until there is capacity for pushes; returns the error when there is none in time, which is counted unless
    /// the relay is shutting down.
    private func capacityError(
        for pushes: [HashedPush],
        from caller: Callers.Caller,
        within limit: Duration
    ) async -> OutboxError? {
        let end = ContinuousClock.now + limit
        while true {
            if isDraining { return OutboxError(.closed, "the relay is shutting down") }
            guard let refusal = refusal(of: pushes, from: caller, isBatch: limit > .zero) else { return nil }
            guard ContinuousClock.now < end, !Task.isCancelled else {
                counts.refused(pushes.count, from: caller.name, refusal)
                return OutboxError(.full, refusal.message(context.store))
            }
            try? await Task.sleep(for: Intake.capacityInterval)
        }
    }

    private func refusal(
        of pushes: [HashedPush],
        from caller: Callers.Caller,
        isBatch: Bool
    ) -> LoadGate.Refusal? {
        let counts = pushes.reduce(into: [:]) { $0[$1.push.lane.app, default: 0] += 1 }
        for (app, count) in counts {
            let decision = gate.decision(on: count, load(of: app, by: caller), isBatch: isBatch, at: context.now)
            if case .refuse(let refusal, _) = decision { return refusal }
        }
        return nil
    }

    /// The interval between checks for capacity.
    private static let capacityInterval = Duration.milliseconds(20)

    private func commitIncoming() {
        isCommitScheduled = false
        let now = context.now
        let deadline = loop.now.advanced(by: .milliseconds(gate.limits.answerTime))
        guard let commit = incoming.take(at: now, answerBy: deadline) else { return }
        watchCommits()
        let start = earlyOutcomes.beginAcceptance()
        Task {
            let result = await store(commit.pushes, at: now)
            let groups = incoming.answered(commit)
            if incoming.hasWaiting { scheduleCommit() }
            if context.outboxHealth.current.stalledSince != nil { checkCommits() }
            record(result, of: commit.pushes)
            answer(groups, result, at: now)
            for push in earlyOutcomes.endAcceptance(begunAt: start) { reportToWaiters(push) }
        }
    }

    /// Passes the answers of the outbox to the callers of a commit.
    private func answer(_ groups: [IncomingPushes.Group], _ result: Result<[Acceptance], OutboxError>, at time: Int64) {
        var next = 0
        for group in groups {
            let answers = result.map { $0[next..<next + group.count] }
            counts.answered(answers, to: group.count, from: group.caller)
            group.completion(answers, time)
            next += group.count
        }
    }

    /// The interval between checks of the commits under way.
    private static let commitInterval = Duration.milliseconds(250)

    /// Checks the commits at intervals while some are under way.
    private func watchCommits() {
        guard !isWatchingCommits else { return }
        isWatchingCommits = true
        loop.schedule(after: Intake.commitInterval) { [weak self] in
            self?.assumeIsolated { intake in
                intake.isWatchingCommits = false
                intake.checkCommits()
                if intake.incoming.oldestCommit != nil { intake.watchCommits() }
            }
        }
    }

    /// Reports a commit that takes too long, and answers the callers that have waited for too long.
    ///
    /// Their pushes may be stored later, like those of a connection that was lost during the commit.
    private func checkCommits() {
        let now = context.now
        context.recordStall(since: incoming.oldestCommit.flatMap { now - $0 > gate.limits.commitTime ? $0 : nil })
        for overdue in incoming.takeOverdue(at: loop.now) {
            answer(overdue.groups, .failure(context.stallError(since: overdue.startedAt)), at: overdue.startedAt)
        }
    }

    private func store(_ pushes: [HashedPush], at now: Int64) async -> Result<[Acceptance], OutboxError> {
        if let refusal = context.outboxHealth.current.refusal { return .failure(refusal) }
        do throws(OutboxError) {
            let answers = try await context.outbox.accept(pushes, at: now)
            context.recordOutbox(nil, hasPushes: true)
            return .success(answers)
        } catch {
            context.recordOutbox(error)
            return .failure(OutboxError(error.kind, context.outboxHealth.current.problem ?? "\(error)"))
        }
    }

    /// Counts the answers of the outbox, and marks the lanes of accepted pushes as ready to claim.
    private func record(_ result: Result<[Acceptance], OutboxError>, of pushes: [HashedPush]) {
        var ready: [LaneQueue] = []
        for (index, push) in pushes.lazy.map(\.push).enumerated() {
            let answer = result.map { $0[index] }
            counts.answered(answer, push.lane.app)
            if case .success(.full) = answer { gate.outboxIsFull(at: context.now) }
            guard case .success(.accepted) = answer else { continue }
            let queue = LaneQueue(lane: push.lane, urgency: push.urgency)
            // Consecutive pushes are mostly for the same lane.
            if ready.last != queue { ready.append(queue) }
        }
        dispatcher.assumeIsolated { [ready] in $0.markReady(ready) }
    }

    // MARK: Outcomes

    /// Reports the outcome of a push to the callers that wait for it and to the event streams.
    func recordEnd(of push: PushStatus) {
        earlyOutcomes.record(push)
        reportToWaiters(push)
        events.record(push)
    }

    /// Reports the outcome of a push to the callers that wait for it.
    func reportToWaiters(_ push: PushStatus) {
        if push.outcome != nil { waiters.ended(push) }
    }
}

extension LoadGate.Refusal {
    /// Returns the message to a caller, with the name of the store: the disk or the database.
    func message(_ store: String) -> String {
        switch self {
        case .outboxIsFull: "the limit of stored pushes is reached"
        case .storeDoesNotAnswer(let since): "the \(store) has not answered since \(Timestamp.text(since))"
        case .tooManyIncoming: "more pushes arrive than can be stored"
        }
    }
}
