// SPDX-License-Identifier: Apache-2.0

internal import LiveSurfaces
internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The steps of sessions that are due, in the order of the sessions.
///
/// A session has none while the outbox has not stored the broadcast of another one on which it depends.
struct SurfaceSteps: Sendable {
    /// A step with what it reports.
    struct Step: Sendable {
        let due: DueSession
        var step: SessionStep
        /// The reasons why pushes could not be built, or nothing could be decided.
        var problems: [String]
        /// The results of earlier broadcasts, which the step takes.
        var broadcastResults: [BroadcastResult]
        /// The time from a change of the surface until Apple accepted the push that shows it, by kind, in milliseconds.
        var staleness: [SurfaceKind: Int64]
    }

    var steps: [Step] = []
    /// The budgets of the installations after the steps, by ``StoredInstallation/number``.
    var budgets: [Int64: InstallationBudget]
    /// The broadcasts of the surfaces with the steps, by ``StoredSurface/number``.
    var broadcasts: [Int64: SentBroadcasts]
}

/// A builder of the steps of sessions that are due.
struct SurfaceStepBuilder {
    /// The maximum number of decisions about one session in one step: another one follows while pushes cannot be built.
    ///
    /// Each gives up one content of a kind, and there are six kinds.
    private static let decisionLimit = 8
    /// The minimum time until the next step of a session of which nothing changes, in milliseconds.
    private static let shortestWait: Int64 = 1_000
    /// The maximum time until the next step of a session, unless it waits for a change, in milliseconds.
    static let longestWait: Int64 = 86_400_000
    /// The time until the next step while nothing can be decided, in milliseconds.
    private static let undecidedWait: Int64 = 600_000

    /// The content that an installation shall show.
    private enum Content {
        case shown(SurfaceContent)
        case none
        /// It cannot be read, or it may not be for the installation: what is on the phone stays.
        case unknown
    }

    private let apps: [RelayConfiguration.App]
    private let renderers: [Lane: SnapshotRenderer]
    /// The time in milliseconds since 1970.
    private let now: Int64
    /// The broadcasts of the surfaces that are stored.
    private let stored: [Int64: SentBroadcasts]
    private var generator: SplitMix64
    private var built = BuiltPushes()
    /// The contents of the surfaces, by their numbers.
    private var contents: [Int64: Content] = [:]
    /// The problems of the current session.
    private var problems: [String] = []
    /// The results of broadcasts of the current session.
    private var broadcastResults: [BroadcastResult] = []
    /// The staleness of the current session.
    private var staleness: [SurfaceKind: Int64] = [:]
    private var result: SurfaceSteps

    private init(
        _ apps: [RelayConfiguration.App],
        _ renderers: [Lane: SnapshotRenderer],
        _ budgets: [Int64: InstallationBudget],
        _ broadcasts: [Int64: SentBroadcasts],
        _ generator: SplitMix64,
        at now: Int64
    ) {
        self.apps = apps
        self.renderers = renderers
        stored = broadcasts
        result = SurfaceSteps(budgets: budgets, broadcasts: broadcasts)
        self.generator = generator
        self.now = now
    }

    /// Returns the steps of sessions, which two tasks build outside of the event loop.
    ///
    /// - Parameters:
    ///   - due: The sessions.
    ///   - apps: The apps in the current configuration.
    ///   - renderers: The renderers of the lanes.
    ///   - budgets: The budgets of the installations; one that is missing is full.
    ///   - broadcasts: The known broadcasts of the surfaces, which are stored.
    ///   - generator: The generator of identifiers.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The steps in the order of the sessions.
    @concurrent
    static func steps(
        of due: [DueSession],
        apps: [RelayConfiguration.App],
        renderers: [Lane: SnapshotRenderer],
        budgets: [Int64: InstallationBudget],
        broadcasts: [Int64: SentBroadcasts] = [:],
        generator: SplitMix64,
        at now: Int64
    ) async -> SurfaceSteps {
        var generator = generator
        let oddGenerator = SplitMix64(state: generator.next())
        async let odd = steps(of: due, half: 1, apps, renderers, budgets, broadcasts, oddGenerator, at: now)
        let even = steps(of: due, half: 0, apps, renderers, budgets, broadcasts, generator, at: now)
        let other = await odd
        var result = SurfaceSteps(
            budgets: even.budgets.merging(other.budgets) { first, _ in first },
            broadcasts: even.broadcasts.merging(other.broadcasts) { $0.merging($1) }
        )
        let steps = Dictionary((even.steps + other.steps).map { ($0.due.session.number, $0) }) { first, _ in first }
        result.steps = due.compactMap { steps[$0.session.number] }
        return result
    }

