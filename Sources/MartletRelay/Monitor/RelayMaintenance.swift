// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that does its periodic work: expired pushes, old outcomes and jobs, warnings, webhooks and
/// memory.
actor RelayMaintenance {
    /// The interval between looks for a database that does not answer, and the one between checks of it.
    private static let outboxWatchInterval = Duration.milliseconds(250)
    private static let outboxCheckInterval = Duration.seconds(1)
    /// The number of rows that one commit changes, so that other calls need not wait for long.
    private static let batch = 500
    /// The number of jobs whose ends one commit records; few, because they are read with their requests.
    private static let jobBatch = 20
    /// The maximum number of commits in one run; more than a relay without a backlog needs.
    private static let batchesPerRun = 20
    /// The time for which the counts of alerts of a day are kept after its end, in milliseconds: a relay whose clock is
    /// behind still needs them.
    private static let alertRetention: Int64 = 3_600_000
    /// The interval between keep-alive comments to event streams, in seconds.
    private static let secondsBetweenKeepAlives: Int64 = 15

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private var context: RelayContext
    private let server: RelayServer
    private let intake: Intake
    private let dispatcher: Dispatcher
    private let webhooks: WebhookSender
    private let monitor: RelayMonitor
    private var memoryReturn = MemoryReturn(residentBytes: FreedMemory.residentBytes)
    private var expiryLog = ExpiryLog()
    private var clockWatch = ClockWatch()
    /// The origin of the times by a clock that is never adjusted; it advances while the machine is suspended.
    private let clockOrigin = ContinuousClock.now
    /// The number of pushes that this relay had abandoned when the dead letters were read last.
    private var abandoned = 0
    /// Whether the end of the process that ran before is known.
    private var knowsEarlierEnd = false
    /// Whether the problems that it has stored are restored.
    private var knowsEarlierProblems = false
    private var problemSchedule = ProblemSchedule()
    private var task: Task<Void, Never>?
    private var isDraining = false
    /// The time up to which all pushes that have expired were ended, in milliseconds since 1970.
    private var expiredUntil: Int64
    /// The time of the last check of a database that does not answer.
    private var outboxCheckedAt = MonotonicTime.zero

    /// Creates the maintenance of the parts that a monitor observes.
    init(_ context: RelayContext, _ monitor: RelayMonitor) {
        loop = context.loop
        self.context = context
        self.monitor = monitor
        expiredUntil = context.startedAt
        server = monitor.server
        intake = monitor.intake
        dispatcher = monitor.dispatcher
        webhooks = monitor.webhooks
    }

    func start() {
        logExpiry()
        watchOutbox()
        task = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                await self?.run()
            }
        }
    }

    func use(_ context: RelayContext) {
        self.context = context
        logExpiry()
    }

    func drain() {
        isDraining = true
        task?.cancel()
    }

    /// Does the work of one run; called once a second.
    func run() async {
        let now = context.now
        await watchClock(at: now)
        // Before all else, because the outbox may take long.
        updateStreams(at: now / 1_000)
        logExpiry(isStart: false)
        await server.logOmittedRefusals(at: now)
        await monitor.recordDisk()
        await monitor.syncFleet()
        // Other relays pause lanes too, and the outbox may have been unavailable at the start.
        let state = await dispatcher.snapshot
        if context.sharedOutbox != nil || !state.knowsPauses { await dispatcher.syncLanes() }
        await dispatcher.syncOutages()
        // Only the leader, because several relays would conflict.
        if state.fleet.isLeader {
            // Pushes may be due because the clock was set forward, which no timer notices.
            await dispatcher.actSoon()
            await endExpired(at: now)
            await recordEndedJobs()
            await webhooks.callDue()
        } else {
            // The leader ends them once a second, and its numbers arrive later.
            expiredUntil = now - StatusWatch.publicationTime
        }
        await monitor.recordExpired(until: expiredUntil)
        if await monitor.history.wants(at: now) {
            await dispatcher.endOutages(of: await monitor.lanesDeliveredElsewhere)
            await monitor.addSample(await monitor.backlog())
            await readDeadLetters(of: state)
            await recordRunning()
            returnMemory()
        } else if state.counts.abandoned != abandoned {
            await readDeadLetters(of: state)
        }
        await syncProblems()
        await checkOutbox()
        // A clock that was set ahead by mistake must not delete outcomes, which cannot be undone.
        if state.fleet.isLeader, clockWatch.isTrusted {
            let time = now - context.configuration.retention
            await forgetOutcomes(before: time)
            _ = try? await context.outbox.jobs.deleteJobs(endedBefore: time, limit: RelayMaintenance.batch)
            let alertTime = now - RelayMaintenance.alertRetention
            _ = try? await context.outbox.records.forgetAlerts(before: alertTime, limit: RelayMaintenance.batch)
        }
    }

    private func readDeadLetters(of state: Dispatcher.Snapshot) async {
        abandoned = state.counts.abandoned
        await monitor.readDeadLetters()
    }

    /// Ends the event streams whose callers' credentials have expired, and sends keep-alive comments to the others.
    private func updateStreams(at seconds: Int64) {
        intake.assumeIsolated { intake in
            intake.events.finishExpired(at: seconds)
            if seconds % RelayMaintenance.secondsBetweenKeepAlives == 0 { intake.events.sendKeepAlive() }
        }
    }

    // MARK: Outbox

    /// Checks a database that does not answer until it does.
    ///
    /// Pushes are refused until then, so this does not wait for ``run()``, whose statements may take long.
    private func watchOutbox() {
        if context.outboxHealth.current.isUnreachable, !isDraining,
            loop.now >= outboxCheckedAt.advanced(by: RelayMaintenance.outboxCheckInterval)
        {
            outboxCheckedAt = .never
            Task {
                await checkOutbox()
                outboxCheckedAt = loop.now
            }
        }
        loop.schedule(after: RelayMaintenance.outboxWatchInterval) { [weak self] in
            self?.assumeIsolated { $0.watchOutbox() }
        }
    }

    /// Writes to the outbox if it has not been written for a while or has failed.
    func checkOutbox() async {
        guard context.outboxHealth.current.isCheckDue(at: context.now) else { return }
        do throws(OutboxError) {
            try await context.outbox.records.setCursor(context.now, of: "health")
            context.recordOutbox(nil)
        } catch {
            context.recordOutbox(error)
        }
    }

    /// The name under which it is stored when this relay last ran; a shared outbox has one for each relay.
    private var runningReader: String {
        context.sharedOutbox == nil ? "running" : "running \(context.configuration.node)"
    }

    /// Stores that the relay runs, and reports how the process before it ended.
    func recordRunning() async {
        guard !isDraining, context.outboxHealth.current.problem == nil else { return }
        let records = context.outbox.records
        do throws(OutboxError) {
            if !knowsEarlierEnd {
                let stored = try await records.cursor(of: runningReader)
                let possiblySent = await context.outbox.measures.possiblySent
                knowsEarlierEnd = true
                let end = EarlierEnd(
                    stored: stored,
                    possiblySent: context.sharedOutbox == nil ? possiblySent : nil,
                    startedAt: context.startedAt,
                    isDurable: context.configuration.outbox.durability == .full
                )
                if let end { await monitor.recordEarlierEnd(end) }
            }
            try await records.setCursor(EarlierEnd.stored(at: context.now, isShutdown: false), of: runningReader)
        } catch {
            // Stored by the next call.
            return
        }
    }

    /// Stores that the relay was shut down.
    func recordShutdown() async {
        guard context.outboxHealth.current.problem == nil else { return }
        await monitor.postHealth()
        await syncProblems(isLast: true)
        let stored = EarlierEnd.stored(at: context.now, isShutdown: true)
        try? await context.outbox.records.setCursor(stored, of: runningReader)
    }

    /// Restores the problems that an earlier process of this relay has stored, and stores those of this one when they
    /// have changed.
    ///
    /// - Parameter isLast: Whether the relay is being shut down.
    func syncProblems(isLast: Bool = false) async {
        guard knowsEarlierEnd, context.outboxHealth.current.problem == nil else { return }
        let records = context.outbox.records
        // A file has one relay, whatever its name.
        let relay = context.sharedOutbox == nil ? "relay" : context.configuration.node
        do throws(OutboxError) {
            if !knowsEarlierProblems {
                let text = try await records.problems(of: relay)
                // A shutdown may have read them meanwhile.
                if !knowsEarlierProblems {
                    knowsEarlierProblems = true
                    let stored = StoredProblem.list(text ?? "", at: context.now)
                    // The next write replaces problems that are too old by now; the time of the row is not known.
                    problemSchedule.recordStored(Set(stored), at: 0)
                    await monitor.restore(stored)
                }
            }
            let problems = await monitor.problemsToStore
            let now = context.now
            guard problemSchedule.isDue(problems, at: now, isLast: isLast) else { return }
            try await records.storeProblems(
                StoredProblem.text(of: problems),
                of: relay,
                at: now,
                deletingBefore: now - StatusSummary.pastTime
            )
            problemSchedule.recordStored(problems, at: now)
        } catch {
            // Stored by the next call.
            return
        }
    }

    /// Ends the pushes that have expired.
    private func endExpired(at now: Int64) async {
        for _ in 0..<RelayMaintenance.batchesPerRun {
            guard let expired = try? await context.outbox.expire(at: now, limit: RelayMaintenance.batch) else { return }
            await dispatcher.recordRemoval(of: expired, expiredSince: expiredUntil)
            guard expired.count < RelayMaintenance.batch else { continue }
            expiredUntil = now
            return
        }
    }

    /// Records the ends of jobs, and reports them to the event streams.
    private func recordEndedJobs() async {
        let jobs = context.outbox.jobs
        for _ in 0..<RelayMaintenance.batchesPerRun {
            guard let ended = try? await jobs.recordEnds(limit: RelayMaintenance.jobBatch) else { return }
            await intake.recordEnds(of: ended)
            if ended.count < RelayMaintenance.jobBatch { return }
        }
    }

    private func forgetOutcomes(before time: Int64) async {
        for _ in 0..<RelayMaintenance.batchesPerRun {
            let count = (try? await context.outbox.forgetOutcomes(before: time, limit: RelayMaintenance.batch)) ?? 0
            if count < RelayMaintenance.batch { return }
        }
    }

    // MARK: Warnings and memory

    /// Warns when the wall clock has jumped.
    private func watchClock(at now: Int64) async {
        let steady = clockOrigin.duration(to: .now)
        guard let jump = clockWatch.record(wall: now, steady: steady) else { return }
        let seconds = Int64((Double(jump) / 1_000).rounded())
        await monitor.recordClockJump(by: seconds)
        context.log.warning(
            .clockJumped,
            [
                "seconds": .whole(seconds),
                "deletes-outcomes-in-seconds": .whole(ClockWatch.confirmation.components.seconds),
            ]
        )
    }

    /// Warns of keys and certificates that expire soon or have expired; repeats earlier warnings at a start.
    private func logExpiry(isStart: Bool = true) {
        if isStart { expiryLog = ExpiryLog() }
        for warning in expiryLog.take(from: context.configuration, at: context.now / 1_000) {
            context.log.warning(warning.event, warning.fields)
        }
    }

    private func returnMemory() {
        guard memoryReturn.isDue(at: FreedMemory.residentBytes) else { return }
        FreedMemory.returnToSystem()
        memoryReturn.finished(at: FreedMemory.residentBytes)
    }
}
