// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

/// The relay's JSON API, for services in any language.
///
/// Every route except those for health and the API description requires a key: `authorization: bearer mrt_…`.
struct RelayAPI: Sendable {
    typealias Route = MartletHTTPServer.Route<Service>
    typealias Call = APICall<Service>
    typealias Match = RouteMatch<Service>

    /// The kind of listener that a request came over.
    enum Listener: Sendable {
        /// The address of `http`.
        case http
        /// An address of `listen`, which rejects administrative requests unless the configuration allows them.
        case listen
    }

    /// The parts of the relay for a request, with the caller.
    struct Service: Sendable {
        let parts: RelayParts
        let caller: Callers.Caller
        /// Whether the listener answers requests that need the scope `manage`.
        var mayManage = true

        fileprivate func requireScope(of access: RouteAccess?) throws(APIProblem) {
            guard case .scope(let scope, _)? = access else { return }
            guard caller.scopes.contains(where: { $0.rawValue == scope }) else {
                throw APIProblem(403, "this key does not have the scope \(scope)")
            }
            guard scope != RelayConfiguration.Caller.Scope.manage.rawValue || mayManage else {
                throw APIProblem(
                    403,
                    "requests that need the scope manage are only accepted at the address of http;"
                        + " set manage-over-listen in the configuration to accept them here"
                )
            }
        }

        /// The caller's name, its scopes, and whether its administrative requests are accepted here.
        var rights: JSONValue {
            [
                "name": .string(caller.name), "scopes": .strings(caller.scopes.map(\.rawValue).sorted()),
                "may-manage": .bool(mayManage && caller.scopes.contains(.manage)),
            ]
        }

        /// Checks that the key is for all apps of the relay.
        func requireAllApps() async throws(APIProblem) {
            guard await parts.monitor.context.configuration.appNames.isSubset(of: caller.apps) else {
                throw APIProblem(403, "this key is not for all apps of the relay, which the request requires")
            }
        }

        /// Returns whether the caller still has a scope: a reload may have removed it, or its credentials have expired.
        func stillHas(_ scope: RelayConfiguration.Caller.Scope) -> Bool {
            parts.server.callers.stillPermit(scope, to: caller) && caller.refusal(at: parts.now / 1_000) == nil
        }

        func requireAccess(to app: String) throws(APIProblem) {
            guard caller.apps.contains(app) else {
                throw APIProblem(403, "this key is not for the app \(ShownValue(app))")
            }
        }
    }

    /// The result of the checks of a request's head.
    enum Identification: Sendable {
        /// The caller; anonymous for a request that needs none.
        case caller(Callers.Caller)
        case refused(CallerRefusal)
        /// The request is answered without a caller: with a file of the page, or because of its form.
        case answered(HTTP1Answer, countedFor: String?)

        /// Whether the caller has shown valid credentials.
        var isKnown: Bool {
            if case .caller(let caller) = self { caller != .anonymous } else { false }
        }
    }

    let parts: RelayParts
    private let listener: Listener

    init(_ parts: RelayParts, over listener: Listener = .http) {
        self.parts = parts
        self.listener = listener
    }

    private static let page = PageFiles(PageFile.relay)
    static let table = RouteTable<Service>(
        title: "Martlet's relay",
        summary: """
            Accepts pushes, stores them until Apple has answered, and reports how each ended. Requests carry
            `authorization: Bearer` and a key of the relay; a key is for some apps, and has the scopes `send`, `read`,
            `manage` or `installations`. Apps on phones use `/v1/installation` with a ticket or a secret. Problems are
            `application/problem+json` (RFC 9457).
            """,
        schemas: schemas,
        routes
    )

    /// The API description, encoded and compressed once because clients without a key may request it.
    private static let description = PageFiles([
        PageFile(path: descriptionPath, type: "application/json", bytes: table.openAPI.encoded())
    ])
    private static let descriptionPath = "/openapi.json"

