// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension RelayAPI {
    /// Routes for abandoned pushes.
    static let deadLetterRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/v1/apps/{app}/dead-letters",
            summary: "Abandoned pushes, newest first; without their payloads",
            // The page requests the list every few seconds, and it has no content of pushes.
            access: .scope("manage", audit: nil),
            parameters: [limit],
            answers: [RouteAnswer(200, "The pushes", .schema("DeadLetters"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let limit = try call.number("limit", 1...1_000, default: 100)
            let records = call.parts.outbox.records
            let letters = try await call.parts.read(await records.deadLetters(of: app, limit: limit))
            return .json(["dead-letters": .array(letters.map(\.summary))])
        },
        Route(
            method: "GET",
            path: "/v1/apps/{app}/dead-letters/{id}",
            summary: "An abandoned push with its device token and payload, which are personal data",
            access: .scope("manage", audit: "show-dead-letter"),
            parameters: [
                RouteParameter(.path, name: "id", summary: "The identifier of the push", schema: .schema("PushID"))
            ],
            answers: [RouteAnswer(200, "The push", .schema("DeadLetter"))],
            problems: [404, 503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let id = try call.pushID()
            let outbox = call.parts.outbox
            let letter = try await call.parts.read(await outbox.records.deadLetter(id, of: app))
            guard let letter else { throw APIProblem(404, "\(id) is not among the dead letters of \(app)") }
            var status = letter.status
            status.surface = try await call.parts.read(await outbox.status(of: id, of: app))?.surface
            return .json(.object((status.detailedJSON.members ?? []) + letter.push.members))
        },
        Route(
            method: "POST",
            path: "/v1/apps/{app}/dead-letters:requeue",
            summary: "Sends abandoned pushes again: those of ids, or all that are not damaged",
            access: .scope("manage", audit: "requeue"),
            body: RouteBody(
                [
                    "type": "object", "additionalProperties": false,
                    "properties": ["ids": ["type": "array", "items": .schema("PushID")]],
                ],
                isRequired: false
            ),
            answers: [
                RouteAnswer(
                    200,
                    "The number of pushes, and that of damaged ones, which are not sent again",
                    [
                        "type": "object", "required": ["requeued"],
                        "properties": ["requeued": ["type": "integer"], "damaged": ["type": "integer"]],
                    ]
                )
            ],
            problems: [409, 503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let ids = try requeued(call)
            let counts = try await call.parts.read(await call.parts.outbox.records.deadLetterCounts())
            let damaged = counts[app]?.damaged ?? 0
            if damaged > 0 { try await refuseDamaged(ids ?? [], of: app, call) }
            let count = try await call.parts.change(
                await call.parts.dispatcher.requeueDeadLetters(ids, of: app),
                remedy: remainingRemedy
            )
            await call.parts.monitor.readDeadLetters()
            return .json(
                .members(["requeued": .whole(count), "damaged": ids == nil && damaged > 0 ? .whole(damaged) : nil])
            )
        },
        Route(
            method: "POST",
            path: "/v1/apps/{app}/dead-letters:discard",
            summary: "Deletes abandoned pushes with their payloads; their identifiers can be used again",
            access: .scope("manage", audit: "discard"),
            body: RouteBody([
                "type": "object", "additionalProperties": false, "required": ["ids"],
                "properties": ["ids": ["type": "array", "items": .schema("PushID")]],
            ]),
            answers: [RouteAnswer(200, "The number of pushes", object("discarded", "integer"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            let app = try call.app()
            let ids = try call.object(of: ["ids"])["ids"].pushIDs()
            let count = try await call.parts.change(
                await call.parts.outbox.records.deleteDeadLetters(ids, of: app),
                remedy: remainingRemedy
            )
            await call.parts.monitor.readDeadLetters()
            return .json(["discarded": .number(JSONNumber(count))])
        },
    ]

    private static let remainingRemedy = "GET /v1/apps/{app}/dead-letters shows those that are left"

    /// Throws a problem if one of some pushes is a damaged dead letter: it would be found damaged again.
    private static func refuseDamaged(_ ids: [APNsID], of app: String, _ call: Call) async throws(APIProblem) {
        for id in ids {
            let letter = try await call.parts.read(await call.parts.outbox.records.deadLetter(id, of: app))
            guard letter?.outcome.reason == Outcome.damagedReason else { continue }
            let remedy = "submit it again from the back end, or restore a backup, and discard the dead letter"
            throw APIProblem(409, "the stored content of \(id) is damaged, so nothing was sent again: \(remedy)")
        }
    }

    private static func requeued(_ call: Call) throws(APIProblem) -> [APNsID]? {
        guard !call.body.isEmpty else { return nil }
        return try call.object(of: ["ids"])["ids"].ifPresent?.pushIDs() ?? []
    }
}

extension JSONField<APIProblem> {
    /// Returns the identifiers of pushes in an array.
    fileprivate func pushIDs() throws(APIProblem) -> [APNsID] {
        try elements().map { (id) throws(APIProblem) in
            try id.parsed { (text) throws(APNsIDError) in try APNsID(text) }
        }
    }
}

extension DeadLetter {
    /// The push without its content.
    fileprivate var status: PushStatus {
        let state = PushStatus.State.ended(outcome, at: endedAt)
        return PushStatus(id: push.id, lane: push.lane, acceptedAt: acceptedAt, state: state, history: history)
    }

    /// The push without its content, with its shortened device token or its channel.
    fileprivate var summary: JSONValue {
        let destination: JSONValue.Member =
            switch push.destination {
            case .device(let token): .init("short-token", .string(token.description))
            case .channel(let channel, _): .init("channel", .string(channel.rawValue))
            }
        return .object((status.json.members ?? []) + [destination])
    }
}

extension OutboxPush {
    /// The destination, headers and payload, named as in a request; header values are as the client sent them.
    fileprivate var members: [JSONValue.Member] {
        let destination: [JSONValue.Member] =
            switch self.destination {
            case .device(let token): [.init("to", .string(token.hex))]
            case .channel(let channel, let bundle):
                [.init("channel", .string(channel.rawValue)), .init("bundle-id", .string(bundle))]
            }
        let fields = [
            ("push-type", headers.pushType), ("topic", headers.topic), ("priority", headers.priority),
            ("expiration", headers.expiration), ("collapse-id", headers.collapseID),
        ]
        let headers = fields.compactMap { name, value in value.map { JSONValue.Member(name, .string($0)) } }
        return destination + headers + [content]
    }

    /// The payload as JSON, or in base64 if it is not valid JSON.
    private var content: JSONValue.Member {
        if let json = try? JSONReader.read(payload) { return .init("payload", json) }
        return .init("payload-base64", .string(Data(payload).base64EncodedString()))
    }
}
