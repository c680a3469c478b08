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
            method: "GET",
            path: "/api/v1/pushes",
            summary: "List the received pushes, newest first, with their number",
            parameters: [
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
                "total": .number(JSONNumber(matching.count)), "cursor": cursor(newest),
                "pushes": .array(pushes.prefix(limit).map(\.json)),
            ])
        },
        Route(
            method: "DELETE",
            path: "/api/v1/pushes",
            summary: "Delete the pushes that match; the numbering continues",
            parameters: [query]
        ) { (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let count = await call.simulator.inbox.removePushes(where: query.matches)
            return .json(["forgotten": .number(JSONNumber(count))])
        },
        Route(
            method: "GET",
            path: "/api/v1/pushes/wait",
            summary: "Wait for pushes: 200 with them, or 408 with the near misses",
            parameters: [
                query,
                RouteParameter(name: "since", summary: "Only pushes with higher numbers, such as a cursor; 0 for all"),
                RouteParameter(name: "count", summary: "The number of pushes to wait for; 1 by default"),
                RouteParameter(name: "timeout", summary: "The maximum time in seconds, 0 to 300, as in 0.5; 10 by default"),
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
            switch result {
            case .found(let pushes):
                return .json(
                    ["cursor": cursor(pushes.last?.number ?? 0), "pushes": .array(pushes.map(\.json))],
                    status: isAbsent ? 409 : 200
                )
            case .timedOut(let shortfall):
                return .json(
                    [
                        "cursor": cursor(shortfall.lastNumber), "pushes": .array(shortfall.found.map(\.json)),
                        "near-misses": .array(shortfall.nearMisses.map(\.json)),
                    ],
                    status: isAbsent ? 200 : 408
                )
            }
        },
        Route(
            method: "GET",
            path: "/api/v1/pushes/numbers",
            summary: "List the numbers of the pushes that match, newest first",
            parameters: [query]
        ) { (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let pushes = await call.simulator.inbox.pushes.reversed().filter(query.matches)
            return .json(["numbers": .array(pushes.map { .number(JSONNumber($0.number)) })])
        },
        Route(method: "GET", path: "/api/v1/pushes/{number}", summary: "Get a push by its number, or the latest") {
            (call) throws(APIProblem) in
            .json(try await push(call).json)
        },
        Route(method: "GET", path: "/api/v1/pushes/{number}/payload", summary: "Get the payload of a push, unchanged") {
            (call) throws(APIProblem) in
            let payload = try await push(call).payload
            return .bytes(payload, type: "application/json")
        },
        Route(
            method: "DELETE",
            path: "/api/v1/pushes/{number}",
            summary: "Delete a push",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) {
            (call) throws(APIProblem) in
            let number = try await push(call).number
            await call.simulator.inbox.removePushes { $0.number == number }
            return .done
        },
        Route(
            method: "GET",
            path: "/api/v1/events",
            summary: "Stream events as server-sent events, beginning after Last-Event-ID if it is sent",
            parameters: [query]
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
        Route(method: "GET", path: "/api/v1/cursor", summary: "Get the number of the newest push, for since") { call in
            let count = await call.simulator.inbox.lastNumber
            return .json(["cursor": cursor(count)])
        },
    ]

    private static func checkCapacity(_ call: APICall) async throws(APIProblem) {
        guard await call.simulator.inbox.admitsListener else {
            throw APIProblem(503, "too many clients wait or read events: try again later")
        }
    }

    private static func cursor(_ number: Int) -> JSONValue { .number(JSONNumber(number)) }

    /// Returns the push that the path names by its number or as `latest`.
    static func push(_ call: APICall) async throws(APIProblem) -> ReceivedPush {
        let name = call.arguments["number"] ?? ""
        let pushes = await call.simulator.inbox.pushes
        guard let push = name == "latest" ? pushes.last : pushes.first(where: { String($0.number) == name }) else {
            throw APIProblem(404, "there is no push \(name), or it is no longer stored")
        }
        return push
    }
}
