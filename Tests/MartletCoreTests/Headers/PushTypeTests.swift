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

    @Test func `there are no others`() {
        #expect(PushType.all.count == 12)
        #expect(Set(PushType.all).count == 12)
    }

    @Test func `a suffix is not added twice`() {
        let topic: Topic = "com.example.app.voip"
        #expect(topic.qualified(for: .voip) == topic)
    }

    @Test func `VoIP pushes may be larger`() {
        for type in PushType.all { #expect(type.payloadByteLimit == (type == .voip ? 5_120 : 4_096)) }
    }

    @Test func `a type nobody knows survives`() {
        let type = PushType(rawValue: "hologram")
        #expect(type.rawValue == "hologram")
        #expect(type.topicSuffix.isEmpty)
    }
}
