// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox

/// The client of each lane that is served, or has pushes left from a previous configuration.
struct LaneClients: Sendable {
    private var clients: [Lane: LaneClient]

    init(_ clients: [Lane: LaneClient] = [:]) {
        self.clients = clients
    }

    var lanes: some Collection<Lane> { clients.keys }

    subscript(lane: Lane) -> LaneClient? { clients[lane] }

    /// The renderers of the lanes.
    var renderers: [Lane: SnapshotRenderer] { clients.mapValues(\.renderer) }

    /// Creates clients for the lanes whose current client cannot be used with a configuration.
    ///
    /// The context has the endpoints, which only a restart changes.
    func replacements(
        for configuration: RelayConfiguration,
        in context: RelayContext
    ) throws(RelayError) -> [Lane: LaneClient] {
        var fresh: [Lane: LaneClient] = [:]
        for app in configuration.apps {
            for lane in app.lanes {
                if let client = clients[lane], client.maySign(with: app.key) { continue }
                fresh[lane] = try LaneClient(
                    for: app,
                    at: context.configuration.endpoint(of: lane.environment),
                    through: try context.configuration.proxy(of: lane.environment),
                    tokens: context.sharedOutbox.map {
                        SharedProviderTokenSource(app.key, sharing: $0.fleet, clock: context.clock, log: context.log)
                    }
                )
            }
        }
        return fresh
    }

    /// Uses a client for a lane, and closes the one that it replaces.
    mutating func use(_ client: LaneClient, for lane: Lane) {
        if let old = clients.updateValue(client, forKey: lane) { Task { await old.close() } }
    }

    /// Records the key of a configuration with which the client of a lane signs from now on.
    mutating func recordKey(of lane: Lane, in configuration: RelayConfiguration) {
        guard let app = configuration.apps.first(where: { $0.name == lane.app }) else { return }
        clients[lane]?.key = app.key
    }

    /// Replaces the keys of clients whose app's signing key has changed, except for some lanes; returns their lanes.
    func replaceKeys(of old: RelayConfiguration, in context: RelayContext, except fresh: Set<Lane>) async -> [Lane] {
        var replaced: [Lane] = []
        for app in context.configuration.apps {
            if let before = old.apps.first(where: { $0.name == app.name })?.key, before.isSame(as: app.key) { continue }
            for lane in app.lanes where !fresh.contains(lane) {
                guard let client = clients[lane] else { continue }
                do throws(APNsError) {
                    try await client.client.replaceKey(with: app.key)
                    replaced.append(lane)
                } catch {
                    context.log.error(
                        .keyReplacementFailed,
                        ["app": .string(app.name), "error": .string("\(error)")]
                    )
                }
            }
        }
        return replaced
    }

    /// Closes the connections to Apple.
    func close() async {
        for client in clients.values { await client.close() }
    }

    /// Returns the broadcast channels of an app, by default of its first environment and bundle identifier.
    func channels(
        of name: String,
        _ environment: PushEnvironment?,
        bundleID: String?,
        in configuration: RelayConfiguration
    ) throws(APIProblem) -> PushClient.Channels {
        guard let app = configuration.apps.first(where: { $0.name == name }),
            let client = clients[Lane(app: name, environment: environment ?? app.environments[0])]?.client
        else {
            throw APIProblem(404, "the app \(name) is not configured for \(environment?.rawValue ?? "any environment")")
        }
        guard bundleID.map(app.bundleIDs.contains) ?? true else {
            throw APIProblem(404, "the app \(name) has no bundle identifier \(ShownValue(bundleID ?? ""))")
        }
        return client.channels(of: Topic(bundleID ?? app.bundleIDs[0]))
    }
}

extension RelayConfiguration.App {
    var lanes: [Lane] { environments.map { Lane(app: name, environment: $0) } }
}
