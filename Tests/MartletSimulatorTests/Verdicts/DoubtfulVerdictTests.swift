// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletSimulator

/// Verdicts on pushes whose phone, or whose APNs, does not do what the payload asks for.
@Suite(.timeLimit(.minutes(10))) struct DoubtfulVerdictTests {
    @Test func `a stored push's verdict names why the phone will ignore it`() {
        let start = #"{"aps":{"timestamp":7,"event":"start","content-state":{"n":1}}}"#
        let headers = PushHeaders(pushType: "liveactivity", expiration: "600")
        var push = ReceivedPush.sample(app: "app", channel: "c", headers: headers, start)
        push.record(DeliveryEvent(.storedDeviceOffline, at: 0).at(device: "5d3a"))
        let cause = "the phone will ignore it (a broadcast cannot start an activity)"
        #expect(push.verdict.kind == .stored && push.verdict.json["will-be-ignored"] == true)
        #expect(push.verdict.text == "Stored for 1 of 1 activity · \(cause)")
        let atDevice = push.verdict(atDevice: "5d3a")
        #expect(atDevice?.text == "Stored: device is offline, expires 00:10 UTC · \(cause)")
        let update = start.replacing("start", with: "update")
        push = .sample(app: "app", channel: "c", headers: headers, update)
        push.record(DeliveryEvent(.storedDeviceOffline, at: 0).at(device: "5d3a"))
        #expect(push.verdict.json["will-be-ignored"] == nil && !push.verdict.text.contains("ignore"))
    }

    @Test func `a provider token makes the verdict of an mdm push uncertain`() {
        var push = ReceivedPush.sample(
            headers: PushHeaders(pushType: "mdm", topic: "com.apple.mgmt.External.1b2c"),
            #"{"mdm":"M-1"}"#
        )
        push.record(DeliveryEvent(.delivered, at: 0))
        #expect(push.verdict.json["uncertain"] == nil)
        push.observations.append(RefusalRules.mdmWithToken)
        #expect(push.verdict.json["uncertain"] == true && push.verdict.text.contains("Apple may refuse it"))
    }

    @Test(arguments: ["alert", "background", nil])
    func `a push for a Wallet pass shows nothing of its payload`(type: String?) {
        let headers = PushHeaders(pushType: type, topic: "pass.com.example.card")
        for payload in ["{}", #"{"aps":{"alert":{"title":"A"},"badge":3}}"#] {
            var push = ReceivedPush.sample(headers: headers, payload)
            push.record(DeliveryEvent(.delivered, at: 0))
            #expect(push.verdict.text == "Delivered · Wallet fetches the new version of the pass")
            #expect(push.verdict.kind == .delivered && push.verdictKind == .delivered)
            #expect(push.json["presentation"] == nil && push.json["wallet-pass"] == true)
            #expect(push.summary["no-sound"] == nil && push.summary["effects"] == nil)
            #expect(!DeliveredPush(push).isShown)
        }
    }

    @Test func `only a presented alert counts as one without a sound`() {
        func hasNoSound(_ payload: String, _ type: String, _ event: DeliveryEvent.Kind?, status: Int = 200) -> Bool {
            var push = ReceivedPush.sample(headers: PushHeaders(pushType: type, topic: "app"), payload)
            push.status = status
            if let event { push.record(DeliveryEvent(event, at: 0)) }
            return push.summary["no-sound"] == true
        }
        let alert = #"{"aps":{"alert":"A"}}"#
        #expect(hasNoSound(alert, "alert", .delivered) && hasNoSound(alert, "alert", .deliveredFromStorage))
        #expect(!hasNoSound(alert, "alert", .storedDeviceOffline) && !hasNoSound(alert, "alert", nil, status: 400))
        let activity = #"{"aps":{"event":"update","alert":{"title":"A"}}}"#
        #expect(hasNoSound(activity, "liveactivity", .delivered) && !hasNoSound(activity, "liveactivity", .ignored))
        let loud = #"{"aps":{"event":"update","alert":{"title":"A","sound":"default"}}}"#
        #expect(!hasNoSound(loud, "liveactivity", .delivered))
        #expect(!hasNoSound(#"{"aps":{"event":"update"}}"#, "liveactivity", .delivered))
    }

    @Test(
        arguments: [
            (#"{"aps":{"badge":7}}"#, ["badge 7"]), (#"{"aps":{"badge":0}}"#, ["badge removed"]),
            (#"{"aps":{"alert":"","sound":"bell.caf","badge":1}}"#, ["sound bell.caf", "badge 1"]),
            (#"{"aps":{"alert":"A","badge":7}}"#, nil), (#"{"aps":{"content-available":1}}"#, nil),
        ] as [(String, [String]?)]
    )
    func `sound and badge are the effects of a push without text`(payload: String, effects: [String]?) {
        let push = ReceivedPush.sample(headers: PushHeaders(pushType: "alert", topic: "app"), payload)
        #expect(push.summary["effects"]?.elements?.compactMap(\.stringValue) == effects)
    }
}
