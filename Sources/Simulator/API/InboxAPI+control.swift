internal import APNs
internal import Wire

extension InboxAPI {
    /// What the simulator can be told.
    static let controlRoutes: [Route] = [
        Route(method: "GET", path: "/api/v1/devices/{token}", summary: "What is known of a device or a Live Activity") {
            (call) throws(APIProblem) in
            let token = try token(call)
            guard let device = await call.simulator.device(token) else {
                throw APIProblem(404, "nothing is known of \(token)")
            }
            return .json(device.json)
        },
        Route(method: "PUT", path: "/api/v1/devices/{token}", summary: "Makes a device known, away or gone") {
            (call) throws(APIProblem) in
            try await putDevice(call)
            return HTTPResponse(status: 204)
        },
        Route(
            method: "PUT",
            path: "/api/v1/chaos",
            summary: "Has things go wrong: presets, rules and a seed; {} for none"
        ) {
            (call) throws(APIProblem) in
            let body = try call.object(of: ["seed", "presets", "rules"])
            var faults: [Fault] = []
            for element in try elements("presets", of: body) {
                guard let preset = Fault.presets.first(where: { $0.name == element.stringValue }) else {
                    let known = Fault.presets.map(\.name).joined(separator: ", ")
                    throw APIProblem(400, "presets: unknown; these are: \(known)")
                }
                faults += preset.faults
            }
            for (index, rule) in try elements("rules", of: body).enumerated() {
                do throws(FaultError) {
                    faults.append(try Fault(json: rule))
                } catch {
                    throw APIProblem(400, "rules.\(index): \(error)")
                }
            }
            let seed = body["seed"]?.integerValue.map { UInt64(bitPattern: $0) }
            guard seed != nil || body["seed"] == nil else { throw APIProblem(400, "seed must be a whole number") }
            await call.simulator.setFaults(faults, seed: seed ?? .random(in: .min ... .max))
            return .json(["faults": .number(JSONNumber(faults.count))])
        },
        Route(method: "GET", path: "/api/v1/chaos", summary: "The presets of what can go wrong") { _ in
            .json([
                "presets": .array(
                    Fault.presets.map { ["name": .string($0.name), "summary": .string($0.summary)] }
                )
            ])
        },
        Route(
            method: "POST",
            path: "/api/v1/lint",
            summary: "What the rules say of headers and payload; nothing is kept"
        ) {
            (call) throws(APIProblem) in
            let body = try call.object(of: ["headers", "payload"])
            let fields = body["headers"]
            let headers = PushHeaders { fields?[$0.description]?.stringValue }
            let findings = Lint.check(headers: headers, payload: body["payload"]?.encoded() ?? [])
            return .json(["findings": .array(findings.map(\.json))])
        },
    ]

    private static func putDevice(_ call: APICall) async throws(APIProblem) {
        let token = try token(call)
        let body = try call.object(of: ["topics", "environment", "unregistered-since", "online"])
        let texts = try elements("topics", of: body).map(\.stringValue)
        let topics = texts.compactMap { $0.map(Topic.init(rawValue:)) }
        guard topics.count == texts.count else { throw APIProblem(400, "topics must be texts") }
        let text = body["environment"].map { $0.stringValue ?? "" } ?? SimulatedAPNs.Environment.development.rawValue
        guard let environment = SimulatedAPNs.Environment(rawValue: text) else {
            throw APIProblem(400, "environment must be development or production")
        }
        guard body["topics"] != nil || body["environment"] == nil else {
            throw APIProblem(400, "environment goes with topics")
        }
        var online: Bool?
        switch body["online"] {
        case nil: break
        case .bool(let value)?: online = value
        default: throw APIProblem(400, "online must be true or false")
        }
        let since = body["unregistered-since"]?.integerValue
        guard since != nil || body["unregistered-since"] == nil else {
            throw APIProblem(400, "unregistered-since must be a whole number of milliseconds since 1970")
        }
        if body["topics"] != nil { await call.simulator.register(token, for: topics, in: environment) }
        if let online { await call.simulator.setOnline(online, token) }
        if let since { await call.simulator.unregister(token, since: since) }
    }

    private static func token(_ call: APICall) throws(APIProblem) -> DeviceToken {
        let name = call.arguments["token"] ?? ""
        guard let token = try? DeviceToken(hex: name) else {
            throw APIProblem(400, "\(name) is no device token: hexadecimal digits, an even number")
        }
        return token
    }

    private static func elements(_ name: String, of object: JSONValue) throws(APIProblem) -> [JSONValue] {
        switch object[name] {
        case nil: return []
        case .array(let elements)?: return elements
        default: throw APIProblem(400, "\(name) must be a list")
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
