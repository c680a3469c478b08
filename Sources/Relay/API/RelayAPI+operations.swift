internal import APNs
internal import Outbox
internal import WebAPI
internal import Wire

extension RelayAPI {
    /// The answer about the relay's health, for every caller; nil for another path.
    func health(_ request: HTTPRequest) -> HTTPResponse? {
        switch request.path {
        case "/livez":
            let isAlive = relay.health.isAlive()
            return RelayAPI.text(isAlive ? "ok" : "the relay's loop does not answer", status: isAlive ? 200 : 503)
        case "/readyz":
            let report = relay.health.isAlive() ? relay.health.report : RelayAPI.unknownHealth
            let isVerbose = request.query.contains { $0.name == "verbose" && $0.value != "false" }
            guard isVerbose else {
                return RelayAPI.text(report.problem ?? "ok", status: report.problem == nil ? 200 : 503)
            }
            // Names of apps are shown to a client with an API key for them.
            let apps = relay.appsToRead(with: request.fields["authorization"])
            let lines = report.lines + report.lanes.filter { apps.contains($0.app) }.map(\.line)
            return RelayAPI.text(lines.joined(separator: "\n"), status: report.problem == nil ? 200 : 503)
        default: return nil
        }
    }

    private static let unknownHealth = HealthBoard.Report(problem: "the relay's loop does not answer")

    private static func text(_ text: String, status: Int) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: ["content-type": "text/plain; charset=utf-8", "cache-control": "no-store"],
            body: Array((text + "\n").utf8)
        )
    }

    /// What whoever runs the relay asks it.
    static let operationRoutes: [Route] = [
        Route(method: "GET", path: "/metrics", summary: "Numbers of the key's apps in Prometheus' text format") {
            (call) throws(APIProblem) in
            try call.service.demand(.read)
            let text = await call.service.relay.metrics(of: call.service.caller.apps).exposition
            return .text(text, type: "text/plain; version=0.0.4; charset=utf-8")
        },
        Route(method: "GET", path: "/v1/status", summary: "How the relay is: lanes, apps, storage, version") {
            (call) throws(APIProblem) in
            try call.service.demand(.read)
            return .json(await call.service.relay.status(of: call.service.caller.apps))
        },
        Route(method: "GET", path: "/v1/status/history", summary: "How the lanes were in the last hour") {
            (call) throws(APIProblem) in
            try call.service.demand(.read)
            return .json(await call.service.relay.history(of: call.service.caller.apps))
        },
        Route(method: "GET", path: "/v1/apps", summary: "The key's apps, as they are configured") {
            (call) throws(APIProblem) in
            try call.service.demand(.read)
            let apps = await call.service.relay.appList(call.service.caller.apps)
            return .json(["apps": .array(apps)])
        },
        Route(
            method: "POST",
            path: "/v1/drain",
            summary: "Has the relay take no more, finish what is on its way, and end: for a key of all its apps"
        ) { (call) throws(APIProblem) in
            try await call.service.demandAll()
            await call.service.relay.askToDrain()
            return .json(["state": "draining"], status: 202)
        },
        Route(
            method: "POST",
            path: "/v1/backup",
            summary: "Copy the file of the relay while it runs, to a file beside it: for a key of all its apps"
        ) { (call) throws(APIProblem) in
            try await call.service.demandAll()
            let file = try await outboxCall { () throws(OutboxError) in try await call.service.relay.backUp() }
            guard let file else {
                throw APIProblem(409, "this relay stores pushes in PostgreSQL: back the database up with pg_dump")
            }
            return .json(["file": .string(file)])
        },
        Route(
            method: "POST",
            path: "/v1/nodes/{node}/drain",
            summary: "Has one of the relays that share a database come to its end: for a key of all its apps"
        ) { (call) throws(APIProblem) in
            try await call.service.demandAll()
            let name = call.arguments["node"] ?? ""
            let isThere = try await outboxCall { () throws(OutboxError) in
                try await call.service.relay.askToDrain(node: Int64(name) ?? 0)
            }
            guard isThere else { throw APIProblem(404, "there is no relay \(name)") }
            return .json(["state": "draining"], status: 202)
        },
    ]
}
