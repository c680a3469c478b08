internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The status of the relay as the API returns it.
extension RelaySnapshot {
    /// Returns the status, with the apps and lanes of some apps.
    ///
    /// - Parameters:
    ///   - apps: The names of the apps.
    ///   - backlog: The backlog of each lane that has one; nil while the outbox cannot be read.
    /// - Returns: The status.
    func status(of apps: Set<String>, _ backlog: [Lane: Backlog]?) -> JSONValue {
        [
            "version": .string(MartletVersion.current),
            "state": .string(isDraining ? "draining" : store.problem == nil ? "ok" : "not-keeping"),
            "started-at": .whole(context.startedAt), "now": .whole(now),
            "storage": .object(storageMembers),
            "connections": .whole(server.connections),
            "apps": .array(appList(apps)),
            "nodes": .array(nodeList(apps)),
            "lanes": .array(
                dispatcher.lanes(of: apps).map { lane, report in .object(members(of: lane, report, backlog)) }
            ),
        ]
    }

    /// Returns the configuration of some apps.
    func appList(_ names: Set<String>) -> [JSONValue] {
        context.configuration.apps.filter { names.contains($0.name) }.map { app in
            let members: [JSONValue.Member?] = [
                .init("name", .string(app.name)),
                .init("bundle-ids", .array(app.bundleIDs.map(JSONValue.string))),
                .init("environments", .array(app.environments.map { .string($0.rawValue) })),
                .init("team-id", .string(app.key.teamID)), .init("key-id", .string(app.key.keyID)),
                app.rate.map { .init("rate", .whole($0)) },
            ]
            return .object(members.compactMap(\.self))
        }
    }

    /// Returns the relays that share the outbox, with their activity in the lanes of some apps.
    private func nodeList(_ apps: Set<String>) -> [JSONValue] {
        let leader = fleet.nodes.map(\.number).min()
        return fleet.nodes.map { node in
            let facts = node.isOwn ? ownFacts.values.reduce(LaneFacts(), +) : fleet.facts(of: node, in: apps)
            let state = node.isToDrain ? "draining" : node.number == leader ? "leads" : "ok"
            return .object(
                [
                    .init("number", .whole(node.number)), .init("name", .string(node.name)),
                    .init("version", .string(node.version)), .init("started-at", .whole(node.startedAt)),
                    .init("silent-ms", .whole(node.silence)), .init("state", .string(state)),
                    .init("own", .bool(node.isOwn)),
                ] + facts.members
            )
        }
    }

    private var storageMembers: [JSONValue.Member] {
        let configuration = context.configuration
        let isShared = context.sharedOutbox != nil
        let members: [JSONValue.Member?] = [
            .init("place", .string("\(configuration.data)")),
            isShared ? nil : .init("durability", .string(configuration.outbox.durability.rawValue)),
            .init("limit", .whole(configuration.outbox.limit)),
            store.problem.map { .init("problem", .string($0)) },
            store.problemSince.map { .init("since", .whole($0)) },
        ]
        return members.compactMap(\.self)
    }

    private func members(
        of lane: Lane,
        _ report: Dispatcher.LaneReport,
        _ backlog: [Lane: Backlog]?
    ) -> [JSONValue.Member] {
        let (problem, pause) = (report.problem, report.pause)
        let facts = facts(of: lane)
        let members: [JSONValue.Member?] = [
            .init("app", .string(lane.app)), .init("environment", .string(lane.environment.rawValue)),
            backlog.map { .init("backlog", .whole($0[lane]?.count ?? 0)) },
            backlog.map { .init("waiting", .whole(max(0, ($0[lane]?.count ?? 0) - facts.inFlight))) },
            backlog?[lane]?.oldest.map { .init("oldest-seconds", .whole(max(0, now - $0) / 1_000)) },
            .init("state", .string(pause != nil ? "paused" : problem != nil ? "down" : "ok")),
            pause.map { .init("manual-pause", $0.json) }, problem.map { .init("reason", .string($0.reason)) },
            problem.map { .init("since", .whole($0.since)) },
            problem.flatMap(\.nextTry).map { .init("paused-until", .whole($0)) },
        ]
        return members.compactMap(\.self) + facts.members
    }
}
