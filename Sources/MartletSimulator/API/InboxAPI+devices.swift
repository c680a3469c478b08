internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The routes of devices and Live Activities.
    static let deviceRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/api/v1/devices",
            summary: "List the tokens of devices and Live Activities",
            parameters: [RouteParameter(name: "details", summary: "true to include their state, of at most 1000")]
        ) { (call) throws(APIProblem) in
            let devices = await call.simulator.service.judge.devices
            let tokens = devices.tokens
            guard try call.flag("details") else {
                return .json(["devices": .array(tokens.map(JSONValue.string))])
            }
            let described = tokens.prefix(deviceLimit).compactMap { token in
                devices[token].map { JSONValue.object([.init("token", .string(token))] + ($0.json.members ?? [])) }
            }
            return .json(["total": .number(JSONNumber(tokens.count)), "devices": .array(described)])
        },
        Route(method: "GET", path: "/api/v1/devices/{token}", summary: "Get the state of a device or Live Activity") {
            (call) throws(APIProblem) in
            .json(try await device(call).json)
        },
        Route(
            method: "PUT",
            path: "/api/v1/devices/{token}",
            summary:
                "Register a device, take it offline, unregister it (unregistered-since: milliseconds since 1970), or"
                + " subscribe it to channels",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            try await putDevice(call)
            return .done
        },
        Route(
            method: "DELETE",
            path: "/api/v1/devices/{token}",
            summary: "Remove a device",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            await call.simulator.service.removeDevice(try call.deviceToken())
            return .done
        },
        Route(method: "GET", path: "/api/v1/activities", summary: "List the Live Activities") {
            call in
            let devices = await call.simulator.service.judge.devices
            let activities = devices.tokens.compactMap { token -> JSONValue? in
                guard let device = devices[token], device.activity != nil else { return nil }
                return .object([.init("token", .string(token))] + (device.json.members ?? []))
            }
            return .json(["activities": .array(activities)])
        },
        Route(method: "GET", path: "/api/v1/activities/{token}", summary: "Get a Live Activity with its pushes") {
            (call) throws(APIProblem) in
            let device = try await device(call)
            let token = try call.deviceToken()
            let start = await call.simulator.service.judge.devices.start(of: token)
            let pushes = await call.simulator.inbox.pushes.filter { push in
                push.deviceToken.lowercased() == token.hex || push.number == start
                    || push.channel.map(device.channels.contains) ?? false
            }
            return .json(
                .object((device.json.members ?? []) + [.init("pushes", .array(pushes.map(\.json)))])
            )
        },
    ]

    private static let deviceLimit = 1_000

    private static func device(_ call: APICall) async throws(APIProblem) -> SimulatedDevice {
        let token = try call.deviceToken()
        guard let device = await call.simulator.service.judge.devices[token.hex] else {
            throw APIProblem(404, "there is no device \(token)")
        }
        return device
    }

    private static func putDevice(_ call: APICall) async throws(APIProblem) {
        let token = try call.deviceToken()
        let body = try call.object(of: ["topics", "environment", "unregistered-since", "online", "channels"])
        let topics = try body.texts("topics").map(Topic.init(rawValue:))
        let environment = try body.environment()
        guard body["topics"] != nil || environment == nil else {
            throw APIProblem(400, "environment requires topics")
        }
        let online = try body.flag("online")
        let since = try body.number("unregistered-since", 0 ... .max)
        if let since, since < earliestUnregistration {
            throw APIProblem(
                400,
                "unregistered-since must be in milliseconds since 1970, as in the answers of APNs (found \(since),"
                    + " which looks like seconds)"
            )
        }
        let channels = try body.texts("channels").map(ChannelID.init(rawValue:))
        if body["topics"] != nil {
            let standard = call.simulator.configuration.environment
            await call.simulator.service.register(token, for: topics, in: environment ?? standard)
        }
        if let online { await call.simulator.service.setOnline(online, token) }
        if let since { await call.simulator.service.unregister(token, since: Int64(since)) }
        if body["channels"] != nil { await call.simulator.service.subscribe(token, to: Set(channels)) }
    }

    /// The earliest time in milliseconds since 1970 that is accepted, in March 1973; a smaller number is taken to be in
    /// seconds.
    private static let earliestUnregistration = 100_000_000_000
}

extension SimulatedDevice {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("online", .bool(isOnline)), .init("environment", .string(environment.rawValue)),
            .init("stored", .object(stored.sorted { $0.key < $1.key }.map { .init($0.key, number($0.value)) })),
            .init("shown", .array(shown.map(number))),
        ]
        if let topics { members.append(.init("topics", .array(topics.sorted().map(JSONValue.string)))) }
        if let unregisteredSince {
            members.append(.init("unregistered-since", .number(JSONNumber(unregisteredSince))))
        }
        if !channels.isEmpty {
            members.append(.init("channels", .array(channels.map(\.rawValue).sorted().map(JSONValue.string))))
        }
        if !startedActivities.isEmpty {
            members.append(
                .init(
                    "started-activities",
                    .array(
                        startedActivities.map { started in
                            let token = started.token.map { JSONValue.Member("token", .string($0.hex)) }
                            return .object(
                                [.init("id", .string(started.id.hex))] + [token].compactMap(\.self) + [
                                    .init("attributes-type", .string(started.attributesType)),
                                    .init("started-by", number(started.startedBy)),
                                ]
                            )
                        }
                    )
                )
            )
        }
        if let activity {
            let state = (try? JSONReader.read(activity.contentState)) ?? .null
            members.append(
                .init(
                    "activity",
                    [
                        "timestamp": .number(JSONNumber(activity.timestamp)), "ended": .bool(activity.hasEnded),
                        "content-state": state,
                    ]
                )
            )
        }
        return .object(members)
    }

    private func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
}
