// SPDX-License-Identifier: Apache-2.0

import Martlet
import TestSupport
import Testing

@testable import MartletSimulator

/// Tags, pins, nicknames, the log of a device, and the description of the query language over HTTP.
@Suite(.timeLimit(.minutes(10))) struct InboxLabelsTests {
    @Test func `a push is found by its number, its identifier, and as the latest`() async throws {
        let bench = try await InboxBench(pushes: 5)
        let latest = try await bench.json("GET", "/api/v1/pushes/latest")
        let id = try #require(latest["apns-id"]?.stringValue)
        #expect(try await bench.json("GET", "/api/v1/pushes/\(id)")["number"] == 5)
        #expect(try await bench.json("GET", "/api/v1/pushes/\(id.uppercased())")["number"] == 5)
        #expect(try await bench.get("/api/v1/pushes/\(id)/payload").body.contains("push 4"))
        for (name, detail) in [
            ("1", "push 1 is no longer stored"), ("6", "push 6 was never received: the newest has number 5"),
            ("123e4567-e89b-12d3-a456-4266554400a0", "no stored push has the apns-id"),
        ] {
            let missing = try await bench.get("/api/v1/pushes/\(name)")
            #expect(missing.status == "404" && missing.body.contains(detail), "\(missing.body)")
        }
        await bench.apns.stop()
    }

    @Test func `tags and pins are set, found, and protect from deletion`() async throws {
        let bench = try await InboxBench(pushes: 3)
        let path = "/api/v1/pushes/1/tags"
        #expect(try await bench.send("PUT", path, #"{"tags":["checkout","checkout"],"pinned":true}"#).status == "204")
        #expect(try await bench.send("PUT", path, "{}").status == "204")
        let push = try await bench.json("GET", "/api/v1/pushes/1")
        #expect(push["tags"] == ["checkout"] && push["pinned"] == true)
        try await bench.push(3)
        #expect(await bench.apns.pushes.map(\.number) == [1, 4, 5, 6])
        #expect(try await bench.json("DELETE", "/api/v1/pushes") == ["forgotten": 3, "pinned": 1])
        let found = try await bench.json("GET", "/api/v1/pushes?query=tag:checkout+is:pinned")
        #expect(found["pushes"]?.elements?.map { $0["number"] } == [1])
        #expect(try await bench.send("PUT", path, #"{"tags":[],"pinned":false}"#).status == "204")
        #expect(try await bench.json("DELETE", "/api/v1/pushes") == ["forgotten": 1])
        await bench.apns.stop()
    }

    @Test(arguments: [
        (#"{"tags":"a"}"#, "tags must be an array"), (#"{"tags":[""]}"#, "tags[0] must have 1 to 40 characters"),
        (#"{"tags":[" "]}"#, "white space"), (#"{"tags":["a\nb"]}"#, "control characters"),
        (#"{"pinned":1}"#, "pinned must be"), (#"{"pin":true}"#, "pin is unknown"),
    ])
    func `invalid labels are refused with the rule`(body: String, rule: String) async throws {
        let bench = try await InboxBench(pushes: 1)
        let refused = try await bench.send("PUT", "/api/v1/pushes/1/tags", body)
        #expect(refused.status == "400" && refused.body.contains(rule), "\(refused.body)")
        let long = #"{"name":"\#(String(repeating: "x", count: 61))"}"#
        let name = try await bench.send("PUT", "/api/v1/devices/5d3a6a1c", long)
        #expect(name.status == "400" && name.body.contains("name must have 0 to 60 characters (found 61)"))
        #expect(try await bench.send("PUT", "/api/v1/pushes/2/tags", "{}").status == "404")
        await bench.apns.stop()
    }

    @Test func `devices of pushes have nicknames, a log, and a notification center`() async throws {
        let bench = try await InboxBench(pushes: 2)
        let token = "5d3a6a1c"
        #expect(try await bench.json("GET", "/api/v1/devices") == ["devices": []], "none is registered")
        #expect(try await bench.send("PUT", "/api/v1/devices/\(token)", #"{"name":"Anna"}"#).status == "204")
        try await bench.push(1)
        let devices = try await bench.json("GET", "/api/v1/devices?details=true")["devices"]?.elements ?? []
        #expect(devices.count == 1 && devices[0]["token"] == .string(token) && devices[0]["name"] == "Anna")
        #expect(devices[0]["registered"] == false && devices[0]["pushes"] == 3)
        #expect(devices[0]["apps"] == ["com.example.app"] && devices[0]["last"]?.integerValue != nil)
        let push = try await bench.json("GET", "/api/v1/pushes/1")
        #expect(push["device-name"] == "Anna" && push["verdict"]?["kind"] == "shown")
        #expect((push["time-ms"]?.integerValue ?? 0) / 1_000 == push["time"]?.integerValue)
        #expect(push["deliveries"]?.elements?.first?["time-ms"] == push["time-ms"])
        #expect(try await bench.json("GET", "/api/v1/devices/\(token)")["name"] == "Anna")
        let log = try await bench.json("GET", "/api/v1/devices/\(token)/log?limit=2")["events"]?.elements ?? []
        #expect(log.map { $0["number"] } == [3, 2] && log[0]["kind"] == "delivered")
        #expect(log[0]["push"]?["number"] == 3 && log[0]["push"]?["verdict"]?["kind"] == "shown")
        let center = try await bench.json("GET", "/api/v1/devices/\(token)/notifications")
        #expect(center["total"] == 3 && center["pushes"]?.elements?.map { $0["number"] } == [3, 2, 1])
        #expect(try await bench.get("/api/v1/devices/ffff/log").status == "404")
        #expect(try await bench.send("PUT", "/api/v1/devices/\(token)", #"{"name":""}"#).status == "204")
        #expect(try await bench.json("GET", "/api/v1/pushes/1")["device-name"] == nil)
        await bench.apns.stop()
    }

    @Test func `the log of a device has refusals and the events of broadcasts`() {
        var refused = ReceivedPush.sample(1, at: 5_250, to: "AB", #"{"aps":{"alert":"A"}}"#)
        refused.status = 410
        refused.reason = .unregistered
        let refusal: JSONValue = [
            "time": 5, "time-ms": 5_250, "number": 1, "kind": "refused", "note": "Unregistered",
            "push": refused.summary,
        ]
        #expect(refused.log(ofDevice: "ab").map(\.json) == [refusal])
        var unanswered = ReceivedPush.sample(1, at: 5_000, to: "AB", #"{"aps":{"alert":"A"}}"#)
        unanswered.loseAnswer(to: .client)
        let loss: JSONValue = [
            "time": 5, "time-ms": 5_000, "number": 1, "kind": "unanswered",
            "note": "the client left before it was sent", "push": unanswered.summary,
        ]
        #expect(unanswered.log(ofDevice: "ab").map(\.json) == [loss])
        var broadcast = ReceivedPush.sample(2, app: "app", channel: "c")
        broadcast.record(DeliveryEvent(.delivered, at: 6_250).at(device: "ab"))
        broadcast.record(DeliveryEvent(.ignored, at: 6_250, "late").at(device: "cd"))
        let delivery: JSONValue = [
            "time": 6, "time-ms": 6_250, "number": 2, "kind": "delivered",
            "push": broadcast.summary(atDevice: "ab"),
        ]
        #expect(broadcast.log(ofDevice: "ab").map(\.json) == [delivery])
        #expect(broadcast.log(ofDevice: "cd").map(\.json["note"]) == ["late"])
        #expect(broadcast.log(ofDevice: "cd").map { $0.json["push"]?["verdict"]?["kind"] } == ["not-shown"])
    }

    @Test func `the query language describes itself, and an error names the term`() async throws {
        let bench = try await InboxBench()
        let fields = try await bench.json("GET", "/api/v1/query")["fields"]?.elements ?? []
        #expect(fields.count == PushQuery.Field.allCases.count)
        let verdict = try #require(fields.first { $0["name"] == "verdict" })
        #expect(verdict["values"]?.elements?.contains("not-shown") == true)
        #expect(verdict["summary"] == "the result of the push" && verdict["example"] == "verdict:not-shown")
        let problem = try await bench.json("GET", "/api/v1/pushes?query=type:alert+verdict:x")
        #expect(problem["status"] == 400 && problem["term"] == "verdict:x" && problem["detail"]?.stringValue != nil)
        await bench.apns.stop()
    }

    @Test func `labels and nicknames are archived, exported and imported`() async throws {
        let scratch = try ScratchDirectory()
        var configuration = SimulatedAPNs.Configuration(isEncrypted: false, dataFile: scratch.path + "/pushes.sqlite")
        let first = try await SimulatedAPNs.start(configuration)
        let client = try PushClient(await first.endpoint, authentication: .token(.ephemeral()))
        let token = try DeviceToken(hex: "5d3a6a1c")
        for _ in 0..<3 { try await client.send(.alert("Hi"), to: token, topic: "com.example.app") }
        #expect(await InboxAPI.setName("Anna", of: token, in: first))
        #expect(await first.inbox.label(1, tags: ["checkout"], isPinned: true))
        let pushes = await first.pushes
        await client.close()
        await first.stop()
        configuration.storedPushes = 1
        let second = try await SimulatedAPNs.start(configuration)
        #expect(await second.pushes == [pushes[0], pushes[2]])
        #expect(await second.pushes.map(\.labels.deviceName) == ["Anna", "Anna"])
        #expect(await InboxAPI.setName(nil, of: token, in: second))
        await second.stop()
        let third = try await SimulatedAPNs.start(configuration)
        #expect(await third.inbox.names.isEmpty)
        _ = await InboxAPI.add(pushes.map(\.json), to: third)
        #expect(await third.pushes.map(\.labels.tags) == [["checkout"], ["checkout"], []])
        #expect(await third.pushes.map(\.labels.deviceName) == ["Anna", "Anna", "Anna"])
        await third.stop()
    }
}
