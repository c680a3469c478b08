// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    private static let wait = RouteParameter(
        name: "wait",
        summary: "Seconds to wait for the outcome, as in 5 or 5s; 60 at most",
        schema: ["type": "string", "pattern": "^(60|[1-5]?[0-9])s?$"]
    )
    private static let pushID = RouteParameter(
        .path,
        name: "id",
        summary: "The identifier of the push",
        schema: .schema("PushID")
    )
    private static let app = RouteParameter(
        name: "app",
        summary: "The app of the push; needed when pushes of several of the key's apps have the identifier"
    )
    private static let requestFields = [
        RouteParameter(
            .header,
            name: "Idempotency-Key",
            summary: "Text from which the push's identifier is made: a repeated request with the same key is one push"
        ),
        RouteParameter(.header, name: "traceparent", summary: "W3C trace context that the push's spans belong to"),
    ]
    private static let requestExamples: [JSONValue.Member] = [
        .init("alert", ["to": "5d3a6a1c8f9a42d6", "payload": ["aps": ["alert": "Order ready"]]]),
        .init("user", ["app": "orders", "to": ["user": "anna"], "payload": ["aps": ["alert": "Order ready"]]]),
        .init("job", ["app": "orders", "to": ["where": "vip && !trial"], "payload": ["aps": ["alert": "Sale"]]]),
        .init(
            "scheduled",
            [
                "app": "orders", "to": ["5d3a6a1c8f9a42d6", "8f9a42d65d3a6a1c"], "collapse-id": "order-42",
                "not-before": 1_790_000_000, "payload": ["aps": ["alert": "Your table is free"]],
            ]
        ),
    ]

    /// The routes that accept, show and cancel pushes.
    static let pushRoutes: [Route] = [
        Route(
            method: "POST",
            path: "/v1/pushes",
            summary: "Accepts a push for devices, a channel, the phones of users, or all phones that match",
            access: .scope("send", audit: nil),
            parameters: [wait] + requestFields,
            body: RouteBody(.schema("PushRequest"), examples: requestExamples),
            answers: [
                RouteAnswer(
                    200,
                    "The push has its outcome; for users, no push waits: each has its outcome or its problem",
                    .schema("PushAnswer"),
                    fields: [("location", "The path of the push or the job; missing for users")]
                ),
                RouteAnswer(
                    202,
                    "The push or the job is stored, or at least one of several; a push that is not has its own status",
                    .schema("PushAnswer"),
                    fields: [("location", "The path of the push or the job; missing with several tokens or users")]
                ),
                RouteAnswer(
                    429,
                    "Too many requests, or the users get no more alerts on this day, with the numbers in `left-out`",
                    [
                        "allOf": [
                            .schema("Problem"), ["type": "object", "properties": ["left-out": .schema("LeftOut")]],
                        ]
                    ],
                    type: "application/problem+json",
                    fields: [("retry-after", "Seconds to wait before a retry")]
                ),
            ],
            problems: [410, 422, 503]
        ) { (call) throws(APIProblem) in
            var builder = try await call.parts.intake.requestBuilder(for: call)
            let request = try PushRequest(try call.json())
            let group = try await builder.group(of: request, by: call.parts.intake)
            let caller = call.caller
            let time = try call.waitingTime()
            if let job = group.job {
                guard time == nil else {
                    throw APIProblem(400, "wait must be left out of a push by a job: query the path in location")
                }
                return try await call.service.add(job).answer
            }
            let stored = await call.parts.intake.accept(group.pushes, from: caller)
            let pushes = group.pushes.map(\.push)
            let answers = await call.parts.intake.statuses(of: pushes, stored, for: caller, waiting: time)
            return try group.response(answers, at: call.parts.now)
        },
        Route(
            method: "POST",
            path: "/v1/pushes:batch",
            summary: "Accepts pushes, a line of JSON each, and answers with a line for each",
            access: .scope("send", audit: nil),
            parameters: requestFields,
            body: RouteBody(
                ["type": "string", "description": "Lines with a PushRequest each"],
                type: "application/x-ndjson",
                examples: [
                    .init(
                        "two pushes",
                        .string(
                            #"{"to":"5d3a6a1c8f9a42d6","payload":{"aps":{"alert":"Hi"}}}"# + "\n"
                                + #"{"to":"8f9a42d65d3a6a1c","payload":{"aps":{"alert":"Ho"}}}"# + "\n"
                        )
                    )
                ]
            ),
            answers: [
                RouteAnswer(
                    200,
                    "Lines with a PushAnswer or a Problem each, in the order of the request",
                    ["type": "string"],
                    type: "application/x-ndjson"
                )
            ],
            problems: [429, 503],
            streamsBody: true
        ) { (call) throws(APIProblem) in
            let builder = try await call.parts.intake.requestBuilder(for: call)
            let slot = try await call.parts.intake.openBatch(for: call.caller)
            return .pieces(
                ["content-type": "application/x-ndjson"],
                BatchAnswers(call: call, builder: builder, slot: slot)
            )
        },
        Route(
            method: "GET",
            path: "/v1/pushes/{id}",
            summary: "The status of a push",
            access: .scope("read", audit: nil),
            parameters: [pushID, app, wait],
            answers: [RouteAnswer(200, "The status", .schema("PushStatus"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let time = try call.waitingTime()
            let known = try await find(call)
            guard !known.hasEnded, let time else { return .json(known.detailedJSON) }
            let caller = call.caller
            _ = await call.parts.intake.end(of: known.id, of: known.lane.app, for: caller, within: time)
            return .json(try await find(call).detailedJSON)
        },
        Route(
            method: "DELETE",
            path: "/v1/pushes/{id}",
            summary: "Cancels a push that has not been sent",
            // The relay does not store the sender of a push, so the push may be that of another caller.
            access: .scope("send", audit: "cancel"),
            parameters: [pushID, app],
            answers: [
                RouteAnswer(200, "The push is cancelled, by this request or an earlier one", .schema("PushStatus")),
                RouteAnswer(409, "The push is being sent or has ended otherwise: its status", .schema("PushStatus")),
            ],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let known = try await find(call)
            let status = try await call.parts.change(
                await call.parts.dispatcher.cancel(known.id, of: known.lane.app),
                remedy: "GET /v1/pushes/{id} shows the status of the push"
            )
            guard let status else { throw APIProblem(404, "the outcome of the push has been deleted") }
            guard case .ended(let outcome, _) = status.state, outcome.state == .cancelled else {
                return .json(status.json, status: 409)
            }
            return .json(status.json)
        },
    ]

    /// Returns the push in the path among the caller's apps; identifiers are unique only within an app.
    private static func find(_ call: Call) async throws(APIProblem) -> PushStatus {
        let id = try call.pushID()
        var apps = call.caller.apps
        if let app = call.text("app") {
            try call.service.requireAccess(to: app)
            apps = [app]
        }
        let found = try await statuses(of: id, in: apps, call)
        guard let first = found.first else {
            throw APIProblem(404, "push \(id) does not exist, or its outcome has been deleted")
        }
        guard found.count == 1 else {
            let names = found.map(\.lane.app).joined(separator: ", ")
            throw APIProblem(400, "pushes of several apps (\(names)) have this identifier: choose one with ?app=")
        }
        return first
    }

    /// Returns the result of a call to the outbox; an error of the outbox becomes a problem with status 503.
    static func outboxCall<Value>(
        _ body: @autoclosure () async throws(OutboxError) -> Value
    ) async throws(APIProblem) -> Value {
        do throws(OutboxError) {
            return try await body()
        } catch {
            throw APIProblem(error)
        }
    }
}

extension APIProblem {
    /// Creates the problem of a request that the outbox cannot answer at the moment.
    init(_ error: OutboxError) {
        self.init(503, "\(error)", retryAfter: 5)
        if error.remedy != nil { extensions = [Self.unknownResult] }
    }

    /// Creates the problem of a request whose alerts exceed the limits of all its users.
    ///
    /// - Parameters:
    ///   - push: One of its pushes.
    ///   - now: The time at which it was refused, in milliseconds since 1970.
    fileprivate init(limited push: OutboxPush, at now: Int64) {
        let (limit, end) = (push.alertLimit?.perDay ?? 0, push.endOfDay(acceptedAt: now))
        self.init(
            429,
            "alerts-per-day of the app is \(limit), and no user of the request gets more alerts on this day:"
                + " the next day begins at \(Timestamp.text(end))",
            at: "/to",
            retryAfter: Int((end - now + 999) / 1_000)
        )
    }
}

enum PushAnswer {
    case status(PushStatus)
    case problem(APIProblem)

    var json: JSONValue {
        switch self {
        case .status(let status): status.json
        case .problem(let problem): problem.json
        }
    }

    /// Returns the answers to the pushes of one request, those that are stored with the findings about their headers.
    ///
    /// - Parameters:
    ///   - answers: The answers.
    ///   - push: One of the pushes, which all have the same headers; nil for none.
    ///   - now: The time in milliseconds since 1970.
    /// - Returns: The answers as JSON.
    static func json(of answers: [PushAnswer], about push: OutboxPush?, at now: Int64) -> [JSONValue] {
        let notes = (push?.notes(at: now) ?? []).map { JSONValue.string("\($0.place): \($0.message)") }
        return answers.map { answer in
            guard !notes.isEmpty, case .status(let status) = answer else { return answer.json }
            return .object((status.json.members ?? []) + [.init("notes", .array(notes))])
        }
    }

    var hasEnded: Bool {
        if case .status(let status) = self { status.hasEnded } else { true }
    }

    /// The problem of a push that is not stored; nil for one that is, or was, in the outbox.
    var refusal: APIProblem? {
        if case .problem(let problem) = self { problem } else { nil }
    }

    var isStored: Bool { refusal == nil }

    /// The reason why the phone of an audience is left out; nil when its push is listed.
    var leftOutReason: LeftOutReason? {
        switch refusal?.status {
        case 404: .noToken
        case 410: .unregistered
        case 429: .alertLimit
        default: nil
        }
    }

    /// Creates the answer to a push from that of the outbox.
    init(_ answer: Intake.Answer, _ push: OutboxPush) {
        switch answer.result {
        case .success(.accepted), .success(.superseding):
            self = .status(PushStatus(id: push.id, lane: push.lane, acceptedAt: answer.time, state: .accepted))
        case .success(.duplicate(let status)): self = .status(status)
        case .success(.conflict):
            self = .problem(APIProblem(422, "another push has the identifier \(push.id): choose a new one", at: "/id"))
        case .success(.suppressed(let dead)):
            self = .problem(
                APIProblem(
                    410,
                    "Apple has reported this token as unregistered for \(dead.topic) in \(dead.environment.rawValue)"
                        + " (\(dead.reason)): register the device again",
                    at: "/to"
                )
            )
        case .success(.formerUser):
            self = .problem(APIProblem(404, "no installation of the user has the token any more", at: "/to"))
        case .success(.limited): self = .problem(APIProblem(limited: push, at: answer.time))
        case .success(.full): self = .problem(APIProblem(503, "the limit of stored pushes is reached", retryAfter: 30))
        case .success(.vanished):
            self = .problem(
                APIProblem(503, "a push with the identifier \(push.id) was deleted meanwhile: try again", retryAfter: 1)
            )
        case .success(.contested):
            self = .problem(
                APIProblem(
                    503,
                    "a transaction of a back end that has stored a push with the identifier \(push.id) is open:"
                        + " try again when it has ended",
                    retryAfter: 1
                )
            )
        case .failure(let error): self = .problem(APIProblem(error))
        }
    }
}

extension APICall<RelayAPI.Service> {
    var parts: RelayParts { service.parts }

    var caller: Callers.Caller { service.caller }

    /// Returns the app in the path, which the key must be for.
    func app() throws(APIProblem) -> String {
        let app = arguments["app"] ?? ""
        try service.requireAccess(to: app)
        return app
    }

    /// Returns the identifier of a push, or of a job, in the path.
    func pushID(of subject: String = "push") throws(APIProblem) -> APNsID {
        let text = arguments["id"] ?? ""
        guard let id = try? APNsID(text) else {
            let found = ShownValue.quoted(text)
            throw APIProblem(400, "the identifier of a \(subject) must be a UUID in lower case (found \(found))")
        }
        return id
    }

    /// Returns the time that the caller wants to wait for the outcome; nil for none.
    func waitingTime() throws(APIProblem) -> Duration? {
        guard let text = text("wait") else { return nil }
        let digits = text.hasSuffix("s") ? text.dropLast() : text[...]
        guard let seconds = Int(digits), String(seconds) == digits, (0...60).contains(seconds) else {
            throw APIProblem(400, "wait must be 0 to 60 seconds, as in 5 or 5s (found \(ShownValue.quoted(text)))")
        }
        return .seconds(seconds)
    }
}
