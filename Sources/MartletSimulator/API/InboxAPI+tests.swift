// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletHTTPServer
internal import MartletTransport

extension InboxAPI {
    /// The default lifetime of a namespace in seconds.
    private static let defaultNamespaceTime = 3_600
    /// The maximum lifetime of a namespace in seconds.
    private static let maximumNamespaceTime = 86_400

    /// The maximum number of assertions in one request.
    private static let maximumAssertions = 100
    /// The maximum number of failed assertions of one request whose near misses are reported: finding them takes long.
    private static let assertionsWithNearMisses = 10

    /// The routes for tests besides the one that waits for pushes.
    static let testRoutes: [Route] = [
        Route(
            "POST",
            "/api/v1/assertions",
            "Check the number of pushes that match queries: 200 when all checks pass, else 409"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["since", "assertions"])
            let since = try body["since"].ifPresent?.integer(in: 0...Int.max) ?? 0
            let list = try body["assertions"].ifPresent?.elements() ?? []
            guard (1...maximumAssertions).contains(list.count) else {
                let rule =
                    list.isEmpty
                    ? #"must have at least one assertion, as in [{"query": "title:ready", "count": 1}]"#
                    : "must have at most \(maximumAssertions) elements (found \(list.count)): send several requests"
                throw body["assertions"].error(rule)
            }
            let simulator = call.simulator
            let assertions = try list.map { (json) throws(APIProblem) in try Assertion(json, for: simulator) }
            let pushes = await call.simulator.inbox.pushes(after: since)
            var failures = 0
            let results = assertions.map { assertion in
                let result = assertion.result(on: pushes, hasNearMisses: failures < assertionsWithNearMisses)
                if !result.hasPassed { failures += 1 }
                return result
            }
            let json: JSONValue = ["passed": .bool(failures == 0), "assertions": .array(results.map(\.json))]
            return .json(json, status: failures == 0 ? 200 : 409)
        },
        Route(
            "POST",
            "/api/v1/namespaces",
            "Create a namespace for one test: pushes to device tokens that begin with its name"
        ) { (call) throws(APIProblem) in
            let time = call.body.isEmpty ? nil : try call.object(of: ["seconds"])["seconds"].ifPresent
            let seconds = try time?.integer(in: 1...maximumNamespaceTime) ?? defaultNamespaceTime
            guard let namespace = await call.simulator.inbox.makeNamespace(lasting: seconds) else {
                throw APIProblem(503, "there are too many namespaces: delete some, or create them with fewer seconds")
            }
            let name = namespace.name
            return .json(
                [
                    "namespace": .string(name), "token-prefix": .string(name), "query": .string("ns:" + name),
                    "ends": .integer(namespace.end / 1_000),
                ],
                status: 201
            )
        },
        Route.action("DELETE", "/api/v1/namespaces/{name}", "Delete a namespace with its pushes and devices") {
            (call) throws(APIProblem) in
            let name = call.argument("name")
            guard await call.simulator.inbox.endNamespace(name) else {
                throw .missing("there is no namespace \(ShownValue(name))")
            }
        },
        Route("GET", "/api/v1/export.jsonl", "Export the pushes as lines of JSON, oldest first", query) {
            (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let pushes = await call.simulator.inbox.pushes.filter(query.matches)
            return .bytes(pushes.flatMap { $0.json.encoded() + [newline] }, type: "application/jsonl")
        },
        Route("POST", "/api/v1/import", "Import lines of an export with new numbers, up to 16 MB; all lines or none") {
            (call) throws(APIProblem) in
            let lines = call.body.split(separator: newline, omittingEmptySubsequences: true)
            var records: [JSONValue] = []
            for (index, line) in lines.enumerated() {
                do {
                    let record = try JSONReader.read(Array(line))
                    _ = try ReceivedPush(record: record, number: 0)
                    records.append(record)
                } catch {
                    let text = (error as? APIProblem)?.detail ?? "\(error)"
                    throw APIProblem(400, "line \(index + 1): \(text)")
                }
            }
            let last = await add(records, to: call.simulator)
            return .json(["imported": .integer(records.count), "cursor": .integer(last)])
        },
    ]

    private static let newline = UInt8(ascii: "\n")
}

/// An assertion about the number of pushes that match a query.
private struct Assertion {
    /// The result of an assertion.
    struct Result {
        let assertion: Assertion
        let count: Int
        let nearMisses: [SimulatedAPNs.WaitResult.NearMiss]

        var hasPassed: Bool { assertion.bounds.contains(count) }
    }

    let query: PushQuery
    let bounds: ClosedRange<Int>

    init(_ json: APIField, for simulator: SimulatedAPNs) throws(APIProblem) {
        try json.checkMembers(["query", "count", "at-least", "at-most"])
        let text = try json["query"].ifPresent?.text() ?? ""
        query = try PushQuery(text, for: simulator)
        func number(_ name: String) throws(APIProblem) -> Int? { try json[name].ifPresent?.integer(in: 0...Int.max) }
        let (count, least, most) = (try number("count"), try number("at-least"), try number("at-most"))
        guard count == nil || least == nil && most == nil else {
            throw json["count"].error("cannot be combined with at-least or at-most")
        }
        let lower = count ?? least ?? (most == nil ? 1 : 0)
        let upper = count ?? most ?? .max
        guard lower <= upper else { throw json["at-least"].error("must not be greater than at-most") }
        bounds = lower...upper
    }

    func result(on pushes: [ReceivedPush], hasNearMisses: Bool) -> Result {
        let search = PushSearch(query, after: 0, count: bounds.lowerBound, among: pushes)
        let isShort = search.found.count < bounds.lowerBound
        return Result(
            assertion: self,
            count: search.found.count,
            nearMisses: isShort && hasNearMisses ? search.nearMisses(among: pushes) : []
        )
    }
}

extension Assertion.Result {
    fileprivate var json: JSONValue {
        let (least, most) = (assertion.bounds.lowerBound, assertion.bounds.upperBound)
        return .members([
            "query": .string(assertion.query.description), "passed": .bool(hasPassed), "count": .integer(count),
            "at-least": hasPassed ? nil : .integer(least),
            "at-most": hasPassed || most == .max ? nil : .integer(most),
            "near-misses": hasPassed ? nil : .array(nearMisses.map(\.json)),
        ])
    }
}

extension SimulatedAPNs.WaitResult.NearMiss {
    /// The push, and the terms of the query that it does not match.
    var json: JSONValue {
        ["push": push.json, "misses": .strings(misses)]
    }
}
