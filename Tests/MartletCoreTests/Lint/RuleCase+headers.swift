// SPDX-License-Identifier: Apache-2.0

import MartletCore

extension RuleCase {
    private static let type = "apns-push-type"

    /// Cases of rules about headers, and about the whole payload.
    static let headers: [RuleCase] = [
        RuleCase("push-type-missing", type, LintedPush(nil), near: LintedPush(nil, "{}")),
        RuleCase(
            "push-type-missing",
            type,
            LintedPush(nil),
            near: LintedPush(nil, #"{"aps":{"alert":{"title":"News","body":"Read"},"url-args":[]}}"#)
        ),
        RuleCase("push-type-unknown", type, LintedPush("Alert"), near: LintedPush("alert")),
        RuleCase(
            "id-not-canonical",
            "apns-id",
            LintedPush(id: "eabeae54-14a8-11e5-b60b-1697f925ec7"),
            near: LintedPush(id: "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        ),
        RuleCase(
            "id-upper-case",
            "apns-id",
            LintedPush(id: "EABEAE54-14A8-11E5-B60B-1697F925EC7B"),
            near: LintedPush(id: "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        ),
        RuleCase(
            "background-priority-missing",
            "apns-priority",
            background.with(\.priority, nil),
            near: background
        ),
        RuleCase("background-priority-immediate", "apns-priority", background.with(\.priority, "10"), near: background),
        RuleCase("priority-unknown", "apns-priority", LintedPush(priority: "7"), near: LintedPush(priority: "1")),
        RuleCase("priority-unknown", "apns-priority", LintedPush(priority: "high"), near: LintedPush(priority: "5")),
        RuleCase(
            "expiration-not-a-time",
            "apns-expiration",
            LintedPush(expiration: "2026-05-12T18:31:00Z"),
            near: LintedPush(expiration: "1900000000")
        ),
        RuleCase(
            "expiration-negative",
            "apns-expiration",
            LintedPush(expiration: "-1"),
            near: LintedPush(expiration: "0")
        ),
        RuleCase(
            "expiration-in-milliseconds",
            "apns-expiration",
            LintedPush(expiration: "1790000000000"),
            near: LintedPush(expiration: "1790000000")
        ),
        RuleCase(
            "expiration-past",
            "apns-expiration",
            LintedPush(expiration: "1700000000", time: 1_700_000_001),
            near: LintedPush(expiration: "1700000000", time: 1_700_000_000)
        ),
        RuleCase(
            "expiration-past",
            "apns-expiration",
            LintedPush(expiration: "1", time: 1_700_000_000),
            near: LintedPush(expiration: "0", time: 1_700_000_000)
        ),
        RuleCase(
            "expiration-past",
            "apns-expiration",
            LintedPush(expiration: "5", time: .max),
            near: LintedPush(expiration: "5")
        ),
        RuleCase(
            "expiration-not-a-time",
            "apns-expiration",
            LintedPush(expiration: "+5", time: 1_700_000_000),
            near: LintedPush(expiration: "1700000005", time: 1_700_000_000)
        ),
        RuleCase(
            "expiration-not-a-time",
            "apns-expiration",
            LintedPush(expiration: "9223372036854775808", time: 1_700_000_000),
            near: LintedPush(expiration: "99999999999", time: 1_700_000_000)
        ),
        RuleCase(
            "expiration-negative",
            "apns-expiration",
            LintedPush(expiration: "-5", time: 1_700_000_000),
            near: LintedPush(expiration: "0", time: 1_700_000_000)
        ),
        RuleCase("topic-missing", "apns-topic", LintedPush().with(\.topic, nil), near: LintedPush()),
        RuleCase(
            "topic-malformed",
            "apns-topic",
            LintedPush(topic: "com example"),
            near: LintedPush(topic: "com.example")
        ),
        RuleCase(
            "topic-malformed",
            "apns-topic",
            LintedPush("voip", "{}", topic: ".voip"),
            near: LintedPush("voip", "{}", topic: "v.voip")
        ),
        RuleCase(
            "topic-not-for-mdm",
            "apns-topic",
            LintedPush("mdm", #"{"mdm":"x"}"#, topic: "com.example.app"),
            near: LintedPush("mdm", #"{"mdm":"x"}"#)
        ),
        RuleCase(
            "topic-suffix-missing",
            "apns-topic",
            LintedPush("voip", "{}", topic: "com.example.app"),
            near: LintedPush("voip", "{}")
        ),
        RuleCase(
            "topic-suffix-wrong",
            "apns-topic",
            LintedPush(topic: "com.example.app.push-type.widgets"),
            near: LintedPush(topic: "com.example.push-type")
        ),
        RuleCase(
            "topic-suffix-wrong",
            "apns-topic",
            LintedPush(topic: "com.example.app.voip"),
            near: LintedPush(topic: "com.example.voip.app")
        ),
        RuleCase(
            "topic-suffix-wrong",
            "apns-topic",
            LintedPush("background", #"{"aps":{"content-available":1}}"#, topic: "com.example.app.complication"),
            near: LintedPush("complication", "{}", topic: "com.example.app.complication")
        ),
        RuleCase(
            "topic-suffix-doubled",
            "apns-topic",
            LintedPush("voip", "{}", topic: "com.example.app.voip.voip"),
            near: LintedPush("voip", "{}", topic: "com.example.voipapp.voip")
        ),
        RuleCase(
            "topic-suffix-doubled",
            "apns-topic",
            LintedPush("voip", "{}", topic: "com.example.app.push-type.widgets.voip"),
            near: LintedPush("voip", "{}")
        ),
        RuleCase(
            "collapse-id-too-long",
            "apns-collapse-id",
            LintedPush(collapseID: String(repeating: "é", count: 33)),
            near: LintedPush(collapseID: String(repeating: "é", count: 32))
        ),
        RuleCase(
            "collapse-id-too-long",
            "apns-collapse-id",
            collapseID(String(repeating: "\u{FFFD}", count: 65), sentBytes: 65),
            near: LintedPush(collapseID: String(repeating: "\u{FFFD}", count: 21))
        ),
        RuleCase(
            "collapse-id-malformed",
            "apns-collapse-id",
            LintedPush(collapseID: "a\r\nx-evil: 1"),
            near: LintedPush(collapseID: "a x-fine: 1")
        ),
        RuleCase(
            "collapse-id-malformed",
            "apns-collapse-id",
            LintedPush(collapseID: "a\tb"),
            near: LintedPush(collapseID: "a b")
        ),
        RuleCase(
            "collapse-id-malformed",
            "apns-collapse-id",
            LintedPush(collapseID: "order 17 "),
            near: LintedPush(collapseID: "order 17")
        ),
        RuleCase(
            "collapse-id-not-utf8",
            "apns-collapse-id",
            collapseID(String(repeating: "\u{FFFD}", count: 64), sentBytes: 64),
            near: LintedPush(collapseID: "\u{FFFD}")
        ),
        RuleCase("payload-empty", "payload", LintedPush("voip", ""), near: LintedPush("voip", "{}")),
        RuleCase("payload-too-large", "payload", filled(4_097), near: filled(4_096)),
        RuleCase(
            "payload-too-large",
            "payload",
            filled(5_121, voipTopic),
            near: filled(5_120, voipTopic),
            others: ["push-type-missing"]
        ),
        RuleCase("payload-not-json", "payload", LintedPush("alert", "[1]"), near: LintedPush("location", "{}")),
        RuleCase(
            "payload-unpaired-surrogate",
            "payload",
            LintedPush("alert", #"{"aps":{"alert":"\ud83d"}}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"\ud83d\ude00"}}"#)
        ),
        RuleCase(
            "payload-unpaired-surrogate",
            "payload",
            LintedPush("alert", #"{"aps":{"alert":"\ude00"}}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"\u20ac"}}"#)
        ),
        RuleCase("payload-too-deep", "payload", nested(65), near: nested(64)),
        RuleCase(
            "payload-name-repeated",
            "payload",
            LintedPush("alert", #"{"aps":{"alert":"Hi"},"aps":{"alert":"Ho"}}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"Hi"},"apps":{"alert":"Ho"}}"#)
        ),
        RuleCase(
            "payload-not-json",
            "payload",
            LintedPush("alert", #"{"aps":{},"aps":{}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"Hi"}}"#)
        ),
        RuleCase(
            "payload-not-minified",
            "payload",
            LintedPush("alert", #"{"aps":{"alert":"Hi"}\#(String(repeating: " ", count: 256))}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"Hi"}\#(String(repeating: " ", count: 255))}"#)
        ),
        RuleCase(
            "payload-not-minified",
            "payload",
            LintedPush("alert", #"{"aps":{"alert":"\#(String(repeating: #"\u3042"#, count: 100))"}}"#),
            near: LintedPush("alert", #"{"aps":{"alert":"\#(String(repeating: "\u{3042}", count: 100))"}}"#)
        ),
        RuleCase(
            "payload-not-minified",
            "payload",
            filled(4_090, spaces: 10),
            near: filled(4_090, spaces: 6),
            others: ["payload-too-large"]
        ),
        RuleCase(
            "aps-missing",
            "payload",
            LintedPush("alert", #"{"APS":{}}"#),
            near: LintedPush("mdm", #"{"mdm":"x"}"#)
        ),
        RuleCase("aps-not-an-object", "payload/aps", LintedPush("alert", #"{"aps":[]}"#), near: LintedPush()),
    ]

    /// Headers with the topic of VoIP pushes and no push type.
    private static let voipTopic = PushHeaders(priority: "10", topic: "com.example.app.voip")

    private static func collapseID(_ text: String, sentBytes: Int) -> LintedPush {
        var push = LintedPush(collapseID: text)
        push.headers.collapseIDByteCount = sentBytes
        return push
    }

    /// An alert whose payload has this many levels of arrays and objects.
    private static func nested(_ levels: Int) -> LintedPush {
        let (start, end) = (String(repeating: "[", count: levels - 1), String(repeating: "]", count: levels - 1))
        return LintedPush("alert", #"{"aps":{"alert":"Hi"},"a":\#(start)\#(end)}"#)
    }

    private static func filled(_ byteCount: Int, _ headers: PushHeaders) -> LintedPush {
        var push = filled(byteCount)
        push.headers = headers
        return push
    }

    private static let background = LintedPush("background", #"{"aps":{"content-available":1}}"#)

    /// An alert with a payload of this many bytes, and white space after it.
    private static func filled(_ byteCount: Int, spaces: Int = 0) -> LintedPush {
        let frame = #"{"aps":{"alert":"Hi"},"n":""}"#
        let filling = String(repeating: "x", count: byteCount - frame.utf8.count)
        return LintedPush(
            "alert",
            #"{"aps":{"alert":"Hi"},"n":"\#(filling)"}"# + String(repeating: " ", count: spaces)
        )
    }
}
