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
            method: "POST",
            path: "/api/v1/assertions",
            summary: "Check the number of pushes that match queries: 200 when all checks pass, else 409"
        ) { (call) throws(APIProblem) in
            let body = try call.object(of: ["since", "assertions"])
            let since = try body.number("since", 0 ... .max) ?? 0
            let list = try body.list("assertions")
            guard list.count <= maximumAssertions else {
                throw APIProblem(
                    400,
                    "assertions must have at most \(maximumAssertions) elements (found \(list.count)):"
                        + " send several requests"
                )
            }
            let assertions = try list.map { (json) throws(APIProblem) in try Assertion(json) }
            guard !assertions.isEmpty else {
                throw APIProblem(400, #"assertions must have at least one assertion, as in [{"query": "title:ready", "count": 1}]"#)
            }
            let pushes = await call.simulator.inbox.pushes.filter { $0.number > since }
            var failures = 0
            let verdicts = assertions.map { assertion in
                let verdict = assertion.verdict(on: pushes, hasNearMisses: failures < assertionsWithNearMisses)
                if !verdict.hasPassed { failures += 1 }
                return verdict
            }
            let hasPassed = verdicts.allSatisfy(\.hasPassed)
            return .json(
                ["passed": .bool(hasPassed), "assertions": .array(verdicts.map(\.json))],
                status: hasPassed ? 200 : 409
            )
        },
        Route(
            method: "POST",
            path: "/api/v1/namespaces",
            summary: "Create a namespace for one test: pushes to device tokens that begin with its name"
        ) { (call) throws(APIProblem) in
            let body = call.body.isEmpty ? [:] : try call.object(of: ["seconds"])
            let seconds = try body.number("seconds", 1...maximumNamespaceTime) ?? defaultNamespaceTime
            guard let namespace = await call.simulator.inbox.makeNamespace(lasting: seconds) else {
                throw APIProblem(503, "there are too many namespaces: delete some, or create them with fewer seconds")
            }
            return .json(
                [
                    "namespace": .string(namespace.name), "token-prefix": .string(namespace.name),
                    "query": .string("ns:" + namespace.name), "ends": .number(JSONNumber(namespace.end)),
                ],
                status: 201
            )
        },
        Route(
            method: "DELETE",
            path: "/api/v1/namespaces/{name}",
            summary: "Delete a namespace with its pushes and devices",
            answers: [RouteAnswer(204, "Done", type: nil)]
        ) { (call) throws(APIProblem) in
            let name = call.arguments["name"] ?? ""
            guard await call.simulator.inbox.endNamespace(name) else {
                throw APIProblem(404, "there is no namespace \(name)")
            }
            return .done
        },
        Route(
            method: "GET",
            path: "/api/v1/export.jsonl",
            summary: "Export the pushes as lines of JSON, oldest first",
            parameters: [query]
        ) { (call) throws(APIProblem) in
            let query = try call.pushQuery()
            let lines = await call.simulator.inbox.pushes.filter(query.matches).flatMap {
                $0.json.encoded() + [newline]
            }
            return .bytes(lines, type: "application/jsonl")
        },
        Route(
            method: "POST",
            path: "/api/v1/import",
            summary: "Import lines of an export with new numbers, up to 16 MB; all lines or none"
        ) { (call) throws(APIProblem) in
            let lines = call.body.split(separator: newline, omittingEmptySubsequences: true)
            var records: [JSONValue] = []
            for (index, line) in lines.enumerated() {
                do {
                    let record = try JSONReader.read(Array(line))
                    _ = try ReceivedPush(record: record, number: 0)
                    records.append(record)
                } catch {
                    throw APIProblem(400, "line \(index + 1): \(error)")
                }
            }
            let last = await call.simulator.inbox.add(records)
            return .json(["imported": .number(JSONNumber(records.count)), "cursor": .number(JSONNumber(last))])
        },
    ]

    private static let newline = UInt8(ascii: "\n")
}

/// An assertion about the number of pushes that match a query.
private struct Assertion {
    /// The result of an assertion.
    struct Verdict {
        let assertion: Assertion
        let count: Int
        let nearMisses: [WaitResult.NearMiss]

        var hasPassed: Bool { assertion.bounds.contains(count) }
    }

    let query: PushQuery
    let bounds: ClosedRange<Int>

    init(_ json: JSONValue) throws(APIProblem) {
        let known = ["query", "count", "at-least", "at-most"]
        guard let members = json.members, members.allSatisfy({ known.contains($0.name) }) else {
            throw APIProblem(400, "an assertion must be a JSON object of " + known.joined(separator: ", "))
        }
        query = try PushQuery(parameter: try json.text("query") ?? "")
        let count = try json.number("count", 0 ... .max)
        let least = try json.number("at-least", 0 ... .max)
        let most = try json.number("at-most", 0 ... .max)
        guard count == nil || least == nil && most == nil else {
            throw APIProblem(400, "count cannot be combined with at-least or at-most")
        }
        let lower = count ?? least ?? (most == nil ? 1 : 0)
        let upper = count ?? most ?? .max
        guard lower <= upper else { throw APIProblem(400, "at-least must not be greater than at-most") }
        bounds = lower...upper
    }

    func verdict(on pushes: [ReceivedPush], hasNearMisses: Bool) -> Verdict {
        let search = PushSearch(query, after: 0, count: bounds.lowerBound, among: pushes)
        let isShort = search.found.count < bounds.lowerBound
        return Verdict(
            assertion: self,
            count: search.found.count,
            nearMisses: isShort && hasNearMisses ? search.nearMisses(among: pushes) : []
        )
    }
}

extension Assertion.Verdict {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("query", .string(assertion.query.description)), .init("passed", .bool(hasPassed)),
            .init("count", .number(JSONNumber(count))),
        ]
        if !hasPassed {
            members.append(.init("at-least", .number(JSONNumber(assertion.bounds.lowerBound))))
            if assertion.bounds.upperBound < .max {
                members.append(.init("at-most", .number(JSONNumber(assertion.bounds.upperBound))))
            }
            members.append(.init("near-misses", .array(nearMisses.map(\.json))))
        }
        return .object(members)
    }
}

extension WaitResult.NearMiss {
    /// The push, and the terms of the query that it does not match.
    var json: JSONValue {
        ["push": push.json, "misses": .array(misses.map(JSONValue.string))]
    }
}
