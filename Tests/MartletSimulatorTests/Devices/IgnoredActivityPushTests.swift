// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import TestSupport
import Testing

@testable import MartletSimulator

/// Pushes for Live Activities that APNs accepts and the device ignores.
@Suite(.timeLimit(.minutes(10))) struct IgnoredActivityPushTests {
    /// The members of an `aps` that a device ignores, the note about it, and the rule that names the cause.
    struct Case: Sendable, CustomTestStringConvertible {
        var payload: String
        var note: String
        var rule: String

        var testDescription: String { payload }

        init(_ payload: String, _ note: String, _ rule: String) {
            self.payload = payload
            self.note = note
            self.rule = rule
        }

        init(aps: String, _ note: String, _ rule: String) {
            self.init(#"{"aps":{\#(aps)}}"#, note, rule)
        }
    }

    static let updates = [
        Case("{}", "it has no aps object", "aps-missing"),
        Case(#"{"aps":[]}"#, "it has no aps object", "aps-not-an-object"),
        Case(#"{"aps":{}}"#, "it has no timestamp", "activity-timestamp-missing"),
        Case(#"{"aps":{},"aps":{}}"#, "its payload repeats a name", "payload-name-repeated"),
        Case(
            aps: #""timestamp":1795365625.5,"event":"update","content-state":{}"#,
            "its timestamp 1795365625.5 is not a whole number of seconds",
            "value-wrong-type"
        ),
        Case(
            aps: #""timestamp":"1795365625","event":"update","content-state":{}"#,
            #"its timestamp "1795365625" is not a whole number of seconds"#,
            "value-wrong-type"
        ),
        Case(
            aps: #""timestamp":1795365625000,"event":"update","content-state":{}"#,
            "its timestamp 1795365625000 is in milliseconds, not in seconds",
            "activity-time-in-milliseconds"
        ),
        Case(
            aps: #""timestamp":0,"event":"update","content-state":{}"#,
            "its timestamp 0 is not after 1970",
            "activity-timestamp-not-positive"
        ),
        Case(aps: #""timestamp":20,"content-state":{}"#, "it has no event", "activity-event-missing"),
        Case(
            aps: #""timestamp":20,"event":"stop","content-state":{}"#,
            #"its event "stop" is not start, update or end"#,
            "activity-event-unknown"
        ),
        Case(
            aps: #""timestamp":20,"event":"Update","content-state":{}"#,
            #"its event "Update" is not start, update or end"#,
            "activity-event-unknown"
        ),
        Case(
            aps: #""timestamp":20,"event":5,"content-state":{}"#,
            "its event 5 is not start, update or end",
            "value-wrong-type"
        ),
        Case(aps: #""timestamp":20,"event":"update""#, "it has no content-state", "activity-state-missing"),
        Case(
            aps: #""timestamp":20,"event":"update","content-state":"x""#,
            "its content-state is not an object",
            "value-wrong-type"
        ),
    ]

    static let starts = [
        Case(aps: start(without: "attributes-type"), "a start needs attributes-type", "activity-start-incomplete"),
        Case(aps: start(without: "attributes"), "a start needs attributes", "activity-start-incomplete"),
        Case(aps: start(without: "alert"), "a start needs alert", "activity-start-incomplete"),
        Case(aps: start(without: "content-state"), "it has no content-state", "activity-state-missing"),
        Case(aps: start(["attributes": "[]"]), "its attributes has the wrong type", "value-wrong-type"),
        Case(aps: start(["attributes-type": "\"\""]), "its attributes-type is empty", "activity-attributes-type-empty"),
        Case(aps: start(["attributes-type": "1"]), "its attributes-type has the wrong type", "value-wrong-type"),
        Case(aps: start(["alert": "1"]), "its alert has the wrong type", "alert-wrong-type"),
    ]

    /// The members of a complete start, with some replaced or left out.
    private static func start(_ changes: [String: String] = [:], without name: String = "") -> String {
        let members = [
            ("timestamp", "20"), ("event", #""start""#), ("attributes-type", #""Ride""#), ("attributes", #"{"id":1}"#),
            ("content-state", #"{"n":1}"#), ("alert", #"{"title":"A","body":"B"}"#),
        ]
        return members.filter { $0.0 != name }.map { key, value in #""\#(key)":\#(changes[key] ?? value)"# }
            .joined(separator: ",")
    }

    private static func push(
        _ number: Int,
        _ payload: String,
        isBroadcast: Bool = false,
        to deviceToken: String = "5d3a"
    ) -> ReceivedPush {
        let type = "liveactivity"
        return isBroadcast
            ? .sample(
                number,
                app: "com.example.app",
                channel: "c2NvcmVz",
                headers: PushHeaders(pushType: type, expiration: "0", priority: "5"),
                payload
            )
            : .sample(
                number,
                to: deviceToken,
                headers: PushHeaders(pushType: type, priority: "5", topic: "com.example.app.push-type.liveactivity"),
                payload
            )
    }

    private var registry = DeviceRegistry(environment: .development)
    private var random = SplitMix64(state: 7)
    private let token: DeviceToken

    init() throws {
        token = try DeviceToken(hex: "5d3a")
    }

    private mutating func deliver(_ push: ReceivedPush) -> ReceivedPush {
        var push = push
        for (number, event) in registry.receive(push, at: 0, using: &random) where number == push.number {
            push.record(event)
        }
        return push
    }

    private mutating func showContent() throws {
        let update = Self.push(1, #"{"aps":{"timestamp":10,"event":"update","content-state":{"n":1}}}"#)
        #expect(deliver(update).deliveries.map(\.kind) == [.delivered])
    }

    @Test(arguments: updates) mutating func `an ignored update changes nothing and has one finding of its cause`(
        _ test: Case
    ) throws {
        try showContent()
        let before = try #require(registry["5d3a"]?.activity)
        let push = deliver(Self.push(2, test.payload))
        #expect(push.deliveries.map(\.kind) == [.ignored] && push.deliveries.first?.note == test.note)
        #expect(push.findings.filter { $0.rule == test.rule }.count == 1, "\(push.findings.map(\.rule))")
        #expect(registry["5d3a"]?.activity == before)
    }

    @Test(arguments: updates) mutating func `a broadcast that a device ignores names the cause`(_ test: Case) throws {
        try showContent()
        let before = try #require(registry["5d3a"]?.activity)
        _ = registry.subscribe(token, to: ["c2NvcmVz"], at: 0)
        let push = deliver(Self.push(2, test.payload, isBroadcast: true))
        #expect(push.deliveries.map(\.kind) == [.ignored])
        #expect(push.deliveries.first?.note == "at 5d3a…: " + test.note)
        #expect(push.findings.filter { $0.rule == test.rule }.count == 1, "\(push.findings.map(\.rule))")
        #expect(registry["5d3a"]?.activity == before)
    }

    @Test(arguments: starts) mutating func `an incomplete start starts no activity`(_ test: Case) throws {
        let push = deliver(Self.push(1, test.payload))
        #expect(push.deliveries.map(\.kind) == [.ignored] && push.deliveries.first?.note == test.note)
        #expect(push.findings.filter { $0.rule == test.rule }.count == 1, "\(push.findings.map(\.rule))")
        #expect(registry["5d3a"]?.startedActivities.isEmpty == true)
        #expect(registry.tokens == ["5d3a"])
    }

    @Test mutating func `a complete start starts an activity`() throws {
        let push = deliver(Self.push(1, #"{"aps":{\#(Self.start())}}"#))
        #expect(push.deliveries.map(\.kind) == [.delivered] && push.findings.isEmpty)
        #expect(registry["5d3a"]?.startedActivities.count == 1)
    }

    /// Phones decode such a number as an integer.
    @Test(arguments: ["20.0", "2e1", "200e-1", "0.2E+2"])
    mutating func `a timestamp in another notation is whole`(timestamp: String) throws {
        try showContent()
        let update = #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{"n":2}}}"#
        let push = deliver(Self.push(2, update))
        #expect(push.deliveries.map(\.kind) == [.delivered] && push.findings.isEmpty, "\(push.findings)")
        #expect(registry["5d3a"]?.activity?.timestamp == 20)
    }

    @Test(arguments: ["update", "end"])
    mutating func `an update to a push-to-start token is ignored`(event: String) throws {
        _ = deliver(Self.push(1, #"{"aps":{\#(Self.start())}}"#))
        let update = #"{"aps":{"timestamp":30,"event":"\#(event)","content-state":{"n":2}}}"#
        let push = deliver(Self.push(2, update))
        #expect(push.deliveries.map(\.kind) == [.ignored])
        #expect(push.deliveries.first?.note?.contains("send an \(event) to the token of the activity") == true)
        #expect(push.findings.map(\.rule) == ["activity-token-wrong"])
        #expect(push.findings.first?.place.description == ":path")
        #expect(registry["5d3a"]?.activity == nil)
        let again = deliver(Self.push(3, #"{"aps":{\#(Self.start())}}"#))
        #expect(again.deliveries.map(\.kind) == [.delivered] && again.findings.isEmpty)
    }

    @Test(arguments: ["alert", "background"], ["update", "end"])
    mutating func `an update to a device token is ignored`(type: String, event: String) throws {
        let headers = PushHeaders(pushType: type, topic: "com.example.app")
        registry.recordNotification(.sample(1, headers: headers, #"{"aps":{"alert":"Hi"}}"#), to: "5d3a")
        let update = #"{"aps":{"timestamp":30,"event":"\#(event)","content-state":{"n":2}}}"#
        let push = deliver(Self.push(2, update))
        #expect(push.deliveries.map(\.kind) == [.ignored] && push.findings.map(\.rule) == ["activity-device-token"])
        let note = "push 1 to the token was an alert or a background push, so it is a device's token"
        #expect(push.deliveries.first?.note == "\(note): send an \(event) to the token of the activity")
        #expect(push.verdict.kind == .notShown)
        #expect(push.verdict.text == "Not shown: this is a device's token, not an activity's")
        #expect(push.verdict.parts.first?.place?.description == ":path")
        #expect(registry["5d3a"]?.activity == nil)
        #expect(deliver(Self.push(3, update, to: "ac7e")).deliveries.map(\.kind) == [.delivered])
        registry.forgetPushes()
        #expect(deliver(Self.push(4, update)).deliveries.map(\.kind) == [.delivered])
    }

    @Test(arguments: ["alert", "background"])
    mutating func `a start to a device token starts no activity`(type: String) {
        let headers = PushHeaders(pushType: type, topic: "com.example.app")
        registry.recordNotification(.sample(1, headers: headers, #"{"aps":{"alert":"Hi"}}"#), to: "5d3a")
        let push = deliver(Self.push(2, #"{"aps":{\#(Self.start())}}"#))
        #expect(push.deliveries.map(\.kind) == [.ignored] && push.findings.map(\.rule) == ["activity-device-token"])
        let advice = "send a start to the push-to-start token of the device"
        #expect(push.deliveries.first?.note?.hasSuffix("so it is a device's token: \(advice)") == true)
        #expect(push.verdict.text == "Not shown: this is a device's token, not an activity's")
        #expect(registry["5d3a"]?.startedActivities.isEmpty == true)
    }

    @Test(arguments: [
        (["com.example.app"], true), (["com.example.app.push-type.liveactivity"], false),
        (["com.example.app", "com.example.app.push-type.liveactivity"], true),
    ])
    mutating func `a token that is registered for an app is a device's`(topics: [String], isDevice: Bool) throws {
        registry.register(token, for: topics.map(Topic.init(rawValue:)), in: .development)
        let push = deliver(Self.push(1, #"{"aps":{"timestamp":30,"event":"update","content-state":{"n":2}}}"#))
        #expect(push.deliveries.map(\.kind) == [isDevice ? .ignored : .delivered])
        #expect(push.findings.map(\.rule) == (isDevice ? ["activity-device-token"] : []))
        let next = Self.push(2, #"{"aps":{"timestamp":31,"event":"update","content-state":{"n":2}}}"#)
        _ = registry.subscribe(token, to: ["c2NvcmVz"], at: 0)
        #expect(deliver(next).deliveries.map(\.kind) == [.delivered], "a Live Activity subscribes to channels")
    }

    @Test func `an update after an alert to the same token is not shown`() async throws {
        let apns = try await SimulatedAPNs.start(SimulatedAPNs.Configuration(isEncrypted: false))
        let client = try PushClient(await apns.endpoint, authentication: .token(.ephemeral()))
        let update = #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"n":1}}}"#
        try await client.send(.alert("Hi"), to: token, topic: "com.example.app")
        try await client.send(
            .opaque(Array(update.utf8), pushType: .liveActivity, priority: .powerAware),
            to: token,
            topic: "com.example.app"
        )
        let push = try #require(await apns.pushes.last)
        #expect(push.status == 200 && push.verdict.kind == .notShown)
        #expect(push.findings.map(\.rule) == ["activity-device-token"], "\(push.findings)")
        await client.close()
        await apns.stop()
    }

    @Test(arguments: [false, true])
    mutating func `a start to the token of an activity is ignored`(hasEnded: Bool) throws {
        _ = deliver(Self.push(1, #"{"aps":{\#(Self.start())}}"#))
        let activity = try #require(registry["5d3a"]?.startedActivities.first?.token).hex
        if hasEnded {
            let end = #"{"aps":{"timestamp":30,"event":"end","content-state":{"n":2}}}"#
            #expect(deliver(Self.push(2, end, to: activity)).deliveries.map(\.kind) == [.delivered])
        }
        let before = try #require(registry[activity]?.activity)
        #expect(before.hasEnded == hasEnded)
        let push = deliver(Self.push(3, #"{"aps":{\#(Self.start())}}"#, to: activity))
        #expect(push.deliveries.map(\.kind) == [.ignored])
        #expect(push.deliveries.first?.note?.contains("the push-to-start token") == true)
        #expect(push.findings.map(\.rule) == ["activity-token-wrong"])
        #expect(registry[activity]?.activity == before && registry[activity]?.startedActivities.isEmpty == true)
    }

    @Test mutating func `a start to a token that has updated an activity is ignored`() {
        let update = #"{"aps":{"timestamp":30,"event":"update","content-state":{"n":2}}}"#
        #expect(deliver(Self.push(1, update)).deliveries.map(\.kind) == [.delivered])
        let push = deliver(Self.push(2, #"{"aps":{\#(Self.start())}}"#))
        #expect(push.findings.map(\.rule) == ["activity-token-wrong"])
        #expect(registry["5d3a"]?.startedActivities.isEmpty == true)
    }

    /// Without the key a start gives the activity a token, too.
    @Test mutating func `a start with a wrong input-push-token gives the activity a token, and the finding agrees`()
        throws
    {
        let push = deliver(Self.push(1, #"{"aps":{\#(Self.start()),"input-push-token":true}}"#))
        #expect(push.deliveries.map(\.kind) == [.delivered])
        #expect(registry["5d3a"]?.startedActivities.count == 1)
        let message = try #require(push.findings.first { $0.rule == "flag-not-one" }?.message)
        #expect(message.contains("as it does without one") && !message.contains("no token"), "\(message)")
    }

    @Test mutating func `a broadcast starts no activity`() throws {
        _ = registry.subscribe(token, to: ["c2NvcmVz"], at: 0)
        let push = deliver(Self.push(1, #"{"aps":{\#(Self.start())}}"#, isBroadcast: true))
        #expect(push.deliveries.map(\.kind) == [.ignored])
        #expect(push.deliveries.first?.note == "at 5d3a…: a broadcast cannot start an activity")
        #expect(push.findings.map(\.rule) == ["activity-broadcast-start"])
        #expect(registry["5d3a"]?.activity == nil && registry["5d3a"]?.startedActivities.isEmpty == true)
    }

    @Test mutating func `an end without valid content does not change the content`() throws {
        try showContent()
        let push = deliver(Self.push(2, #"{"aps":{"timestamp":11,"event":"end","content-state":1}}"#))
        #expect(push.deliveries.map(\.kind) == [.delivered])
        let activity = try #require(registry["5d3a"]?.activity)
        #expect(activity.hasEnded && activity.contentState == Array(#"{"n":1}"#.utf8))
    }
}
