// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The default number of pushes in one answer.
    private static let defaultLimit = 50
    /// The maximum number of pushes in one answer.
    private static let maximumLimit = 1_000
    /// The maximum number of summaries in one answer.
    private static let maximumSummaries = 5_000
    /// The maximum number of seconds that a request may wait.
    private static let waitLimit: Double = 300

    /// The parameters for a query.
    static let query = [
        RouteParameter(name: "query", summary: "The query, as in topic:com.example.app"),
        RouteParameter(
            name: "utc-offset",
            summary: "The seconds by which the times in the query are ahead of UTC, -43200 to 50400; 0 by default"
        ),
    ]

    private static let view = RouteParameter(
        name: "view",
        summary: "full, the default, or summary: an excerpt of the payload, only rule and severity of findings,"
            + " only kind and text of the verdict, no deliveries",
        schema: ["type": "string", "enum": .strings(PushView.allCases.map(\.rawValue))]
    )

    /// The routes of received pushes and of events.
    static let pushRoutes: [Route] = [
        Route(
            "GET",
            "/api/v1/pushes",
            "List the received pushes, newest first, with their number",
            query + [
                RouteParameter(
                    name: "limit",
                    summary: "The maximum number of pushes, 1 to 1000, or to 5000 for summaries; 50 by default"
                ), RouteParameter(name: "before", summary: "Only pushes with lower numbers"), view,
            ],
            answer: listPushes
        ),
        Route("DELETE", "/api/v1/pushes", "Delete the pushes that match, except pinned ones", query) {
            (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let count = await call.simulator.forgetPushes(matching: query)
            let pinned = await call.simulator.inbox.pushes.count { $0.labels.isPinned && query.matches($0) }
            return .json(
                .members(["forgotten": .integer(count), "pinned": pinned > 0 ? .integer(pinned) : nil])
            )
        },
        Route(
            "GET",
            "/api/v1/pushes/wait",
            "Wait for pushes: 200 with them, or 408 with the near misses",
            query + [
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
        Route("GET", "/api/v1/pushes/numbers", "List the numbers of the pushes that match, newest first", query) {
            (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let pushes = await call.simulator.inbox.pushes.reversed().filter(query.matches)
            return .json(["numbers": .array(pushes.map { .integer($0.number) })])
        },
        Route(
            "GET",
            "/api/v1/pushes/facets",
            "Count the pushes that match by push type, app, verdict, finding and device",
            query
        ) { (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let pushes = await call.simulator.inbox.pushes
            let names = await call.simulator.inbox.names
            return .json(PushFacets(of: pushes, matching: query).json(deviceNames: names))
        },
        Route("GET", "/api/v1/pushes/{number}", "Get a push by its number or apns-id, or the latest") {
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
            query + [view]
        ) { (call) throws(APIProblem) in
            let (query, view) = (try call.pushQuery(), try PushView.named(call.text("view")))
            try await checkCapacity(call)
            let lastID = call.fields["last-event-id"].flatMap { Int($0) }
            let events = await call.simulator.inbox.events(after: lastID)
            return .pieces(
                ["content-type": ServerSentEvent.contentType, "cache-control": "no-store"],
                events.map { $0.bytes(matching: query, view) }
            )
        },
        Route("GET", "/api/v1/cursor", "Get the number of the newest push, for since") { call in
            let count = await call.simulator.pushCount
            return .json(["cursor": .integer(count)])
        },
    ]

    @Sendable private static func listPushes(_ call: APICall) async throws(APIProblem) -> HTTP1Answer {
        let (query, view) = (try call.pushQuery(), try PushView.named(call.text("view")))
        let maximum = view == .summary ? maximumSummaries : maximumLimit
        let limit = try call.number("limit", 1...maximum, default: defaultLimit)
        let before = try call.number("before", 0 ... .max, default: .max)
        let inbox = call.simulator.inbox
        var listing: PushInbox.Listing
        if query == .everything {
            listing = await inbox.listing(before: before, limit: limit)
        } else {
            listing = await inbox.listing()
            let matching = listing.pushes.filter(query.matches)
            listing.total = matching.count
            listing.pushes = matching.prefix { $0.number < before }.suffix(limit)
        }
        return .json([
            "total": .integer(listing.total), "cursor": .integer(listing.lastNumber),
            "pushes": .array(listing.pushes.reversed().map { $0.json(view) }),
        ])
    }

    /// Checks that another client may wait or read events.
    static func checkCapacity(_ call: APICall) async throws(APIProblem) {
        guard await call.simulator.inbox.admitsListener else {
            throw APIProblem(503, "too many clients wait or read events: try again later")
        }
    }

    /// Returns the push that the path names by its number, by its `apns-id`, or as `latest`.
    static func push(_ call: APICall) async throws(APIProblem) -> ReceivedPush {
        let name = call.argument("number")
        let inbox = call.simulator.inbox
        let number = Int(name).flatMap { String($0) == name ? $0 : nil }
        let found: ReceivedPush? =
            if name == "latest" {
                await inbox.newest
            } else if let number {
                await inbox.push(number)
            } else {
                await inbox.pushes.last { push in
                    [push.id.lowercased(), push.headers.id?.lowercased()].contains(name.lowercased())
                }
            }
        if let found { return found }
        let last = await inbox.lastNumber
        guard let number, number > 0 else {
            throw .missing(
                name == "latest"
                    ? "no push is stored; \(last) were received"
                    : "no stored push has the apns-id \(ShownValue(name)): it was never received, or is no longer"
                        + " stored"
            )
        }
        throw .missing(
            number > last
                ? "push \(number) was never received: the newest has number \(last)"
                : "push \(number) is no longer stored"
        )
    }
}

extension PushView {
    /// Returns the view with a name; all of each push without one.
    fileprivate static func named(_ name: String?) throws(APIProblem) -> PushView {
        guard let name else { return .full }
        guard let view = PushView(rawValue: name) else {
            throw APIProblem(400, "view must be full or summary (found \(ShownValue.quoted(name)))")
        }
        return view
    }
}
