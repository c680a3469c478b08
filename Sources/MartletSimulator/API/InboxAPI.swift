internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

/// The simulator's HTTP interface, for use with curl and for tests in any language.
///
/// ``routes`` lists every route, and `/openapi.json` describes them.
struct InboxAPI: Sendable {
    private let simulator: SimulatedAPNs

    init(_ simulator: SimulatedAPNs) {
        self.simulator = simulator
    }

    static let routes: [Route] =
        [
            Route(method: "GET", path: "/livez", summary: "Whether the process runs") { _ in .text("ok\n") },
            Route(method: "GET", path: "/readyz", summary: "Whether it takes pushes") { call in
                guard await call.simulator.service.isListening else { return .text("stopped\n", status: 503) }
                guard let problem = await call.simulator.archive.problem else { return .text("ok\n") }
                return .text("ok, but \(problem)\n")
            },
            Route(method: "GET", path: "/api/v1/info", summary: "Where this simulator answers as APNs") { call in
                .json(await info(of: call.simulator))
            },
            Route(method: "GET", path: "/api/v1/recipes", summary: "The lines that point clients at it") { call in
                let recipes = await call.simulator.recipes
                return .json(["recipes": .array(recipes.all.map(\.json))])
            },
            Route(method: "GET", path: "/api/v1/ca.pem", summary: "The certificate that clients have to trust") {
                (call) throws(APIProblem) in
                guard await call.simulator.endpoint.isEncrypted else {
                    throw APIProblem(404, "it speaks in the clear: there is nothing to trust")
                }
                return .text(call.simulator.authorityPEM, type: "application/x-pem-file")
            },
            Route(method: "GET", path: "/metrics", summary: "What it has counted, for Prometheus") { call in
                let metrics = await call.simulator.service.metrics
                return .text(metrics.exposition, type: "text/plain; version=0.0.4; charset=utf-8")
            },
            Route(method: "GET", path: "/openapi.json", summary: "What it can be asked") { _ in .json(table.openAPI) },
        ] + pushRoutes + sendingRoutes + testRoutes + worldRoutes + channelRoutes + connectionRoutes + controlRoutes
        + previewRoutes

    func answer(_ request: HTTPRequest) async -> HTTP1Answer {
        if let page = InboxAPI.page.answer(request) { return page }
        // Probes may use any host name, and their answers contain no pushes.
        let isProbe = ["/livez", "/readyz"].contains(request.path)
        if !isProbe, let problem = BrowserGuard.problem(request.fields, names: simulator.configuration.names) {
            return problem.answer
        }
        return await InboxAPI.table.answer(request, simulator)
    }

    private static let page = PageFiles(PageFile.inbox)
    private static let table = RouteTable(title: "Martlet's simulator of APNs", routes)

    private static func info(of simulator: SimulatedAPNs) async -> JSONValue {
        let endpoint = await simulator.endpoint
        var members: [JSONValue.Member] = [
            .init("apns", .string(endpoint.url)),
            .init("environment", .string(simulator.configuration.environment.rawValue)),
        ]
        if let channels = endpoint.channels {
            members.append(.init("channel-port", .number(JSONNumber(Int(channels.port)))))
        }
        if let release = simulator.configuration.release { members.append(.init("release", release.json)) }
        return .object(members)
    }
}
