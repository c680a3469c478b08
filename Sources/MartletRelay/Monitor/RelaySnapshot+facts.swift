// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The facts for the summary of a status.
extension RelaySnapshot {
    /// Returns the summary for some apps; without a backlog while the outbox cannot be read.
    func summary(of apps: Set<String>, _ backlog: [Lane: Backlog]?) -> StatusSummary {
        StatusSummary(statusFacts(of: apps, backlog))
    }

    /// The state of the relay from which events are made.
    var watched: StatusWatch.State {
        var state = StatusWatch.State()
        let totals = dispatcher.counts.totals
        for (lane, current) in dispatcher.lanes {
            state.lanes[lane] = StatusWatch.WatchedLane(
                problem: current.problem,
                pause: current.pause,
                failing: dispatcher.counts.failing[lane],
                fails: fails(lane, current),
                lostElsewhere: LossCounts(fleet.others(in: lane).outcomes),
                deliveredElsewhere: fleet.others(in: lane).outcomes[.delivered, default: 0],
                totals: totals[lane] ?? RecentRates.Totals()
            )
        }
        state.storeError = store.problem
        state.storeSince = store.problemSince
        state.notStored = intake.counts.notStored
        state.isDraining = isDraining
        state.reloads = reloads.succeeded
        state.rejections = reloads.failed
        for node in fleet.nodes {
            state.relays[node.number] = StatusWatch.Relay(name: node.name, version: node.version)
        }
        return state
    }

    /// Returns whether Apple has accepted none of many pushes of a lane.
    private func fails(_ lane: Lane, _ current: Dispatcher.LaneSnapshot) -> Bool {
        // Called several times a second, so that it makes the facts only of lanes whose last attempt failed.
        guard dispatcher.counts.failing[lane] != nil else { return false }
        return laneFacts(of: lane, current, observations.backlog).state == .fails
    }

    /// Returns the facts about some apps; without a backlog while the outbox cannot be read.
    func statusFacts(of apps: Set<String>, _ backlog: [Lane: Backlog]?) -> StatusFacts {
        let configuration = context.configuration
        let isForAll = configuration.appNames.isSubset(of: apps)
        let lanes = dispatcher.lanes(of: apps).map { laneFacts(of: $0, $1, backlog) }
        var facts = StatusFacts(now: now, apps: apps.intersection(configuration.appNames).sorted(), lanes: lanes)
        facts.startedAt = context.startedAt
        facts.isDraining = isDraining
        facts.isDatabase = context.sharedOutbox != nil
        if store.hasFailed, let error = store.problem, let kind = store.problemKind {
            let action = kind.action(at: configuration.data)
            facts.store = StatusFacts.StoreProblem(
                kind: kind,
                error: error,
                since: store.problemSince,
                action: action
            )
        }
        facts.commitSince = store.stalledSince
        facts.diskShortage = observations.disk.shortage
        facts.notStored = observations.watch.notStored(of: intake.counts.notStored)
        facts.isFull = isFull(backlog)
        facts.fullQueue = intake.counts.fullQueue.current(at: now).map { period in
            var visible = period
            // The total contains the refusals of all callers.
            let others = period.refused.filter { !isVisible($0.key, to: apps) }
            for caller in others.keys { visible.refused[caller] = nil }
            if !others.isEmpty { visible.refused[CallerCounter.other] = others.values.reduce(0, +) }
            return visible
        }
        facts.rejection = reloads.rejection.map { rejection in
            // The error may name apps that the key is not for.
            isForAll ? rejection : LastingProblem(since: rejection.since, ConfigurationReloads.hiddenError)
        }
        // Only the leader calls webhooks, so another relay does not know whether they still fail.
        if dispatcher.fleet.isLeader {
            facts.webhooks = configuration.apps.compactMap { app in
                guard app.webhook != nil, apps.contains(app.name), let problem = webhooks[app.name]?.problem else {
                    return nil
                }
                return (app: app.name, problem: problem)
            }
        }
        facts.expiries = observations.expiries.filter { warning in
            warning.caller.map { isVisible($0, to: apps) } ?? true
        }
        facts.clockJump = observations.clockJump
        facts.deadLetters = observations.deadLetters
        facts.fleetOutdatedSince = fleet.outdatedSince(at: now)
        facts.runningRelays = fleet.nodes.count { !FleetView.isMissing($0) }
        facts.earlierEnd = observations.earlierEnd
        facts.missingRelays = fleet.missing(at: now)
        facts.duplicateRelays = fleet.duplicates
        facts.surfaces = facts.apps.compactMap(surfaceFacts)
        facts.expiredUntil = observations.expiredUntil
        facts.pastOutages = observations.watch.pastOutages(of: apps)
        return facts
    }

