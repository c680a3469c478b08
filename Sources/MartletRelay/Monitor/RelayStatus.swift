// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletOutbox

/// The status of the relay as the API returns it.
extension RelaySnapshot {
    /// Returns the status, with the apps and lanes of some apps; without a backlog while the outbox cannot be read.
    func status(of apps: Set<String>, _ backlog: [Lane: Backlog]?) -> JSONValue {
        let facts = statusFacts(of: apps, backlog)
        let summary = StatusSummary(facts)
        let counts = facts.lanes.map(\.counts).reduce(LaneCounts(), +)
        return .members([
            "version": .string(MartletVersion.current), "headline": .string(summary.headline),
            "incidents": .array(summary.incidents.map { $0.json(at: now) }),
            "state": .string(isDraining ? "draining" : store.problem == nil ? "ok" : "not-storing"),
            "started-at": .whole(context.startedAt), "now": .whole(now), "storage": storage,
            "dead-letters": deadLetters(apps), "problems": .array(problems(apps)),
            "connections": .whole(server.connections),
            "apps": .array(appList(apps)), "nodes": .array(nodeList(apps)),
            "nodes-outdated-since": facts.fleetOutdatedSince.map { .whole($0) },
            "lanes": .array(facts.lanesWorstFirst.map { $0.json(at: now) }),
            "figures": .array(facts.figures.map(\.json)), "outcomes": counts.outcomeMembers,
        ])
    }

    /// Returns the problems that an operator has to fix, except those of storage and of lanes.
    private func problems(_ apps: Set<String>) -> [JSONValue] {
        var list: [JSONValue] = []
        func add(_ kind: String, app: String? = nil, _ text: String, since: Int64, error: String, action: String) {
            list.append(
                .members([
                    "kind": .string(kind), "app": app.map { .string($0) }, "problem": .string(text),
                    "since": .whole(since), "error": .string(error), "action": .string(action),
                ])
            )
        }
        if let rejection = reloads.rejection {
            // The error may name apps that the key is not for.
            let isForAll = context.configuration.appNames.isSubset(of: apps)
            add(
                "configuration",
                "the relay runs with an earlier configuration, because it rejected the new one",
                since: rejection.since,
                error: isForAll ? rejection.error : ConfigurationReloads.hiddenError,
                action: "check the file with martlet relay check, correct it, and reload again"
            )
        }
        // Only the leader calls webhooks, so another relay does not know whether they still fail.
        guard dispatcher.fleet.isLeader else { return list }
        for app in context.configuration.apps where app.webhook != nil && apps.contains(app.name) {
            guard let problem = webhooks[app.name]?.problem else { continue }
            add(
                "webhook",
                app: app.name,
                "the webhook of \(app.name) does not accept reports",
                since: problem.since,
                error: problem.error,
                action: "correct the receiver; the relay repeats the report at least once an hour"
            )
        }
        return list
    }

    /// Returns the number of dead letters of those of some apps that have some.
    private func deadLetters(_ apps: Set<String>) -> JSONValue {
        let counts = observations.deadLetters.filter { apps.contains($0.key) }.sorted { $0.key < $1.key }
        return .object(counts.map { .init($0.key, .whole($0.value.count + $0.value.damaged)) })
    }

    /// Returns the configuration of some apps.
    func appList(_ names: Set<String>) -> [JSONValue] {
        context.configuration.apps.filter { names.contains($0.name) }.map { app in
            .members([
                "name": .string(app.name), "bundle-ids": .strings(app.bundleIDs),
                "environments": .strings(app.environments.map(\.rawValue)), "team-id": .string(app.key.teamID),
                "key-id": .string(app.key.keyID), "rate": .whole(app.rate),
            ])
        }
    }

    /// Returns the relays that share the outbox, with their activity in the lanes of some apps.
    private func nodeList(_ apps: Set<String>) -> [JSONValue] {
        let leader = fleet.nodes.map(\.number).min()
        let own = ownCounts.filter { apps.contains($0.key.app) }.values.reduce(LaneCounts(), +)
        return fleet.nodes.map { node in
            let counts = node.isOwn ? own : fleet.counts(of: node, in: apps)
            let isMissing = FleetView.isMissing(node)
            let state = isMissing ? "missing" : node.isToDrain ? "draining" : node.number == leader ? "leads" : "ok"
            return .object(
                [
                    .init("number", .whole(node.number)), .init("name", .string(node.name)),
                    .init("version", .string(node.version)), .init("started-at", .whole(node.startedAt)),
                    .init("silent-ms", .whole(node.silence)), .init("state", .string(state)),
                    .init("own", .bool(node.isOwn)),
                ] + counts.members
            )
        }
    }

    private var storage: JSONValue {
        let configuration = context.configuration
        let isShared = context.sharedOutbox != nil
        return .members([
            "place": .string("\(configuration.data)"),
            "durability": isShared ? nil : .string(configuration.outbox.durability.rawValue),
            "limit": .whole(configuration.outbox.limit),
            "free-bytes": .whole(configuration.data.freeSpace), "problem": store.problem.map { .string($0) },
            "since": .whole(store.problemSince),
            "action": store.problemKind.map { .string($0.action(at: configuration.data)) },
        ])
    }
}
