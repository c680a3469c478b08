// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import MartletHTTPServer
import MartletServer
import MartletTransport
import Testing

@testable import MartletSimulator

/// The comparison of the content of a Live Activity with the content on screen.
@Suite(.timeLimit(.minutes(10))) struct ContentStateRulesTests {
    private static let token = "ac7e"
    private static let now: Int64 = 1_795_000_000

    private var machine = ServiceMachine(SimulatedAPNs.Configuration(seed: 1))
    private var number = 0

    /// Receives a push with this content state from the inbox page.
    private mutating func receive(
        _ state: String,
        _ event: String = "update",
        age: Int64 = 0,
        to path: String = "/3/device/" + Self.token,
        channel: ChannelID? = nil
    ) -> ReceivedPush {
        number += 1
        let timestamp = Self.now + Int64(number) - age
        let payload = #"{"aps":{"timestamp":\#(timestamp),"event":"\#(event)","content-state":\#(state)}}"#
        var fields: HTTPFields = [
            ":method": "POST", ":path": path, "apns-push-type": "liveactivity", "apns-priority": "5",
        ]
        if let channel {
            fields.append("apns-channel-id", channel.rawValue)
            fields.append("apns-expiration", "0")
        } else {
            fields.append("apns-topic", "com.example.app.push-type.liveactivity")
        }
        let request = APNsRequest(composed: fields, Array(payload.utf8))
        let decision = machine.decide(onComposed: request, at: Self.now * 1_000)
        var client = ClientState()
        return machine.record(
            request,
            decision,
            number: number,
            in: nil,
            over: ReceivedPush.noConnection,
            from: &client,
            at: Self.now * 1_000
        ).push
    }

    @Test mutating func `a value whose type changed is found`() throws {
        #expect(receive(#"{"minutesLeft":5}"#).findings.isEmpty)
        #expect(receive(#"{"minutesLeft":4.5}"#).findings.isEmpty)
        let push = receive(#"{"minutesLeft":"1"}"#)
        let finding = try #require(push.findings.first)
        #expect(push.findings.count == 1 && finding.rule == "activity-state-type-changed")
        #expect(finding.severity == .warning && finding.place.description == "payload/aps/content-state/minutesLeft")
        #expect(finding.message.hasPrefix("minutesLeft was a number in push 2, and is a string: the phone drops"))
        #expect(push.verdict.kind == .shown && push.verdict.json["uncertain"] == true)
        let doubt = "the app may not decode it (minutesLeft was a number in push 2, and is a string)"
        #expect(push.verdict.text == "Delivered · Live Activity updates · \(doubt)")
        #expect(receive(#"{"minutesLeft":3}"#).findings.isEmpty, "content of the wrong type is no standard")
        #expect(receive(#"{"minutesLeft":"0"}"#).findings.first?.message.contains("in push 4, and is") == true)
    }

    @Test mutating func `a value is compared with the last content that has it`() {
        _ = receive(#"{"stage":"Cooking","minutes":5,"driver":{"seats":4}}"#)
        _ = receive(#"{"stage":"Cooking","driver":{}}"#)
        _ = receive(#"{"stage":"Near","driver":null}"#)
        let push = receive(#"{"stage":"Near","minutes":"3","driver":{"seats":"4"}}"#)
        #expect(push.findings.map(\.rule) == ["activity-state-type-changed", "activity-state-type-changed"])
        let messages = push.findings.map(\.message)
        #expect(messages.contains { $0.hasPrefix("minutes was a number in push 1, and is a string") }, "\(messages)")
        #expect(messages.contains { $0.hasPrefix("driver.seats was a number in push 1, and is") }, "\(messages)")
        #expect(receive(#"{"stage":"Near","minutes":3,"driver":{"seats":4}}"#).findings.isEmpty)
    }

    @Test mutating func `content that the app cannot decode is not shown`() throws {
        let schema = try JSONSchema(
            JSONReader.read(Array(#"{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}"#.utf8))
        )
        try machine.contracts.set(
            ActivityContract(topic: "com.example.app", attributesType: "Ride", contentState: schema)
        )
        #expect(receive(#"{"n":1}"#).verdict.kind == .shown)
        let push = receive(#"{"n":"2"}"#)
        #expect(push.findings.map(\.rule) == ["contract-content-state"])
        #expect(push.verdict.kind == .notShown && push.verdict.json["uncertain"] == nil)
        #expect(push.verdict.text.hasPrefix("Not shown: the phone cannot decode content-state: /n is a string"))
        #expect(push.verdict.parts.first?.place == .payload("/aps/content-state"))
        let event = try #require(push.deliveries.first)
        #expect(try DeliveryEvent(APIField(event.json, named: "")) == event)
        let activity = try #require(machine.evaluator.devices[Self.token]?.activity)
        #expect(activity.contentState == Array(#"{"n":1}"#.utf8))
        #expect(receive(#"{"n":3}"#).verdict.kind == .shown, "the earlier content had the older timestamp")
    }

    @Test mutating func `a member that is missing is found`() throws {
        _ = receive(#"{"stage":"Ordered","driver":{"name":"Kim","seats":4}}"#)
        let push = receive(#"{"driver":{"name":"Kim"}}"#)
        #expect(push.findings.map(\.rule) == ["activity-state-member-lost", "activity-state-member-lost"])
        #expect(
            push.findings.map(\.message).allSatisfy { $0.contains(" was in push 1, and is missing") },
            "\(push.findings)"
        )
        #expect(push.findings.map { $0.message.prefix(12) } == ["stage was in", "driver.seats"])
        #expect(push.verdict.text.hasSuffix("the app may not decode it (stage was in push 1, and is missing)"))
        #expect(receive(#"{"driver":{"name":"Kim"},"eta":1}"#).findings.isEmpty, "a new member is optional")
    }

    @Test(arguments: [
        (#"{"n":1,"at":null}"#, #"{"n":2}"#), (#"{"n":1}"#, #"{"n":2,"at":3}"#),
        (#"{"phase":{"running":{"n":1}}}"#, #"{"phase":{"paused":{}}}"#), (#"{"list":[1]}"#, #"{"list":["a"]}"#),
    ])
    mutating func `a form that one type decodes is no mistake`(before: String, after: String) {
        _ = receive(before)
        let findings = receive(after).findings.filter { $0.rule.hasPrefix("activity-state") }
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test mutating func `content that the device ignores, and content after a contract, is not compared`() throws {
        _ = receive(#"{"n":1}"#)
        #expect(receive(#"{"n":"1"}"#, age: 100).findings.map(\.rule) == ["activity-timestamp-older"])
        let contract = try ActivityContract(
            topic: "com.example.app",
            attributesType: "Ride",
            contentState: JSONSchema(true)
        )
        try machine.contracts.set(contract)
        #expect(receive(#"{"n":"1"}"#).findings.isEmpty)
        machine.contracts.remove("Ride", topic: "com.example.app")
        _ = receive(#"{"n":"1"}"#, "end")
        #expect(receive(#"{"n":1}"#).findings.map(\.rule) == ["activity-after-end"])
    }

    @Test mutating func `content of an end with an old timestamp is shown`() {
        _ = receive(#"{"n":1}"#)
        let push = receive(#"{"n":"2"}"#, "end", age: 100)
        #expect(push.findings.map(\.rule) == ["activity-state-type-changed", "activity-end-not-newer"])
        #expect(push.verdict.kind == .shown, "\(push.verdict)")
        #expect(push.verdict.text.hasPrefix("Delivered · Live Activity ends · stays for up to 4 hours"))
        #expect(machine.evaluator.devices[Self.token]?.activity?.contentState == Array(#"{"n":"2"}"#.utf8))
    }

    @Test mutating func `a broadcast is compared with the content of a subscriber`() throws {
        let created = machine.createChannel(for: "com.example.app", storing: .nothing)
        let channel = try #require(created)
        let token = try DeviceToken(hex: Self.token)
        _ = machine.evaluator.devices.subscribe(token, to: [channel], at: Self.now * 1_000)
        let path = "/4/broadcasts/apps/com.example.app"
        #expect(receive(#"{"score":1}"#, to: path, channel: channel).findings.isEmpty)
        let push = receive(#"{"score":"2"}"#, to: path, channel: channel)
        #expect(push.findings.map(\.rule) == ["activity-state-type-changed"], "\(push)")
    }

    @Test mutating func `an update with the content on screen is found`() throws {
        #expect(receive(#"{"n":1}"#).findings.isEmpty)
        let push = receive(#"{"n":1}"#)
        #expect(push.findings.map(\.rule) == ["activity-state-repeated"])
        #expect(push.findings.first?.message.hasPrefix("content-state is that of push 1, which is on screen") == true)
        #expect(push.verdict.text == "Delivered · Live Activity updates" && push.verdict.json["uncertain"] == nil)
        #expect(receive(#"{"n":1},"stale-date":1795001000"#).findings.isEmpty, "the stale date may be new")
        #expect(receive(#"{"n":1}"#, age: 100).findings.map(\.rule) == ["activity-timestamp-older"])
        #expect(receive(#"{"n":1}"#, "end").findings.isEmpty)
    }

    @Test mutating func `many differences of a content state make at most ten findings`() {
        let members = (0..<400).map { #""k\#($0)":1"# }.joined(separator: ",")
        _ = receive("{\(members)}")
        #expect(receive("{}").findings.count == 10)
    }
}
