// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@Suite struct PushLintTests {
    private static let good = PushHeaders(pushType: "alert", priority: "10", topic: "com.example.app")
    private static let alert = Array(#"{"aps":{"alert":"Hello"}}"#.utf8)

    private static func headers(_ change: (inout PushHeaders) -> Void) -> PushHeaders {
        var headers = good
        change(&headers)
        return headers
    }

    @Test func `a good push has no findings`() {
        #expect(PushLint.check(headers: Self.good, payload: Self.alert).isEmpty)
        #expect(PushLint.firstRefusal(headers: Self.good, payload: Self.alert) == nil)
    }

    @Test(arguments: [
        (headers { $0.pushType = "alarm" }, APNsReason.invalidPushType),
        (headers { $0.pushType = "" }, .invalidPushType),
        (headers { $0.pushType = "Alert" }, .invalidPushType),
        (headers { $0.id = "EABEAE54-14A8-11E5-B60B-1697F925EC7" }, .badMessageID),
        (headers { $0.id = "42" }, .badMessageID),
        (headers { $0.priority = "7" }, .badPriority),
        (headers { $0.priority = "010" }, .badPriority),
        (headers { $0.priority = "" }, .badPriority),
        (headers { $0.pushType = "background" }, .badPriority),
        (headers { $0.expiration = "soon" }, .badExpirationDate),
        (headers { $0.expiration = "-1" }, .badExpirationDate),
        (headers { $0.expiration = "1.5" }, .badExpirationDate),
        (headers { $0.topic = nil }, .missingTopic),
        (headers { $0.topic = "" }, .missingTopic),
        (headers { $0.topic = "com example" }, .badTopic),
        (headers { $0.pushType = "voip" }, .topicDisallowed),
        (headers { $0.topic = "com.example.app.push-type.widgets" }, .topicDisallowed),
        (headers { $0.collapseID = String(repeating: "x", count: 65) }, .badCollapseID),
    ])
    func `headers that APNs refuses have its reason`(headers: PushHeaders, reason: APNsReason) {
        #expect(PushLint.firstRefusal(headers: headers, payload: Self.alert) == reason)
        let findings = PushLint.check(headers: headers, payload: Self.alert)
        #expect(findings.contains { $0.reason == reason && $0.severity == .error })
    }

    @Test(arguments: [
        headers { $0.id = "eabeae54-14a8-11e5-b60b-1697f925ec7b" }, headers { $0.expiration = "0" },
        headers { $0.expiration = "1900000000" }, headers { $0.priority = nil }, headers { $0.priority = "1" },
        headers { $0.collapseID = String(repeating: "x", count: 64) }, headers { $0.pushType = nil },
        headers { ($0.pushType, $0.topic) = ("voip", "com.example.app.voip") },
        headers { ($0.pushType, $0.priority) = ("background", "5") },
    ])
    func `headers that APNs accepts are not refused`(headers: PushHeaders) {
        #expect(PushLint.firstRefusal(headers: headers, payload: Self.alert) == nil)
    }

    @Test(arguments: [
        (0, "alert", APNsReason.payloadEmpty), (4_096, "alert", nil), (4_097, "alert", .payloadTooLarge),
        (5_120, "voip", nil), (5_121, "voip", .payloadTooLarge),
    ])
    func `the size limit is exact to the byte`(count: Int, type: String, reason: APNsReason?) {
        let padding = String(repeating: "a", count: max(0, count - #"{"a":""}"#.utf8.count))
        let payload = count == 0 ? [] : Array(#"{"a":"\#(padding)"}"#.utf8)
        #expect(payload.count == count)
        let topic = Topic("com.example.app").qualified(for: PushType(rawValue: type)).rawValue
        let headers = PushHeaders(pushType: type, topic: topic)
        #expect(PushLint.firstRefusal(headers: headers, payload: payload) == reason)
    }

    @Test(arguments: ["", "Hello", "[1]", #"{"aps":"#, "\u{FEFF}{}"]) func `a payload that is no object is refused`(
        text: String
    ) {
        #expect(PushLint.firstRefusal(headers: Self.good, payload: Array(text.utf8)) != nil)
    }

    @Test(arguments: [
        (PushNotification.alert("x", badge: -1), "badge-negative"),
        (.alert("x", relevanceScore: 2), "relevance-score-out-of-range"),
        (.alert("x", sound: .critical(volume: -1)), "volume-out-of-range"),
        (.alert("x", expiration: PushNotification.Expiration(secondsSince1970: -5)), "expiration-negative"),
        (.opaque([1], pushType: .background, priority: .immediate), "background-priority-immediate"),
        (.opaque([1], pushType: .alert, priority: PushNotification.Priority(rawValue: 3)), "priority-unknown"),
        (.opaque([], pushType: .alert), "payload-empty"),
    ])
    func `a typed notification is checked before it is sent`(notification: PushNotification, rule: String) throws {
        let size = try notification.payload.encoded().count
        let finding = PushLint.firstError(in: notification, topic: "com.example.app", payloadByteCount: size)
        #expect(finding?.rule == rule)
    }

    @Test func `the topic of a notification without a push type decides on its size`() {
        let opaque = PushNotification.opaque([1], pushType: nil)
        for (topic, limit) in [("com.example.app.voip", 5_120), ("com.example.app", 4_096)] as [(Topic, Int)] {
            #expect(PushLint.firstError(in: opaque, topic: topic, payloadByteCount: limit) == nil)
            let finding = PushLint.firstError(in: opaque, topic: topic, payloadByteCount: limit + 1)
            #expect(finding?.rule == "payload-too-large")
        }
    }

    @Test func `a topic may lack the suffix, which the client adds`() {
        let voip = PushNotification.opaque([1], pushType: .voip)
        #expect(PushLint.firstError(in: voip, topic: "com.example.app", payloadByteCount: 1) == nil)
        #expect(PushLint.firstError(in: voip, topic: "", payloadByteCount: 1)?.rule == "topic-missing")
    }

    @Test(arguments: ["mrt_short", "postgresql://relay:\(String(repeating: "s", count: 40))@db1"])
    func `a secret in a header is not shown`(secret: String) {
        for headers in [
            Self.headers { $0.pushType = secret }, Self.headers { $0.priority = secret },
            Self.headers { $0.expiration = secret },
        ] {
            let findings = PushLint.check(headers: headers, payload: Self.alert)
            let text = findings.map(\.message).joined()
            #expect(text.contains("text of \(secret.count) characters") && !text.contains(secret.prefix(9)))
        }
    }

    @Test(
        arguments: [
            (#"{"aps":{"alert":"Hi","badge":-1}}"#, ["badge-negative"]),
            (#"{"aps":{"badge" :\#n -7 }}"#, ["badge-negative"]),
            (#"{"aps":{"badge":0}}"#, []), (#"{"aps":{"alert":"Hi"}}"#, []), (#"{"badge":-1,"aps":{}}"#, []),
            (#"{"aps":{"alert":"\"badge\":-1"}}"#, []), ("-", []), (":-", []), (#""badge":-"#, []),
        ] as [(String, [String])]
    )
    func `a badge below 0 is noted about a push that is sent`(payload: String, rules: [String]) {
        let notes = PushLint.notes(payload: Array(payload.utf8))
        #expect(notes.map(\.rule) == rules && notes.allSatisfy(\.isNote))
        let findings = PushLint.check(headers: Self.good, payload: Array(payload.utf8)).filter(\.isNote)
        #expect(findings.map(\.rule) == rules)
    }
}
