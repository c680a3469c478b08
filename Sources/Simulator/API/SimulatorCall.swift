internal import APNs
internal import WebAPI

typealias Route = WebAPI.Route<SimulatedAPNs>
typealias APICall = WebAPI.APICall<SimulatedAPNs>

extension WebAPI.APICall<SimulatedAPNs> {
    /// Who is asked.
    var simulator: SimulatedAPNs { service }

    /// What pushes are to be looked for; all of them without a word.
    func pushQuery() throws(APIProblem) -> PushQuery {
        try PushQuery(asked: text("query") ?? "")
    }
}

extension PushQuery {
    /// The query that somebody asks for over HTTP.
    init(asked text: String) throws(APIProblem) {
        do throws(PushQueryError) {
            try self.init(text)
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }
}

extension JSONValue {
    /// One of the environments; nil when it is not there.
    func environment() throws(APIProblem) -> SimulatedAPNs.Environment? {
        guard let text = try text("environment") else { return nil }
        guard let environment = SimulatedAPNs.Environment(rawValue: text) else {
            throw APIProblem(400, "environment must be development or production")
        }
        return environment
    }
}
