// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that expands jobs into pushes, page by page, and cancels the pushes of cancelled jobs.
///
/// The relay that leads the fleet expands. Two relays that expand a job store no page twice, because the outbox stores
/// a page only while the job has the cursor with which the page was made.
actor JobExpander {
    /// The numbers that the monitor reads, by the name of the app.
    struct Counts: Sendable {
        /// The number of jobs that need work, by state, when they were read last.
        var active: [String: [JobState: Int]] = [:]
        /// The number of stored pages.
        var pages: [String: Int] = [:]
        /// The number of installations without a push, by reason.
        var leftOut: [String: [LeftOutReason: Int]] = [:]
    }

    /// The interval between looks for active jobs while there are none, and while all of them wait.
    private static let idleInterval = Duration.seconds(1)
    private static let waitInterval = Duration.milliseconds(250)
    /// The maximum pause after a step.
    private static let longestPause = Duration.seconds(1)
    /// The maximum number of jobs that take turns; those that were created last wait.
    private static let jobLimit = 500
    /// The number of rows that one commit of a cancellation reads.
    private static let cancelStep = 500
    private static let cancelRemedy = "GET /v1/apps/{app}/jobs/{id} shows the job, and a repeated call continues"

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private var context: RelayContext
    private let dispatcher: Dispatcher
    private var turns = JobTurns()
    private(set) var counts = Counts()
    /// Whether the requests of active jobs have a local time, by the number of the job; they are read once.
    private var usesLocalTime: [Int64: Bool] = [:]
    private var throttle = GrowingThrottle()
    private var task: Task<Void, Never>?
    private var isDraining = false

    init(_ context: RelayContext, dispatcher: Dispatcher) {
        loop = context.loop
        self.context = context
        self.dispatcher = dispatcher
    }

    func start() {
        task = Task { [weak self] in
            while !Task.isCancelled {
                let pause = await self?.run() ?? JobExpander.idleInterval
                try? await Task.sleep(for: pause)
            }
        }
    }

    func use(_ context: RelayContext) {
        self.context = context
    }

    func drain() {
        isDraining = true
        task?.cancel()
    }

    /// Does one step of each active job, and returns the time until the next round.
    func run() async -> Duration {
        guard await dispatcher.fleet.isLeader, !isDraining, context.outboxHealth.current.refusal == nil else {
            counts.active = [:]
            return JobExpander.idleInterval
        }
        var hasStep = false
        do throws(OutboxError) {
            let jobs = try await context.outbox.jobs.activeJobs(at: context.now, limit: JobExpander.jobLimit)
            recordActive(jobs)
            guard !jobs.isEmpty else { return JobExpander.idleInterval }
            for job in turns.order(jobs) where !isDraining {
                let start = ContinuousClock.now
                guard try await step(job) else { continue }
                hasStep = true
                // As long as the step took, so that at least half of the time is left to pushes that are sent singly.
                try? await Task.sleep(for: min(ContinuousClock.now - start, JobExpander.longestPause))
            }
        } catch {
            log(error)
        }
        return hasStep ? .zero : JobExpander.waitInterval
    }

    private func recordActive(_ jobs: [StoredJob]) {
        counts.active = [:]
        for job in jobs { counts.active[job.job.app, default: [:]][job.state, default: 0] += 1 }
        let numbers = Set(jobs.map(\.number))
        usesLocalTime = usesLocalTime.filter { numbers.contains($0.key) }
    }

    /// Does the next step of a job; returns whether it had one.
    private func step(_ job: StoredJob) async throws(OutboxError) -> Bool {
        switch JobStep(job, unfinishedLimit: unfinishedLimit(of: job)) {
        case .wait: return false
        case .cancelPushes:
            turns.record(job)
            return try await cancelPushes(of: job) > 0
        case .expand: return try await expand(job)
        }
    }

    /// Returns the number of pushes that have not ended from which on no further page of a job is stored.
    ///
    /// A job to a local time, or of an app with quiet hours, may have more of them, because the pushes of one time zone
    /// must not wait until those of another, which were stored before them, are sent.
    private func unfinishedLimit(of job: StoredJob) -> Int {
        let app = context.configuration.apps.first { $0.name == job.job.app }
        guard job.unfinished >= JobStep.unfinishedLimit,
            app?.quietHours != nil || hasLocalTime(job)
        else { return JobStep.unfinishedLimit }
        return max(JobStep.unfinishedLimit, context.configuration.outbox.limit / 10)
    }

    private func hasLocalTime(_ job: StoredJob) -> Bool {
        if let known = usesLocalTime[job.number] { return known }
        let isUsed = LocalDelivery.isUsed(by: job.job)
        usesLocalTime[job.number] = isUsed
        return isUsed
    }

    private func log(_ error: OutboxError) {
        switch error.kind {
        // Only the relay closes the outbox, when it stops.
        case .closed: break
        case .unreachable: context.recordOutbox(error)
        default: logProblem("\(error)")
        }
    }

    private func logProblem(_ problem: String, of job: StoredJob? = nil) {
        guard let omitted = throttle.take(at: context.now) else { return }
        context.log.warning(
            .jobNotExpanded,
            omitted: omitted,
            [
                "app": job.map { .string($0.job.app) }, "job": job.map { .string("\($0.job.id)") },
                "error": .string(problem),
            ]
        )
    }

    // MARK: Expansion

    /// Stores the next page of a job; returns false when it cannot be stored at the moment.
    private func expand(_ job: StoredJob) async throws(OutboxError) -> Bool {
        if let problem = job.problem { logProblem(problem, of: job) }
        let renderers = await dispatcher.clients.renderers
        let page: JobPage
        do throws(JobPageBuilder.Failure) {
            page = try await JobPageBuilder.page(
                of: job,
                from: context.outbox.installations,
                apps: context.configuration.apps,
                renderers: renderers,
                // A page has to fit into a small outbox, too.
                limit: min(JobPageBuilder.size, max(1, context.configuration.outbox.limit / 2)),
                at: context.now
            )
        } catch {
            // A problem of this job concerns no other one.
            turns.record(job)
            switch error {
            case .outbox(let error): throw error
            case .request(let problem): logProblem(problem.detail, of: job)
            }
            return false
        }
        do throws(OutboxError) {
            return record(try await context.outbox.jobs.expand(page, at: context.now), of: page, job)
        } catch {
            turns.record(job)
            // The page may be stored nevertheless.
            markReady(page)
            throw error
        }
    }

    /// Records the answer of the outbox to a page; returns false when the outbox is full.
    private func record(_ answer: JobExpansion, of page: JobPage, _ job: StoredJob) -> Bool {
        switch answer {
        // The job keeps its turn, so that it gets the first room.
        case .full: return false
        // The next round reads the job again.
        case .outdated: turns.record(job)
        case .stored(let pushes, let refused, let superseded):
            turns.record(job)
            dispatcher.assumeIsolated { $0.recordRemoval(of: superseded) }
            let app = job.job.app
            let leftOut = page.leftOut.merging(refused, uniquingKeysWith: +)
            counts.pages[app, default: 0] += 1
            counts.leftOut[app, default: [:]].merge(leftOut, uniquingKeysWith: +)
            markReady(page)
            if page.isLast {
                let all = job.leftOut.merging(leftOut, uniquingKeysWith: +)
                context.log.info(
                    .jobExpanded,
                    [
                        "app": .string(app), "job": .string("\(job.job.id)"), "stored": .whole(job.stored + pushes),
                        "left-out": .whole(all.values.reduce(0, +)),
                    ]
                )
            }
        }
        return true
    }

    private func markReady(_ page: JobPage) {
        let lanes = Set(page.pushes.map(\.push.lane))
        dispatcher.assumeIsolated { $0.markReady(lanes.map { LaneQueue(lane: $0, urgency: .job) }) }
    }

    // MARK: Cancellation

    /// Cancels a job and its pushes that are not being sent; returns the job afterwards, or nil for an unknown one.
    ///
    /// Pushes that are being sent are cancelled by the relay that leads, if they have to be sent again.
    func cancel(_ id: APNsID, of app: String) async throws(OutboxError) -> StoredJob? {
        let context = context
        let found = try await context.change(remedy: Self.cancelRemedy) { () async throws(OutboxError) -> StoredJob? in
            try await context.outbox.jobs.cancel(id, of: app, at: context.now)
        }
        guard let job = found, job.state == .cancelled, job.unfinished > 0 else { return found }
        _ = try await cancelPushes(of: job)
        let current = await context.read { () async throws(OutboxError) -> StoredJob? in
            try await context.outbox.jobs.job(id, of: app)
        }
        return try current.get() ?? job
    }

    /// Cancels the unclaimed pushes of a job until the relay shuts down, and returns their number.
    private func cancelPushes(of job: StoredJob) async throws(OutboxError) -> Int {
        var cursor: Int64?
        var count = 0
        repeat {
            let (context, dispatcher, end) = (self.context, self.dispatcher, cursor)
            let step = try await context.change(remedy: Self.cancelRemedy) {
                () async throws(OutboxError) -> CancelledPushes in
                let step = try await context.outbox.jobs.cancelPushes(
                    of: job,
                    before: end,
                    limit: JobExpander.cancelStep,
                    at: context.now
                )
                await dispatcher.recordRemoval(of: step.pushes)
                return step
            }
            cursor = step.next
            count += step.pushes.count
        } while cursor != nil && !isDraining
        return count
    }
}