    static let routes: [Route] =
        [
            Route(
                method: "GET",
                path: descriptionPath,
                summary: "This description",
                access: .anyone,
                answers: [RouteAnswer(200, "An OpenAPI 3.1 document", ["type": "object"])]
            ) { call in description.answer(HTTPRequest(fields: call.fields)) ?? .done }
        ] + healthRoutes + pushRoutes + searchRoutes + channelRoutes + feedbackRoutes + deadLetterRoutes + laneRoutes
        + installationRoutes + audienceRoutes + jobRoutes + surfaceRoutes + enrollmentRoutes + operationRoutes

    /// Returns the route of a request on `listen`; nil when the API does not have its path, so that it is answered as
    /// APNs answers it.
    static func match(of request: HTTPRequest) -> Match? {
        let match = table.match(of: request)
        return match.isKnownPath || page.hasPath(of: request) ? match : nil
    }

    /// Returns the decision about a request from its head; without a valid key, the body is not read.
    func admission(of request: HTTPRequest) -> HTTP1Admission {
        if let health = measuredHealth(request) { return .answer(health) }
        let start = ContinuousClock.now
        let match = RelayAPI.table.match(of: request)
        let hasBody = request.fields["transfer-encoding"] != nil || request.fields["content-length"] ?? "0" != "0"
        guard hasBody else {
            let identification = identify(request, match, from: request.peer)
            return .whole(
                { await answer($0, match, $1, from: $0.peer, identification) },
                isAuthenticated: identification.isKnown
            )
        }
        // The caller is identified again when the body has arrived, because its key may have been removed meanwhile.
        let handler: HTTP1Listener.Handler = { await answer($0, match, $1, from: $0.peer) }
        if let problem = RelayAPI.credentialsProblem(of: request) { return .answer(problem.response) }
        if case .ownCredential? = match.access {
            // The route looks the credential up before it reads the body, so that invented ones take no memory.
            guard let problem = RelayAPI.appBodyProblem(of: request) else { return .streamed(handler) }
            let route = match.path ?? "other"
            parts.server.recordAnswer(request.method, route, status: problem.status, since: start, by: nil)
            return .answer(problem.response)
        }
        do throws(CallerRefusal) {
            _ = try parts.server.caller(request.fields["authorization"], from: request.peer)
        } catch {
            let route = match.path ?? "other"
            parts.server.recordAnswer(
                request.method,
                route,
                status: 401,
                since: start,
                by: error.caller ?? CallerCounter.other
            )
            return .answer(APIProblem(401, error.message).response)
        }
        return match.streamsBody
            ? .streamed(handler, isAuthenticated: true) : .whole(handler, isAuthenticated: true)
    }

    /// Checks the head of a request, and identifies its caller.
    func identify(_ request: HTTPRequest, _ match: Match, from peer: String?) -> Identification {
        // The page shows no data until the user enters a key, so its files need none.
        if let page = RelayAPI.page.answer(request) { return .answered(page, countedFor: nil) }
        if let problem = RelayAPI.credentialsProblem(of: request) {
            return .answered(problem.answer, countedFor: CallerCounter.other)
        }
        let authorization = request.fields["authorization"]
        switch match.access {
        case .ownCredential?: return .caller(.anonymous)
        // A key is not needed, so an invalid one is not reported.
        case .anyone?: return .caller(parts.server.currentCaller(authorization) ?? .anonymous)
        case .scope?, nil:
            do throws(CallerRefusal) {
                return .caller(try parts.server.caller(authorization, from: peer))
            } catch {
                return .refused(error)
            }
        }
    }

    /// Returns the problem of a request with several credentials, because a proxy in front of the relay may have
    /// checked another one; nil for other requests.
    private static func credentialsProblem(of request: HTTPRequest) -> APIProblem? {
        guard request.fields.firstDuplicate(startingWith: "authorization", or: "authorization") != nil else {
            return nil
        }
        return APIProblem(400, "authorization was sent more than once; send one field")
    }

    private func measuredHealth(_ request: HTTPRequest) -> HTTPResponse? {
        let start = ContinuousClock.now
        guard let health = health(request) else { return nil }
        parts.server.recordAnswer(request.method, request.path, status: health.status, since: start, by: nil)
        return health
    }

