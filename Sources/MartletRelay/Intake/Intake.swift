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

    /// The answer of the outbox to a push.
    struct Answer: Sendable {
        var result: Result<Acceptance, OutboxError>
        /// The time that is stored with the push, or at which it was refused, in milliseconds since 1970.
        var time: Int64
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated let longRequests: LongRequests
    private(set) var context: RelayContext
    private let dispatcher: Dispatcher
    private(set) var gate: LoadGate
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
    private var contestedThrottle = LogThrottle()
    private var isWatchingCommits = false
    private(set) var isDraining = false
    /// The source of the generators for push identifiers.
    private var generator = SplitMix64(state: .random(in: .min ... .max))

    init(_ context: RelayContext, dispatcher: Dispatcher) {
        loop = context.loop
        longRequests = context.longRequests
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
            waitsSince: incoming.oldestCall,
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

    /// Decides whether a request of a caller is accepted, before its pushes are checked, so that a refusal is cheap.
    func decision(onRequestOf caller: Callers.Caller) -> LoadGate.Decision {
        let app = caller.apps.count == 1 ? caller.apps.first : nil
        let decision = gate.decision(on: 1, load(of: app, by: caller), at: context.now)
        if case .refuse(let refusal, _) = decision { counts.refused(1, from: caller.name, refusal, at: context.now) }
        return decision
    }

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
    /// - Returns: An answer for each push, once they are stored.
    func accept(
        _ pushes: [HashedPush],
        from caller: Callers.Caller,
        waitingForRoom limit: Duration = .zero
    ) async -> [Answer] {
        guard !pushes.isEmpty else { return [] }
        if let error = await capacityError(for: pushes.countsByApp, from: caller, within: limit) {
            return [Answer](repeating: Answer(result: .failure(error), time: context.now), count: pushes.count)
        }
        guard pushes.count > IncomingPushes.groupSize else { return await acceptGroup(pushes, from: caller.name) }
        // All of them count as incoming at once. The event loop runs the tasks in their order.
        var groups: [Task<[Answer], Never>] = []
        for start in stride(from: 0, to: pushes.count, by: IncomingPushes.groupSize) {
            let group = Array(pushes[start..<min(start + IncomingPushes.groupSize, pushes.count)])
            groups.append(Task { await acceptGroup(group, from: caller.name) })
        }
        var answers: [Answer] = []
        for group in groups { answers += await group.value }
        return answers
    }

    private func acceptGroup(_ pushes: [HashedPush], from caller: String) async -> [Answer] {
        await withCheckedContinuation { continuation in
            accept(pushes, from: caller) { result, time in
                let answers: [Answer] =
                    switch result {
                    case .success(let answers): answers.map { Answer(result: .success($0), time: time) }
                    case .failure(let error):
                        [Answer](repeating: Answer(result: .failure(error), time: time), count: pushes.count)
                    }
                continuation.resume(returning: answers)
            }
        }
    }

    /// Calls the outbox for numbers of users or jobs by app, with the capacity and the deadline of as many pushes.
    ///
    /// The call calls the parameter of `body` after each of its steps: a store that answers each of many steps in
    /// time is not stalled.
    ///
    /// - Returns: The result, or the error that pushes would get without capacity or after the deadline.
    func callOutbox<Value: Sendable>(
        for numbers: [String: Int],
        from caller: Callers.Caller,
        waitingForRoom limit: Duration,
        _ body: @escaping @Sendable (_ continued: () async -> Void) async throws(OutboxError) -> Value
    ) async -> Result<Value, OutboxError> {
        if let error = await capacityError(for: numbers, from: caller, within: limit) { return .failure(error) }
        if let refusal = context.outboxHealth.current.refusal { return .failure(refusal) }
        return await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, OutboxError>, Never>) in
            let lookup = incoming.beginLookup(
                of: numbers,
                from: caller.name,
                at: context.now,
                answerBy: answerDeadline
            ) { result, _ in
                // A look-up that ends in time is answered below.
                if case .failure(let error) = result { continuation.resume(returning: .failure(error)) }
            }
            watchCommits()
            Task {
                let result: Result<Value, OutboxError>
                do throws(OutboxError) {
                    result = .success(
                        try await body {
                            incoming.continued(lookup, at: context.now, answerBy: answerDeadline)
                        }
                    )
                } catch {
                    result = .failure(error)
                }
                if incoming.end(lookup) { continuation.resume(returning: result) }
                if context.outboxHealth.current.stalledSince != nil { checkCommits() }
            }
        }
    }

    /// Waits until there is capacity for numbers of pushes by app; returns the error when there is none in time, which
    /// is counted unless the relay is shutting down.
    private func capacityError(
        for numbers: [String: Int],
        from caller: Callers.Caller,
        within limit: Duration
    ) async -> OutboxError? {
        let end = ContinuousClock.now + limit
        while true {
            if isDraining { return OutboxError(.closed, "the relay is shutting down") }
            let loads = numbers.map { (count: $1, load: load(of: $0, by: caller)) }
            guard let refusal = gate.refusal(of: loads, isBatch: limit > .zero, at: context.now) else { return nil }
            guard ContinuousClock.now < end, !Task.isCancelled else {
                counts.refused(numbers.values.reduce(0, +), from: caller.name, refusal, at: context.now)
                return OutboxError(.full, refusal.message(context.store))
            }
            try? await Task.sleep(for: Intake.capacityInterval)
        }
    }

    /// The interval between checks for capacity.
    private static let capacityInterval = Duration.milliseconds(20)

    /// The time by which the callers of a commit or a look-up that begins now are answered.
    private var answerDeadline: MonotonicTime { loop.now.advanced(by: .milliseconds(gate.limits.answerTime)) }

    private func commitIncoming() {
        isCommitScheduled = false
        let now = context.now
        guard let commit = incoming.take(at: now, answerBy: answerDeadline) else { return }
        watchCommits()
        let start = earlyOutcomes.beginAcceptance()
        Task {
            let result = await store(commit.pushes, at: now)
            let groups = incoming.answered(commit)
            if incoming.hasWaiting { scheduleCommit() }
            if context.outboxHealth.current.stalledSince != nil { checkCommits() }
            record(result, of: commit.pushes)
            answer(groups, result, at: now)
            for push in earlyOutcomes.endAcceptance(begunAt: start) { waiters.report(push) }
        }
    }

    /// Passes the answers of the outbox to the callers of a commit.
    private func answer(_ groups: [IncomingPushes.Group], _ result: Result<[Acceptance], OutboxError>, at time: Int64) {
        var next = 0
        for group in groups {
            let answers = result.map { $0[next..<next + group.count] }
            counts.answered(answers, to: group.count, from: group.caller, at: context.now)
            group.completion(answers, time)
            next += group.count
        }
    }

    /// The interval between checks of the commits and look-ups under way.
    private static let commitInterval = Duration.milliseconds(250)
    /// The delay of a check from which on the event loop itself is late, so that it may not have seen answers of the
    /// outbox.
    private static let lateness = Duration.milliseconds(500)

    /// Checks the commits and look-ups at intervals while some are under way.
    private func watchCommits() {
        guard !isWatchingCommits else { return }
        isWatchingCommits = true
        let latest = loop.now.advanced(by: Intake.commitInterval).advanced(by: Intake.lateness)
        loop.schedule(after: Intake.commitInterval) { [weak self] in
            self?.assumeIsolated { intake in
                intake.isWatchingCommits = false
                if intake.loop.now <= latest { intake.checkCommits() }
                if intake.incoming.oldestCall != nil { intake.watchCommits() }
            }
        }
    }

    /// Reports a commit or a look-up that takes too long, and answers the callers that have waited for too long.
    ///
    /// Their pushes may be stored later, like those of a connection that was lost during the commit.
    private func checkCommits() {
        let now = context.now
        context.recordStall(since: incoming.oldestCall.flatMap { now - $0 > gate.limits.commitTime ? $0 : nil })
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

    /// Counts the answers of the outbox, reports superseded pushes, and marks the lanes of accepted pushes as ready to
    /// claim.
    private func record(_ result: Result<[Acceptance], OutboxError>, of pushes: [HashedPush]) {
        var ready: [LaneQueue] = []
        var superseded: [PushStatus] = []
        for (index, push) in pushes.lazy.map(\.push).enumerated() {
            let answer = result.map { $0[index] }
            counts.answered(answer, push.lane.app)
            if case .success(.full) = answer { gate.outboxIsFull(at: context.now) }
            if case .success(.contested) = answer, let omitted = contestedThrottle.take(at: context.now) {
                context.log.warning(
                    .identifierInOpenTransaction,
                    omitted: omitted,
                    ["app": .string(push.lane.app), "apns_id": .string(push.id.description)]
                )
            }
            guard case .success(let acceptance) = answer, acceptance.isStored else { continue }
            superseded += acceptance.superseded
            let queue = LaneQueue(lane: push.lane, urgency: push.urgency)
            // Consecutive pushes are mostly for the same lane.
            if ready.last != queue { ready.append(queue) }
        }
        dispatcher.assumeIsolated { [ready, superseded] dispatcher in
            dispatcher.recordRemoval(of: superseded)
            dispatcher.markReady(ready)
        }
    }

    // MARK: Outcomes

    /// Reports the outcome of a push to the callers that wait for it and to the event streams.
    func recordEnd(of push: PushStatus) {
        earlyOutcomes.record(push)
        waiters.report(push)
        events.record(push)
    }

    /// Reports jobs that have ended to the event streams.
    func recordEnds(of jobs: [StoredJob]) {
        for job in jobs { events.record(job) }
    }
}
