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
            [
                RouteParameter(
                    name: "details",
                    summary: "true to include their state, of at most 1000, also of tokens known only from pushes"
                )
            ]
        ) { (call) throws(APIProblem) in
            guard try call.flag("details") else {
                let devices = await call.simulator.service.evaluator.devices
                return .json(["devices": .strings(devices.tokens)])
            }
            let devices = await KnownDevices(call.simulator)
            let described = devices.newestFirst.prefix(deviceLimit).map { devices.json(of: $0) }
            return .json(["total": .integer(devices.newestFirst.count), "devices": .array(described)])
        },
        Route("GET", "/api/v1/devices/{token}", "Get the state of a device or Live Activity") {
            (call) throws(APIProblem) in
            let (devices, token) = try await device(call)
            return .json(devices.json(of: token, withToken: false))
        },
        Route(
            "GET",
            "/api/v1/devices/{token}/log",
            "List the delivery events of a device, newest first",
            [limitParameter]
        ) { (call) throws(APIProblem) in
            let limit = try call.number("limit", 1...deviceLimit, default: deviceLimit)
            let (token, pushes) = try await pushesOfDevice(call)
            let events = pushes.flatMap { $0.log(ofDevice: token) }
            // Events of one millisecond stay in the order of their pushes.
            let newest = events.enumerated().sorted { ($0.element.time, $0.offset) > ($1.element.time, $1.offset) }
            return .json(["events": .array(newest.prefix(limit).map { $0.element.json })])
        },
        Route(
            "GET",
            "/api/v1/devices/{token}/notifications",
            "List the notifications that a device shows, newest first",
            [limitParameter]
        ) { (call) throws(APIProblem) in
            let limit = try call.number("limit", 1...deviceLimit, default: notificationLimit)
            let (token, pushes) = try await pushesOfDevice(call)
            let shown = pushes.filter { $0.deviceToken.lowercased() == token && $0.isNotificationOnScreen }
            return .json([
                "total": .integer(shown.count), "pushes": .array(shown.reversed().prefix(limit).map(\.json)),
            ])
        },
        Route.action(
            "PUT",
            "/api/v1/devices/{token}",
            "Register a device, take it offline, unregister it (unregistered-at: milliseconds since 1970),"
                + " subscribe it to channels, or give it a nickname (name; empty to remove it)",
            perform: putDevice
        ),
        Route.action("DELETE", "/api/v1/devices/{token}", "Remove a device") { (call) throws(APIProblem) in
            await call.simulator.forgetDevice(try call.deviceToken())
        },
        Route("GET", "/api/v1/activities", "List the Live Activities") { call in
            let devices = await KnownDevices(call.simulator)
            let tokens = devices.newestFirst.filter(devices.isActivity)
            return .json(["activities": .array(tokens.map { devices.json(of: $0) })])
        },
        Route("GET", "/api/v1/activities/{token}", "Get a Live Activity with its pushes") {
            (call) throws(APIProblem) in
            let (devices, token) = try await device(call, named: "Live Activity")
            let start = try devices.registry.start(of: call.deviceToken())
            let members = devices.json(of: token, withToken: false).members ?? []
            let described = await call.simulator.inbox.pushes.compactMap { push -> JSONValue? in
                let events = devices.registry.lastEvents(of: push.number, at: token)
                guard push.isFor(device: token) || push.number == start || !events.isEmpty else { return nil }
                return push.json(atDevice: token, after: events)
            }
            return .json(.object(members.filter { $0.name != "pushes" } + [.init("pushes", .array(described))]))
        },
    ]

    private static let deviceLimit = 1_000
    /// The default number of notifications in one answer.
    private static let notificationLimit = 100
    private static let limitParameter = RouteParameter(name: "limit", summary: "The maximum number, 1 to 1000")

    /// Returns the known devices, and the token in the path in lower case, which is one of them.
    private static func device(
        _ call: APICall,
        named name: String = "device"
    ) async throws(APIProblem) -> (KnownDevices, token: String) {
        let token = try call.deviceToken()
        let devices = await KnownDevices(call.simulator)
        guard devices.contains(token.hex) else { throw .missing("there is no \(name) \(token)") }
        return (devices, token.hex)
    }

    /// Returns the token in the path in lower case, and the pushes that were for its device, oldest first.
    private static func pushesOfDevice(
        _ call: APICall
    ) async throws(APIProblem) -> (token: String, pushes: [ReceivedPush]) {
        let token = try call.deviceToken()
        let pushes = await call.simulator.inbox.pushes.filter { $0.isFor(device: token.hex) }
        guard pushes.isEmpty else { return (token.hex, pushes) }
        let registry = await call.simulator.service.evaluator.devices
        let names = await call.simulator.inbox.names
        guard registry[token.hex] != nil || names[token.hex] != nil else {
            throw .missing("there is no device \(token)")
        }
        return (token.hex, [])
    }

    @Sendable private static func putDevice(_ call: APICall) async throws(APIProblem) {
        let token = try call.deviceToken()
        let body = try call.object(of: ["topics", "environment", "unregistered-at", "online", "channels", "name"])
        let topics = try body["topics"].ifPresent?.texts().map(Topic.init(rawValue:))
        let environment = try body["environment"].ifPresent?.choice(of: SimulatedAPNs.Environment.self)
        guard topics != nil || environment == nil else { throw body["environment"].error("requires topics") }
        let online = try body["online"].ifPresent?.bool()
        let since = try body["unregistered-at"].ifPresent?.integer(in: 0...Int64.max)
        if let since, since < earliestUnregistration {
            throw body["unregistered-at"].error(
                "must be in milliseconds since 1970, as in the answers of APNs (found \(since), which looks like"
                    + " seconds)"
            )
        }
        let channels = try body["channels"].ifPresent?.texts().map(ChannelID.init(rawValue:))
        let name = try body["name"].ifPresent.map(PushLabels.readName)
        let simulator = call.simulator
        let isChanged = topics != nil || online != nil || since != nil || channels != nil
        if isChanged, let phone = await simulator.service.evaluator.phones?.phone(of: token) {
            throw APIProblem(
                409,
                "the token belongs to simulated phone \(phone), which determines its state:"
                    + " set it with PUT /api/v1/phones/\(phone)"
            )
        }
        if let name, await !setName(name.isEmpty ? nil : name, of: token, in: simulator) {
            throw APIProblem(409, "there are too many devices with a nickname: remove some nicknames first")
        }
        if let topics { await simulator.register(token, for: topics, in: environment) }
        if let online { await simulator.setOnline(online, token) }
        if let since { await simulator.unregister(token, sinceMilliseconds: since) }
        if let channels { await simulator.subscribe(token, to: Set(channels)) }
    }

    /// The earliest time in milliseconds since 1970 that is accepted, in March 1973; a smaller number is taken to be in
    /// seconds.
    private static let earliestUnregistration: Int64 = 100_000_000_000
}