    /// Returns the steps of one half of the sessions, with the budgets of their installations.
    private static func steps(
        of due: [DueSession],
        half: Int,
        _ apps: [RelayConfiguration.App],
        _ renderers: [Lane: SnapshotRenderer],
        _ budgets: [Int64: InstallationBudget],
        _ broadcasts: [Int64: SentBroadcasts],
        _ generator: SplitMix64,
        at now: Int64
    ) -> SurfaceSteps {
        let sessions = due.filter { $0.half == half }
        let numbers = Set(sessions.map(\.installation.number))
        let budgets = budgets.filter { numbers.contains($0.key) }
        var builder = SurfaceStepBuilder(apps, renderers, budgets, broadcasts, generator, at: now)
        for session in sessions { builder.add(session) }
        return builder.result
    }

    private mutating func add(_ due: DueSession) {
        problems = []
        var state = state(of: due)
        staleness = state.staleness(of: due.session.results)
        broadcastResults = state.broadcastResults(in: due.session.results)
        switch content(of: due) {
        case .shown(let content): add(due, content, &state)
        case .none: add(due, nil, &state)
        case .unknown: addUndecided(due, &state)
        }
    }

    /// Adds a step that only records results.
    private mutating func addUndecided(_ due: DueSession, _ state: inout SurfaceSessionState) {
        state.record(due.session.results)
        let step = SessionStep(
            of: due,
            state: state.stored,
            dueAt: now + Self.undecidedWait,
            isReachable: state.isReachable
        )
        append(step, due)
    }

    private mutating func append(_ step: SessionStep, _ due: DueSession) {
        result.steps.append(
            SurfaceSteps.Step(
                due: due,
                step: step,
                problems: problems,
                broadcastResults: broadcastResults,
                staleness: staleness
            )
        )
    }

    /// Adds the step that brings a content to the phone.
    private mutating func add(_ due: DueSession, _ content: SurfaceContent?, _ state: inout SurfaceSessionState) {
        let last = ContentChange(of: due.surface)
        let builder: SurfacePushBuilder
        do throws(APIProblem) {
            builder = try SurfacePushBuilder(
                surface: due.surface,
                stored: due.installation,
                attributesType: content?.attributesType ?? SurfaceActivityAttributes.attributesType,
                notificationRevision: (content?.change(of: .notification, until: last) ?? last).revision,
                apps: apps,
                renderers: renderers,
                now: now
            )
        } catch {
            // Until the configuration has the app, as when it was removed by mistake.
            problems.append(error.detail)
            addUndecided(due, &state)
            return
        }
        let budget = result.budgets[due.installation.number]
        if let step = step(of: &state, content, due, builder) {
            append(step, due)
        } else {
            result.budgets[due.installation.number] = budget
        }
    }

    /// Decides about a session until each push that it sends can be built.
    ///
    /// Returns nil if another session sends the same broadcast in this round: the outbox may not store its step.
    private mutating func step(
        of state: inout SurfaceSessionState,
        _ content: SurfaceContent?,
        _ due: DueSession,
        _ builder: SurfacePushBuilder
    ) -> SessionStep? {
        var (plan, pushes, cancelled, results) = (SurfacePlan(), [OutboxPush](), [APNsID](), due.session.results)
        for _ in 0..<Self.decisionLimit {
            plan = decide(&state, content, due, results)
            cancelled += plan.cancelled
            results = []
            for send in plan.sends {
                if isBroadcast(send, of: due.surface, in: stored) {
                    results.append(SessionResult(id: send.id, state: .cancelled, status: nil, endedAt: now))
                } else if isBroadcast(send, of: due.surface, in: result.broadcasts) {
                    return nil
                } else if let push = push(of: send, by: builder) {
                    pushes.append(push)
                    record(send, of: due.surface)
                } else {
                    // As if Apple had refused it, so that the session does not wait for its result, and does not repeat
                    // it with the same content.
                    results.append(SessionResult(id: send.id, state: .refused, status: nil, endedAt: now))
                }
            }
            if results.isEmpty { break }
        }
        // No push waits for a result that never comes, whatever was decided last.
        state.record(results)
        return SessionStep(
            of: due,
            state: state.stored,
            dueAt: plan.dueAt.map { min(max($0, now + Self.shortestWait), now + Self.longestWait) },
            isReachable: state.isReachable,
            isFinished: plan.isFinished,
            cancelled: cancelled,
            pushes: pushes
        )
    }