    /// Answers a request, and records the time that this took.
    ///
    /// Without a match and an identification, the route is found and the caller identified here. The stream has the
    /// body for a route that reads it while it arrives.
    func answer(
        _ request: HTTPRequest,
        _ match: Match? = nil,
        _ body: HTTP1Body? = nil,
        from peer: String? = nil,
        _ identification: Identification? = nil
    ) async -> HTTP1Answer {
        if let health = measuredHealth(request) { return .whole(health) }
        let start = ContinuousClock.now
        let match = match ?? RelayAPI.table.match(of: request)
        let identification = identification ?? identify(request, match, from: peer)
        let (answer, name) = await unmeasuredAnswer(to: request, match, body, from: peer, identification)
        let status = if case .whole(let response) = answer { response.status } else { 200 }
        parts.server.recordAnswer(request.method, match.path ?? "other", status: status, since: start, by: name)
        return answer
    }

    /// Returns the answer to a request and the name of the caller, nil for a request that needs none.
    private func unmeasuredAnswer(
        to request: HTTPRequest,
        _ match: Match,
        _ body: HTTP1Body?,
        from peer: String?,
        _ identification: Identification
    ) async -> (answer: HTTP1Answer, caller: String?) {
        let known: Callers.Caller
        switch identification {
        case .caller(let caller): known = caller
        case .refused(let refusal):
            return (APIProblem(401, refusal.message).answer, refusal.caller ?? CallerCounter.other)
        case .answered(let answer, let name): return (answer, name)
        }
        if case .ownCredential? = match.access {
            // Before the credential is looked up; a streamed body is checked while it is read.
            guard request.body.count <= RelayAPI.longestAppBody else { return (RelayAPI.tooLongAppBody.answer, nil) }
            let service = Service(parts: parts, caller: known)
            return (await RelayAPI.table.answer(request, service, stream: body, match: match), nil)
        }
        guard match.access != .anyone else {
            // Does not wait for the relay's loop, because the request may be about the health of that loop.
            let answer = await RelayAPI.table.answer(request, Service(parts: parts, caller: known), match: match)
            return (answer, nil)
        }
        let configuration = await parts.server.context.configuration
        let mayManage = listener == .http || configuration.managesOverListeners
        let service = Service(parts: parts, caller: known, mayManage: mayManage)
        let answer: HTTP1Answer
        do throws(APIProblem) {
            try service.requireScope(of: match.access)
            if request.body.count < LongRequests.leastByteCount {
                answer = await RelayAPI.table.answer(request, service, stream: body, match: match)
            } else {
                answer = await parts.longRequests.answer(request, service, stream: body, match: match)
            }
        } catch {
            answer = error.answer
        }
        let entry = RelayAPI.auditEntry(of: request, match, configuration, from: known, peer: peer, answer: answer)
        if let entry {
            await parts.server.context.log.audit(entry)
        }
        return (answer, known.name)
    }
}

extension Callers.Caller {
    /// A caller without a valid key.
    fileprivate static let anonymous = Callers.Caller(name: "anonymous", apps: [], scopes: [], tokenIssuedAt: nil)
}

