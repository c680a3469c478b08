internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension InboxAPI {
    /// The routes of devices, Live Activities and signing keys.
    static let worldRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/api/v1/devices",
            summary: "The tokens that something is known of",
            parameters: [RouteParameter(name: "details", summary: "true for what is known of them, of 1000 at most")]
        ) { (call) throws(APIProblem) in
            let devices = await call.simulator.service.judge.devices
            let tokens = devices.tokens
            guard try call.flag("details") else {
                return .json(["devices": .array(tokens.map(JSONValue.string))])
            }
            let told = tokens.prefix(toldDevices).compactMap { token in
                devices[token].map { JSONValue.object([.init("token", .string(token))] + ($0.json.members ?? [])) }
            }
            return .json(["total": .number(JSONNumber(tokens.count)), "devices": .array(told)])
        },
        Route(method: "GET", path: "/api/v1/devices/{token}", summary: "What is known of a device or a Live Activity") {
            (call) throws(APIProblem) in
            .json(try await device(call).json)
        },
        Route(
            method: "PUT",
            path: "/api/v1/devices/{token}",
            summary: "Makes a device known, away or gone (unregistered-since: milliseconds since 1970), or has it"
                + " listen on channels",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            try await putDevice(call)
            return .done
        },
        Route(
            method: "DELETE",
            path: "/api/v1/devices/{token}",
            summary: "Forgets a device",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            await call.simulator.service.removeDevice(try call.deviceToken())
            return .done
        },
        Route(method: "GET", path: "/api/v1/activities", summary: "The Live Activities that pushes have come for") {
            call in
            let devices = await call.simulator.service.judge.devices
            let activities = devices.tokens.compactMap { token -> JSONValue? in
                guard let device = devices[token], device.activity != nil else { return nil }
                return .object([.init("token", .string(token))] + (device.json.members ?? []))
            }
            return .json(["activities": .array(activities)])
        },
        Route(method: "GET", path: "/api/v1/activities/{token}", summary: "A Live Activity with all its pushes") {
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
        Route(
            method: "GET",
            path: "/api/v1/keys",
            summary: "The signing keys that are known; while there are none, all are good"
        ) {
            call in
            let keys = await call.simulator.service.judge.tokens.keys.sorted { $0.key < $1.key }
            return .json([
                "keys": .array(
                    keys.map { id, key in
                        .object(
                            [.init("key-id", .string(id)), .init("team-id", .string(key.teamID))] + key.scope.members
                        )
                    }
                )
            ])
        },
        Route(
            method: "PUT",
            path: "/api/v1/keys/{id}",
            summary: "Makes a signing key known by its public half",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            try await putKey(call)
            return .done
        },
        Route(
            method: "DELETE",
            path: "/api/v1/keys/{id}",
            summary: "Forgets a signing key",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let id = call.arguments["id"] ?? ""
            guard await call.simulator.service.removeKey(id) else { throw APIProblem(404, "there is no key \(id)") }
            return .done
        },
    ]

    private static let toldDevices = 1_000

    private static func device(_ call: APICall) async throws(APIProblem) -> SimulatedDevice {
        let token = try call.deviceToken()
        guard let device = await call.simulator.service.judge.devices[token.hex] else {
            throw APIProblem(404, "nothing is known of \(token)")
        }
        return device
    }

    private static func putDevice(_ call: APICall) async throws(APIProblem) {
        let token = try call.deviceToken()
        let body = try call.object(of: ["topics", "environment", "unregistered-since", "online", "channels"])
        let topics = try body.texts("topics").map(Topic.init(rawValue:))
        let environment = try body.environment()
        guard body["topics"] != nil || environment == nil else {
            throw APIProblem(400, "environment goes with topics")
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

    private static func putKey(_ call: APICall) async throws(APIProblem) {
        let body = try call.object(of: ["team-id", "public-key", "environment", "topics", "related"])
        guard let teamID = try body.text("team-id"), let key = try body.text("public-key") else {
            throw APIProblem(400, "a key needs team-id and public-key, the latter in PEM: openssl ec -pubout")
        }
        let environment = try body.environment()
        let topics = try body.texts("topics").map(Topic.init(rawValue:))
        let related = try body.texts("related")
        let scope: KeyScope =
            body["topics"] == nil
            ? .team(environment)
            : .topics(Set(topics), environment ?? .development, relatedKeyIDs: Set(related))
        do throws(SimulatorError) {
            try await call.simulator.service.register(
                publicKeyPEM: key,
                keyID: call.arguments["id"] ?? "",
                teamID: teamID,
                scope: scope
            )
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }
}

extension KeyScope {
    /// The scope in the form that `PUT /api/v1/keys/{id}` takes; a key without `environment` is valid in both.
    fileprivate var members: [JSONValue.Member] {
        switch self {
        case .team(let environment):
            return environment.map { [.init("environment", .string($0.rawValue))] } ?? []
        case .topics(let topics, let environment, let related):
            return [
                .init("environment", .string(environment.rawValue)),
                .init("topics", .array(topics.map(\.rawValue).sorted().map(JSONValue.string))),
                .init("related", .array(related.sorted().map(JSONValue.string))),
            ]
        }
    }
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
