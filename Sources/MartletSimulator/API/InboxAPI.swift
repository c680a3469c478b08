// SPDX-License-Identifier: Apache-2.0

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
            Route("GET", "/livez", "Report whether the process is running") { _ in .text("ok\n") },
            Route("GET", "/readyz", "Report whether the simulator accepts pushes") { call in
                guard await call.simulator.service.isListening else { return .text("stopped\n", status: 503) }
                guard let problem = await call.simulator.archive.problem else { return .text("ok\n") }
                return .text("ok, but \(problem)\n")
            },
            Route("GET", "/api/v1/info", "Get the addresses and the environment") { call in
                let (endpoint, configuration) = (await call.simulator.endpoint, call.simulator.configuration)
                return .json(
                    .members([
                        "apns": .string(endpoint.url), "environment": .string(configuration.environment.rawValue),
                        "channel-port": endpoint.channels.map { .integer($0.port) },
                        "authority": configuration.isEncrypted
                            ? configuration.authority?.certificateFile.map(JSONValue.string) : nil,
                        "release": configuration.release?.json,
                        "phones": (configuration.phones?.count).map(JSONValue.integer),
                    ])
                )
            },
            Route("GET", "/api/v1/recipes", "List the instructions for connecting clients") { call in
                let recipes = await call.simulator.recipes
                return .json(["recipes": .array(recipes.all.map(\.json))])
            },
            Route("GET", "/api/v1/ca.pem", "Get the certificate that clients must trust") {
                (call) throws(APIProblem) in
                guard call.simulator.configuration.isEncrypted else {
                    throw .missing("the simulator does not use TLS and has no certificate")
                }
                return .text(call.simulator.authorityPEM, type: "application/x-pem-file")
            },
            Route("GET", "/metrics", "Get the metrics in the text format of Prometheus") { call in
                let metrics = await call.simulator.service.metrics
                return .text(metrics.exposition, type: "text/plain; version=0.0.4; charset=utf-8")
            },
            Route("GET", "/openapi.json", "Get the OpenAPI description of this interface") { _ in .json(table.openAPI)
            },
        ] + pushRoutes + sendingRoutes + testRoutes + deviceRoutes + keyRoutes + channelRoutes + connectionRoutes
        + labelRoutes + faultRoutes + checkRoutes + previewRoutes + phoneRoutes

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
}
