// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletOutbox

/// The state of a relay's parts at one time, for its status and its metrics.
struct RelaySnapshot: Sendable {
    let context: RelayContext
    /// The time in milliseconds since 1970.
    let now: Int64
    let isDraining: Bool
    let store: StoreHealth
    let server: RelayServer.Snapshot
    let intake: Intake.Snapshot
    let dispatcher: Dispatcher.Snapshot
    let webhooks: [String: WebhookSender.Counts]
    let jobs: JobExpander.Counts
    let surfaces: SurfaceRunner.Counts
    let fleet: FleetView
    let rates: RecentRates
    let reloads: ConfigurationReloads
    let exports: ExportCounts
    /// The delay of the event loop's timers.
    let loopLag: Histogram
    let observations: StatusObservations

    /// The description of the age of a lane's oldest due push.
    static let oldestHelp =
        "Time since the push that has been due longest became due, or since the lane went down if that is longer ago;"
        + " a push that waits for its time or for another attempt is not due."

    /// The numbers of this relay in each of its lanes.
    var ownCounts: [Lane: LaneCounts] {
        let (sent, failures) = (dispatcher.counts.sent, dispatcher.counts.failures)
        return Dictionary(uniqueKeysWithValues: dispatcher.lanes.keys.map { ($0, ownCounts(of: $0, sent, failures)) })
    }

    /// Returns the numbers of all relays that share the outbox in a lane.
    func counts(of lane: Lane) -> LaneCounts {
        ownCounts(of: lane, dispatcher.counts.sent, dispatcher.counts.failures) + fleet.others(in: lane)
    }

    /// Returns the attempts of this relay in a lane in the last minute or since its outage was noticed or ended, and
    /// those of them that Apple did not accept.
    private func recentAttempts(of lane: Lane) -> (all: Int, failed: Int) {
        let now = dispatcher.counts.totals[lane] ?? RecentRates.Totals()
        let noticed = observations.watch.totalsBeforeOutage(of: lane)
        // The attempts that have shown an outage count until others follow.
        guard let before = noticed, now.attempts > before.attempts else {
            // The failures of an outage that is over say nothing about the lane now.
            let recovery = noticed == nil ? observations.watch.totalsBeforeRecovery(of: lane) : RecentRates.Totals()
            return rates.recentAttempts(of: lane, until: now, since: recovery)
        }
        return (max(0, now.attempts - before.attempts), max(0, now.failures - before.failures))
    }

    private func ownCounts(of lane: Lane, _ sent: [Lane: Int], _ failures: [Lane: [String: Int]]) -> LaneCounts {
        var counts = LaneCounts()
        counts.inFlight = dispatcher.lanes[lane]?.inFlight ?? 0
        counts.connections = dispatcher.lanes[lane]?.connections.count ?? 0
        counts.rate = rates.rate(of: lane)
        counts.deliveredRate = rates.deliveredRate(of: lane)
        let recent = recentAttempts(of: lane)
        counts.recentAttempts = recent.all
        counts.recentFailures = recent.failed
        counts.failures = failures[lane] ?? [:]
        counts.sent = sent[lane] ?? 0
        counts.outcomes = dispatcher.counts.outcomes[lane] ?? [:]
        return counts
    }

    func historySample(_ backlog: [Lane: Backlog]?) -> [Lane: StatusHistory.LaneSample] {
        var sample: [Lane: StatusHistory.LaneSample] = [:]
        for lane in dispatcher.lanes.keys {
            let counts = counts(of: lane)
            sample[lane] = StatusHistory.LaneSample(
                backlog: backlog.map { $0[lane]?.count ?? 0 },
                oldest: backlog.map { max(0, now - ($0[lane]?.oldest ?? now)) / 1_000 },
                sent: counts.sent,
                delivered: counts.outcomes[.delivered, default: 0],
                failed: counts.failures.values.reduce(0, +)
            )
        }
        return sample
    }
}

extension Dispatcher.Snapshot {
    /// Returns the lanes of some apps, sorted by app and environment.
    func lanes(of apps: Set<String>) -> [(lane: Lane, snapshot: Dispatcher.LaneSnapshot)] {
        lanes.filter { apps.contains($0.key.app) }
            .sorted { ($0.key.app, $0.key.environment.rawValue) < ($1.key.app, $1.key.environment.rawValue) }
            .map { ($0.key, $0.value) }
    }
}

extension Dispatcher.LaneSnapshot {
    /// Returns the state of the lane as text; no lane sends while the relay cannot store pushes.
    func condition(isStoring: Bool) -> String {
        let states = [
            pause.map { "paused manually since \(Timestamp.text($0.since))" },
            problem.map { "down since \(Timestamp.text($0.since)): \($0.reason)" },
        ].compactMap(\.self)
        return states.isEmpty ? isStoring ? "ok" : "not storing" : states.joined(separator: ", and ")
    }
}

extension RelayConfiguration {
    var appNames: Set<String> { Set(apps.map(\.name)) }
}
