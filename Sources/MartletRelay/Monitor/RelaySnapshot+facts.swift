// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The facts for the summary of a status.
extension RelaySnapshot {
    /// Returns the summary for some apps; without a backlog while the outbox cannot be read.
    func summary(of apps: Set<String>, _ backlog: [Lane: Backlog]?) -> StatusSummary {
        StatusSummary(facts(of: apps, backlog))
    }

    /// The state of the relay from which events are made.
    var watched: StatusWatch.State {
        var state = StatusWatch.State()
        let totals = dispatcher.counts.totals
        for (lane, report) in dispatcher.lanes {
            state.lanes[lane] = StatusWatch.LaneState(
                problem: report.problem,
                pause: report.pause,
                lost: count(of: [.expired, .dead], in: lane),
                refused: count(of: [.refused], in: lane),
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

    private func facts(of apps: Set<String>, _ backlog: [Lane: Backlog]?) -> StatusFacts {
        let configuration = context.configuration
        let isForAll = configuration.appNames.isSubset(of: apps)
        let lanes = dispatcher.lanes(of: apps).map { lane, report in
            laneState(of: lane, report, backlog?[lane], backlog)
        }
        var facts = StatusFacts(now: now, apps: apps.intersection(configuration.appNames).sorted(), lanes: lanes)
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
        facts.missingRelays = fleet.missing(at: now)
        facts.duplicateRelays = fleet.duplicates
        facts.pastOutages = observations.watch.pastOutages.filter { $0.lane.map { apps.contains($0.app) } ?? true }
        return facts
    }

    private func laneState(
        of lane: Lane,
        _ report: Dispatcher.LaneReport,
        _ stored: Backlog?,
        _ backlog: [Lane: Backlog]?
    ) -> StatusFacts.LaneState {
        var state = StatusFacts.LaneState(lane: lane, problem: report.problem, pause: report.pause)
        state.keyID = context.configuration.apps.first { $0.name == lane.app }?.key.keyID ?? ""
        state.inFlight = report.inFlight
        if backlog != nil { state.waiting = waiting(in: lane, stored) }
        state.retrying = stored?.retrying ?? 0
        state.retryingSince = stored?.oldestRetry
        state.retryReason = state.retrying > 0 ? dispatcher.counts.lastRetries[lane] : nil
        let watch = observations.watch
        state.lost = watch.lost(of: lane, total: count(of: [.expired, .dead], in: lane)) + report.expiredInFlight
        let (own, others) = (recentAttempts(of: lane), fleet.others(in: lane))
        state.attempts = own.all + others.recentAttempts
        state.failures = own.failed + others.recentFailures
        state.refused = watch.refused(of: lane, total: count(of: [.refused], in: lane))
        return state
    }
}
