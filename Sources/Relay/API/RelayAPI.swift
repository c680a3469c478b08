internal import APNs
internal import Outbox
internal import Pages
internal import WebAPI
internal import Wire

/// The relay's interface in JSON, for services in any language.
///
/// Every route but those about health wants a key: `authorization: bearer mrt_…`.
struct RelayAPI: Sendable {
    typealias Route = WebAPI.Route<Desk>
    typealias Call = APICall<Desk>

    /// Who is asked, and who asks.
    struct Desk: Sendable {
        let relay: PushRelay
        let caller: Callers.Caller

        /// Makes sure that the caller may do what it asks for.
        func demand(_ scope: RelayConfiguration.Caller.Scope) throws(APIProblem) {
            guard caller.scopes.contains(scope) else {
                throw APIProblem(403, "this key may not \(scope.rawValue)")
            }
        }

        /// Makes sure that the caller may do what concerns everybody.
        func demandAll() async throws(APIProblem) {
            try demand(.manage)
            guard await relay.apps.isSubset(of: caller.apps) else {
                throw APIProblem(403, "this key is not for all apps of the relay, which would end for all")
            }
        }

        /// Makes sure that the caller may do what it asks for with an app.
        func demand(_ scope: RelayConfiguration.Caller.Scope, of app: String) throws(APIProblem) {
            try demand(scope)
            guard caller.apps.contains(app) else { throw APIProblem(403, "this key is not for the app \(app)") }
        }
    }

    let relay: PushRelay

    init(_ relay: PushRelay) {
        self.relay = relay
    }

    private static let page = PageFiles(PageFile.relay)
    private static let table = RouteTable<Desk>(title: "Martlet's relay", routes)

    static let routes: [Route] =
        [
            Route(method: "GET", path: "/openapi.json", summary: "What it can be asked") { _ in .json(table.openAPI) }
        ] + pushRoutes + channelRoutes + feedbackRoutes + operationRoutes

    /// The decision about a request by its head: the body of a caller without a valid key is not read.
    func admission(of request: HTTPRequest) -> HTTP1Admission {
        if let health = measuredHealth(request) { return .answer(health) }
        let hasBody = request.fields["transfer-encoding"] != nil || request.fields["content-length"] ?? "0" != "0"
        guard hasBody else { return .whole }
        guard !relay.refuses(request.fields["authorization"]) else { return .answer(RelayAPI.stranger.response) }
        return RelayAPI.table.streamsBody(of: request) ? .streamed : .whole
    }

    private func measuredHealth(_ request: HTTPRequest) -> HTTPResponse? {
        let start = ContinuousClock.now
        guard let health = health(request) else { return nil }
        relay.noteAnswer(request.method, request.path, status: health.status, ContinuousClock.now - start)
        return health
    }

    private static let stranger = APIProblem(401, "authorization must be bearer and a key of this relay")

    /// Answers a request, and measures how long that took.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body, for a route that reads it while it arrives; nil when it is in the request.
    /// - Returns: The answer.
    func answer(_ request: HTTPRequest, _ body: HTTP1Body? = nil) async -> HTTP1Answer {
        if let health = measuredHealth(request) { return .whole(health) }
        let start = ContinuousClock.now
        let answer = await unmeasuredAnswer(to: request, body)
        let status = if case .whole(let response) = answer { response.status } else { 200 }
        let route = RelayAPI.table.path(of: request) ?? "other"
        relay.noteAnswer(request.method, route, status: status, ContinuousClock.now - start)
        return answer
    }

    private func unmeasuredAnswer(to request: HTTPRequest, _ body: HTTP1Body?) async -> HTTP1Answer {
        // The page shows nothing before somebody has given a key.
        if let page = RelayAPI.page.answer(request) { return page }
        guard let caller = await relay.caller(request.fields["authorization"]) else {
            return RelayAPI.stranger.answer
        }
        return await RelayAPI.table.answer(request, Desk(relay: relay, caller: caller), stream: body)
    }
}

extension PushStatus {
    /// What is told of a push.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(id.description)), .init("app", .string(lane.app)),
            .init("environment", .string(lane.environment.rawValue)),
            .init("accepted-at", .number(JSONNumber(acceptedAt))),
        ]
        switch place {
        case .accepted: members.append(.init("state", "accepted"))
        case .inFlight: members.append(.init("state", "in-flight"))
        case .ended(let outcome, let time):
            members.append(.init("state", .string(outcome.state.rawValue)))
            members.append(.init("ended-at", .number(JSONNumber(time))))
            members += outcome.members
        }
        return .object(members)
    }

    /// Whether the push has ended.
    var hasEnded: Bool {
        if case .ended = place { true } else { false }
    }
}

extension Outcome {
    /// What is told of an outcome, besides its state.
    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("attempts", .number(JSONNumber(attempts)))]
        if unknownTries > 0 { members.append(.init("unknown-tries", .number(JSONNumber(unknownTries)))) }
        if status != nil || reason != nil {
            var apns: [JSONValue.Member] = []
            if let status { apns.append(.init("status", .number(JSONNumber(status)))) }
            if let reason { apns.append(.init("reason", .string(reason))) }
            if let unregisteredAt { apns.append(.init("timestamp", .number(JSONNumber(unregisteredAt)))) }
            if let uniqueID { apns.append(.init("unique-id", .string(uniqueID))) }
            members.append(.init("apns", .object(apns)))
        }
        return members
    }
}
