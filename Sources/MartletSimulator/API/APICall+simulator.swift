internal import MartletCore
internal import MartletHTTPServer

typealias Route = MartletHTTPServer.Route<SimulatedAPNs>
typealias APICall = MartletHTTPServer.APICall<SimulatedAPNs>

extension MartletHTTPServer.APICall<SimulatedAPNs> {
    /// The simulator that answers the call.
    var simulator: SimulatedAPNs { service }

    /// Returns the query of the call; a call without one matches all pushes.
    func pushQuery() throws(APIProblem) -> PushQuery {
        try PushQuery(parameter: text("query") ?? "")
    }
}

extension MartletHTTPServer.Route<SimulatedAPNs> {
    /// Creates a route of the simulator, which requires no credentials.
    init(
        method: String,
        path: String,
        summary: String,
        parameters: [RouteParameter] = [],
        body: RouteBody? = nil,
        answers: [RouteAnswer] = [RouteAnswer(200, "Done")],
        problems: [Int] = [],
        answer: @escaping @Sendable (APICall) async throws(APIProblem) -> HTTP1Answer
    ) {
        self.init(
            method: method,
            path: path,
            summary: summary,
            access: .anyone,
            parameters: parameters,
            body: body,
            answers: answers,
            problems: problems,
            answer: answer
        )
    }
}

extension PushQuery {
    /// Creates a query from the text in an HTTP request.
    ///
    /// - Parameter text: The text of the query; empty to match all pushes.
    /// - Throws: A problem with status 400 when the text is not a query.
    init(parameter text: String) throws(APIProblem) {
        do throws(PushQueryError) {
            try self.init(text)
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }
}

extension JSONValue {
    /// Returns the member `environment`; nil when it is missing.
    func environment() throws(APIProblem) -> SimulatedAPNs.Environment? {
        guard let text = try text("environment") else { return nil }
        guard let environment = SimulatedAPNs.Environment(rawValue: text) else {
            throw APIProblem(400, "environment must be development or production")
        }
        return environment
    }
}
