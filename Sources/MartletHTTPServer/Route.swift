// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletTransport

/// An operation of an HTTP interface.
///
/// The module `MartletHTTPServer` has the common parts of the HTTP interfaces of the simulator and of the relay:
/// self-describing routes, calls with their parameters and bodies, and problems in the format of RFC 9457.
package struct Route<Service: Sendable>: Sendable {
    /// The HTTP method.
    package var method: String
    /// The path, with which requests are compared.
    let pattern: RoutePath
    /// The effect of the route, in one line.
    package var summary: String
    /// The credentials that the route requires.
    package var access: RouteAccess
    /// The query parameters, and those path and header parameters that have a description.
    package var parameters: [RouteParameter]
    /// The body that the route reads; nil when it reads none.
    package var body: RouteBody?
    /// The successful responses.
    package var answers: [RouteAnswer]
    /// The statuses of the route's problems.
    package var problems: [Int]
    /// Whether the body is read while it arrives, through ``APICall/stream``.
    package var streamsBody: Bool
    /// Answers a call.
    package var answer: @Sendable (APICall<Service>) async throws(APIProblem) -> HTTP1Answer

    /// The path; a part in braces is a placeholder for any text.
    package var path: String { pattern.text }

    /// Creates a route from its parts, by default without parameters and a body, and with JSON responses.
    package init(
        method: String,
        path: String,
        summary: String,
        access: RouteAccess,
        parameters: [RouteParameter] = [],
        body: RouteBody? = nil,
        answers: [RouteAnswer] = [RouteAnswer(200, "Done")],
        problems: [Int] = [],
        streamsBody: Bool = false,
        answer: @escaping @Sendable (APICall<Service>) async throws(APIProblem) -> HTTP1Answer
    ) {
        self.method = method
        pattern = RoutePath(path)
        self.summary = summary
        self.access = access
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.problems = problems
        self.streamsBody = streamsBody
        self.answer = answer
    }
}

/// The credentials that a route needs.
package enum RouteAccess: Sendable, Hashable {
    /// No credentials.
    case anyone
    /// A key of the interface with this scope.
    ///
    /// `audit` is the name of the action in the audit log; nil for a request that is not audited.
    case scope(String, audit: String?)
    /// A bearer token that the route itself checks, and that is no key of the interface; described for people.
    case ownCredential(String)
}

/// A parameter of a route, outside its body.
package struct RouteParameter: Sendable {
    /// The part of a request that has the parameter.
    package enum Location: String, Sendable {
        case query
        case path
        case header
    }

    /// The parameter's name.
    package var name: String
    /// The part of a request that has the parameter.
    package var location: Location
    /// The purpose of the parameter, in one line.
    package var summary: String
    /// The JSON Schema of the value.
    package var schema: JSONValue
    /// Whether the parameter is required; always true in the path.
    package var isRequired: Bool

    /// Creates a parameter from its parts; by default it is optional text in the query.
    package init(
        _ location: Location = .query,
        name: String,
        summary: String,
        schema: JSONValue = ["type": "string"],
        isRequired: Bool = false
    ) {
        self.location = location
        self.name = name
        self.summary = summary
        self.schema = schema
        self.isRequired = isRequired || location == .path
    }
}

/// The body of a request.
package struct RouteBody: Sendable {
    /// The media type.
    package var type: String
    /// The JSON Schema of the body; for JSON Lines, that of a line.
    package var schema: JSONValue
    /// Whether the body is required.
    package var isRequired: Bool
    /// Example bodies, by name.
    package var examples: [JSONValue.Member]

    /// Creates a body from its parts; by default it is JSON and required.
    package init(
        _ schema: JSONValue,
        type: String = "application/json",
        isRequired: Bool = true,
        examples: [JSONValue.Member] = []
    ) {
        self.type = type
        self.schema = schema
        self.isRequired = isRequired
        self.examples = examples
    }
}

/// A successful response of a route.
package struct RouteAnswer: Sendable {
    /// The HTTP status.
    package var status: Int
    /// The condition of the response, in one line.
    package var summary: String
    /// The media type; nil for a response without a body.
    package var type: String?
    /// The JSON Schema of the body; nil for any.
    package var schema: JSONValue?
    /// The header fields besides `content-type`, with their descriptions.
    package var fields: [(name: String, summary: String)]

    /// Creates a response from its parts; by default it is JSON.
    package init(
        _ status: Int,
        _ summary: String,
        _ schema: JSONValue? = nil,
        type: String? = "application/json",
        fields: [(name: String, summary: String)] = []
    ) {
        self.status = status
        self.summary = summary
        self.type = type
        self.schema = schema
        self.fields = fields
    }
}

extension JSONValue {
    /// Returns a JSON Schema that refers to one of the interface's schemas by name.
    package static func schema(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + name)] }
}
