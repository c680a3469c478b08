// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    static let limit = RouteParameter(
        name: "limit",
        summary: "Maximum number of entries in the response",
        schema: ["type": "integer", "minimum": 1, "maximum": 1_000, "default": 100]
    )

    /// Returns the parameter with the cursor of a list.
    static func after(_ entries: String) -> RouteParameter {
        RouteParameter(
            name: "after",
            summary: "Only \(entries) after this cursor; 0 for all",
            schema: ["type": "integer", "minimum": 0, "maximum": .number(JSONNumber(Int.max)), "default": 0]
        )
    }

    /// Returns the JSON Schema of an object with a single member.
    static func object(_ name: String, _ type: String) -> JSONValue {
        ["type": "object", "required": [.string(name)], "properties": [name: ["type": .string(type)]]]
    }

    /// Routes for feedback: the ends of pushes and of jobs, and unregistered tokens.
    static let feedbackRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/v1/events",
            summary: "The outcomes of pushes and ended jobs from now on, as server-sent events; over HTTP/1.1 only",
            access: .scope("read", audit: nil),
            parameters: [
                RouteParameter(
                    .header,
                    name: "Last-Event-ID",
                    summary: "The last event that the client has seen: the stream begins after it"
                )
            ],
            answers: [
                RouteAnswer(
                    200,
                    "Events `outcome` with a PushStatus, `job` with an ended Job, and `gap` where some were missed",
                    ["type": "string"],
                    type: ServerSentEvent.contentType
                )
            ],
            problems: [429, 501, 503]
        ) { (call) throws(APIProblem) in
            let lastID = call.fields["last-event-id"]
            let events = try await call.parts.intake.listen(for: call.caller, after: lastID)
            return .pieces(["content-type": ServerSentEvent.contentType, "cache-control": "no-store"], events)
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/unregistered-tokens",
            summary: "Unregistered device tokens, each in one environment and for one topic, oldest report first",
            access: .scope("read", audit: nil),
            parameters: [after("tokens"), limit],
            answers: [RouteAnswer(200, "The tokens", .schema("UnregisteredTokens"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let after = Int64(try call.number("after", 0 ... .max, default: 0))
            let limit = try call.number("limit", 1...1_000, default: 100)
            let records = call.parts.outbox.records
            let tokens = try await call.parts.read(
                await records.unregisteredTokens(of: app, after: after, limit: limit)
            )
            let cursor = tokens.last?.cursor ?? after
            return .json([
                "unregistered-tokens": .array(tokens.map(\.json)), "cursor": .number(JSONNumber(cursor)),
            ])
        },
        Route(
            method: "DELETE",
            path: "/v1/apps/{app}/unregistered-tokens/{token}",
            summary: "Accepts pushes for a token again, for all topics, since its device has registered again",
            access: .scope("manage", audit: "accept-token"),
            parameters: [
                RouteParameter(.path, name: "token", summary: "The device token", schema: .schema("DeviceToken"))
            ],
            answers: [RouteAnswer(204, "The token gets pushes again", type: nil)],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let token = try call.deviceToken()
            let wasUnregistered = try await call.parts.change(
                await call.parts.outbox.records.markRegistered(token, of: app),
                remedy: "GET /v1/apps/{app}/unregistered-tokens shows those that are left"
            )
            guard wasUnregistered else {
                throw APIProblem(404, "\(token) is not among the unregistered tokens of \(app)")
            }
            return .done
        },
    ]
}

extension UnregisteredToken {
    /// The token as the API returns it.
    var json: JSONValue {
        .members([
            "cursor": .whole(cursor), "token": .string(token.hex), "environment": .string(environment.rawValue),
            "topic": .string(topic), "reason": .string(reason), "reported-at": .whole(reportedAt),
            "unregistered-at": .whole(unregisteredAt),
        ])
    }
}
