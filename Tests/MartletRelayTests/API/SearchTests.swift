// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

@testable import MartletRelay

/// Searching for pushes, and dead letters with their content.
@Suite(.timeLimit(.minutes(10))) struct SearchTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let id = "123e4567-e89b-42d3-a456-426655440000"

    /// A relay whose lane is paused, with a caller for both apps.
    private func pausedBench() async throws -> RelayBench {
        let both = try RelayConfiguration.Caller(key: "both", apps: ["orders", "rides"], scopes: [.send, .read])
        let bench = try await RelayBench { $0.callers.append(both) }
        _ = await bench.ask("POST", "/v1/apps/orders/lanes/production/pause")
        return bench
    }

    private func ids(_ answer: RelayBench.Answer) -> [String] {
        (answer.json["pushes"]?.elements ?? []).compactMap { $0["id"]?.stringValue }
    }

    @Test func `pushes are found by token, page by page`() async throws {
        let bench = try await pausedBench()
        var made: [String] = []
        for token in ["5D3A6A1C", "8f9a42d6", "5d3a6a1c", "5d3a6a1c"] {
            let answer = await bench.ask("POST", "/v1/pushes", #"{"to":"\#(token)","payload":{"aps":{}}}"#)
            made.append(answer.json["id"]?.stringValue ?? "")
        }
        let wanted = [made[0], made[2], made[3]]
        let all = await bench.ask("GET", "/v1/pushes?app=orders&token=5d3a6a1c")
        #expect(all.status == 200 && ids(all) == wanted)
        #expect(all.json["pushes"]?.elements?[0]["state"] == "accepted" && !all.text.contains("5d3a6a1c"))
        let first = await bench.ask("GET", "/v1/pushes?token=5d3a6a1c&limit=2")
        #expect(ids(first) == Array(wanted[..<2]))
        let cursor = first.json["cursor"]?.integerValue ?? 0
        let second = await bench.ask("GET", "/v1/pushes?token=5d3a6a1c&limit=2&after=\(cursor)")
        #expect(ids(second) == [wanted[2]])
        let last = second.json["cursor"]?.integerValue ?? 0
        let none = await bench.ask("GET", "/v1/pushes?token=5d3a6a1c&after=\(last)")
        #expect(ids(none) == [] && none.json["cursor"]?.integerValue == last)
        let metrics = await bench.ask("GET", "/metrics").text
        #expect(metrics.contains(#"http_route="/v1/pushes""#) && !metrics.contains("5d3a6a1c"))
        await bench.stop()
    }

    @Test func `pushes of several apps are found by identifier`() async throws {
        let bench = try await pausedBench()
        let later = bench.parts.now / 1_000 + 3_600
        for app in ["orders", "rides"] {
            let order = #"{"app":"\#(app)","id":"\#(Self.id)","to":"5d3a6a1c","not-before":\#(later),"payload":{}}"#
            #expect(await bench.ask("POST", "/v1/pushes", order, key: "both").status == 202)
        }
        let both = await bench.ask("GET", "/v1/pushes?id=\(Self.id)", key: "both")
        #expect(both.json["pushes"]?.elements?.map { $0["app"] } == ["orders", "rides"])
        let one = await bench.ask("GET", "/v1/pushes?id=\(Self.id)&app=rides", key: "both")
        #expect(one.json["pushes"]?.elements?.map { $0["app"] } == ["rides"])
        let own = await bench.ask("GET", "/v1/pushes?id=\(Self.id)")
        #expect(own.json["pushes"]?.elements?.map { $0["app"] } == ["orders"])
        await bench.stop()
    }

    @Test(arguments: [
        ("", 400, "either token or id is required, and not both"),
        (
            "?token=5d3a6a1c&id=123e4567-e89b-42d3-a456-426655440000", 400,
            "either token or id is required, and not both"
        ),
        ("?token=5d3a6a1c", 400, "app is missing: this key is for orders, rides"),
        ("?token=xyz&app=orders", 400, "token: "), ("?id=xyz", 400, "id must be a UUID in lower case"),
        ("?token=5d3a6a1c&app=meals", 403, "this key is not for the app meals"),
        ("?token=5d3a6a1c&app=orders&limit=1001", 400, "limit"),
        ("?token=5d3a6a1c&app=orders&after=-1", 400, "after"),
    ])
    func `an invalid search is refused with the reason`(query: String, status: Int, text: String) async throws {
        let bench = try await pausedBench()
        let answer = await bench.ask("GET", "/v1/pushes" + query, key: "both")
        #expect(answer.status == status && answer.text.contains(text), "\(answer.text)")
        await bench.stop()
    }

    @Test func `a dead letter is shown with its content, requeued and discarded`() async throws {
        let bench = try await pausedBench()
        let pushes = [
            #"{"aps":{"alert":"Hi"},"b":1e400}"#, "no JSON", #"{"aps":{}}"#,
        ].enumerated().map { number, payload in
            var push = OutboxPush.sample(number, Self.lane)
            push.headers.collapseID = "o-\(number)"
            push.payload = Array(payload.utf8)
            return push
        }
        let now = bench.parts.now
        // The lane is paused: the relay claims nothing itself.
        _ = try await bench.parts.outbox.accept(pushes, at: now)
        let claimed = try await bench.parts.outbox.claim(Self.lane, .immediate, limit: 3, at: now).pushes
        let dead = Outcome(.dead, status: 503, reason: "ServiceUnavailable", attempts: 16)
        try await bench.parts.outbox.settle(claimed.map { Settlement($0, .ended(dead)) }, at: now)

        let place = "/v1/apps/orders/dead-letters"
        #expect(await bench.ask("GET", place).json["dead-letters"]?.elements?.count == 3)
        let shown = await bench.ask("GET", "\(place)/\(pushes[0].id)")
        #expect(shown.status == 200 && shown.json["state"] == "dead" && shown.json["apns"]?["status"] == 503)
        #expect(shown.json["to"]?.stringValue == RelayBench.token.hex && shown.json["collapse-id"] == "o-0")
        #expect(shown.json["topic"] == "com.example.orders" && shown.json["push-type"] == "alert")
        #expect(shown.text.contains(#""payload":{"aps":{"alert":"Hi"},"b":1e400}"#))
        let odd = await bench.ask("GET", "\(place)/\(pushes[1].id)")
        #expect(odd.json["payload-base64"] == "bm8gSlNPTg==" && odd.json["payload"] == nil)
        let missing = await bench.ask("GET", "\(place)/\(Self.id)")
        #expect(missing.status == 404 && missing.text.contains("not among the dead letters of orders"))
        #expect(await bench.ask("GET", "\(place)/xyz").status == 400)
        #expect(await bench.ask("GET", "\(place)/\(pushes[0].id)", key: "both").status == 403)

        #expect(ids(await bench.ask("GET", "/v1/pushes?token=\(RelayBench.token.hex)")).count == 3)
        _ = await bench.ask("POST", "/v1/apps/orders/lanes/production/resume")
        let requeued = await bench.ask("POST", place + ":requeue", #"{"ids":["\#(pushes[2].id)"]}"#)
        #expect(requeued.json == ["requeued": 1])
        #expect(await bench.ask("GET", "/v1/pushes/\(pushes[2].id)?wait=60").json["state"] == "delivered")
        #expect(await bench.ask("GET", place).json["dead-letters"]?.elements?.count == 2)
        let discarded = await bench.ask("POST", place + ":discard", #"{"ids":["\#(pushes[1].id)","\#(Self.id)"]}"#)
        #expect(discarded.json == ["discarded": 1])
        #expect(await bench.ask("GET", place).json["dead-letters"]?.elements?.count == 1)
        #expect(await bench.ask("GET", "/v1/status").json["dead-letters"] == ["orders": 1])
        for body in ["", "{}"] { #expect(await bench.ask("POST", place + ":discard", body).status == 400) }
        await bench.stop()
    }
}
