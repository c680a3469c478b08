// SPDX-License-Identifier: Apache-2.0

package import MartletCore
package import MartletTransport

/// The routes of an HTTP interface.
package struct RouteTable<Service: Sendable>: Sendable {
    /// The number of bytes that the path of a route may have.
    private static var longestPath: Int { 2_048 }

    private let title: String
    private let summary: String
    private let schemas: JSONValue
    private let routes: [Route<Service>]

    /// Creates a table of routes.
    ///
    /// - Parameters:
    ///   - title: The title of the interface's description.
    ///   - summary: The purpose of the interface, and the common properties of its requests, in Markdown.
    ///   - schemas: An object with the JSON Schemas that routes refer to, by name.
    ///   - routes: The routes.
    package init(title: String, summary: String = "", schemas: JSONValue = [:], _ routes: [Route<Service>]) {
        self.title = title
        self.summary = summary
        self.schemas = schemas
        self.routes = routes
    }

    /// Finds the route of a request.
    package func match(of request: HTTPRequest) -> RouteMatch<Service> {
        let here = routes(at: request.path)
        guard let (route, arguments) = best(among: here, for: request) else {
            return RouteMatch(route: nil, arguments: [:], methods: Set(here.map(\.0.method)).sorted())
        }
        return RouteMatch(route: route, arguments: arguments, methods: [route.method])
    }

    private typealias Match = (Route<Service>, arguments: [String: String])

    private func routes(at path: String) -> [Match] {
        guard path.utf8.count <= RouteTable.longestPath else { return [] }
        let parts = path[...].utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return routes.compactMap { route in route.pattern.arguments(of: parts).map { (route, $0) } }
    }

    private func best(among matches: [Match], for request: HTTPRequest) -> Match? {
        let method = request.method == "HEAD" ? "GET" : request.method
        // A path without placeholders takes precedence over one with placeholders.
        return matches.filter { $0.0.method == method }.min { $0.arguments.count < $1.arguments.count }
    }

    /// Answers a request with its route.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - service: The service that answers the request.
    ///   - stream: The body, for a route that reads it while it arrives; nil when it is in the request.
    ///   - match: The result of ``match(of:)``; nil to find the route.
    ///   - content: The result of parsing the body as JSON; nil when the route parses it.
    /// - Returns: The answer.
    package func answer(
        _ request: HTTPRequest,
        _ service: Service,
        stream: HTTP1Body? = nil,
        match: RouteMatch<Service>? = nil,
        content: Result<JSONValue, JSONError>? = nil
    ) async -> HTTP1Answer {
        let path = request.path
        let match = match ?? self.match(of: request)
        guard path.utf8.count <= RouteTable.longestPath else {
            return APIProblem(404, "the path is longer than \(RouteTable.longestPath) bytes").answer
        }
        guard match.isKnownPath else { return APIProblem(404, "\(ShownValue(path)) does not exist").answer }
        guard request.hasUTF8Target else {
            return APIProblem(400, "the path and the query must be UTF-8 after percent-decoding").answer
        }
        guard request.hasValidEscapes else {
            let rule = "each % in the path must be followed by two hexadecimal digits, as in %25 for a % itself"
            return APIProblem(400, rule).answer
        }
        guard let route = match.route else {
            let methods = match.methods.joined(separator: ", ")
            let method = ShownValue(request.method)
            var response = APIProblem(405, "\(ShownValue(path)) does not support \(method); use \(methods)").response
            response.fields.append("allow", methods)
            return .whole(response)
        }
        do throws(APIProblem) {
            let answer = try await route.answer(
                try APICall(request, stream, content, route, arguments: match.arguments, service)
            )
            // For HEAD, a response with a streamed body is reduced to its fields, because the body may never end.
            guard request.method == "HEAD", case .pieces(let fields, _) = answer else { return answer }
            return .whole(HTTPResponse(status: 200, fields: fields.unbuffered))
        } catch {
            return error.answer
        }
    }

    /// The OpenAPI 3.1 description of the interface.
    package var openAPI: JSONValue {
        OpenAPI(title: title, summary: summary, schemas: schemas, routes: routes).document
    }
}
