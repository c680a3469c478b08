// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

/// The table "Push types" of Apple's "Sending notification requests to APNs", and `accessory` of "Responding to
/// forwarded notifications".
@Suite struct PushTypeTests {
    @Test(arguments: [
        ("accessory", ".push-type.accessory"), ("alert", ""), ("background", ""), ("complication", ".complication"),
        ("controls", ".push-type.controls"), ("fileprovider", ".pushkit.fileprovider"),
        ("liveactivity", ".push-type.liveactivity"), ("location", ".location-query"), ("mdm", ""),
        ("pushtotalk", ".voip-ptt"), ("voip", ".voip"), ("widgets", ".push-type.widgets"),
    ])
    func `each type has the suffix that Apple gives it`(name: String, suffix: String) {
        let type = PushType(rawValue: name)
        #expect(PushType.all.contains(type))
        #expect(type.topicSuffix == suffix)
        #expect(Topic("com.example.app").qualified(for: type) == Topic("com.example.app" + suffix))
    }

    @Test func `names are unique`() {
        #expect(Set(PushType.all.map(\.rawValue)).count == PushType.all.count)
    }

    @Test func `suffixes are unique`() {
        let suffixes = PushType.all.map(\.topicSuffix).filter { !$0.isEmpty }
        #expect(Set(suffixes).count == suffixes.count)
    }

    @Test func `a topic with the suffix of a type implies this type`() {
        for type in PushType.all where !type.topicSuffix.isEmpty {
            #expect(PushHeaders(topic: "com.example.app" + type.topicSuffix).resolvedPushType == type)
            #expect(Topic("com.example.app" + type.topicSuffix).bundleIdentifier == "com.example.app")
        }
    }

    @Test func `typed notifications have the default expiration of their types`() throws {
        let data = try PushNotification.CustomData(json: Array("{}".utf8))
        let notifications: [PushNotification] = [
            .alert("Hi"), .background(), .voip(data), .pushToTalk(data), .pushToTalkServiceUpdate(),
            .complication(data),
            .location(), .fileProvider(), .widgets(), .controls(), .mdm(pushMagic: "M"),
        ]
        for notification in notifications {
            #expect(notification.expiration == notification.pushType?.descriptor?.defaultExpiration)
        }
    }

    @Test func `only a background push may not have priority 10`() {
        for type in PushType.all {
            #expect(type.descriptor?.allowedPriorities.contains(.immediate) == (type != .background))
        }
    }

    @Test func `a suffix is not added twice`() {
        let topic: Topic = "com.example.app.voip"
        #expect(topic.qualified(for: .voip) == topic)
    }

    @Test func `VoIP pushes may be larger`() {
        for type in PushType.all { #expect(type.payloadByteLimit == (type == .voip ? 5_120 : 4_096)) }
    }

    @Test func `an unknown type is preserved`() {
        let type = PushType(rawValue: "unknown")
        #expect(type.rawValue == "unknown")
        #expect(type.topicSuffix.isEmpty)
        #expect(type.payloadByteLimit == PushLimits.payloadByteCount)
        #expect(type.descriptor == nil)
    }
}
