// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletSimulator
import TestSupport
import Testing

/// The HTTP interface, as curl sees it.
@Suite(.timeLimit(.minutes(10))) struct InboxAPITests {
    @Test func `stored pushes are listed, newest first`() async throws {
        let bench = try await InboxBench(pushes: 5)
        let (status, body) = try await bench.get("/api/v1/pushes")
        #expect(status == "200")
        let list = try JSONReader.read(Array(body.utf8))
        #expect(list["total"]?.integerValue == 3 && list["cursor"]?.integerValue == 5)
        let pushes = elements(of: list["pushes"])
        #expect(pushes.map { $0["number"]?.integerValue } == [5, 4, 3])
        let newest = try #require(pushes.first)
        #expect(newest["device-token"]?.stringValue == "5d3a6a1c")
        #expect(newest["status"]?.integerValue == 200)
        #expect(newest["headers"]?["apns-topic"]?.stringValue == "com.example.app")
        #expect(newest["payload"]?["aps"]?["alert"]?["body"]?.stringValue == "push 4")
        #expect(newest["apns-id"]?.stringValue == APNsID(randomBits: (1, 4)).description)
        await bench.apns.stop()
    }

    @Test func `the total counts the pushes that the query matches`() async throws {
        let bench = try await InboxBench(pushes: 3)
        let list = try await bench.json("GET", "/api/v1/pushes?limit=1&query=body:2")
        #expect(list["total"]?.integerValue == 1 && list["cursor"]?.integerValue == 3)
        let rest = try await bench.json("GET", "/api/v1/pushes?before=2&query=body:push")
        #expect(rest["total"]?.integerValue == 3 && elements(of: rest["pushes"]).count == 1)
        await bench.apns.stop()
    }

    @Test func `a limit is observed`() async throws {
        let bench = try await InboxBench(pushes: 3)
        let list = try JSONReader.read(Array(try await bench.get("/api/v1/pushes?limit=1").body.utf8))
        #expect(elements(of: list["pushes"]).map { $0["number"]?.integerValue } == [3])
        await bench.apns.stop()
    }

    @Test(arguments: [
        ("/api/v1/pushes?limit=0", "400", #"limit must be a whole number from 1 to 1000 (found \"0\")"#),
        ("/api/v1/pushes?limit=many", "400", #"limit must be a whole number from 1 to 1000 (found \"many\")"#),
        ("/api/v1/pushes?page=2", "400", "unknown parameter page; known: query, utc-offset, limit, before, view"),
        ("/api/v1/pushes?limit=1&limit=2", "400", "the parameter limit must be given only once"),
        (
            "/api/v1/pushes/wait?timeout=400", "400",
            #"timeout must be a number of seconds from 0 to 300, as in 0.5 (found \"400\")"#
        ),
        ("/api/v1/pushes/wait?absent=1", "400", #"absent must be true or false (found \"1\")"#),
        ("/api/v1/pushes/7", "404", "push 7 was never received"),
        (
            "/api/v1/pushes?query=is:loud", "400",
            "unknown value is:loud; known: silent, faulted, accepted, refused, broadcast, composed"
        ),
        ("/api/v2", "404", "/api/v2 does not exist"),
    ])
    func `an invalid request is answered with a status and a detail`(path: String, status: String, detail: String)
        async throws
    {
        let bench = try await InboxBench()
        let answer = try await bench.get(path)
        #expect(answer.status == status)
        #expect(answer.body.hasPrefix(#"{"status":\#(status),"detail":"\#(detail)"#), "\(answer.body)")
        await bench.apns.stop()
    }

    @Test(arguments: [
        ("GET", "/api/v1/pushes/mrt_short"), ("GET", "/api/v1/pushes?query=is:mrt_short"),
        ("DELETE", "/api/v1/keys/mrt_short"), ("DELETE", "/api/v1/namespaces/mrt_short"),
        ("DELETE", "/api/v1/schemas/com.example.app/mrt_short"), ("DELETE", "/api/v1/chaos/rules/mrt_short"),
        ("DELETE", "/api/v1/strings/mrt_short"), ("GET", "/api/v1/strings/mrt_short/en"),
        ("DELETE", "/api/v1/channels?app=mrt_short&channel=YQ"),
    ])
    func `a part of a path that may be a secret is not shown`(method: String, path: String) async throws {
        let bench = try await InboxBench()
        let answer = try await bench.send(method, path)
        #expect(answer.status.hasPrefix("4") && answer.body.contains("(not shown"), "\(answer)")
        #expect(!answer.body.contains("mrt_"), "\(answer)")
        await bench.apns.stop()
    }

    @Test func `other methods and health are answered`() async throws {
        let bench = try await InboxBench()
        #expect(try await bench.get("/api/v1/pushes", "--request", "PATCH").status == "405")
        #expect(try await bench.get("/readyz") == ("200", "ok\n"))
        #expect(try await bench.get("/livez") == ("200", "ok\n"))
        #expect(try await bench.get("/", "--head").status == "200")
        await bench.apns.stop()
    }

    @Test func `pushes are found by a query, by number and as the latest`() async throws {
        let bench = try await InboxBench(pushes: 3)
        let found = try JSONReader.read(Array(try await bench.get("/api/v1/pushes?query=body:1").body.utf8))
        #expect(elements(of: found["pushes"]).map { $0["number"]?.integerValue } == [2])
        let older = try JSONReader.read(Array(try await bench.get("/api/v1/pushes?before=2").body.utf8))
        #expect(elements(of: older["pushes"]).map { $0["number"]?.integerValue } == [1])
        let latest = try JSONReader.read(Array(try await bench.get("/api/v1/pushes/latest").body.utf8))
        #expect(latest["number"]?.integerValue == 3)
        #expect(try await bench.get("/api/v1/pushes/1/payload").body == #"{"aps":{"alert":{"body":"push 0"}}}"#)
        #expect(try await bench.send("DELETE", "/api/v1/pushes/2").status == "204")
        #expect(try await bench.send("DELETE", "/api/v1/pushes?query=body:0").body == #"{"forgotten":1}"#)
        #expect(try await bench.send("DELETE", "/api/v1/pushes").body == #"{"forgotten":1}"#)
        #expect(try await bench.get("/api/v1/pushes/1").status == "404")
        #expect(try await bench.get("/api/v1/cursor").body == #"{"cursor":3}"#)
        await bench.apns.stop()
    }

    @Test func `a wait ends with the pushes or the near misses`() async throws {
        let bench = try await InboxBench(pushes: 2)
        let found = try await bench.get("/api/v1/pushes/wait?query=body:push&count=2")
        #expect(found.status == "200")
        #expect(try JSONReader.read(Array(found.body.utf8))["cursor"]?.integerValue == 2)
        let missed = try await bench.get("/api/v1/pushes/wait?query=body:push%20status:410&timeout=0")
        #expect(missed.status == "408")
        let misses = try JSONReader.read(Array(missed.body.utf8))["near-misses"]
        #expect(elements(of: misses).first?["misses"] == ["status:410"])
        let absent = try await bench.get("/api/v1/pushes/wait?query=type:voip&timeout=0&absent=true")
        #expect(absent.status == "200")
        #expect(try await bench.get("/api/v1/pushes/wait?since=1&absent=true").status == "409")
        await bench.apns.stop()
    }

    @Test func `devices, faults and rules are set and read with curl`() async throws {
        let bench = try await InboxBench()
        let device = #"{"topics":["com.example.app"],"unregistered-at":1790000000000}"#
        #expect(try await bench.send("PUT", "/api/v1/devices/5d3a6a1c", device).status == "204")
        #expect(try await bench.send("PUT", "/api/v1/devices/martlet", device).status == "400")
        for wrong in [
            #"{"topic":"x"}"#, #"{"topics":[1]}"#, #"{"environment":"production"}"#,
            #"{"topics":["a"],"online":"yes"}"#, #"{"unregistered-at":1790000000}"#,
        ] {
            #expect(try await bench.send("PUT", "/api/v1/devices/5d3a", wrong).status == "400")
        }
        #expect(try await bench.get("/api/v1/devices/5d3a").status == "404", "nothing of it was done")
        let chaos = #"{"seed":7,"presets":["flaky"],"rules":[{"do":"respond","reason":"TooManyRequests","count":1}]}"#
        let state = try await bench.json("PUT", "/api/v1/chaos", chaos)
        #expect(state["seed"]?.integerValue == 7 && state["rules"]?.elements?.count == 4)
        for (wrong, word) in [
            (#"{"presets":["rainy"]}"#, "flaky"), (#"{"rules":[{"do":"dance"}]}"#, "rules[0].do must be one of"),
            (#"{"rules":[{"do":"hang","odds":1}]}"#, "rules[0].odds is unknown"), (#"{"seed":"7"}"#, "seed"),
            (
                #"{"rules":[{"do":"refuse-connections","limit":9223372036854775807}]}"#,
                "limit must be an integer from 0 to 1000000"
            ),
            (#"{"rules":[{"do":"goaway","includes-request":"no"}]}"#, "includes-request"),
            (#"{"rules":1}"#, "must be an array"),
            (#"{"rules":[{"do":"respond","reason":"TooManyRequest"}]}"#, "TooManyRequest"),
            (#"{"rules":[{"do":"hang","probability":2}]}"#, "probability"), ("[]", "object"), ("{", "not valid JSON"),
        ] {
            let answer = try await bench.send("PUT", "/api/v1/chaos", wrong)
            #expect(answer.status == "400" && answer.body.contains(word), "\(answer.body)")
        }
        #expect(try await bench.get("/api/v1/chaos").body.contains(#""name":"flaky""#))
        let lint = try await bench.send("POST", "/api/v1/lint", #"{"headers":{},"payload":{"aps":{"Badge":1}}}"#)
        for wrong in [#"{"headers":[]}"#, #"{"headers":{"apns-priority":10}}"#] {
            #expect(try await bench.send("POST", "/api/v1/lint", wrong).status == "400")
        }
        #expect(lint.body.contains("topic-missing") && lint.body.contains("aps-key-unknown"))
        #expect(lint.body.contains(#""page":"https://developer.apple.com/"#))
        #expect(lint.body.contains(#""sound":{"text":"no sound","cause":"aps.sound is missing""#), "\(lint.body)")
        #expect(await bench.apns.pushes.isEmpty)

        let client = try PushClient(
            await bench.apns.endpoint,
            authentication: .token(.ephemeral()),
            configuration: .init(additionalAuthorities: bench.apns.authorityPEM, retry: .none)
        )
        let refused = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a"), topic: "com.example.app")
        }
        #expect(refused?.reason == .tooManyRequests)
        let more = try await bench.json("POST", "/api/v1/chaos/rules", #"{"do":"hang","count":2}"#)
        #expect(more["rules"]?.elements?.last == ["do": "hang", "count": 2])
        #expect(try await bench.send("DELETE", "/api/v1/chaos/rules/5").status == "404")
        #expect(try await bench.json("DELETE", "/api/v1/chaos/rules/0")["rules"]?.elements?.count == 4)
        #expect(try await bench.json("PUT", "/api/v1/chaos", "{}")["rules"] == [])
        let gone = await #expect(throws: APNsError.self) {
            try await client.send(.alert("Hi"), to: DeviceToken(hex: "5d3a6a1c"), topic: "com.example.app")
        }
        #expect(gone?.unregisteredAt == Date(timeIntervalSince1970: 1_790_000_000))
        let metrics = try await bench.get("/metrics").body
        #expect(metrics.contains(#"martlet_simulator_pushes_total{status="410"} 1"#))
        await client.close()
        await bench.apns.stop()
    }

    @Test func `a fault may give a reason that Apple does not know, with a status`() async throws {
        let bench = try await InboxBench()
        let rule = #"{"rules":[{"do":"respond","reason":"Tomorrow","status":418}]}"#
        #expect(try await bench.send("PUT", "/api/v1/chaos", rule).status == "200")
        await bench.apns.stop()
    }

    @Test func `keys are listed as they were registered`() async throws {
        let bench = try await InboxBench()
        let pem = try SigningKey.ephemeral().publicKeyPEM()
        func put(_ id: String, _ more: JSONValue.Member...) async throws {
            let own: [JSONValue.Member] = [.init("team-id", "TEAM000001"), .init("public-key", .string(pem))]
            let body = String(decoding: JSONValue.object(own + more).encoded(), as: UTF8.self)
            #expect(try await bench.send("PUT", "/api/v1/keys/\(id)", body).status == "204")
        }
        try await put("KEY0000001")
        try await put("KEY0000002", .init("environment", "production"))
        try await put(
            "KEY0000003",
            .init("environment", "development"),
            .init("topics", ["com.example.b", "com.example.a"]),
            .init("related", ["KEY0000004"])
        )
        #expect(
            try await bench.json("GET", "/api/v1/keys")["keys"] == [
                ["key-id": "KEY0000001", "team-id": "TEAM000001"],
                ["key-id": "KEY0000002", "team-id": "TEAM000001", "environment": "production"],
                [
                    "key-id": "KEY0000003", "team-id": "TEAM000001", "environment": "development",
                    "topics": ["com.example.a", "com.example.b"], "related": ["KEY0000004"],
                ],
            ]
        )
        await bench.apns.stop()
    }

    @Test func `a push after a reset does not count as repeated`() async throws {
        let bench = try await InboxBench()
        let push =
            #"{"device-token":"5d3a","headers":{"apns-topic":"com.example.app","apns-push-type":"alert"},"#
            + #""payload":{"aps":{"alert":"Hi"}}}"#
        let one = "/api/v1/pushes?query=device:5d3a"
        for (path, count) in [("/api/v1/pushes", 0), (one, 0), (nil, 1)] as [(String?, Int)] {
            _ = try await bench.send("POST", "/api/v1/pushes", push)
            if let path { _ = try await bench.send("DELETE", path) }
            _ = try await bench.send("POST", "/api/v1/pushes", push)
            let findings = await bench.apns.pushes.last?.findings.filter { $0.rule == "device-token-repeated" }
            #expect(findings?.count == count, "\(path ?? "")")
            let first = await bench.apns.pushes.first?.findings.map(\.message) ?? []
            #expect(first.contains { $0.hasPrefix("push 6 to this device is the same") } == (path == nil))
            _ = try await bench.send("DELETE", "/api/v1/pushes")
        }
        await bench.apns.stop()
    }

    @Test func `the interface describes every route`() async throws {
        let bench = try await InboxBench()
        let document = try JSONReader.read(Array(try await bench.get("/openapi.json").body.utf8))
        let paths = document["paths"]
        #expect(paths?["/api/v1/pushes"]?.members?.map(\.name) == ["get", "delete", "post"])
        #expect(paths?["/api/v1/devices/{token}"]?["put"]?["parameters"] != nil)
        await bench.apns.stop()
    }

    private func elements(of list: JSONValue?) -> [JSONValue] { list?.elements ?? [] }
}
