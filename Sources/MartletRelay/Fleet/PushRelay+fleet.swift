internal import MartletCore
internal import MartletOutbox
internal import MartletTransport

/// Coordination of the relays that share an outbox.
extension PushRelay {
    /// The interval between checks whether other relays have sent pushes that callers of this one wait for.
    private static let lookForEnds = Duration.milliseconds(200)
    /// The maximum number of pushes in one check.
    private static let mostEnds = 1_000

    /// Handles the events of the shared outbox for as long as the relay runs.
    func followFleet() {
        guard let shared else { return }
        Task { [weak self] in
            for await news in shared.news { await self?.hear(news) }
        }
        lookForEndsLater()
    }

    private func hear(_ news: OutboxNews) {
        switch news {
        case .arrived(let lane, let urgency):
            machine.stir(lane, urgency)
        case .claimsLost:
            log.warning("this relay was not heard of for long, and others have taken over what it had claimed")
            machine.claimsLost()
        case .fleet(let nodes, let leads):
            guard fleet.size != nodes || fleet.leads != leads else { return }
            fleet.learn(size: nodes, leads: leads)
            log.info("relays share the outbox", ["relays": .whole(nodes), "leads": .string(leads ? "yes" : "no")])
            shareLimits()
        case .unreachable(let error):
            noteStore(error)
        case .drainAsked:
            guard !isDraining else { return }
            askToDrain(by: nil)
        }
        carryOutSoon()
    }

    /// Limits each lane to this relay's share of its app's limits.
    func shareLimits() {
        for app in configuration.apps {
            for environment in app.environments {
                let lane = Lane(app: app.name, environment: environment)
                machine.limit(lane, to: app.rate.map(fleet.share), at: now)
                clients[lane]?.limitConnections(to: app.connections.map(fleet.share))
            }
        }
    }

    /// Publishes this relay's data and reads that of the other relays; called once a second.
    func meetOthers() async {
        guard let shared else { return }
        await shared.publish(FleetView.text(of: ownFacts))
        do throws(OutboxError) {
            fleet.learn(try await shared.nodes())
            store.answeredAt = now
        } catch {
            noteStore(error)
        }
        for number in fleet.takeNamesakes() {
            log.warning(
                "another relay has the same name: set node to a name of its own for each",
                ["name": .string(configuration.node), "relay": .whole(number)]
            )
        }
    }

    private func lookForEndsLater() {
        loop.schedule(after: PushRelay.lookForEnds) { [weak self] in
            guard let self else { return }
            Task { await self.lookForEnds() }
        }
    }

    private func lookForEnds() async {
        let names = waiters.names.prefix(PushRelay.mostEnds)
        if let shared, !names.isEmpty {
            for push in (try? await shared.ended(among: Array(names))) ?? [] {
                guard case .ended(let outcome, let time) = push.place else { continue }
                waiters.ended(push.id, of: push.lane.app, outcome, at: time)
            }
        }
        if !isDraining { lookForEndsLater() }
    }

    /// The activity of this relay in each of its lanes.
    private var ownFacts: [Lane: LaneFacts] {
        let sent = counts.sent
        return Dictionary(uniqueKeysWithValues: machine.lanes.keys.map { ($0, ownFacts(of: $0, sent: sent)) })
    }

    private func ownFacts(of lane: Lane, sent: [Lane: Int]) -> LaneFacts {
        var facts = LaneFacts()
        facts.inFlight = machine.lanes[lane]?.inFlight ?? 0
        facts.connections = notes[lane]?.connections ?? 0
        facts.rate = rates.rate(of: lane)
        facts.sent = sent[lane] ?? 0
        facts.outcomes = counts.outcomes[lane] ?? [:]
        return facts
    }

    /// Returns the activity of all relays that share the outbox in a lane.
    func facts(of lane: Lane) -> LaneFacts { ownFacts(of: lane, sent: counts.sent) + fleet.others(in: lane) }

    /// Returns the relays that share the outbox, with their activity in the lanes of some apps.
    func nodeList(_ apps: Set<String>) -> [JSONValue] {
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

    /// Asks another relay to shut down; returns false when it is not registered.
    func askToDrain(node number: Int64) async throws(OutboxError) -> Bool {
        try await shared?.askToDrain(number) ?? false
    }
}
