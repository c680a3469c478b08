// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    /// Returns the answer about the relay's health, which needs no key; nil for another path or method.
    ///
    /// The method runs on the listener's loop, and waits neither for the relay nor for other callers.
    func health(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == "GET" || request.method == "HEAD" else { return nil }
        switch request.path {
        case "/livez": return RelayAPI.liveness(by: parts.monitor.health)
        case "/readyz":
            let isVerbose = request.query.contains { $0.name == "verbose" && $0.value != "false" }
            guard isVerbose else { return RelayAPI.readiness(by: parts.monitor.health, naming: nil) }
            // Names of apps are shown to a client with an API key for them.
            let caller = parts.server.currentCaller(request.fields["authorization"])
            let apps = caller.flatMap { $0.scopes.contains(.read) ? $0.apps : nil } ?? []
            return RelayAPI.readiness(by: parts.monitor.health, naming: apps)
        default: return nil
        }
    }

    private static func liveness(by health: SharedHealth) -> HTTPResponse {
        let isAlive = health.isAlive()
        return text(isAlive ? "ok" : SharedHealth.noAnswer, status: isAlive ? 200 : 503)
    }

    /// Returns the answer about readiness, with a line for each condition and for each lane of the given apps; nil for
    /// a summary only.
    private static func readiness(by health: SharedHealth, naming apps: Set<String>?) -> HTTPResponse {
        let problem = health.problem
        let status = problem == nil ? 200 : 503
        guard let apps else { return text(problem ?? "ok", status: status) }
        return text(health.lines(naming: apps).joined(separator: "\n"), status: status)
    }

    private static func text(_ text: String, status: Int) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: ["content-type": "text/plain; charset=utf-8", "cache-control": "no-store"],
            body: Array((text + "\n").utf8)
        )
    }

    /// The routes for health, for the description; ``health(_:)`` answers their requests before the routes are matched.
    static let healthRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/livez",
            summary: "Whether the relay's event loop runs",
            access: .anyone,
            answers: [RouteAnswer(200, "It runs", ["type": "string"], type: plainText)] + unhealthy
        ) { call in .whole(liveness(by: call.parts.monitor.health)) },
        Route(
            method: "GET",
            path: "/readyz",
            summary: "Whether the relay accepts pushes",
            access: .anyone,
            parameters: [
                RouteParameter(
                    name: "verbose",
                    summary: "A line for each check; with a key of scope read also for each app of the key"
                )
            ],
            answers: [RouteAnswer(200, "It accepts pushes", ["type": "string"], type: plainText)] + unhealthy
        ) { call in .whole(readiness(by: call.parts.monitor.health, naming: nil)) },
    ]

    private static let plainText = "text/plain"
    private static let unhealthy = [
        RouteAnswer(503, "It does not; the text has the reason", ["type": "string"], type: plainText)
    ]

    /// The routes for state, metrics, backup and shutdown.
    static let operationRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/metrics",
            summary: "Metrics of the key's apps in Prometheus' text format",
            access: .scope("read", audit: nil),
            answers: [RouteAnswer(200, "The metrics", ["type": "string"], type: plainText)]
        ) { (call) throws(APIProblem) in
            let text = await call.parts.monitor.metrics(of: call.caller.apps).exposition
            return .text(text, type: "text/plain; version=0.0.4; charset=utf-8")
        },
        Route(
            method: "GET",
            path: "/v1/status",
            summary: "The state of the relay: lanes, apps, storage, version",
            access: .scope("read", audit: nil),
            answers: [RouteAnswer(200, "The state", .schema("Status"))]
        ) { (call) throws(APIProblem) in
            let status = await call.parts.monitor.status(of: call.caller.apps)
            return .json(.object((status.members ?? []) + [.init("caller", call.service.rights)]))
        },
        Route(
            method: "GET",
            path: "/v1/status/history",
            summary: "The state of the lanes in the last hour, a sample every ten seconds",
            access: .scope("read", audit: nil),
            answers: [RouteAnswer(200, "The samples, oldest first", .schema("History"))]
        ) { (call) throws(APIProblem) in
            return .json(await call.parts.monitor.history(of: call.caller.apps))
        },
        Route(
            method: "GET",
            path: "/v1/status/events",
            summary: "The latest outages, pauses, reloads and changes of the fleet, since the start of the relay",
            access: .scope("read", audit: nil),
            answers: [RouteAnswer(200, "The events, oldest first", .schema("Events"))]
        ) { (call) throws(APIProblem) in
            return .json(await call.parts.monitor.events(of: call.caller.apps))
        },
        Route(
            method: "GET",
            path: "/v1/apps",
            summary: "The key's apps, as they are configured",
            access: .scope("read", audit: nil),
            answers: [RouteAnswer(200, "The apps", .schema("Apps"))]
        ) { (call) throws(APIProblem) in
            let apps = await call.parts.monitor.snapshot.appList(call.caller.apps)
            return .json(["apps": .array(apps)])
        },
        Route(
            method: "POST",
            path: "/v1/drain",
            summary: "Shuts the relay down after what is in flight; needs a key for all its apps",
            access: .scope("manage", audit: "drain"),
            answers: [RouteAnswer(202, "The relay is shutting down", .schema("State"))]
        ) { (call) throws(APIProblem) in
            try await call.service.requireAllApps()
            await call.parts.monitor.context.requestShutdown(by: call.caller.name)
            return .json(["state": "draining"], status: 202)
        },
        Route(
            method: "POST",
            path: "/v1/backup",
            summary: "Copies the relay's file, while it is in use, to a file beside it; needs a key for all its apps",
            access: .scope("manage", audit: "backup"),
            answers: [RouteAnswer(200, "The copy is complete", .schema("Backup"))],
            problems: [409, 503]
        ) { (call) throws(APIProblem) in
            try await call.service.requireAllApps()
            guard let file = call.parts.outbox.localFile else {
                throw APIProblem(409, "this relay stores pushes in PostgreSQL: back the database up with pg_dump")
            }
            let path = try await outboxCall(await file.backUp())
            return .json(["file": .string(path)])
        },
        Route(
            method: "POST",
            path: "/v1/nodes/{node}/drain",
            summary: "Shuts down one of the relays that share a database; needs a key for all apps",
            access: .scope("manage", audit: "drain"),
            parameters: [
                RouteParameter(.path, name: "node", summary: "The relay's number", schema: ["type": "integer"])
            ],
            answers: [RouteAnswer(202, "The relay is shutting down", .schema("State"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            try await call.service.requireAllApps()
            let name = call.arguments["node"] ?? ""
            let exists = try await call.parts.change(
                await call.parts.outbox.shared?.fleet.requestDrain(Int64(name) ?? 0) ?? false,
                remedy: "GET /v1/status shows the state of each relay"
            )
            guard exists else { throw APIProblem(404, "relay \(ShownValue(name)) does not exist") }
            return .json(["state": "draining"], status: 202)
        },
    ]
}
