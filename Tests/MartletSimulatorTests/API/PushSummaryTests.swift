// SPDX-License-Identifier: Apache-2.0

import Foundation
import Martlet
import MartletCore
import TestSupport
import Testing

@testable import MartletSimulator

/// The short form of pushes in lists and in events.
@Suite(.timeLimit(.minutes(10))) struct PushSummaryTests {
    private func excerpt(_ payload: String) -> JSONValue? {
        ReceivedPush.sample(1, payload).summary["payload"]
    }

    private func value(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    @Test(arguments: [
        (#"{"aps":{"alert":"Hi","sound":"default","badge":3},"order":{"id":4}}"#, nil),
        (#"{"aps":{"alert":"Hi","mutable-content":1,"badge":3}}"#, #"{"aps":{"alert":"Hi","badge":3}}"#),
        (
            #"{"aps":{"alert":{"title-loc-key":"T","title-loc-args":["a",2,[3]],"launch-image":"x","body":"B"}}}"#,
            #"{"aps":{"alert":{"title-loc-key":"T","title-loc-args":["a",2],"body":"B"}}}"#
        ),
        (
            #"{"aps":{"sound":{"critical":1,"name":"a","volume":0.5},"interruption-level":"critical"}}"#,
            #"{"aps":{"sound":{"critical":1,"name":"a","volume":0.5},"interruption-level":"critical"}}"#
        ),
        (
            #"{"aps":{"event":"update","timestamp":7,"content-state":{"status":"here","driver":{"name":"A"}}}}"#,
            #"{"aps":{"event":"update","content-state":{"status":"here"}}}"#
        ),
        (
            #"{"aps":{"content-changed":true},"surfaceSnapshot":{"kind":"widget","widget":{"title":"T","value":4}}}"#,
            #"{"aps":{},"surfaceSnapshot":{"kind":"widget","widget":{"title":"T"}}}"#
        ),
        (#"{"aps":{"thread-id":["a"],"category":"C","badge":{}}}"#, #"{"aps":{"category":"C"}}"#),
        (
            #"{"aps":{"content-state":{"minutes":8,"driver":{"name":"A"},"gate":"B","late":false,"more":1}}}"#,
            #"{"aps":{"content-state":{"minutes":8,"gate":"B","late":false}}}"#
        ),
        (#"{"aps":{"alert":{"title":{"a":{"b":1}}},"content-state":3}}"#, #"{"aps":{"alert":{"title":{}}}}"#),
        (#"{"aps":[1],"surfaceSnapshot":{"kind":4}}"#, #"{"aps":{}}"#), ("[1]", "{}"),
    ])
    func `the excerpt has what a row of a list shows`(payload: String, excerpt: String?) throws {
        let expected = try value(excerpt ?? #"{"aps":{"alert":"Hi","sound":"default","badge":3}}"#)
        #expect(self.excerpt(payload) == expected)
    }

    @Test func `long texts, numbers and lists are shortened`() throws {
        let long = String(repeating: "é", count: 3_000)
        let list = Array(repeating: "1", count: 500).joined(separator: ",")
        let number = "1." + String(repeating: "0", count: 900)
        let payload =
            #"{"aps":{"alert":{"title":"\#(long)","loc-args":[\#(list)],"body":\#(number)},"#
            + #""sound":{"name":"\#(long)"},"content-state":{"title":"\#(long)"}}}"#
        let aps = try #require(excerpt(payload)?["aps"])
        #expect(aps["alert"]?["title"]?.stringValue == String(long.prefix(200)))
        #expect(aps["alert"]?["loc-args"]?.elements?.count == 10 && aps["alert"]?["body"] == nil)
        #expect(aps["content-state"]?["title"]?.stringValue?.count == 200)
        #expect(aps.encoded().count < 1_500)
    }

    @Test func `times are read in milliseconds, and in seconds from JSON without them`() throws {
        let push = ReceivedPush.sample(at: 1_790_000_000_250)
        let record = push.record
        #expect(record["time"] == 1_790_000_000 && record["time-ms"] == 1_790_000_000_250)
        #expect(push.date == Date(timeIntervalSince1970: 1_790_000_000.25))
        #expect(try ReceivedPush(record: record).time == push.time)
        let members = (record.members ?? []).filter { $0.name != "time-ms" }
        #expect(try ReceivedPush(record: .object(members)).time == 1_790_000_000_000)
    }

    @Test func `a summary has the facts, and of findings only rule and severity`() throws {
        var push = ReceivedPush.sample(
            7,
            app: nil,
            headers: PushHeaders(topic: "app", collapseID: "c"),
            #"{"aps":{"Badge":1}}"#
        )
        push.record(DeliveryEvent(.delivered, at: 3))
        let (whole, summary) = (push.json, push.summary)
        let names = (summary.members ?? []).map(\.name)
        let omitted = ["deliveries", "observations", "presentation"]
        let wholeNames = (whole.members ?? []).map(\.name).filter { !omitted.contains($0) }
        #expect(names.filter { $0 != "size" } == wholeNames && summary["size"] == 19)
        let shortened = ["payload", "findings", "verdict", "size"]
        for name in names where !shortened.contains(name) { #expect(summary[name] == whole[name]) }
        let verdict = push.verdict
        #expect(summary["verdict"] == ["kind": .string(verdict.kind.rawValue), "text": .string(verdict.text)])
        let findings = try #require(summary["findings"]?.elements)
        #expect(findings.count == push.findings.count && !findings.isEmpty)
        for (finding, full) in zip(findings, push.findings) {
            #expect(finding == ["rule": .string(full.rule), "severity": .string(full.severity.rawValue)])
        }
    }

    @Test func `an alert without a sound is marked`() {
        func hasNoSound(_ payload: String) -> Bool {
            let headers = PushHeaders(pushType: "alert", topic: "app")
            return ReceivedPush.sample(headers: headers, payload).summary["no-sound"] == true
        }
        #expect(hasNoSound(#"{"aps":{"alert":"A"}}"#) && hasNoSound(#"{"aps":{"alert":"A","sound":""}}"#))
        #expect(!hasNoSound(#"{"aps":{"alert":"A","sound":"default"}}"#) && !hasNoSound(#"{"aps":{"badge":1}}"#))
    }

    private static let activityPushes: [(String, PushLint.Rule?, Bool)] = [
        ("update", nil, true), ("update", .activityTimestampOlder, true), ("update", .activityDeviceToken, false),
        ("update", .activityTokenWrong, false), ("start", nil, false), ("start", .activityTokenWrong, true),
        ("start", .activityDeviceToken, false),
    ]

    @Test(arguments: activityPushes)
    func `a push to the token of a Live Activity is marked`(event: String, rule: PushLint.Rule?, isMarked: Bool) {
        let headers = PushHeaders(pushType: "liveactivity", topic: "app.push-type.liveactivity")
        var push = ReceivedPush.sample(headers: headers, #"{"aps":{"event":"\#(event)"}}"#)
        push.observations = rule.map { [PushLint.Finding($0, .header(":path"), "ignored")] } ?? []
        let expected: JSONValue? = isMarked ? true : nil
        #expect(push.summary["activity-token"] == expected)
        #expect(ReceivedPush.sample(1, #"{"aps":{"event":"\#(event)"}}"#).summary["activity-token"] == nil)
    }

    @Test func `a payload that is not JSON has no excerpt`() {
        let summary = ReceivedPush.sample(1, "{").summary
        #expect(summary["payload"] == nil && summary["payload-text"] == nil && summary["findings"] != [])
    }

    @Test func `a list of summaries may be longer`() async throws {
        let bench = try await InboxBench(pushes: 3)
        let list = try await bench.json("GET", "/api/v1/pushes?view=summary&limit=5000&before=3")
        #expect(list["total"]?.integerValue == 3 && list["cursor"]?.integerValue == 3)
        let pushes = list["pushes"]?.elements ?? []
        #expect(pushes.map { $0["number"]?.integerValue } == [2, 1])
        #expect(pushes.allSatisfy { $0["deliveries"] == nil && $0["payload"]?["aps"]?["alert"] != nil })
        #expect(try await bench.get("/api/v1/pushes?limit=5000").status == "400")
        #expect(try await bench.get("/api/v1/pushes?view=summary&limit=5001").status == "400")
        #expect(try await bench.get("/api/v1/pushes?view=short").body.contains("view must be full or summary"))
        let full = try await bench.json("GET", "/api/v1/pushes?view=full&query=body:push&before=2")
        #expect(full["pushes"]?.elements?.first?["deliveries"] != nil)
        await bench.apns.stop()
    }

    @Test func `events can have summaries`() async throws {
        let bench = try await InboxBench(pushes: 2)
        let push = try #require(await bench.apns.inbox.newest)
        #expect(
            SimulatorEvent.received(push).bytes(matching: .everything, .summary)
                == Array("event: push\nid: 2\ndata: ".utf8) + push.summary.encoded() + Array("\n\n".utf8)
        )
        #expect(
            SimulatorEvent.changed(push).bytes(matching: .everything, .summary)
                == Array("event: changed\ndata: ".utf8) + push.summary.encoded() + Array("\n\n".utf8)
        )
        let port = try #require(await bench.apns.inboxPort)
        let client = try RawClient(port: port)
        client.send("GET /api/v1/events?view=summary HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 1\r\n\r\n")
        let event = await client.read(until: "}\n\n\r\n")
        #expect(event.contains(String(decoding: push.summary.encoded(), as: UTF8.self)))
        await bench.apns.stop()
    }
}
