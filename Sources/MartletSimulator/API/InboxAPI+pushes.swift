// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The default number of pushes in one answer.
    private static let defaultLimit = 50
    /// The maximum number of pushes in one answer.
    private static let maximumLimit = 1_000
    /// The maximum number of seconds that a request may wait.
    private static let waitLimit: Double = 300

    static let query = RouteParameter(name: "query", summary: "The query, as in topic:com.example.app")

    /// The routes of received pushes and of events.
    static let pushRoutes: [Route] = [
        Route(
            "GET",
            "/api/v1/pushes",
            "List the received pushes, newest first, with their number",
            [
                query, RouteParameter(name: "limit", summary: "The maximum number of pushes, 1 to 1000; 50 by default"),
                RouteParameter(name: "before", summary: "Only pushes with lower numbers"),
            ]
        ) { (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let limit = try call.number("limit", 1...maximumLimit, default: defaultLimit)
            let before = try call.number("before", 0 ... .max, default: .max)
            let all = await call.simulator.inbox.pushes
            let newest = await call.simulator.inbox.lastNumber
            let matching = query == .everything ? all : all.filter(query.matches)
            let pushes = matching.reversed().lazy.filter { $0.number < before }
            return .json([
                "total": .integer(matching.count), "cursor": .integer(newest),
                "pushes": .array(pushes.prefix(limit).map(\.json)),
            ])
        },
        Route("DELETE", "/api/v1/pushes", "Delete the pushes that match; the numbering continues", [query]) {
            (call) throws(APIProblem) in
            let count = await call.simulator.forgetPushes(matching: try call.pushQuery())
            return .json(["forgotten": .integer(count)])
        },
        Route(
            "GET",
            "/api/v1/pushes/wait",
            "Wait for pushes: 200 with them, or 408 with the near misses",
            [
                query,
                RouteParameter(name: "since", summary: "Only pushes with higher numbers, such as a cursor; 0 for all"),
                RouteParameter(name: "count", summary: "The number of pushes to wait for; 1 by default"),
                RouteParameter(
                    name: "timeout",
                    summary: "The maximum time in seconds, 0 to 300, as in 0.5; 10 by default"
                ),
                RouteParameter(name: "absent", summary: "true to answer 200 when no push comes, and 409 otherwise"),
            ]
        ) { (call) throws(APIProblem) in
            try await checkCapacity(call)
            let isAbsent = try call.flag("absent")
            let result = await call.simulator.inbox.wait(
                for: try call.pushQuery(),
                count: try call.number("count", 1...maximumLimit, default: 1),
                after: try call.number("since", 0 ... .max, default: 0),
                timeout: try call.seconds("timeout", 0...waitLimit, default: 10)
            )
            let (pushes, nearMisses, cursor): ([ReceivedPush], [SimulatedAPNs.WaitResult.NearMiss]?, Int) =
                switch result {
                case .found(let pushes): (pushes, nil, pushes.last?.number ?? 0)
                case .timedOut(let shortfall): (shortfall.found, shortfall.nearMisses, shortfall.lastNumber)
                }
            let status = nearMisses == nil ? (isAbsent ? 409 : 200) : (isAbsent ? 200 : 408)
            let json = JSONValue.members([
                "cursor": .integer(cursor), "pushes": .array(pushes.map(\.json)),
                "near-misses": nearMisses.map { .array($0.map(\.json)) },
            ])
            return .json(json, status: status)
        },
        Route("GET", "/api/v1/pushes/numbers", "List the numbers of the pushes that match, newest first", [query]) {
            (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let pushes = await call.simulator.inbox.pushes.reversed().filter(query.matches)
            return .json(["numbers": .array(pushes.map { .integer($0.number) })])
        },
        Route("GET", "/api/v1/pushes/{number}", "Get a push by its number, or the latest") {
            (call) throws(APIProblem) in
            .json(try await push(call).json)
        },
        Route("GET", "/api/v1/pushes/{number}/payload", "Get the payload of a push, unchanged") {
            (call) throws(APIProblem) in
            .bytes(try await push(call).payload, type: "application/json")
        },
        Route.action("DELETE", "/api/v1/pushes/{number}", "Delete a push") { (call) throws(APIProblem) in
            let number = try await push(call).number
            await call.simulator.inbox.removePushes { $0.number == number }
        },
        Route(
            "GET",
            "/api/v1/events",
            "Stream events as server-sent events, beginning after Last-Event-ID if it is sent",
            [query]
        ) { (call) throws(APIProblem) in
            let query = try call.pushQuery()
            try await checkCapacity(call)
            let lastID = call.fields["last-event-id"].flatMap { Int($0) }
            let events = await call.simulator.inbox.events(after: lastID)
            return .pieces(
                ["content-type": "text/event-stream", "cache-control": "no-store"],
                events.map { $0.bytes(matching: query) }
            )
        },
        Route("GET", "/api/v1/cursor", "Get the number of the newest push, for since") { call in
            let count = await call.simulator.pushCount
            return .json(["cursor": .integer(count)])
        },
    ]

    private static func checkCapacity(_ call: APICall) async throws(APIProblem) {
        guard await call.simulator.inbox.admitsListener else {
            throw APIProblem(503, "too many clients wait or read events: try again later")
        }
    }

    /// Returns the push that the path names by its number or as `latest`.
    static func push(_ call: APICall) async throws(APIProblem) -> ReceivedPush {
        let name = call.argument("number")
        let pushes = await call.simulator.inbox.pushes
        guard let push = name == "latest" ? pushes.last : pushes.first(where: { String($0.number) == name }) else {
            throw .missing("there is no push \(name), or it is no longer stored")
        }
        return push
    }
}
