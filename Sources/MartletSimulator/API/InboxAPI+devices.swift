// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of devices and Live Activities.
    static let deviceRoutes: [Route] = [
        Route(
            "GET",
            "/api/v1/devices",
            "List the tokens of devices and Live Activities",
            [RouteParameter(name: "details", summary: "true to include their state, of at most 1000")]
        ) { (call) throws(APIProblem) in
            let devices = await call.simulator.service.evaluator.devices
            let tokens = devices.tokens
            guard try call.flag("details") else { return .json(["devices": .strings(tokens)]) }
            let described = tokens.prefix(deviceLimit).compactMap { devices[$0]?.json(token: $0) }
            return .json(["total": .integer(tokens.count), "devices": .array(described)])
        },
        Route("GET", "/api/v1/devices/{token}", "Get the state of a device or Live Activity") {
            (call) throws(APIProblem) in
            .json(try await device(call).json())
        },
        Route.action(
            "PUT",
            "/api/v1/devices/{token}",
            "Register a device, take it offline, unregister it (unregistered-since: milliseconds since 1970), or"
                + " subscribe it to channels",
            perform: putDevice
        ),
        Route.action("DELETE", "/api/v1/devices/{token}", "Remove a device") { (call) throws(APIProblem) in
            await call.simulator.forgetDevice(try call.deviceToken())
        },
        Route("GET", "/api/v1/activities", "List the Live Activities") { call in
            let devices = await call.simulator.service.evaluator.devices
            let activities = devices.tokens.compactMap { token in
                devices[token].flatMap { $0.activity == nil ? nil : $0.json(token: token) }
            }
            return .json(["activities": .array(activities)])
        },
        Route("GET", "/api/v1/activities/{token}", "Get a Live Activity with its pushes") {
            (call) throws(APIProblem) in
            let device = try await device(call)
            let token = try call.deviceToken()
            let start = await call.simulator.service.evaluator.devices.start(of: token)
            let pushes = await call.simulator.inbox.pushes.filter { push in
                push.deviceToken.lowercased() == token.hex || push.number == start
                    || push.channel.map(device.channels.contains) ?? false
            }
            return .json(.object((device.json().members ?? []) + [.init("pushes", .array(pushes.map(\.json)))]))
        },
    ]

    private static let deviceLimit = 1_000

    private static func device(_ call: APICall) async throws(APIProblem) -> SimulatedDevice {
        let token = try call.deviceToken()
        guard let device = await call.simulator.device(token) else { throw .missing("there is no device \(token)") }
        return device
    }

    @Sendable private static func putDevice(_ call: APICall) async throws(APIProblem) {
        let token = try call.deviceToken()
        let body = try call.object(of: ["topics", "environment", "unregistered-since", "online", "channels"])
        let topics = try body["topics"].ifPresent?.texts().map(Topic.init(rawValue:))
        let environment = try body["environment"].ifPresent?.choice(of: SimulatedAPNs.Environment.self)
        guard topics != nil || environment == nil else { throw body["environment"].error("requires topics") }
        let online = try body["online"].ifPresent?.bool()
        let since = try body["unregistered-since"].ifPresent?.integer(in: 0...Int64.max)
        if let since, since < earliestUnregistration {
            throw body["unregistered-since"].error(
                "must be in milliseconds since 1970, as in the answers of APNs (found \(since), which looks like"
                    + " seconds)"
            )
        }
        let channels = try body["channels"].ifPresent?.texts().map(ChannelID.init(rawValue:))
        let simulator = call.simulator
        if let topics { await simulator.register(token, for: topics, in: environment) }
        if let online { await simulator.setOnline(online, token) }
        if let since { await simulator.unregister(token, sinceMilliseconds: since) }
        if let channels { await simulator.subscribe(token, to: Set(channels)) }
    }

    /// The earliest time in milliseconds since 1970 that is accepted, in March 1973; a smaller number is taken to be in
    /// seconds.
    private static let earliestUnregistration: Int64 = 100_000_000_000
}

extension SimulatedDevice {
    /// Returns the device as the HTTP interface shows it, with its token in a list.
    fileprivate func json(token: String? = nil) -> JSONValue {
        let stored = stored.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer($0.value)) }
        let started = startedActivities.map { activity in
            JSONValue.members([
                "id": .string(activity.id.hex), "token": activity.token.map { .string($0.hex) },
                "attributes-type": .string(activity.attributesType), "started-by": .integer(activity.startedBy),
            ])
        }
        return .members([
            "token": token.map(JSONValue.string), "online": .bool(isOnline),
            "environment": .string(environment.rawValue), "stored": .object(stored),
            "shown": .array(shown.map(JSONValue.integer)), "topics": topics.map { .strings($0.sorted()) },
            "unregistered-since": unregisteredSince.map(JSONValue.integer),
            "channels": channels.isEmpty ? nil : .strings(channels.map(\.rawValue).sorted()),
            "started-activities": started.isEmpty ? nil : .array(started),
            "activity": activity.map { activity in
                [
                    "timestamp": .integer(activity.timestamp), "ended": .bool(activity.hasEnded),
                    "push": .integer(activity.source.number),
                    "content-state": (try? JSONReader.read(activity.contentState)) ?? .null,
                ]
            },
        ])
    }
}
