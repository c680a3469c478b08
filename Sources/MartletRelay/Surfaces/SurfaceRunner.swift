// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// The part of a relay that brings surfaces to phones: it carries out the requests of an ``EnqueuedSurfaceStore``, and
/// does the three kinds of work of a ``SurfaceStore``.
///
/// The relay that leads the fleet does the work. When two relays do it for a while, nothing is stored twice, because
/// the outbox stores a page and a step only if nothing has happened since it was read.
actor SurfaceRunner {
    /// The kinds of work, in their order in a round.
    private enum Work: CaseIterable {
        case requests
        case ends
        case refusals
        case events
        case pages
        case steps
    }

    /// The interval between looks for work while there is none.
    static let idleInterval = Duration.seconds(1)
    /// The time in which changes and results are gathered, so that one round handles many.
    private static let gatherInterval = Duration.milliseconds(20)
    /// The pause while the outbox has no room for the pushes of a step.
    private static let fullInterval = Duration.milliseconds(250)
    /// The maximum pause after a unit of work.
    private static let longestPause = Duration.seconds(1)
    /// The time for which work leaves time to other pushes after the last of them.
    private static let othersInterval = Duration.seconds(1)
    /// The maximum number of surfaces, of requests about them, of events and of sessions that are read at once.
    static let surfaceLimit = 50
    private static let requestLimit = 100
    private static let eventLimit = 100
    /// More than the installations of a page, so that the pages of a single surface do not wait.
    private static let sessionLimit = 250
    /// The number of installations from which on pages of surfaces are stored in one commit.
    private static let commitSize = 200
    /// The number of installations of all apps from which on further pages wait for the next round, so that it comes
    /// soon.
    private static let roundSize = 1_000
    /// The maximum number of sessions that are made due at once after a clock was set back.
    private static let recallLimit = 5_000
    /// The interval between looks for surfaces that have ended, in milliseconds.
    private static let endInterval: Int64 = 1_000

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    private(set) var context: RelayContext
    private let dispatcher: Dispatcher
    /// The budgets of installations; one that is not known is full.
    private var budgets = RecentValues<InstallationBudget>()
    var broadcasts = RecentValues<SentBroadcasts>()
    var counts = Counts()
    private var throttle = GrowingThrottle()
    private var pushThrottle = GrowingThrottle()
    /// The limits of the log lines about refused broadcasts, by ``StoredSurface/number``.
    var refusalThrottles = RecentValues<GrowingThrottle>()
    /// The channels up to which the refused broadcasts of the apps have been restored, without apps of which all have;
    /// nil before that, and unless the relay leads.
    var refusalCursors: [String: String]?
    private var task: Task<Void, Never>?
    private var isDraining = false
    /// Whether something has changed since the last round began.
    private var isWoken = false
    /// The apps of which the last steps may have left sessions that were due.
    private var appsWithDueSessions: Set<String> = []
    private var sleeper: CheckedContinuation<Void, Never>?
    /// The time of the last look for surfaces that have ended, in milliseconds since 1970; 0 for none since the relay
    /// leads.
    private var endsCheckedAt: Int64 = 0

    init(_ context: RelayContext, dispatcher: Dispatcher) {
        loop = context.loop
        self.context = context
        self.dispatcher = dispatcher
    }

    func start() {
        task = Task { [weak self] in
            while !Task.isCancelled {
                guard let pause = await self?.run() else { return }
                await self?.sleep(for: pause)
            }
        }
    }

    func use(_ context: RelayContext) {
        self.context = context
    }

    func drain() {
        isDraining = true
        task?.cancel()
        wake()
    }

    /// Starts the next round soon, because a surface has changed or a push of one has ended.
    func wake() {
        isWoken = true
        sleeper?.resume()
        sleeper = nil
    }

    private func sleep(for pause: Duration) async {
        guard pause > .zero, !isDraining else { return }
        if !isWoken {
            let timer = loop.schedule(after: pause) { [weak self] in self?.assumeIsolated { $0.wake() } }
            await withCheckedContinuation { sleeper = $0 }
            timer.cancel()
        }
        try? await Task.sleep(for: SurfaceRunner.gatherInterval)
    }

    // MARK: Rounds

    /// Does a round of each kind of work, and returns the time until the next round.
    func run() async -> Duration {
        isWoken = false
        let isLeader = await dispatcher.fleet.isLeader
        if !isLeader {
            counts.surfaces = [:]
            counts.recent = [:]
            counts.refusedBroadcasts = RefusedBroadcasts()
            refusalCursors = nil
            endsCheckedAt = 0
        }
        guard isLeader, !isDraining, context.outboxHealth.current.refusal == nil else {
            counts.spreading = [:]
            return SurfaceRunner.idleInterval
        }
        var next = SurfaceRunner.idleInterval
        for work in Work.allCases where !isDraining {
            do throws(OutboxError) {
                let pause = try await perform(work)
                next = min(next, pause)
            } catch {
                log(error)
            }
        }
        return next
    }

    /// Does a part of a kind of work; returns the time until the next part.
    private func perform(_ work: Work) async throws(OutboxError) -> Duration {
        switch work {
        case .requests: try await carryOutRequests()
        case .ends: try await endSurfaces()
        case .refusals: try await restoreRefusals()
        case .events: try await handleEvents()
        case .pages: try await storePages()
        case .steps: try await takeSteps()
        }
    }

    /// Pauses after work, so that at least half of the time of the outbox is left to other pushes.
    ///
    /// - Parameters:
    ///   - start: The start of the work.
    ///   - free: The part of the time in which the work did not call the outbox.
    func rest(since start: ContinuousClock.Instant, free: Duration = .zero) async {
        let now = ContinuousClock.now
        let others = await dispatcher.claims.othersClaimedAt
        let pause = SurfaceRunner.pause(after: now - start, free: free, others: others.map { now - $0 })
        if pause > .zero { try? await Task.sleep(for: pause) }
    }

    /// Returns the pause after work: as long as it kept the outbox busy, but for a free part of the time; none if the
    /// relay last sent a push that is of no surface long ago, or never.
    static func pause(after work: Duration, free: Duration, others: Duration?) -> Duration {
        guard let others, others < othersInterval else { return .zero }
        return max(.zero, min(work - free - free, longestPause))
    }

    private func log(_ error: OutboxError) {
        switch error.kind {
        // Only the relay closes the outbox, when it stops.
        case .closed: break
        case .unreachable: context.recordOutbox(error)
        default:
            guard let omitted = throttle.take(at: context.now) else { return }
            context.log.warning(.surfacesNotUpdated, omitted: omitted, ["error": .string("\(error)")])
        }
    }

    /// Carries out requests of back ends in SQL.
    private func carryOutRequests() async throws(OutboxError) -> Duration {
        let start = ContinuousClock.now
        let requests = EnqueuedSurfaces(context: context, dispatcher: dispatcher)
        let mayHaveMore = try await requests.carryOut(limit: SurfaceRunner.requestLimit)
        await rest(since: start)
        return mayHaveMore ? .zero : SurfaceRunner.idleInterval
    }

    // MARK: Audiences

    /// Withdraws the surfaces whose end has passed, deletes those that were withdrawn long ago, and counts the others.
    private func endSurfaces() async throws(OutboxError) -> Duration {
        let now = context.now
        // A clock that was set back must not delay ends.
        guard now < endsCheckedAt || now - endsCheckedAt >= SurfaceRunner.endInterval else {
            return SurfaceRunner.idleInterval
        }
        let store = context.outbox.surfaces
        if endsCheckedAt == 0 || now < endsCheckedAt {
            // The clock was set back, perhaps before the start, or is that of another relay.
            let (time, limit) = (now + SurfaceStepBuilder.longestWait, SurfaceRunner.recallLimit)
            guard try await store.recallSessions(dueAfter: time, at: now, limit: limit) < limit else { return .zero }
        }
        let count = try await store.endSurfaces(
            withdrawnBefore: now - context.configuration.retention,
            at: now,
            limit: SurfaceRunner.surfaceLimit
        )
        counts.surfaces = try await store.surfaceCounts()
        guard count < SurfaceRunner.surfaceLimit else { return .zero }
        endsCheckedAt = now
        return SurfaceRunner.idleInterval
    }

    /// Stores the sessions of installations whose audiences may have changed.
    private func handleEvents() async throws(OutboxError) -> Duration {
        let store = context.outbox.surfaces
        let start = ContinuousClock.now
        let events = try await store.installationEvents(limit: SurfaceRunner.eventLimit)
        guard !events.isEmpty else { return SurfaceRunner.idleInterval }
        // Read after the events, and once for each app.
        var expressions: [String: [StoredSurface]] = [:]
        var memberships: [SurfaceMembership] = []
        for event in events {
            let app = event.installation.installation.app
            if expressions[app] == nil { expressions[app] = try await store.surfacesWithExpression(of: app) }
            memberships.append(try await store.membership(of: event, among: expressions[app] ?? []))
        }
        try await store.store(memberships, at: context.now)
        await rest(since: start)
        return events.count < SurfaceRunner.eventLimit ? SurfaceRunner.idleInterval : .zero
    }

    /// Stores the next page of each surface whose change has not reached all of its audience.
    ///
    /// Further pages of a surface wait while sessions of its app are due, so that a large surface has few at any time.
    private func storePages() async throws(OutboxError) -> Duration {
        let surfaces = try await context.outbox.surfaces.unfinishedSurfaces(limit: SurfaceRunner.surfaceLimit)
        counts.spreading = [:]
        for stored in surfaces { counts.spreading[stored.surface.app, default: Spreading()].add(stored.changedAt) }
        var batch = SurfacePageBatch()
        var hasMore = false
        let share = SurfaceRunner.roundSize / max(1, counts.spreading.count)
        var sizes: [String: Int] = [:]
        for stored in surfaces where !isDraining {
            let app = stored.surface.app
            guard stored.cursor == 0 || !appsWithDueSessions.contains(app) else { continue }
            guard sizes[app, default: 0] < share else {
                hasMore = true
                continue
            }
            let page = try await stored.nextPage(from: context.outbox.installations)
            if page.next != nil || surfaces.count == SurfaceRunner.surfaceLimit { hasMore = true }
            batch.add(page, of: app)
            sizes[app, default: 0] += page.installations.count
            guard batch.size >= SurfaceRunner.commitSize else { continue }
            try await store(batch)
            batch = SurfacePageBatch()
        }
        try await store(batch)
        return hasMore ? .zero : SurfaceRunner.idleInterval
    }

    private func store(_ batch: SurfacePageBatch) async throws(OutboxError) {
        guard !batch.pages.isEmpty else { return }
        let areStored = try await context.outbox.surfaces.store(batch.pages, at: context.now)
        for (app, isStored) in zip(batch.apps, areStored) where isStored { counts.pages[app, default: 0] += 1 }
        await rest(since: batch.start)
    }

    // MARK: Steps

    /// Takes and stores the steps of sessions that are due.
    private func takeSteps() async throws(OutboxError) -> Duration {
        let start = ContinuousClock.now
        let now = context.now
        let due = try await context.outbox.surfaces.dueSessions(at: now, limit: SurfaceRunner.sessionLimit)
        // Pages may have waited for the end of these sessions.
        let hadDueSessions = !appsWithDueSessions.isEmpty
        appsWithDueSessions = SurfaceRunner.appsWithMore(than: due)
        guard !due.isEmpty else { return hadDueSessions ? .zero : SurfaceRunner.idleInterval }
        var known: [Int64: InstallationBudget] = [:]
        var sent: [Int64: SentBroadcasts] = [:]
        for session in due {
            known[session.installation.number] = budgets[session.installation.number]
            sent[session.surface.number] = broadcasts[session.surface.number]
        }
        let renderers = await dispatcher.clients.renderers
        let buildStart = ContinuousClock.now
        let built = await SurfaceStepBuilder.steps(
            of: due,
            apps: context.configuration.apps,
            renderers: renderers,
            budgets: known,
            broadcasts: sent,
            generator: SplitMix64(state: .random(in: .min ... .max)),
            at: now
        )
        let buildTime = ContinuousClock.now - buildStart
        let stored: StoredSteps
        do throws(OutboxError) {
            stored = try await context.outbox.surfaces.store(built.steps.map(\.step), at: now)
        } catch {
            // The steps may be stored nevertheless.
            markReady(built.steps)
            throw error
        }
        let pause = record(stored, to: built, of: due.count)
        for (result, step) in zip(stored.results, built.steps) where result == .stored {
            for broadcast in step.broadcastResults { await record(broadcast, of: step.due.surface) }
        }
        await rest(since: start, free: buildTime)
        return hadDueSessions && pause == SurfaceRunner.idleInterval ? .zero : pause
    }

    /// Returns the apps that may have more due sessions than were read.
    ///
    /// Apps take turns, so that such an app has at most one session less than any other.
    private static func appsWithMore(than due: [DueSession]) -> Set<String> {
        guard due.count == sessionLimit else { return [] }
        let counts = Dictionary(due.map { ($0.surface.surface.app, 1) }, uniquingKeysWith: +)
        let most = counts.values.max() ?? 0
        return Set(counts.filter { $0.value + 1 >= most }.keys)
    }

    /// Records the answers of the outbox to the steps of a number of sessions; returns the time until the next ones.
    private func record(_ answer: StoredSteps, to built: SurfaceSteps, of dueCount: Int) -> Duration {
        var stored: [SurfaceSteps.Step] = []
        var spent = built.budgets
        var sent = built.broadcasts
        for (result, step) in zip(answer.results, built.steps) {
            let session = step.due
            // What is decided again takes from the budget again.
            guard result == .stored else {
                spent[session.installation.number] = nil
                // The next decision may need the broadcasts that were not stored; the outbox stores none twice.
                if !step.step.pushes.isEmpty { sent[session.surface.number] = nil }
                continue
            }
            stored.append(step)
            record(step, of: session.surface)
        }
        budgets.store(spent)
        broadcasts.store(sent)
        markReady(stored)
        dispatcher.assumeIsolated { $0.recordRemoval(of: answer.cancelled) }
        if answer.results.contains(.full) { return SurfaceRunner.fullInterval }
        // The sessions of cancelled pushes are due, and those without a step still are.
        let hasMore = !appsWithDueSessions.isEmpty || !answer.cancelled.isEmpty || built.steps.count < dueCount
        return hasMore ? .zero : SurfaceRunner.idleInterval
    }

    private func record(_ step: SurfaceSteps.Step, of stored: StoredSurface) {
        let app = stored.surface.app
        counts.steps[app, default: 0] += 1
        counts.pushes[app, default: 0] += step.step.pushes.count
        counts.problems[app, default: 0] += step.problems.count
        counts.refusedBroadcasts.update(stored)
        for (kind, time) in step.staleness where !mayWait(kind, of: app) {
            let kind = Kind(app: app, kind: kind)
            counts.staleness[kind, default: Histogram(bounds: SurfaceStaleness.bounds)]
                .observe(Duration.milliseconds(time))
            counts.recent[app, default: SurfaceStaleness()].add(time, of: stored.surface.id, at: context.now)
        }
        for problem in step.problems {
            guard let omitted = pushThrottle.take(at: context.now) else { continue }
            context.log.warning(
                .surfacePushNotBuilt,
                omitted: omitted,
                ["app": .string(app), "surface": .string(stored.surface.id), "error": .string(problem)]
            )
        }
    }

    /// Returns whether a push waits for the end of the quiet hours of its app, which is no delay.
    private func mayWait(_ kind: SurfaceKind, of app: String) -> Bool {
        guard kind == .notification else { return false }
        return context.configuration.apps.contains { $0.name == app && $0.quietHours != nil }
    }

    private func markReady(_ steps: [SurfaceSteps.Step]) {
        let pushes = steps.flatMap(\.step.pushes).map(\.push)
        let queues = Set(pushes.map { LaneQueue(lane: $0.lane, urgency: $0.urgency) })
        guard !queues.isEmpty else { return }
        dispatcher.assumeIsolated { $0.markReady(Array(queues)) }
    }
}