    private mutating func decide(
        _ state: inout SurfaceSessionState,
        _ content: SurfaceContent?,
        _ due: DueSession,
        _ results: [SessionResult]
    ) -> SurfacePlan {
        let installation = due.installation.installation
        let seconds = now / 1_000
        var budget = result.budgets[due.installation.number] ?? InstallationBudget(of: installation, at: seconds)
        budget.update(for: installation, at: seconds)
        let plan = state.step(
            content,
            revision: due.surface.revision,
            changedAt: due.surface.changedAt,
            isWithdrawn: due.surface.withdrawnAt != nil,
            of: due.surface.surface.id,
            on: installation,
            results: results,
            at: now,
            within: &budget.activities,
            after: result.broadcasts[due.surface.number] ?? SentBroadcasts(),
            ids: { broadcast in
                if let broadcast, let id = due.surface.id(of: broadcast) { return id }
                return APNsID(milliseconds: now, randomBits: (generator.next(), generator.next()))
            }
        )
        result.budgets[due.installation.number] = budget
        return plan
    }

    private mutating func content(of due: DueSession) -> Content {
        let surface = due.surface
        guard due.session.revision > 0, surface.withdrawnAt == nil else { return .none }
        // The installation may have left the audience with the change; the pages of the surface make the session due.
        guard due.session.revision == surface.revision else { return .unknown }
        if let known = contents[surface.number] { return known }
        let content: Content
        do throws(APIProblem) {
            content = surface.isDamaged ? .unknown : .shown(try SurfaceContent(stored: surface.surface.request))
        } catch {
            problems.append("the surface cannot be read: \(error.detail)")
            content = .unknown
        }
        contents[surface.number] = content
        return content
    }

    private mutating func state(of due: DueSession) -> SurfaceSessionState {
        guard !due.session.isDamaged, let state = try? SurfaceSessionState(stored: due.session.state) else {
            problems.append("the state of the surface on an installation cannot be read")
            return SurfaceSessionState()
        }
        return state
    }

    /// Returns whether a push is one of known broadcasts, which another session has sent.
    private func isBroadcast(
        _ send: SurfacePlan.Send,
        of surface: StoredSurface,
        in broadcasts: [Int64: SentBroadcasts]
    ) -> Bool {
        guard case .broadcast = send.content else { return false }
        return broadcasts[surface.number]?.contains(send.id) ?? false
    }

    /// Records a push to Live Activities on a channel.
    private mutating func record(_ send: SurfacePlan.Send, of surface: StoredSurface) {
        guard let timestamp = send.channelTimestamp else { return }
        result.broadcasts[surface.number, default: SentBroadcasts()].add(send, at: timestamp)
    }

    /// Builds a push; nil for one that cannot be built.
    private mutating func push(of send: SurfacePlan.Send, by builder: SurfacePushBuilder) -> OutboxPush? {
        do throws(APIProblem) {
            return try builder.push(of: send, &built)
        } catch {
            problems.append(error.detail)
            return nil
        }
    }
}

extension DueSession {
    /// The half of a round that has the session, 0 or 1: one has all sessions of an installation, which share a budget.
    fileprivate var half: Int { Int(installation.number & 1) }
}

extension SurfaceSessionState {
    /// Whether a push can probably show the next change.
    ///
    /// It goes to a Live Activity that can be updated, or is of a kind of which APNs has accepted one.
    var isReachable: Bool {
        switch activity.assumed.phase {
        case .starting, .live, .ending: true
        case .unconfirmed(let start) where start.channel != nil: true
        case .none, .unconfirmed: !pending.isEmpty || sent.values.contains { $0.acceptedAt > 0 }
        }
    }
}
