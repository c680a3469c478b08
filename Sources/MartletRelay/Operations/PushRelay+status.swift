internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The status of the relay.
extension PushRelay {
    /// The names of the configured apps.
    var apps: Set<String> { Set(configuration.apps.map(\.name)) }

    /// Returns the lanes of some apps, sorted by app and environment.
    func lanes(of apps: Set<String>) -> [Lane] {
        machine.lanes.keys.filter { apps.contains($0.app) }.sorted {
            ($0.app, $0.environment.rawValue) < ($1.app, $1.environment.rawValue)
        }
    }

    /// The status in one line.
    package var summary: String {
        let sent = counts.sent.values.reduce(0, +)
        let state = readinessProblem ?? "takes pushes for \(configuration.apps.count) apps"
        return "\(state); \(machine.inFlight) on their way, \(sent) sent"
    }

    /// Returns the status of the relay, with the apps and lanes of some apps.
    func status(of apps: Set<String>) async -> JSONValue {
        let backlog = await backlog()
        return [
            "version": .string(MartletVersion.current),
            "state": .string(isDraining ? "draining" : store.problem == nil ? "ok" : "not-keeping"),
            "started-at": .whole(startedAt), "now": .whole(now),
            "storage": .object(storageFacts),
            "connections": .whole(connections.count),
            "apps": .array(appList(apps)),
            "nodes": .array(nodeList(apps)),
            "lanes": .array(lanes(of: apps).map { .object(facts(of: $0, in: backlog)) }),
        ]
    }

    /// Returns the history of some apps' lanes in the last hour.
    func history(of apps: Set<String>) -> JSONValue { history.json(of: lanes(of: apps)) }

    /// Returns the configuration of some apps.
    func appList(_ names: Set<String>) -> [JSONValue] {
        configuration.apps.filter { names.contains($0.name) }.map { app in
            let facts: [JSONValue.Member?] = [
                .init("name", .string(app.name)),
                .init("bundle-ids", .array(app.bundleIDs.map(JSONValue.string))),
                .init("environments", .array(app.environments.map { .string($0.rawValue) })),
                .init("team-id", .string(app.key.teamID)), .init("key-id", .string(app.key.keyID)),
                app.rate.map { .init("rate", .whole($0)) },
            ]
            return .object(facts.compactMap(\.self))
        }
    }

    /// Returns the backlog of each lane that has one; nil while the outbox cannot be read.
    func backlog() async -> [Lane: Backlog]? {
        guard let backlog = try? await outbox.backlog() else { return nil }
        return Dictionary(backlog.map { ($0.lane, sinceOutage($0)) }) { first, _ in first }
    }

    /// Returns a backlog whose oldest push has been due at least since the lane's outage began.
    ///
    /// Each failed attempt makes its push due again at a later time, although nothing leaves the lane.
    private func sinceOutage(_ backlog: Backlog) -> Backlog {
        guard let problem = problem(of: backlog.lane), let oldest = backlog.oldest else { return backlog }
        var backlog = backlog
        backlog.oldest = min(oldest, problem.since)
        return backlog
    }

    /// Returns the reason why a lane delivers nothing, whether or not an operator has paused it; nil when it delivers.
    func problem(of lane: Lane) -> LaneProblem? { machine.lanes[lane]?.problem(at: now) }

    private var storageFacts: [JSONValue.Member] {
        let facts: [JSONValue.Member?] = [
            .init("place", .string("\(configuration.data)")),
            shared == nil ? .init("durability", .string(configuration.outbox.durability.rawValue)) : nil,
            .init("limit", .whole(configuration.outbox.limit)),
            store.problem.map { .init("problem", .string($0)) },
            store.problemSince.map { .init("since", .whole($0)) },
        ]
        return facts.compactMap(\.self)
    }

    private func facts(of lane: Lane, in backlog: [Lane: Backlog]?) -> [JSONValue.Member] {
        let problem = problem(of: lane)
        let pause = laneControl.pause(of: lane)
        let work = self.facts(of: lane)
        let facts: [JSONValue.Member?] = [
            .init("app", .string(lane.app)), .init("environment", .string(lane.environment.rawValue)),
            backlog.map { .init("backlog", .whole($0[lane]?.count ?? 0)) },
            backlog.map { .init("waiting", .whole(max(0, ($0[lane]?.count ?? 0) - work.inFlight))) },
            backlog?[lane]?.oldest.map { .init("oldest-seconds", .whole(max(0, now - $0) / 1_000)) },
            .init("state", .string(pause != nil ? "paused" : problem != nil ? "down" : "ok")),
            pause.map { .init("manual-pause", $0.json) }, problem.map { .init("reason", .string($0.reason)) },
            problem.map { .init("since", .whole($0.since)) },
            problem.flatMap(\.nextTry).map { .init("paused-until", .whole($0)) },
        ]
        return facts.compactMap(\.self) + work.members
    }
}
