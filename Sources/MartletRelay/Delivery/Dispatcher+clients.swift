internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The clients of the lanes.
extension Dispatcher {
    /// Creates clients for the lanes whose current client cannot be used with a configuration.
    func newClients(for configuration: RelayConfiguration) throws(RelayError) -> [Lane: LaneClient] {
        let context = context
        var fresh: [Lane: LaneClient] = [:]
        for app in configuration.apps {
            for lane in app.lanes {
                if let client = clients[lane], client.maySign(with: app.key) { continue }
                fresh[lane] = try LaneClient(
                    for: app,
                    at: context.configuration.endpoints[lane.environment] ?? lane.environment.apple,
                    tokens: context.sharedOutbox.map {
                        SharedProviderTokenSource(app.key, sharing: $0.fleet, clock: context.clock, log: context.log)
                    }
                )
            }
        }
        return fresh
    }

    /// Uses new clients, and adds the lanes of the configuration.
    func open(_ fresh: [Lane: LaneClient]) {
        let now = context.now
        for (lane, client) in fresh {
            follow(client, of: lane)
            if let old = clients.updateValue(client, forKey: lane) { Task { await old.close() } }
            machine.tryAgain(lane, at: now)
        }
        for lane in context.configuration.lanes { machine.add(lane, at: now) }
        shareLimits()
    }

    /// Replaces the keys of clients whose app's signing key has changed, except for some lanes.
    func replaceKeys(of old: RelayConfiguration, except fresh: Set<Lane>) async {
        for app in context.configuration.apps {
            if let before = old.apps.first(where: { $0.name == app.name })?.key, before.isSame(as: app.key) { continue }
            for lane in app.lanes where !fresh.contains(lane) {
                guard let client = clients[lane] else { continue }
                do throws(APNsError) {
                    try await client.client.replaceKey(with: app.key)
                    machine.tryAgain(lane, at: context.now)
                } catch {
                    context.log.error(
                        .keyReplacementFailed,
                        ["app": .string(app.name), "error": .string("\(error)")]
                    )
                }
            }
        }
    }

    /// Limits each lane to this relay's share of its app's limits.
    func shareLimits() {
        for app in context.configuration.apps {
            for lane in app.lanes {
                machine.limit(lane, to: app.rate.map(fleet.share), at: context.now)
                clients[lane]?.limitConnections(to: app.connections.map(fleet.share))
            }
        }
    }

    /// Counts and logs the events of a lane's client until it is closed.
    private func follow(_ client: LaneClient, of lane: Lane) {
        let events = client.client.events()
        Task { [weak self] in
            for await event in events { await self?.note(event, of: lane) }
        }
    }

    private func note(_ event: ClientEvent, of lane: Lane) {
        connections[lane, default: LaneConnections()].note(event)
        context.log.clientEvent(event, of: lane)
    }

    /// Returns the broadcast channels of an app, in an environment and with a bundle identifier.
    ///
    /// - Parameters:
    ///   - name: The name of the app.
    ///   - environment: Apple's environment; nil for the app's first.
    ///   - bundleID: The bundle identifier; nil for the app's first.
    /// - Returns: The channels.
    /// - Throws: ``APIProblem`` when the app has no such environment or bundle identifier.
    func channels(
        of name: String,
        _ environment: PushEnvironment?,
        bundleID: String?
    ) throws(APIProblem) -> Channels {
        guard let app = context.configuration.apps.first(where: { $0.name == name }),
            let client = clients[Lane(app: name, environment: environment ?? app.environments[0])]?.client
        else {
            throw APIProblem(404, "the app \(name) is not configured for \(environment?.rawValue ?? "any environment")")
        }
        guard bundleID.map(app.bundleIDs.contains) ?? true else {
            throw APIProblem(404, "the app \(name) has no bundle identifier \(bundleID ?? "")")
        }
        return client.channels(of: Topic(bundleID ?? app.bundleIDs[0]))
    }
}

extension RelayConfiguration.App {
    /// The lanes of the app.
    fileprivate var lanes: [Lane] { environments.map { Lane(app: name, environment: $0) } }
}
