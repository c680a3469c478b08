package import APNs
package import Wire

/// One thing that an HTTP interface can be asked.
///
/// The module `WebAPI` is what the HTTP interfaces of the simulator and of the relay have in common: routes that
/// describe themselves, calls with their parameters and bodies, and problems as RFC 9457 has them told.
package struct Route<Service: Sendable>: Sendable {
    /// The HTTP method.
    package var method: String
    /// The path; a part in braces stands for any text.
    package var path: String
    /// What it does, in a line.
    package var summary: String
    /// The credentials that it needs.
    package var access: RouteAccess
    /// The parameters of its query, and those of its path and fields that have a description.
    package var parameters: [RouteParameter]
    /// The body that it reads; nil when it reads none.
    package var body: RouteBody?
    /// Its successful answers.
    package var answers: [RouteAnswer]
    /// The statuses of its problems.
    package var problems: [Int]
    /// Whether the body is read while it arrives, through ``APICall/stream``.
    package var streamsBody: Bool
    /// Answers a call.
    package var answer: @Sendable (APICall<Service>) async throws(APIProblem) -> HTTP1Answer

    /// A route from its parts; by default anyone may use it, it has no parameters and no body, and answers in JSON.
    package init(
        method: String,
        path: String,
        summary: String,
        access: RouteAccess = .anyone,
        parameters: [RouteParameter] = [],
        body: RouteBody? = nil,
        answers: [RouteAnswer] = [RouteAnswer(200, "Done")],
        problems: [Int] = [],
        streamsBody: Bool = false,
        answer: @escaping @Sendable (APICall<Service>) async throws(APIProblem) -> HTTP1Answer
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.access = access
        self.parameters = parameters
        self.body = body
        self.answers = answers
        self.problems = problems
        self.streamsBody = streamsBody
        self.answer = answer
    }

    /// The names in braces, in the order of the path.
    var placeholders: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }

    /// The texts in place of the parts in braces; nil for another path.
    func arguments(of path: Substring) -> [String: String]? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let own = self.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == own.count else { return nil }
        var arguments: [String: String] = [:]
        for (part, name) in zip(parts, own) {
            if name.hasPrefix("{") {
                guard !part.isEmpty else { return nil }
                arguments[String(name.dropFirst().dropLast())] = String(part)
            } else if part != name {
                return nil
            }
        }
        return arguments
    }
}

/// The credentials that a route needs.
package enum RouteAccess: Sendable, Hashable {
    /// None.
    case anyone
    /// A key of the interface.
    case key
    /// A key of the interface with this scope.
    case scope(String)
}

/// A parameter of a route, outside its body.
package struct RouteParameter: Sendable {
    /// The part of a request that has the parameter.
    package enum Place: String, Sendable {
        case query
        case path
        case header
    }

    /// Its name.
    package var name: String
    /// The place of the parameter.
    package var place: Place
    /// What it is for, in a line.
    package var summary: String
    /// The JSON Schema of its value.
    package var schema: JSONValue
    /// Whether it must be there; always so in the path.
    package var isRequired: Bool

    /// A parameter from its parts; by default it is optional text of the query.
    package init(
        _ place: Place = .query,
        name: String,
        summary: String,
        schema: JSONValue = ["type": "string"],
        isRequired: Bool = false
    ) {
        self.place = place
        self.name = name
        self.summary = summary
        self.schema = schema
        self.isRequired = isRequired || place == .path
    }
}

/// The body of a request.
package struct RouteBody: Sendable {
    /// The media type.
    package var type: String
    /// The JSON Schema of the body; for lines of JSON, that of a line.
    package var schema: JSONValue
    /// Whether it must be there.
    package var isRequired: Bool
    /// Bodies to copy, by name.
    package var examples: [JSONValue.Member]

    /// A body from its parts; by default it is JSON, and must be there.
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

/// A successful answer of a route.
package struct RouteAnswer: Sendable {
    /// The HTTP status.
    package var status: Int
    /// When it is given, in a line.
    package var summary: String
    /// The media type; nil for an answer without a body.
    package var type: String?
    /// The JSON Schema of its body; nil for any.
    package var schema: JSONValue?
    /// Its fields, besides `content-type`: the name, and what it holds.
    package var fields: [(name: String, summary: String)]

    /// An answer from its parts; by default it is JSON.
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
    /// A JSON Schema that refers to one of the interface's own, by its name.
    package static func schema(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + name)] }
}