    /// Returns the facts about the surfaces of an app; nil without surfaces.
    private func surfaceFacts(of app: String) -> SurfaceFacts? {
        let facts = SurfaceFacts(
            app: app,
            count: surfaces.surfaces[app] ?? 0,
            spreading: surfaces.spreading[app],
            times: surfaces.recent[app]?.recent(at: now),
            lateSince: surfaces.recent[app]?.lateSince(at: now),
            problems: surfaces.problems[app] ?? 0,
            refusedBroadcasts: surfaces.refusedBroadcasts.recent(of: app, at: now)
        )
        let isEmpty = facts.count == 0 && facts.spreading == nil && facts.times == nil
        return isEmpty && facts.refusedBroadcasts.isEmpty ? nil : facts
    }

    /// Returns whether a caller is one of some apps only.
    private func isVisible(_ caller: String, to apps: Set<String>) -> Bool {
        context.configuration.callers.contains { $0.name == caller && $0.apps.isSubset(of: apps) }
    }

    /// Returns whether as many pushes wait as the outbox may contain, or pushes are refused because of that.
    private func isFull(_ backlog: [Lane: Backlog]?) -> Bool {
        let stored = (backlog ?? [:]).values.map(\.count).reduce(0, +)
        return stored >= context.configuration.outbox.limit || intake.counts.fullQueue.isRefusing(at: now)
    }

    private func laneFacts(
        of lane: Lane,
        _ snapshot: Dispatcher.LaneSnapshot,
        _ backlog: [Lane: Backlog]?
    ) -> LaneFacts {
        var facts = LaneFacts(lane: lane, problem: snapshot.problem, pause: snapshot.pause)
        facts.isStoring = store.problem == nil
        if let app = context.configuration.apps.first(where: { $0.name == lane.app }) {
            facts.keyID = app.key.keyID
            facts.doctor = context.configuration.doctorCommand(for: app, in: lane.environment)
        }
        facts.inFlight = snapshot.inFlight
        facts.counts = counts(of: lane)
        let recovery = observations.watch.totalsBeforeRecovery(of: lane)
        facts.isCountedSinceOutage = snapshot.problem == nil && rates.isRecent(recovery, of: lane)
        facts.backlog = backlog.map { $0[lane] ?? Backlog(lane: lane, count: 0, oldest: nil) }
        facts.failing = dispatcher.counts.failing[lane]
        facts.retryReason = facts.retrying > 0 ? dispatcher.counts.retryReason(of: lane) : nil
        let ledger = observations.watch.ledger
        if let outage = ledger[.outage(lane)] {
            facts.losses = outage.losses
            facts.lostElsewhere = outage.lostElsewhere
            // The lane may have been down before a restart.
            facts.problem?.since = outage.start
        }
        facts.lossesInPause = ledger[.pause(lane)]?.losses ?? LossCounts()
        facts.continuesPause = ledger[.pause(lane)]?.isContinued ?? false
        if let failing = ledger[.failing(lane)] {
            facts.lossesWhileFailing = failing.losses
            // The lane may have failed before a restart.
            facts.failing?.since = failing.start
        }
        facts.expiredInFlight = observations.expiredInFlight[lane, default: 0]
        facts.expiry = ledger[.expiry(lane)].map { expiry in
            LaneFacts.Expiry(
                since: expiry.start,
                count: expiry.losses.expired,
                rate: ledger.expiryRate(of: lane, at: now)
            )
        }
        return facts
    }
}

extension RelayConfiguration {
    /// Returns the command that tests the connection and the credentials of an app's lane.
    ///
    /// The path of the key is left out, because a key may be given in place of it.
    fileprivate func doctorCommand(for app: App, in environment: PushEnvironment) -> String {
        var words = ["martlet doctor --environment \(environment.rawValue)"]
        if let server = endpoints[environment]?.endpoint, server != environment.apple.endpoint {
            words.append("--host \(server.isEncrypted ? "" : "http://")\(server.host):\(server.port)")
        }
        if let topic = app.bundleIDs.first { words.append("--topic \(topic)") }
        words.append("--key KEY_FILE --key-id \(app.key.keyID) --team-id \(app.key.teamID)")
        return words.joined(separator: " ")
    }
}
