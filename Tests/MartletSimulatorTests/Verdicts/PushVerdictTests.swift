// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

/// The texts and kinds of verdicts.
@Suite(.timeLimit(.minutes(10))) struct PushVerdictTests {
    /// A push and the verdict that it must have.
    struct Case: CustomTestStringConvertible {
        let kind: PushVerdict.Kind
        let text: String
        var headers = PushHeaders(pushType: "alert", topic: "app")
        let payload: String

        init(
            _ kind: PushVerdict.Kind,
            _ text: String,
            type: String? = "alert",
            topic: String = "app",
            _ payload: String
        ) {
            self.kind = kind
            self.text = text
            self.payload = payload
            headers = PushHeaders(pushType: type, topic: topic)
        }

        var testDescription: String { text }
    }

    static let alerts = [
        Case(
            .shown,
            "Delivered · banner · no sound (aps.sound is missing) · badge 3",
            #"{"aps":{"alert":{"title":"A"},"badge":3}}"#
        ),
        Case(.shown, "Delivered · banner · default sound", type: nil, #"{"aps":{"alert":"A","sound":"default"}}"#),
        Case(
            .shown,
            "Delivered · in the list only (aps.interruption-level is passive)"
                + " · no sound (aps.interruption-level is passive) · badge removed",
            #"{"aps":{"alert":"A","sound":"default","interruption-level":"passive","badge":0}}"#
        ),
        Case(
            .shown,
            "Delivered · banner · time-sensitive · sound bell.caf · thread order-4 · service extension runs",
            #"{"aps":{"alert":{"loc-key":"K"},"sound":"bell.caf","interruption-level":"time-sensitive","#
                + #""thread-id":"order-4","mutable-content":1}}"#
        ),
        Case(
            .shown,
            "Delivered · banner · critical · sound siren.caf",
            #"{"aps":{"alert":"A","sound":{"critical":1,"name":"siren.caf","volume":1}}}"#
        ),
        Case(
            .shown,
            "Delivered · banner · critical · no sound (aps.sound.volume is 0)",
            #"{"aps":{"alert":"A","interruption-level":"critical","sound":{"volume":0}}}"#
        ),
        Case(
            .shown,
            "Delivered · banner · no sound (aps.sound is empty) · badge unchanged (aps.badge is not a whole number)",
            #"{"aps":{"alert":"A","sound":"","badge":"3"}}"#
        ),
        Case(
            .shown,
            "Delivered · banner · no sound (aps.sound is neither a string nor an object)"
                + " · badge unchanged (aps.badge is below 0) · wakes the app",
            #"{"aps":{"alert":"A","sound":1,"badge":-1,"content-available":1}}"#
        ),
        Case(
            .shown,
            "Delivered · banner · no sound (aps.sound.name is empty)",
            #"{"aps":{"alert":"A","sound":{"name":""}}}"#
        ),
        Case(.delivered, "Delivered · no banner (aps.alert is missing) · badge 3", #"{"aps":{"badge":3}}"#),
        Case(
            .delivered,
            "Delivered · no banner (aps.alert has no text) · default sound",
            #"{"aps":{"alert":"","sound":"default"}}"#
        ),
        Case(
            .delivered,
            "Delivered · no banner (aps.alert is neither a string nor an object)",
            #"{"aps":{"alert":true}}"#
        ),
        Case(.delivered, "Delivered silently · wakes the app", #"{"aps":{"content-available":1}}"#),
        Case(.delivered, "Delivered · nothing to show (aps is missing)", "{}"),
        Case(.delivered, "Delivered · nothing to show (aps is not an object)", #"{"aps":1}"#),
        Case(
            .delivered,
            "Delivered · content unknown (the payload cannot be parsed)",
            #"{"aps":{"alert":"A","alert":"B"}}"#
        ),
    ]

    static let others = [
        Case(.delivered, "Delivered silently · wakes the app", type: "background", #"{"aps":{"content-available":1}}"#),
        Case(
            .delivered,
            "Delivered silently · does not wake the app (aps.content-available is missing)",
            type: "background",
            #"{"aps":{"alert":"A"}}"#
        ),
        Case(
            .delivered,
            "Delivered silently · does not wake the app (aps.content-available is not 1)",
            type: "background",
            #"{"aps":{"content-available":true}}"#
        ),
        Case(.delivered, "Delivered · the app must report a call", type: nil, topic: "app.voip", "{}"),
        Case(.delivered, "Delivered · complication updates", type: "complication", "{}"),
        Case(.delivered, "Delivered · file provider checks for changes", type: "fileprovider", "{}"),
        Case(.delivered, "Delivered · location is requested", type: "location", "{}"),
        Case(.delivered, "Delivered · device contacts its management server", type: "mdm", "{}"),
        Case(.delivered, "Delivered · the app handles Push to Talk", type: "pushtotalk", "{}"),
        Case(.delivered, "Delivered · accessory receives it", type: "accessory", "{}"),
        Case(.delivered, "Delivered · nothing to show", type: "unknown", #"{"aps":{"alert":"A"}}"#),
        Case(.delivered, "Delivered · widgets reload", type: "widgets", #"{"aps":{"content-changed":true}}"#),
        Case(
            .delivered,
            "Delivered · controls do not reload (aps.content-changed is missing)",
            type: "controls",
            #"{"aps":{}}"#
        ),
        Case(
            .delivered,
            "Delivered · widgets do not reload (aps.content-changed is not true)",
            type: "widgets",
            #"{"aps":{"content-changed":1}}"#
        ),
    ]

    static let activities = [
        Case(
            .shown,
            "Delivered · Live Activity starts · alert · no sound (aps.alert.sound is missing)",
            type: "liveactivity",
            #"{"aps":{"event":"start","alert":{"title":"A"}}}"#
        ),
        Case(
            .shown,
            "Delivered · Live Activity updates · alert · default sound · outdated from 00:10 UTC",
            type: "liveactivity",
            #"{"aps":{"event":"update","alert":{"sound":"default"},"stale-date":600}}"#
        ),
        Case(
            .shown,
            "Delivered · Live Activity updates · outdated at once",
            type: "LiveActivity",
            #"{"aps":{"event":"update","stale-date":-5}}"#
        ),
        Case(
            .shown,
            "Delivered · Live Activity ends · stays for up to 4 hours",
            type: "liveactivity",
            #"{"aps":{"event":"end"}}"#
        ),
        Case(
            .shown,
            "Delivered · Live Activity ends · stays until 04:00 UTC",
            type: "liveactivity",
            #"{"aps":{"event":"end","dismissal-date":4000000000}}"#
        ),
        Case(
            .delivered,
            "Delivered · Live Activity ends · removed at once (aps.dismissal-date has passed)",
            type: "liveactivity",
            #"{"aps":{"event":"end","dismissal-date":0}}"#
        ),
    ]

    private static let delivery = [DeliveryEvent(.delivered, at: 0)]

    private static func push(_ test: Case, _ events: [DeliveryEvent] = delivery) -> ReceivedPush {
        var push = ReceivedPush.sample(headers: test.headers, test.payload)
        for event in events { push.record(event) }
        return push
    }

    @Test(arguments: alerts + others + activities) func `a delivered push has a verdict`(test: Case) {
        let push = Self.push(test)
        let verdict = push.verdict
        #expect(verdict.text == test.text && verdict.kind == test.kind)
        #expect(push.verdictKind == verdict.kind && verdict.isOnScreen == (verdict.kind == .shown))
        #expect(verdict.description == verdict.text && !verdict.text.contains("\n"))
        #expect(verdict.parts.allSatisfy { verdict.text.contains($0.description) })
        #expect(DeliveredPush(push).isShown == (test.kind == .shown && !push.isLiveActivity))
    }

    @Test func `parts have their place in the push`() throws {
        let test = try #require(Self.alerts.first)
        #expect(
            Self.push(test).verdict.json == [
                "kind": "shown", "text": "Delivered · banner · no sound (aps.sound is missing) · badge 3",
                "parts": [
                    ["text": "banner", "place": "payload/aps/alert"],
                    ["text": "no sound", "cause": "aps.sound is missing", "place": "payload/aps/sound"],
                    ["text": "badge 3", "place": "payload/aps/badge"],
                ],
            ]
        )
    }

    /// The members of `aps` beside an alert, and the level, the sound and the badge.
    @Test(
        arguments: [
            ("", "active (aps.interruption-level is missing)", "no sound (aps.sound is missing)", nil),
            (#","sound":"default","badge":3"#, "active (aps.interruption-level is missing)", "default sound", 3),
            (
                #","interruption-level":"passive","sound":"a.caf","badge":0"#, "passive",
                "no sound (aps.interruption-level is passive)", 0
            ),
            (
                #","interruption-level":"timeSensitive","badge":"3""#, "active (aps.interruption-level is not a level)",
                "no sound (aps.sound is missing)", nil
            ),
            (
                #","interruption-level":"time-sensitive","badge":-1"#, "time-sensitive",
                "no sound (aps.sound is missing)", nil
            ),
            (
                #","sound":{"critical":1,"name":"a.caf","volume":0.7}"#, "critical (aps.sound.critical is 1)",
                "sound a.caf at 70 % of the volume", nil
            ),
            (#","interruption-level":"critical","sound":{"critical":1,"volume":1}"#, "critical", "default sound", nil),
        ] as [(String, String, String, Int64?)]
    )
    func `the presentation has level, sound and badge`(_ aps: String, _ level: String, _ sound: String, _ badge: Int64?)
        throws
    {
        let headers = PushHeaders(pushType: "alert", topic: "app")
        let push = ReceivedPush.sample(headers: headers, #"{"aps":{"alert":"A"\#(aps)}}"#)
        let presentation = try #require(push.json["presentation"])
        func words(_ name: String) -> String? {
            let cause = presentation[name]?["cause"]?.stringValue
            return presentation[name]?["text"]?.stringValue.map { $0 + (cause.map { " (\($0))" } ?? "") }
        }
        #expect(words("level") == level && words("sound") == sound)
        #expect(presentation["badge"]?["number"]?.integerValue == badge)
        // The verdict says the same.
        #expect(push.verdict.text.contains(" · \(sound)"))
        #expect(aps.contains("badge") == push.verdict.text.contains(words("badge") ?? "-"))
    }

    @Test func `only an alert has a presentation, and that of an activity a sound`() {
        func presentation(_ type: String, _ payload: String) -> JSONValue? {
            ReceivedPush.sample(headers: PushHeaders(pushType: type, topic: "app"), payload).json["presentation"]
        }
        #expect(presentation("background", #"{"aps":{"content-available":1}}"#) == nil)
        #expect(presentation("alert", "{}") == nil && presentation("liveactivity", #"{"aps":{}}"#) == nil)
        let alert = presentation("liveactivity", #"{"aps":{"alert":{"title":"A","sound":"a.caf"}}}"#)
        #expect(alert == ["sound": ["text": "sound a.caf", "place": "payload/aps/alert/sound"]])
    }

    @Test func `the verdict of a stored push names the storage`() {
        let stored = DeliveryEvent(.storedDeviceOffline, at: 0)
        func verdict(_ expiration: String?, _ events: DeliveryEvent...) -> PushVerdict {
            var push = ReceivedPush.sample(
                headers: PushHeaders(pushType: "alert", expiration: expiration, topic: "app"),
                #"{"aps":{"alert":"A","sound":"default"}}"#
            )
            for event in events { push.record(event) }
            #expect(push.verdictKind == push.verdict.kind)
            return push.verdict
        }
        let waiting = verdict("51600", stored)
        #expect(waiting.kind == .stored && waiting.text == "Stored: device is offline, expires 14:20 UTC")
        let times: JSONValue = [["text": "14:20 UTC", "time-ms": 51_600_000]]
        #expect(waiting.json["times"] == times && waiting.summary["times"] == times)
        #expect(waiting.expiration == 51_600_000 && waiting.json["until"] == 51_600 && waiting.expirationDate != nil)
        let limited = "Stored: device is offline, expires 1970-01-31 00:00 UTC (30 days at most)"
        for expiration in [nil, "2592001", "9223372036854775807"] {
            #expect(verdict(expiration, stored).text == limited)
        }
        #expect(verdict("2592000", stored).parts.map(\.cause) == [nil])
        let late = verdict("51600", stored, DeliveryEvent(.deliveredFromStorage, at: 60))
        #expect(late.kind == .shown && late.text == "Delivered when the device came online · banner · default sound")
        let expired = verdict("51600", stored, DeliveryEvent(.discardedExpired, at: 60_000))
        #expect(expired.kind == .discarded && expired.text == "Discarded: expired while the device was offline")
        let note = "its apns-expiration was in the past when it arrived"
        let early = verdict("5", DeliveryEvent(.discardedExpired, at: 9, note))
        #expect(early.text == "Discarded: expired before it arrived")
        let unstored = verdict("0", DeliveryEvent(.discardedNotStored, at: 9))
        #expect(unstored.kind == .discarded && unstored.text == "Discarded: device is offline and apns-expiration is 0")
        #expect(unstored.parts.map(\.place) == [.header("apns-expiration")])
        let replaced = verdict(nil, stored, DeliveryEvent(.discardedReplaced, by: 76, at: 9))
        #expect(replaced.kind == .discarded && replaced.replacedBy == 76)
        #expect(replaced.text == "Discarded: replaced by push 76 while the device was offline")
    }

    @Test func `the verdict of a push that is not on screen names the cause`() throws {
        let delivered = DeliveryEvent(.delivered, at: 0)
        let alert = try #require(Self.alerts.first)
        let collapsed = Self.push(alert, [delivered, DeliveryEvent(.replacedOnDevice, by: 76, at: 1)]).verdict
        #expect(collapsed.kind == .replaced && collapsed.json["replaced-by"] == 76)
        #expect(collapsed.text == "\(alert.text) · replaced by push 76 (same collapse identifier)")
        #expect(collapsed.parts.map(\.text) == ["banner", "no sound", "badge 3", "replaced"])
        let update = Self.activities[1]
        let older = Self.push(update, [delivered, DeliveryEvent(.replacedOnDevice, by: 76, at: 1)]).verdict
        #expect(older.kind == .replaced && older.text == "\(update.text) · replaced by push 76 (newer content)")
        let ended = Self.push(update, [delivered, DeliveryEvent(.activityEnded, by: 77, at: 1)]).verdict
        #expect(ended.kind == .ended && ended.text == "\(update.text) · ended by push 77" && ended.replacedBy == 77)
        let cause = "its timestamp 9 is not after 10 of the content on screen"
        let ignored = Self.push(update, [DeliveryEvent(ignoredAt: 0, .activityTimestampOlder, cause)]).verdict
        #expect(ignored.kind == .notShown && ignored.text == "Not shown: older than the content on screen")
        #expect(ignored.parts.map(\.cause) == [cause] && ignored.parts[0].place == .payload("/aps/timestamp"))
        let malformed = Self.push(update, [DeliveryEvent(.ignored, at: 0, "it has no timestamp")]).verdict
        #expect(malformed.kind == .notShown && malformed.text == "Not shown: it has no timestamp")
        let released = Self.push(alert, [delivered, DeliveryEvent(.released, at: 1, "200")]).verdict
        #expect(released.kind == .shown && released.text == alert.text + " · sent on to a real device (200)")
    }

    @Test func `the verdict of a refused or unanswered push names the cause`() throws {
        var push = Self.push(try #require(Self.alerts.first))
        var refused = push
        refused.status = 400
        refused.reason = .badDeviceToken
        refused.deliveries = []
        #expect(refused.verdict.kind == .refused && refused.verdict.text == "Refused: BadDeviceToken")
        refused.fault = "answer"
        #expect(refused.verdict.text == "Refused: BadDeviceToken (fault answer)")
        push.loseAnswer(to: .client)
        #expect(push.verdict.kind == .unanswered && push.verdict.isOnScreen && push.verdictKind == .unanswered)
        #expect(
            push.verdict.text == "No answer: the client left before it was sent · delivered · banner"
                + " · no sound (aps.sound is missing) · badge 3"
        )
        #expect(push.verdict.json["on-screen"] == true)
        push.deliveries = []
        push.fault = "delay"
        #expect(push.verdict.text == "No answer: the client left before it was sent (fault delay)")
        refused.status = 0
        refused.fault = "hang"
        #expect(refused.verdict.text == "No answer: fault hang" && !refused.verdict.isOnScreen)
    }

    @Test func `a broadcast has a verdict at each of its devices`() {
        let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{"n":1}}}"#
        let headers = PushHeaders(pushType: "liveactivity")
        var push = ReceivedPush.sample(app: "app", channel: "c", headers: headers, payload)
        push.record(DeliveryEvent(.delivered, at: 0).at(device: "aa"))
        push.record(DeliveryEvent(.discardedExpired, at: 0).at(device: "bb"))
        push.record(DeliveryEvent(.ignored, at: 0, "it has no timestamp").at(device: "cc"))
        push.record(DeliveryEvent(.replacedOnDevice, by: 9, at: 1).at(device: "aa"))
        let replaced = "Delivered · Live Activity updates · replaced by push 9 (newer content)"
        #expect(push.verdict(atDevice: "aa")?.text == replaced)
        #expect(push.verdict(atDevice: "bb")?.text == "Discarded: expired while the device was offline")
        #expect(push.verdict(atDevice: "cc")?.text == "Not shown: it has no timestamp")
        push.record(DeliveryEvent(.deliveredFromStorage, at: 0).at(device: "ee"))
        push.record(DeliveryEvent(.storedDeviceOffline, at: 0).at(device: "ff"))
        let late = "Delivered when the activity subscribed to the channel · Live Activity updates"
        #expect(push.verdict(atDevice: "ee")?.text == late)
        #expect(push.verdict(atDevice: "ff")?.text == "Stored: device is offline, expires 08:00 UTC (8 hours at most)")
        push.record(DeliveryEvent(.deliveredFromStorage, at: 1).at(device: "ff"))
        let online = "Delivered when the device came online · Live Activity updates"
        #expect(push.verdict(atDevice: "ff")?.text == online)
        #expect(push.verdict(atDevice: "dd") == nil && push.json(atDevice: "dd")["verdict"] == .null)
        push.status = 400
        push.deliveries = []
        push.reason = .badRequestPayload
        #expect(push.verdict(atDevice: "dd")?.kind == .refused)
    }

    @Test func `a broadcast counts its devices`() {
        func verdict(_ events: [DeliveryEvent], _ event: String = "update") -> PushVerdict {
            var push = ReceivedPush.sample(
                app: "app",
                channel: "c",
                headers: PushHeaders(pushType: "liveactivity"),
                #"{"aps":{"timestamp":1,"event":"\#(event)","content-state":{"n":1},"dismissal-date":0}}"#
            )
            for event in events { push.record(event) }
            #expect(push.verdictKind == push.verdict.kind)
            return push.verdict
        }
        func at(_ number: Int, _ kind: DeliveryEvent.Kind) -> DeliveryEvent {
            DeliveryEvent(kind, at: 0).at(device: "\(number)")
        }
        let none = verdict([])
        #expect(none.kind == .delivered && none.text == "No subscribers")
        let mixed = [
            at(1, .delivered), at(2, .storedDeviceOffline), at(3, .delivered), at(4, .ignored),
            at(5, .storedDeviceOffline), at(5, .deliveredFromStorage),
        ]
        #expect(verdict(mixed).kind == .shown)
        #expect(
            verdict(mixed).text == "Shown on 3 of 5 activities · 1 stored · 1 not shown · Live Activity updates"
        )
        let replaced = [at(1, .delivered), DeliveryEvent(.replacedOnDevice, by: 9, at: 1).at(device: "1")]
        #expect(verdict(replaced).kind == .replaced && verdict(replaced).replacedBy == 9)
        #expect(verdict(replaced).text == "Replaced on 1 of 1 activity by push 9 · Live Activity updates")
        #expect(verdict([at(1, .storedDeviceOffline)]).text == "Stored for 1 of 1 activity")
        #expect(verdict([at(1, .delivered)], "end").kind == .delivered)
    }
}
