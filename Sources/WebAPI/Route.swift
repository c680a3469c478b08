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
    /// What may stand after the `?`.
    package var parameters: [RouteParameter]
    /// Whether the body is read while it arrives, through ``APICall/stream``.
    package var streamsBody: Bool
    /// Answers a call.
    package var answer: @Sendable (APICall<Service>) async throws(APIProblem) -> HTTP1Answer

    /// A route from its parts; by default it has no parameters.
    package init(
        method: String,
        path: String,
        summary: String,
        parameters: [RouteParameter] = [],
        streamsBody: Bool = false,
        answer: @escaping @Sendable (APICall<Service>) async throws(APIProblem) -> HTTP1Answer
    ) {
        self.method = method
        self.path = path
        self.summary = summary
        self.parameters = parameters
        self.streamsBody = streamsBody
        self.answer = answer
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

/// What may stand after the `?` of a route's path.
package struct RouteParameter: Sendable {
    /// Its name.
    package var name: String
    /// What it is for, in a line.
    package var summary: String

    /// A parameter from its parts.
    package init(name: String, summary: String) {
        self.name = name
        self.summary = summary
    }
}
