// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletOutbox
internal import MartletTransport

extension RelayAPI {
    static let searchRoutes: [Route] = [
        Route(
            method: "GET",
            path: "/v1/pushes",
            summary: "Pushes to a device token that have not ended, and abandoned ones; or those with an identifier",
            access: .scope("read", audit: nil),
            parameters: [
                RouteParameter(name: "token", summary: "The device token", schema: .schema("DeviceToken")),
                RouteParameter(name: "id", summary: "The identifier of pushes", schema: .schema("PushID")),
                RouteParameter(
                    name: "app",
                    summary: "The app; needed with token when the key is for several, all of the key by default with id"
                ),
                after("pushes"),
                limit,
            ],
            answers: [RouteAnswer(200, "The pushes, oldest first", .schema("FoundPushes"))],
            problems: [503]
        ) { (call) throws(APIProblem) in
            if let app = call.text("app") { try call.service.requireAccess(to: app) }
            let after = Int64(try call.number("after", 0 ... .max, default: 0))
            let limit = try call.number("limit", 1...1_000, default: 100)
            switch (call.text("token"), call.text("id")) {
            case (let token?, nil):
                let found = try await pushes(to: token, call, after: after, limit: limit)
                return answer(found.map(\.status), cursor: found.last?.number ?? after)
            case (nil, let id?):
                return answer(try await pushes(withID: id, call), cursor: after)
            case (nil, nil), (_?, _?):
                throw APIProblem(400, "either token or id is required, and not both")
            }
        }
    ]

    private static func answer(_ pushes: [PushStatus], cursor: Int64) -> HTTP1Answer {
        .json(["pushes": .array(pushes.map(\.detailedJSON)), "cursor": .whole(cursor)])
    }

    private static func pushes(
        to text: String,
        _ call: Call,
        after cursor: Int64,
        limit: Int
    ) async throws(APIProblem) -> [FoundPush] {
        let apps = call.caller.apps
        guard let app = call.text("app") ?? (apps.count == 1 ? apps.first : nil) else {
            throw APIProblem(400, "app is missing: this key is for \(apps.sorted().joined(separator: ", "))")
        }
        let token: DeviceToken
        do throws(DeviceTokenError) {
            token = try DeviceToken(hex: text)
        } catch {
            throw APIProblem(400, "token: \(error)")
        }
        let records = call.parts.outbox.records
        return try await call.parts.read(
            await records.pushes(to: token, of: app, after: cursor, limit: limit)
        )
    }

    private static func pushes(withID text: String, _ call: Call) async throws(APIProblem) -> [PushStatus] {
        guard let id = try? APNsID(text) else {
            throw APIProblem(400, "id must be a UUID in lower case (found \(ShownValue.quoted(text)))")
        }
        return try await statuses(of: id, in: call.text("app").map { [$0] } ?? call.caller.apps, call)
    }

    /// Returns the pushes of some apps with an identifier, which is unique in one app only, as the caller may see them.
    static func statuses(of id: APNsID, in apps: Set<String>, _ call: Call) async throws(APIProblem) -> [PushStatus] {
        var found: [PushStatus] = []
        for app in apps.sorted() {
            let status = try await call.parts.read(await call.parts.outbox.status(of: id, of: app))
            guard let status else { continue }
            found.append(call.caller.scopes.contains(.send) ? status : status.withoutRequestValues)
        }
        return found
    }
}
