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

    /// Returns a number of seconds, which may have a fraction, from a query parameter, or the default when it is
    /// missing.
    func seconds(_ name: String, _ range: ClosedRange<Double>, default standard: Double) throws(APIProblem) -> Duration {
        guard let text = text(name) else { return .seconds(standard) }
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, let seconds = Double(text), range.contains(seconds) else {
            let bounds = "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            throw APIProblem(400, "\(name) must be a number of seconds from \(bounds), as in 0.5 (found \"\(text.prefix(40))\")")
        }
        return .seconds(seconds)
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
