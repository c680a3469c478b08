// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that observes the others: health, status, metrics and telemetry.
///
/// It reads the other parts, and none of them waits for it.
actor RelayMonitor {
    /// The interval between measurements of the event loop's delay.
    private static let lagInterval = Duration.milliseconds(250)
    /// The time after which a status is answered without waiting for the outbox.
    private static let backlogTime = Duration.milliseconds(500)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
    /// The relay's health, readable from other threads.
    nonisolated let health: SharedHealth

    private(set) var context: RelayContext
    nonisolated let server: RelayServer
    nonisolated let intake: Intake
    nonisolated let dispatcher: Dispatcher
    nonisolated let webhooks: WebhookSender
    private nonisolated let jobs: JobExpander
    private nonisolated let surfaces: SurfaceRunner
    /// The other relays that share the outbox.
    private var fleet = FleetView()
    private var rates = RecentRates()
    private var reloads: ConfigurationReloads
    private(set) var history = StatusHistory()
    private(set) var exports = ExportCounts()
    /// The limit for log lines about exports that failed.
    private var exportThrottle = LogThrottle()
    private var exporter: TelemetryExporter?
    private var isDraining = false
    var observations: StatusObservations
    /// The measures of the outbox when they were read last.
    private var measures = OutboxMeasures()
    /// The reading of the backlog that is under way; nil when there is none.
    private var backlogReading: Task<[Lane: Backlog]?, Never>?

    init(
        _ context: RelayContext,
        server: RelayServer,
        intake: Intake,
        dispatcher: Dispatcher,
        webhooks: WebhookSender,
        jobs: JobExpander,
        surfaces: SurfaceRunner
    ) {
        loop = context.loop
        self.context = context
        self.server = server
        self.intake = intake
        self.dispatcher = dispatcher
        self.webhooks = webhooks
        self.jobs = jobs
        self.surfaces = surfaces
        health = SharedHealth(context.outboxHealth)
        reloads = ConfigurationReloads(startedAt: context.startedAt)
        observations = StatusObservations(startedAt: context.startedAt, version: MartletVersion.current)
    }

    /// Starts to observe, and to export telemetry.
    func start(_ exporter: TelemetryExporter?) {
        self.exporter = exporter
        observe()
        if let exporter { Task { await exporter.start() } }
    }

    func use(_ context: RelayContext) {
        self.context = context
        observations.readExpiries(of: context.configuration, at: context.now, isForced: true)
        postHealth()
    }

    /// Records the result of a reload; nil for a success.
    func recordReload(_ error: String?) {
        reloads.record(error, at: context.now)
    }

    /// Records a jump of the wall clock by a number of seconds.
    func recordClockJump(by seconds: Int64) {
        observations.recordClockJump(by: seconds, at: context.now)
    }

    /// Records the space on the disk of the outbox, and logs a shortage.
    func recordDisk() {
        let space = context.configuration.data.space
        guard let shortage = observations.disk.record(free: space?.free, size: space?.size, at: context.now) else {
            return
        }
        context.log.warning(
            .diskLow,
            ["free-bytes": .whole(shortage.free), "since": .string(Timestamp.text(shortage.since))]
        )
    }

    /// Records and logs the end of the process that ran before.
    func recordEarlierEnd(_ end: EarlierEnd) {
        observations.recordEarlierEnd(end, isAlone: context.sharedOutbox == nil)
        guard !end.isInOrder else { return }
        context.log.warning(
            .earlierProcessEnded,
            ["last-seen": .string(Timestamp.text(end.lastSeen)), "possibly-sent": .whole(end.possiblySent)]
        )
    }

    /// The problems to store.
    var problemsToStore: Set<StoredProblem> { observations.watch.problemsToStore(at: context.now) }

    /// Adds the problems that the process that ran before has stored.
    func restore(_ problems: [StoredProblem]) { observations.restore(problems, at: context.now) }

    /// Reports that the relay is shutting down.
    func drain() {
        isDraining = true
        postHealth()
    }

    func close() async {
        await exporter?.close(within: .seconds(4))
    }

    // MARK: Health

    /// Posts the relay's health for other threads, and records the events since the last call.
    func postHealth() {
        observations.readExpiries(of: context.configuration, at: context.now)
        updateObservations()
        let snapshot = self.snapshot
        let backlog = observations.backlog
        let isSilent = snapshot.store.isUnreachable || snapshot.store.stalledSince != nil
        let isStoring = snapshot.store.problem == nil
        let isFull = snapshot.intake.counts.fullQueue.isRefusing(at: snapshot.now)
        let full = isFull ? LoadGate.Refusal.outboxIsFull.message(context.store) : nil
        let report = SharedHealth.Report(
            problem: isDraining ? "the relay is shutting down" : full,
            lanes: snapshot.dispatcher.lanes(of: context.configuration.appNames).map { lane, current in
                (lane.app, "\(lane.app) \(lane.environment.rawValue): \(current.condition(isStoring: isStoring))")
            },
            summary: { snapshot.summary(of: $0, isSilent ? nil : backlog) }
        )
        health.post(report)
    }

    /// Records the events and losses since the last call, so that they agree with the counters.
    private func updateObservations() {
        let now = context.now
        observations.expiredInFlight = dispatcher.assumeIsolated { $0.machine.expiredInFlight(at: now) }
        let isStoring = snapshot.store.problem == nil
        // The free space that was read last is that of a disk that was full.
        if isStoring, !observations.isStoring { recordDisk() }
        observations.isStoring = isStoring
        var state = snapshot.watched
        state.losses = dispatcher.assumeIsolated { $0.losses.take() }
        observations.update(state, at: now)
        if let full = observations.takeFullQueue(intake.assumeIsolated { $0.snapshot }.counts.fullQueue, at: now) {
            context.log.queueFull(full, limit: context.configuration.outbox.limit)
        }
        for outage in observations.takeCounted() { context.log.problemOver(outage) }
    }

    /// Records the time up to which all pushes that have expired were ended.
    func recordExpired(until time: Int64) { observations.expiredUntil = time }

    /// Posts the relay's health and takes measurements at intervals.
    private func observe() {
        postHealth()
        recordRates()
        let due = loop.now.advanced(by: RelayMonitor.lagInterval)
        loop.schedule(after: RelayMonitor.lagInterval) { [weak self] in
            self?.assumeIsolated { monitor in
                monitor.observations.loopLag.observe(
                    Double(max(0, monitor.loop.now.nanoseconds - due.nanoseconds)) / 1e9
                )
                monitor.observe()
            }
        }
    }

    /// Records the number of sent pushes for the rates of the lanes, about once a second.
    func recordRates() {
        let now = context.now
        if rates.wantsTotals(at: now) { rates.record(dispatcher.assumeIsolated { $0.snapshot }.counts.totals, at: now) }
    }

    // MARK: Status

    var snapshot: RelaySnapshot {
        RelaySnapshot(
            context: context,
            now: context.now,
            isDraining: isDraining,
            store: context.outboxHealth.current,
            server: server.assumeIsolated { $0.snapshot },
            intake: intake.assumeIsolated { $0.snapshot },
            dispatcher: dispatcher.assumeIsolated { $0.snapshot },
            webhooks: webhooks.assumeIsolated { $0.counts },
            jobs: jobs.assumeIsolated { $0.counts },
            surfaces: surfaces.assumeIsolated { $0.counts },
            fleet: fleet,
            rates: rates,
            reloads: reloads,
            exports: exports,
            loopLag: observations.loopLag,
            observations: observations
        )
    }

    var summary: String {
        let snapshot = snapshot
        let sent = snapshot.dispatcher.counts.sent.values.reduce(0, +)
        let state = health.problem ?? "accepts pushes for \(context.configuration.apps.count.counted("app"))"
        return "\(state); \(snapshot.dispatcher.inFlight.grouped) in flight, \(sent.grouped) sent"
    }

    /// Returns the status of the relay, with the apps and lanes of some apps.
    func status(of apps: Set<String>) async -> JSONValue {
        let backlog = await recentBacklog()
        updateObservations()
        return snapshot.status(of: apps, backlog)
    }

    /// Returns the events of some apps and of the relay as a whole.
    func events(of apps: Set<String>) -> JSONValue { observations.json(of: apps, since: context.startedAt) }

    /// Returns the lanes of some apps, sorted by app and environment.
    func lanes(of apps: Set<String>) -> [Lane] {
        dispatcher.assumeIsolated { $0.snapshot }.lanes(of: apps).map(\.lane)
    }

    /// Returns the history of some apps' lanes in the last hour.
    func history(of apps: Set<String>) -> JSONValue { history.json(of: lanes(of: apps)) }

    /// Returns the backlog of each lane that has one; nil while the outbox cannot be read.
    func backlog() async -> [Lane: Backlog]? {
        let outbox = context.outbox
        let read = await context.read { () async throws(OutboxError) in try await outbox.backlog() }
        guard case .success(let backlog) = read else { return nil }
        let lanes = await dispatcher.snapshot.lanes
        return Dictionary(backlog.map { ($0.lane, $0.since(lanes[$0.lane]?.problem)) }) { first, _ in first }
    }

    /// Returns the backlog, or the one before if the outbox does not answer soon; nil while it cannot be read.
    private func recentBacklog() async -> [Lane: Backlog]? {
        let snapshot = self.snapshot
        guard !snapshot.store.isUnreachable, snapshot.store.stalledSince == nil else { return nil }
        let reading: Task<[Lane: Backlog]?, Never>
        if let backlogReading {
            reading = backlogReading
        } else {
            reading = Task { await readBacklog() }
            backlogReading = reading
        }
        let isRead = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let first = FirstResult(continuation)
            loop.schedule(after: RelayMonitor.backlogTime) { first.resume(returning: false) }
            Task {
                _ = await reading.value
                first.resume(returning: true)
            }
        }
        return isRead ? await reading.value : observations.backlog
    }

    private func readBacklog() async -> [Lane: Backlog]? {
        let backlog = await backlog()
        observations.backlog = backlog
        backlogReading = nil
        return backlog
    }

    /// Reads the number of dead letters; the last one stays known while the outbox cannot be read.
    func readDeadLetters() async {
        if let counts = try? await context.outbox.records.deadLetterCounts() { observations.deadLetters = counts }
    }

    /// Reads the measures of the outbox; the last ones stay known while it does not answer.
    private func readMeasures() async {
        let outbox = context.outbox
        let read = await context.read { () async throws(OutboxError) in await outbox.measures }
        if case .success(let new) = read { measures = new }
    }

    /// Returns the metrics of some apps, and those of the relay as a whole.
    func metrics(of apps: Set<String>) async -> MetricSheet {
        var backlog: [Lane: Backlog]?
        // Metrics are needed most while the outbox does not answer, so they do not wait for it then.
        if context.outboxHealth.current.stalledSince == nil {
            backlog = await self.backlog()
            await readMeasures()
        }
        var conditions: [(lane: Lane, teamID: String, ClientCondition)] = []
        for (lane, current) in await dispatcher.snapshot.lanes(of: apps) {
            guard let client = current.client else { continue }
            let condition = await client.client.condition
            conditions.append((lane, client.teamID, condition))
        }
        let metrics = RelayMetrics(
            snapshot: snapshot,
            apps: apps,
            backlog: backlog,
            measures: measures,
            conditions: conditions
        )
        return metrics.sheet
    }

    /// Adds a sample of the lanes to the history.
    func addSample(_ backlog: [Lane: Backlog]?) {
        observations.backlog = backlog
        let snapshot = snapshot
        history.add(snapshot.historySample(backlog), at: snapshot.now)
    }

    // MARK: Fleet

    /// The lanes that are down in this relay, and in which other relays have delivered pushes since.
    var lanesDeliveredElsewhere: [Lane] {
        observations.watch.lanesDeliveredElsewhere(snapshot.watched)
    }

    /// Publishes this relay's data and reads that of the other relays.
    func syncFleet() async {
        guard let shared = context.sharedOutbox else { return }
        await shared.fleet.publish(FleetView.text(of: snapshot.ownCounts))
        do throws(OutboxError) {
            fleet.update(try await shared.fleet.nodes(), at: context.now)
            let now = context.now
            context.outboxHealth.update { $0.recordRead(at: now) }
        } catch {
            context.recordOutbox(error)
        }
        for relay in fleet.takeMissing(at: context.now) {
            context.log.warning(
                .relayMissing,
                [
                    "name": .string(relay.name), "relay": .whole(relay.number),
                    "last-heartbeat": .string(Timestamp.text(relay.since)),
                ]
            )
        }
        for number in fleet.takeDuplicates() {
            context.log.warning(
                .duplicateNodeName,
                ["name": .string(context.configuration.node), "relay": .whole(number)]
            )
        }
    }

    // MARK: Telemetry

    /// Counts an export and logs a failure.
    func recordExport(_ answer: ExportAnswer, _ decision: ExportSchedule.Decision, spans: Int) {
        exports.exported(answer, decision, spans: spans)
        guard decision != .accepted || answer.rejected > 0, let omitted = exportThrottle.take(at: context.now) else {
            return
        }
        context.log.warning(
            decision == .accepted ? .exportPartlyRejected : .exportFailed,
            omitted: omitted,
            [
                "status": .whole(answer.status),
                "rejected": answer.rejected > 0 ? .whole(answer.rejected) : nil,
                "error": answer.message.isEmpty ? nil : .string(answer.message),
            ]
        )
    }
}

extension Backlog {
    /// Returns the backlog with an oldest push that has been due at least since the lane's outage began.
    ///
    /// Each failed attempt makes its push due again at a later time, although nothing leaves the lane.
    fileprivate func since(_ problem: LaneProblem?) -> Backlog {
        guard let problem, let oldest else { return self }
        var backlog = self
        backlog.oldest = min(oldest, problem.since)
        return backlog
    }
}
