package import APNs
package import Wire

/// Everything that an HTTP interface can be asked.
package struct RouteTable<Service: Sendable>: Sendable {
    private let title: String
    private let routes: [Route<Service>]

    /// A table of routes, under a title for whoever reads its description.
    package init(title: String, _ routes: [Route<Service>]) {
        self.title = title
        self.routes = routes
    }

    /// The path of the route that a request asks for, braces and all; nil when there is none.
    package func path(of request: HTTPRequest) -> String? {
        best(among: routes(at: request.path), for: request)?.0.path
    }

    /// Whether the route that a request asks for reads the body while it arrives.
    package func streamsBody(of request: HTTPRequest) -> Bool {
        best(among: routes(at: request.path), for: request)?.0.streamsBody ?? false
    }

    private typealias Match = (Route<Service>, arguments: [String: String])

    private func routes(at path: String) -> [Match] {
        routes.compactMap { route in route.arguments(of: path[...]).map { (route, $0) } }
    }

    private func best(among matches: [Match], for request: HTTPRequest) -> Match? {
        let method = request.method == "HEAD" ? "GET" : request.method
        // A path without braces is meant before one with.
        return matches.filter { $0.0.method == method }.min { $0.arguments.count < $1.arguments.count }
    }

    /// Answers a request with the route that it asks for.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - service: The service that is asked.
    ///   - stream: The body, for a route that reads it while it arrives; nil when it is in the request.
    /// - Returns: The answer.
    package func answer(_ request: HTTPRequest, _ service: Service, stream: HTTP1Body? = nil) async -> HTTP1Answer {
        let path = request.path
        let here = routes(at: path)
        guard !here.isEmpty else { return APIProblem(404, "there is nothing at \(path)").answer }
        guard let (route, arguments) = best(among: here, for: request) else {
            let methods = Set(here.map(\.0.method)).sorted().joined(separator: ", ")
            return APIProblem(405, "\(path) only answers to \(methods)").answer
        }
        do throws(APIProblem) {
            let answer = try await route.answer(try APICall(request, stream, route, arguments: arguments, service))
            // A body that goes on is none that could be left out.
            guard request.method == "HEAD", case .pieces(let fields, _) = answer else { return answer }
            return .whole(HTTPResponse(status: 200, fields: fields))
        } catch {
            return error.answer
        }
    }

    /// The interface as OpenAPI 3.1 describes interfaces.
    package var openAPI: JSONValue {
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
            "openapi": "3.1.0", "info": ["title": .string(title), "version": "1"],
            "paths": .object(paths),
        ]
    }

    private func description(of route: Route<Service>) -> JSONValue {
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
