// SPDX-License-Identifier: Apache-2.0

internal import Martlet
internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

typealias Route = MartletHTTPServer.Route<SimulatedAPNs>
typealias APICall = MartletHTTPServer.APICall<SimulatedAPNs>
typealias APIField = JSONField<APIProblem>

extension MartletHTTPServer.Route<SimulatedAPNs> {
    /// Creates a route that answers 200 with a body.
    init(
        _ method: String,
        _ path: String,
        _ summary: String,
        _ parameters: [RouteParameter] = [],
        answer: @escaping @Sendable (APICall) async throws(APIProblem) -> HTTP1Answer
    ) {
        self.init(method: method, path: path, summary: summary, parameters: parameters, answer: answer)
    }

    /// Returns a route that answers 204 without a body.
    static func action(
        _ method: String,
        _ path: String,
        _ summary: String,
        _ parameters: [RouteParameter] = [],
        perform: @escaping @Sendable (APICall) async throws(APIProblem) -> Void
    ) -> Route {
        let answers = [RouteAnswer(204, "Done", type: nil)]
        return Route(method: method, path: path, summary: summary, parameters: parameters, answers: answers) {
            (call) throws(APIProblem) in
            try await perform(call)
            return .done
        }
    }
}

extension MartletHTTPServer.APICall<SimulatedAPNs> {
    /// The simulator that answers the call.
    var simulator: SimulatedAPNs { service }

    /// Returns a placeholder of the path, percent-decoded.
    func argument(_ name: String) -> String { String(percentEncoded: (arguments[name] ?? "")[...].utf8) }

    /// Returns the query of the call; a call without one matches all pushes.
    func pushQuery() throws(APIProblem) -> PushQuery {
        // The longest distances of a time zone from UTC are 12 and 14 hours.
        let offset = try number("utc-offset", -43_200...50_400, default: 0)
        return try PushQuery(text("query") ?? "", for: simulator, offset: Int64(offset) * 1_000)
    }

    /// Returns a number of seconds, which may have a fraction, from a query parameter, or the default when it is
    /// missing.
    func seconds(_ name: String, _ range: ClosedRange<Double>, default standard: Double) throws(APIProblem) -> Duration
    {
        guard let text = text(name) else { return .seconds(standard) }
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, let seconds = Double(text), range.contains(seconds) else {
            let bounds = "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            let found = "(found \(ShownValue.quoted(text)))"
            throw APIProblem(400, "\(name) must be a number of seconds from \(bounds), as in 0.5 \(found)")
        }
        return .seconds(seconds)
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

extension APIProblem {
    /// Returns the result of a function, whose error becomes a problem with this status.
    static func wrapping<Value>(_ status: Int = 400, _ body: () throws -> Value) throws(APIProblem) -> Value {
        do {
            return try body()
        } catch {
            throw APIProblem(status, "\(error)")
        }
    }

    /// Returns the problem of something that does not exist.
    static func missing(_ detail: String) -> APIProblem { APIProblem(404, detail) }
}

extension PushQuery {
    /// Creates the query of a request, whose times count from the clock of the simulator.
    ///
    /// - Parameters:
    ///   - text: The terms.
    ///   - simulator: The simulator.
    ///   - offset: The milliseconds by which the times in the query are ahead of UTC.
    /// - Throws: ``APIProblem`` with status 400 for an invalid query.
    init(_ text: String, for simulator: SimulatedAPNs, offset: Int64 = 0) throws(APIProblem) {
        do throws(PushQueryError) {
            try self.init(text, at: simulator.service.clock.millisecondsSince1970(), offset: offset)
        } catch {
            var problem = APIProblem(400, error.description)
            if let term = error.term, ShownValue(term).isWhole {
                problem.extensions = [JSONValue.Member("term", .string(term))]
            }
            throw problem
        }
    }
}
