internal import APNs
internal import Wire

/// One thing that the HTTP interface can be asked.
struct Route: Sendable {
    /// A parameter after the `?`.
    struct Parameter: Sendable {
        var name: String
        var summary: String
    }

    var method: String
    /// The path; a part in braces stands for any text.
    var path: String
    var summary: String
    var parameters: [Parameter] = []
    var answer: @Sendable (APICall) async throws(APIProblem) -> HTTPResponse

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

/// A request to the HTTP interface whose route is known.
struct APICall: Sendable {
    let simulator: SimulatedAPNs
    let arguments: [String: String]
    private let query: [(name: String, value: String)]
    let body: [UInt8]

    init(
        _ request: HTTPRequest,
        _ route: Route,
        arguments: [String: String],
        _ simulator: SimulatedAPNs
    ) throws(APIProblem) {
        self.simulator = simulator
        self.arguments = arguments
        query = request.query
        body = request.body
        var seen: Set<String> = []
        for (name, _) in query {
            guard route.parameters.contains(where: { $0.name == name }) else {
                let known = route.parameters.map(\.name).joined(separator: ", ")
                throw APIProblem(400, "unknown parameter \(name); known: \(known.isEmpty ? "none" : known)")
            }
            guard seen.insert(name).inserted else { throw APIProblem(400, "the parameter \(name) is there twice") }
        }
    }

    /// The text of a parameter; nil when it is not there.
    func text(_ name: String) -> String? {
        query.first { $0.name == name }?.value
    }

    /// A whole number within bounds.
    func number(_ name: String, _ range: ClosedRange<Int>, default standard: Int) throws(APIProblem) -> Int {
        guard let text = text(name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            let bounds =
                range.upperBound == .max ? "\(range.lowerBound) on" : "\(range.lowerBound) to \(range.upperBound)"
            throw APIProblem(400, "\(name) must be a number from \(bounds), not \(text)")
        }
        return number
    }

    func flag(_ name: String) throws(APIProblem) -> Bool {
        switch text(name) {
        case nil, "false": false
        case "true": true
        case let text?: throw APIProblem(400, "\(name) must be true or false, not \(text)")
        }
    }

    /// What pushes are to be looked for; all of them without a word.
    func pushQuery() throws(APIProblem) -> PushQuery {
        do throws(PushQueryError) {
            return try PushQuery(text("query") ?? "")
        } catch {
            throw APIProblem(400, "\(error)")
        }
    }

    /// The body as a JSON object, whose members have to be among these.
    func object(of names: [String]) throws(APIProblem) -> JSONValue {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONReader.read(body)
        } catch {
            throw APIProblem(400, "the body is no JSON: \(error)")
        }
        guard let members = value.members else { throw APIProblem(400, "the body must be a JSON object") }
        if let unknown = members.first(where: { !names.contains($0.name) }) {
            throw APIProblem(400, "unknown member \(unknown.name); known: " + names.joined(separator: ", "))
        }
        return value
    }
}

/// Why a request to the HTTP interface cannot be answered, as RFC 9457 has it told.
struct APIProblem: Error {
    var status: Int
    var detail: String

    init(_ status: Int, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    var response: HTTPResponse {
        .json(
            ["status": .number(JSONNumber(status)), "detail": .string(detail)],
            status: status,
            type: "application/problem+json"
        )
    }
}

extension HTTPResponse {
    static func text(_ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8") -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: ["content-type": type, "cache-control": "no-store"],
            body: Array(text.utf8)
        )
    }

    static func json(_ value: JSONValue, status: Int = 200, type: String = "application/json") -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: ["content-type": type, "cache-control": "no-store"],
            body: value.encoded()
        )
    }
}
