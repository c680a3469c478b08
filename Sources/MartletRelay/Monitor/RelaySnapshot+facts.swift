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
                lost: count(of: [.expired, .dead], in: lane),
                refused: count(of: [.refused], in: lane),
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

    /// Returns the number of pushes of a lane with these outcomes, in all relays that share the outbox.
    private func count(of states: [Outcome.State], in lane: Lane) -> Int {
        // Called several times a second, so that it does not make the facts of each lane.
        let (own, others) = (dispatcher.counts.outcomes[lane] ?? [:], fleet.others(in: lane).outcomes)
        return states.map { own[$0, default: 0] + others[$0, default: 0] }.reduce(0, +)
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
        facts.notStored = observations.watch.notStored(of: intake.counts.notStored)
        let stored = (backlog ?? [:]).values.map(\.count).reduce(0, +)
        facts.isFull = stored >= configuration.outbox.limit
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
            guard let name = warning.caller else { return true }
            return configuration.callers.contains { $0.name == name && $0.apps.isSubset(of: apps) }
        }
        facts.clockJump = observations.clockJump
        facts.deadLetters = observations.deadLetters
        facts.fleetOutdatedSince = fleet.outdatedSince(at: now)
        facts.runningRelays = fleet.nodes.count { !FleetView.isMissing($0) }
        facts.missingRelays = fleet.missing(at: now)
        facts.duplicateRelays = fleet.duplicates
        facts.pastOutages = observations.watch.pastOutages.filter { $0.lane.map { apps.contains($0.app) } ?? true }
        return facts
    }

    private func laneFacts(
        of lane: Lane,
        _ snapshot: Dispatcher.LaneSnapshot,
        _ backlog: [Lane: Backlog]?
    ) -> LaneFacts {
        var facts = LaneFacts(lane: lane, problem: snapshot.problem, pause: snapshot.pause)
        facts.isStoring = store.problem == nil
        facts.keyID = context.configuration.apps.first { $0.name == lane.app }?.key.keyID ?? ""
        facts.inFlight = snapshot.inFlight
        facts.counts = counts(of: lane)
        facts.backlog = backlog.map { $0[lane] ?? Backlog(lane: lane, count: 0, oldest: nil) }
        facts.failing = dispatcher.counts.failing[lane]
        facts.retryReason = facts.retrying > 0 ? dispatcher.counts.lastRetries[lane] : nil
        let (watch, outcomes) = (observations.watch, facts.counts.outcomes)
        let lost = outcomes[.expired, default: 0] + outcomes[.dead, default: 0]
        facts.lost = watch.lost(of: lane, total: lost) + snapshot.expiredInFlight
        facts.lostInPause = watch.lostInPause(of: lane, total: lost)
        facts.refused = watch.refused(of: lane, total: outcomes[.refused, default: 0])
        return facts
    }
}
