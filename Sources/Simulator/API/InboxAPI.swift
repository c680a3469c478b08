internal import APNs
internal import APNsClient
internal import Wire

/// The simulator's HTTP interface, for people with curl and for tests in any language.
///
/// Every route is in ``routes``, which also describes itself at `/openapi.json`.
struct InboxAPI: Sendable {
    private let simulator: SimulatedAPNs

    init(_ simulator: SimulatedAPNs) {
        self.simulator = simulator
    }

    static let routes: [Route] =
        [
            Route(method: "GET", path: "/livez", summary: "Whether the process runs") { _ in .text("ok\n") },
            Route(method: "GET", path: "/readyz", summary: "Whether it takes pushes") { call in
                guard await call.simulator.isReady else { return .text("stopped\n", status: 503) }
                guard let problem = await call.simulator.archiveProblem else { return .text("ok\n") }
                return .text("ok, but \(problem)\n")
            },
            Route(method: "GET", path: "/api/v1/info", summary: "Where this simulator answers as APNs") { call in
                .json(await info(of: call.simulator))
            },
            Route(method: "GET", path: "/api/v1/recipes", summary: "The lines that point clients at it") { call in
                .json(["recipes": .array(await call.simulator.recipes.all.map(\.json))])
            },
            Route(method: "GET", path: "/api/v1/ca.pem", summary: "The certificate that clients have to trust") {
                (call) throws(APIProblem) in
                guard await call.simulator.endpoint.isEncrypted else {
                    throw APIProblem(404, "it speaks in the clear: there is nothing to trust")
                }
                return .text(call.simulator.authorityPEM, type: "application/x-pem-file")
            },
            Route(method: "GET", path: "/metrics", summary: "What it has counted, for Prometheus") { call in
                .text(await call.simulator.metrics, type: "text/plain; version=0.0.4; charset=utf-8")
            },
            Route(method: "GET", path: "/openapi.json", summary: "What it can be asked") { _ in .json(openAPI) },
        ] + pushRoutes + sendingRoutes + testRoutes + worldRoutes + channelRoutes + connectionRoutes + controlRoutes
        + previewRoutes

    func answer(_ request: HTTPRequest) async -> HTTP1Answer {
        let path = request.path
        if let page = InboxFiles.answer(request) { return page }
        if let problem = BrowserGuard.problem(request.fields, names: simulator.names) { return problem.answer }
        let here = InboxAPI.routes.compactMap { route in route.arguments(of: path[...]).map { (route, $0) } }
        guard !here.isEmpty else { return APIProblem(404, "there is nothing at \(path)").answer }
        let method = request.method == "HEAD" ? "GET" : request.method
        // A path without braces is meant before one with.
        let fits = here.filter { $0.0.method == method }.min { $0.1.count < $1.1.count }
        guard let (route, arguments) = fits else {
            let methods = Set(here.map(\.0.method)).sorted().joined(separator: ", ")
            return APIProblem(405, "\(path) only answers to \(methods)").answer
        }
        do throws(APIProblem) {
            let answer = try await route.answer(try APICall(request, route, arguments: arguments, simulator))
            // A body that goes on is none that could be left out.
            guard request.method == "HEAD", case .pieces(let fields, _) = answer else { return answer }
            return .whole(HTTPResponse(status: 200, fields: fields))
        } catch {
            return error.answer
        }
    }

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

    /// The interface as OpenAPI 3.1 describes interfaces.
    private static var openAPI: JSONValue {
        var paths: [JSONValue.Member] = []
        for route in routes {
            let operation = JSONValue.Member(route.method.lowercased(), description(of: route))
            if let index = paths.firstIndex(where: { $0.name == route.path }) {
                paths[index].value = .object((paths[index].value.members ?? []) + [operation])
            } else {
                paths.append(JSONValue.Member(route.path, .object([operation])))
            }
        }
        return [
            "openapi": "3.1.0", "info": ["title": "Martlet's simulator of APNs", "version": "1"],
            "paths": .object(paths),
        ]
    }

    private static func description(of route: Route) -> JSONValue {
        let inPath = route.path.split(separator: "/").filter { $0.hasPrefix("{") }.map { part -> JSONValue in
            [
                "name": .string(String(part.dropFirst().dropLast())), "in": "path", "required": true,
                "schema": ["type": "string"],
            ]
        }
        let inQuery = route.parameters.map { parameter -> JSONValue in
            [
                "name": .string(parameter.name), "in": "query", "description": .string(parameter.summary),
                "schema": ["type": "string"],
            ]
        }
        return [
            "summary": .string(route.summary), "parameters": .array(inPath + inQuery),
            "responses": ["default": ["description": "JSON, or a problem as RFC 9457 has it"]],
        ]
    }
}
