// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletHTTPServer
import MartletOutbox
import MartletSimulator
import MartletTransport
import TestSupport
import Testing

@testable import MartletRelay

/// Values of a push in JSON that become headers, times and identifiers.
@Suite(.timeLimit(.minutes(10))) struct PushInputTests {
    private static func order(_ members: String) -> String {
        #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"}},"# + members + "}"
    }

    @Test(
        arguments: [
            (#""collapse-id":"a\r\nx-evil: 1""#, "/collapse-id", "control characters"),
            (#""collapse-id":"a\u0000b""#, "/collapse-id", "control characters"),
            (#""collapse-id":" a""#, "/collapse-id", "space at either end"),
            (#""collapse-id":"\#(String(repeating: "é", count: 33))""#, "/collapse-id", "(found 66)"),
            (#""push-type":"alert\r\nx: y""#, "/push-type", "is not a push type"),
            (#""push-type":"Alert""#, "/push-type", "is not a push type"),
            (#""bundle-id":"com.example.orders\n""#, "/bundle-id", "bundle identifier"),
            (#""priority":7"#, "/priority", "must be 10, 5 or 1 (found 7)"),
            (#""priority":-1"#, "/priority", "from 0 to 10 (found -1)"),
            (#""priority":9223372036854775807"#, "/priority", "(found 9223372036854775807)"),
            (#""priority":1e400"#, "/priority", "(found 1e400)"),
            (#""expiration":-9223372036854775808"#, "/expiration", "must be a nonnegative integer"),
            (#""expiration":-1"#, "/expiration", "(found -1)"),
            (#""expiration":9223372036854775808"#, "/expiration", "(found 9223372036854775808)"),
            (#""expiration":100000000001"#, "/expiration", "probably a time in milliseconds"),
            (#""not-before":9223372036854775807"#, "/not-before", "from 0 to 99999999999"),
            (#""not-before":99999999999"#, "/not-before", "at most 30 days ahead"),
            (
                #""not-before":1795000600000"#, "/not-before",
                "in seconds since 1970, not in milliseconds: an integer from 0 to 99999999999 (found 1795000600000)"
            ),
            (#""not-before":-1"#, "/not-before", "from 0"),
            (#""not-before":5,"expiration":5"#, "/expiration", "after not-before: more than 5 (found 5)"),
            (#""event":"start""#, "/event", "event must be left out of a push with payload"),
            (#""stale-date":1790000000"#, "/stale-date", "must be left out of a push with payload"),
            (#""relevance-score":1"#, "/relevance-score", "must be left out of a push with payload"),
            (#""attributes-type":"Order""#, "/attributes-type", "must be left out of a push with payload"),
            (#""dismissal-date":1790000000"#, "/dismissal-date", "must be left out of a push with payload"),
            (#""mobile-surfaces":true"#, "/mobile-surfaces", "must be left out of a push with payload"),
            (#""aps":{"alert":"Hi"}"#, "/aps", "aps belongs in the payload: send {\"to\": …"),
        ] as [(String, String, String)]
    )
    func `a value that cannot be sent is named with its rule`(
        members: String,
        pointer: String,
        message: String
    ) async throws {
        let bench = try await RelayBench()
        let answer = await bench.ask("POST", "/v1/pushes", Self.order(members))
        #expect(answer.status == (pointer == "/bundle-id" ? 403 : 400), "\(answer.text)")
        #expect(answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer, "\(answer.text)")
        #expect(answer.json["detail"]?.stringValue?.contains(message) == true, "\(answer.text)")
        await bench.stop()
    }

    @Test(arguments: [
        (#"{"channel":"a\r\nb","payload":{"aps":{}}}"#, "/channel"),
        (#"{"channel":"dHN0LXNyY2gtY2hubA==","push-type":"alert","payload":{"aps":{}}}"#, "/push-type"),
        (#"{"to":"5d3a6a1c","snapshot":{},"priority":1}"#, "/priority"),
        (#"{"to":"5d3a6a1c","snapshot":\#(SurfaceExample.json(of: "widget")),"priority":5}"#, "/priority"),
        (#"{"to":"5d3a6a1c","snapshot":{},"dismissal-date":1790000000}"#, "/dismissal-date"),
        (#"{"to":"5d3a6a1c","snapshot":{},"event":"end","dismissal-date":1790000000000}"#, "/dismissal-date"),
        (#"{"to":"5d3a6a1c","snapshot":{},"event":"begin"}"#, "/event"),
        (#"{"channel":"dHN0LXNyY2gtY2hubA==","snapshot":{},"event":"start"}"#, "/event"),
        (#"{"to":"5d3a6a1c","snapshot":{},"stale-date":1790000000000}"#, "/stale-date"),
        (#"{"to":"5d3a6a1c","snapshot":{},"relevance-score":1e400}"#, "/relevance-score"),
        (#"{"to":"5d3a6a1c","snapshot":{},"relevance-score":"1"}"#, "/relevance-score"),
        (#"{"to":"5d3a6a1c","snapshot":{},"event":"start","attributes-type":""}"#, "/attributes-type"),
        (#"{"to":"5d3a6a1c","snapshot":{},"attributes-type":"OrderAttributes"}"#, "/attributes-type"),
        (#"{"to":"5d3a6a1c","snapshot":{},"mobile-surfaces":1}"#, "/mobile-surfaces"),
        (#"{"to":"5d3a6a1c","snapshot":\#(SurfaceExample.json(of: "widget")),"stale-date":1}"#, "/stale-date"),
    ])
    func `channels and snapshots are checked alike`(order: String, pointer: String) async throws {
        let bench = try await RelayBench()
        let answer = await bench.ask("POST", "/v1/pushes", order)
        #expect(answer.status == 400 && answer.json["errors"]?.elements?.first?["pointer"]?.stringValue == pointer)
        await bench.stop()
    }

    @Test func `values at the bounds are accepted`() async throws {
        let bench = try await RelayBench()
        let time = bench.parts.now / 1_000
        for members in [
            #""collapse-id":"\#(String(repeating: "é", count: 32))""#, #""priority":1"#,
            #""expiration":100000000000"#,
            #""not-before":\#(time + 30 * 86_400)"#, #""not-before":0"#,
        ] {
            let answer = await bench.ask("POST", "/v1/pushes", Self.order(members))
            #expect(answer.status == 202, "\(members): \(answer.text)")
        }
        await bench.stop()
    }

    @Test func `a member that is null counts as absent, except in the payload`() async throws {
        let bench = try await RelayBench()
        let names = ["environment", "channel", "push-type", "priority", "collapse-id", "id", "not-before", "snapshot"]
        let nulls = names.map { "\"\($0)\":null" }.joined(separator: ",")
        let order = #"{"to":"5d3a6a1c","payload":{"aps":{"alert":"Hi"},"order":null},"# + nulls + "}"
        let answer = await bench.ask("POST", "/v1/pushes?wait=20", order)
        #expect(answer.status == 202 || answer.status == 200, "\(answer.text)")
        try await eventually("the push arrives") { await bench.apple.pushCount == 1 }
        let payload = try #require(await bench.apple.pushes.first).payload
        #expect(String(decoding: payload, as: UTF8.self) == #"{"aps":{"alert":"Hi"},"order":null}"#)
        let missing = await bench.ask("POST", "/v1/pushes", #"{"to":null,"payload":{"aps":{}}}"#)
        #expect(missing.status == 400 && missing.text.contains("to is missing"), "\(missing.text)")
        await bench.stop()
    }

    @Test(arguments: [Int64.min, .max, -1, 0, .max / 1_000 + 1])
    func `an expiration may be any number`(seconds: Int64) {
        let end = PushHeaders(expiration: String(seconds)).expiry(at: 1_000)
        #expect(end == (seconds > 1_000 ? Int64.max : 61_000))
    }

    @Test(arguments: [(1, 61_000), (2, 2_000), (30, 30_000), (61, 61_000)] as [(Int64, Int64)])
    func `a push is sent for a minute only if it has expired before`(seconds: Int64, end: Int64) {
        #expect(PushHeaders(expiration: String(seconds)).expiry(at: 1_000) == end)
    }

    @Test(arguments: [
        (PushHeaders(pushType: "alert", topic: "com.example.orders", collapseID: "a\r\nx-evil: 1"), "BadCollapseId"),
        (PushHeaders(pushType: "alert", topic: "com.example.orders\n"), "BadTopic"),
        (PushHeaders(pushType: "alert ", topic: "com.example.orders"), "InvalidPushType"),
    ])
    func `a stored push that no request can carry ends at once`(headers: PushHeaders, reason: String) async throws {
        let push = OutboxPush(
            lane: Lane(app: "orders", environment: .production),
            id: try APNsID("123e4567-e89b-42d3-a456-426655440000"),
            destination: .device(RelayBench.token),
            headers: headers,
            payload: Array(#"{"aps":{}}"#.utf8)
        )
        let directory = try ScratchDirectory()
        let outbox = try await SQLiteOutbox(file: directory.path + "/relay.sqlite", options: SQLiteOutbox.Options())
        _ = try await outbox.accept([push], at: 1_790_000_000_000)
        await outbox.close(isInOrder: true)
        let bench = try await RelayBench(directory: directory)
        let status = await bench.ask("GET", "/v1/pushes/\(push.id)?wait=20").json
        #expect(status["state"] == "refused" && status["apns"]?["reason"]?.stringValue == reason, "\(status)")
        #expect(await bench.apple.pushCount == 0)
        await bench.stop()
    }

    @Test func `an empty idempotency key is refused`() async throws {
        let bench = try await RelayBench()
        let order = Self.order(#""priority":5"#)
        let answer = await bench.ask("POST", "/v1/pushes", order, fields: ["idempotency-key": ""])
        #expect(answer.status == 400 && answer.text.contains("Idempotency-Key must not be empty"), "\(answer.text)")
        await bench.stop()
    }

    @Test func `the time of acceptance is the one that is stored`() async throws {
        let bench = try await RelayBench()
        let order = Self.order(#""not-before":\#(bench.parts.now / 1_000 + 86_400)"#)
        // A write takes milliseconds, so a time that is read after it would differ in most rounds.
        for _ in 0..<10 {
            let posted = await bench.ask("POST", "/v1/pushes", order).json
            let stored = await bench.ask("GET", "/v1/pushes/\(posted["id"]?.stringValue ?? "")").json
            #expect(posted["accepted-at"] != nil && posted["accepted-at"] == stored["accepted-at"], "\(posted)")
        }
        await bench.stop()
    }

    @Test func `a line of a batch says when to retry`() throws {
        let problem = APIProblem(503, "too many pushes wait already", retryAfter: 30)
        #expect(problem.json["retry-after"] == 30 && problem.response.fields["retry-after"] == "30")
        #expect(APIProblem(400, "no").json["retry-after"] == nil)
    }

    @Test(arguments: ["61", "05", "+5", "5m", "", "9223372036854775808", "-1"])
    func `a wait of another form is refused`(wait: String) async throws {
        let bench = try await RelayBench()
        let answer = await bench.ask("POST", "/v1/pushes?wait=\(wait)", Self.order(#""priority":5"#))
        #expect(answer.status == 400 && answer.text.contains("wait must be 0 to 60 seconds"), "\(answer.text)")
        await bench.stop()
    }
}
