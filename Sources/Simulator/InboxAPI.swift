internal import APNs
internal import Wire

/// The simulator's HTTP interface, for people with curl and for tests in any language.
struct InboxAPI: Sendable {
    /// Pushes in one answer when the caller does not say, and at most.
    private static let defaultLimit = 50
    private static let maximumLimit = 1_000

    private let simulator: SimulatedAPNs

    init(_ simulator: SimulatedAPNs) {
        self.simulator = simulator
    }

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch (request.method, request.path) {
        case ("GET", "/"), ("HEAD", "/"):
            return text(200, "Martlet's simulator of APNs. What it received: GET /api/v1/pushes\n")
        case ("GET", "/livez"), ("HEAD", "/livez"):
            return text(200, "ok\n")
        case ("GET", "/api/v1/pushes"):
            return await pushes(request)
        case (_, "/"), (_, "/livez"), (_, "/api/v1/pushes"):
            return problem(405, "\(request.path) only answers to GET")
        default:
            return problem(404, "there is nothing at \(request.path)")
        }
    }

    /// `GET /api/v1/pushes?limit=50`: what came in, newest first.
    private func pushes(_ request: HTTPRequest) async -> HTTPResponse {
        var limit = InboxAPI.defaultLimit
        for (name, value) in request.query {
            guard name == "limit" else { return problem(400, "unknown parameter \(name); known: limit") }
            guard let number = Int(value), (1...InboxAPI.maximumLimit).contains(number) else {
                return problem(400, "limit must be a number from 1 to \(InboxAPI.maximumLimit), not \(value)")
            }
            limit = number
        }
        let newest = await simulator.pushes.suffix(limit).reversed()
        let total = await simulator.pushCount
        return json(
            200,
            ["total": .number(JSONNumber(total)), "pushes": .array(newest.map(\.json))]
        )
    }

    private func text(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, fields: ["content-type": "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    private func json(_ status: Int, _ value: JSONValue, type: String = "application/json") -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: ["content-type": type, "cache-control": "no-store"],
            body: value.encoded()
        )
    }

    /// An error as RFC 9457 wants it.
    private func problem(_ status: Int, _ detail: String) -> HTTPResponse {
        json(
            status,
            ["status": .number(JSONNumber(status)), "detail": .string(detail)],
            type: "application/problem+json"
        )
    }
}

extension ReceivedPush {
    /// The push as the HTTP interface shows it.
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("number", .number(JSONNumber(number))),
            .init("time", .number(JSONNumber(time))),
            .init("connection", .number(JSONNumber(connection))),
            channel.map { .init("channel", .string($0.rawValue)) } ?? .init("device-token", .string(deviceToken)),
            .init("headers", headers.json),
            .init("status", .number(JSONNumber(status))),
            .init("apns-id", .string(id)),
        ]
        if isDisturbed { members.append(.init("disturbed", true)) }
        if let reason { members.append(.init("reason", .string(reason.rawValue))) }
        if let payload = try? JSONReader.read(payload) {
            members.append(.init("payload", payload))
        } else {
            members.append(.init("payload-text", .string(String(decoding: payload, as: UTF8.self))))
        }
        members.append(.init("findings", .array(findings.map(\.json))))
        return .object(members)
    }
}

extension PushHeaders {
    fileprivate var json: JSONValue {
        let all = [
            ("apns-push-type", pushType), ("apns-id", id), ("apns-expiration", expiration),
            ("apns-priority", priority), ("apns-topic", topic), ("apns-collapse-id", collapseID),
        ]
        return .object(all.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } })
    }
}

extension Lint.Finding {
    fileprivate var json: JSONValue {
        [
            "rule": .string(rule), "severity": .string(severity.rawValue), "place": .string(place.description),
            "message": .string(message),
        ]
    }
}