extension PushStatus {
    /// The status of the push for an answer of the API.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(id.description)), .init("app", .string(lane.app)),
            .init("environment", .string(lane.environment.rawValue)),
            .init("accepted-at", .number(JSONNumber(acceptedAt))),
        ]
        switch state {
        case .accepted: members.append(.init("state", "accepted"))
        case .inFlight: members.append(.init("state", "in-flight"))
        case .ended(let outcome, let time):
            members.append(.init("state", .string(outcome.state.rawValue)))
            members.append(.init("ended-at", .number(JSONNumber(time))))
            members += outcome.members
        }
        return .object(members)
    }

    /// The status of the push with its surface, the time it waits for, the cause of its end and its failed attempts,
    /// for an answer about a stored push.
    var detailedJSON: JSONValue {
        let due = dueAt.flatMap { $0 > acceptedAt ? JSONValue.Member("due-at", .number(JSONNumber($0))) : nil }
        let cause = outcome?.cause.map { JSONValue.Member("cause", .string($0)) }
        let history = history.isEmpty ? nil : JSONValue.Member("history", history.json)
        let place = JSONValue.members([
            "surface": surface.map { .string($0.surface) },
            "installation": surface.map { .string($0.installation.description) },
        ])
        let members = (json.members ?? []) + (place.members ?? [])
        return .object(members + [due, cause, history].compactMap(\.self))
    }

    /// The status for keys without the scope `send`: the text of the problem of a request in SQL about a surface may
    /// quote the request, so it is left out.
    var withoutRequestValues: PushStatus {
        guard case .ended(var outcome, let time) = state, let (surface, _) = outcome.surfaceRefusal else { return self }
        let detail = "GET by the identifier shows the rule to a key that also has the scope send"
        outcome.reason = "\(Outcome.surfaceReason)\(surface): \(detail)"
        var status = self
        status.state = .ended(outcome, at: time)
        return status
    }

    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }
}

extension Outcome {
    /// The members of the outcome for an answer of the API, except its state.
    var members: [JSONValue.Member] {
        var members = [JSONValue.Member("attempts", .whole(attempts))]
        if unknownTries > 0 { members.append(.init("unknown-tries", .whole(unknownTries))) }
        if let (surface, detail) = surfaceRefusal {
            let problem = JSONValue.members(["status": .whole(status), "detail": .string(detail)])
            return members + [.init("surface", .string(surface)), .init("problem", problem)]
        }
        guard status != nil || reason != nil else { return members }
        let apns = JSONValue.members([
            "status": .whole(status), "reason": reason.map { .string($0) }, "unregistered-at": .whole(unregisteredAt),
            "unique-id": uniqueID.map { .string($0) },
        ])
        return members + [.init("apns", apns)]
    }

    /// The surface and the problem of a refused request in SQL about a surface; nil for any other outcome.
    fileprivate var surfaceRefusal: (surface: String, detail: String)? {
        guard state == .refused, let reason, reason.hasPrefix(Outcome.surfaceReason) else { return nil }
        let text = reason.dropFirst(Outcome.surfaceReason.count)
        // The identifier has no space.
        guard let separator = text.firstRange(of: ": ") else { return nil }
        return (String(text[..<separator.lowerBound]), String(text[separator.upperBound...]))
    }

    /// The decision that ended the push, for people; nil for a push that was delivered or cancelled.
    fileprivate var cause: String? {
        switch state {
        case .delivered, .cancelled: nil
        case .superseded: "a newer push of its line replaced it while it waited"
        case .expired where status == nil && reason == nil: "the push expired while it waited to be sent"
        case .expired: "the push would have expired before the next attempt"
        case .dead where reason == Outcome.damagedReason: "the stored content was damaged, so the push was not sent"
        case .dead: "the relay abandoned the push after \(attempts) attempts"
        case .refused where surfaceRefusal != nil:
            "the request in SQL about a surface breaks a rule, or its condition is not met"
        case .refused where attempts == 0: "the headers break a rule, so the push was not sent"
        case .refused:
            switch RefusalCause(status: status ?? 400, reason: reason.map(APNsReason.init(rawValue:))) {
            case .deviceToken: "Apple reported the device token as unregistered"
            case .credentials: "Apple refused the credentials for this push repeatedly and accepted other pushes"
            case .push, .providerToken, .temporary: "Apple refused the push for good"
            }
        }
    }
}

extension AttemptHistory {
    fileprivate var json: JSONValue {
        let attempts = attempts.map { attempt in
            JSONValue.members([
                "time": .integer(attempt.time), "node": .string(attempt.node), "key-id": .string(attempt.keyID),
                "status": .whole(attempt.status), "reason": attempt.reason.isEmpty ? nil : .string(attempt.reason),
            ])
        }
        return .members(["attempts": .array(attempts), "omitted": omitted == 0 ? nil : .integer(omitted)])
    }
}
