// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

/// Each rule with a push that breaks it, and one that nearly does.
@Suite struct RuleTests {
    private static let cases =
        RuleCase.headers + RuleCase.keys + RuleCase.types + RuleCase.alerts
        + RuleCase.attachments + RuleCase.activities + RuleCase.accessories + RuleCase.managed + RuleCase.websites
        + RuleCase.secrets
    private static let address = "https://developer.apple.com/"

    @Test(arguments: cases) func `a rule finds a violation and names its place`(_ example: RuleCase) throws {
        let findings = example.push.findings
        #expect(Set(findings.map(\.rule)) == Set([example.rule] + example.others), "\(findings.map(\.message))")
        let finding = try #require(findings.first { $0.rule == example.rule })
        #expect(finding.place.description == example.place)
        #expect(!finding.message.isEmpty && !finding.message.hasSuffix("."))
        #expect(finding.page.hasPrefix(Self.address))
    }

    @Test(arguments: cases) func `a rule has no finding for a similar valid push`(_ example: RuleCase) {
        let findings = example.near.findings
        #expect(findings.filter { !example.others.contains($0.rule) }.isEmpty, "\(findings.map(\.message))")
    }

    @Test func `every rule is listed once and has a case`() throws {
        let listed = PushLint.rules.map(\.id)
        #expect(Set(listed).count == listed.count)
        let broadcasts: [(ChannelID, Topic)] = [
            ("YQ==", "com example"), ("YQ==", "com.example.app.voip-ptt"), ("", "com.example.app"),
            ("?", "com.example.app"),
        ]
        let findings = try broadcasts.compactMap { channel, app in
            PushLint.firstError(
                in: try LiveActivityBroadcast(.end(), on: channel, of: app, timestamp: Date(timeIntervalSince1970: 1))
            )?
            .rule
        }
        #expect(
            findings == [
                "broadcast-app-malformed", "broadcast-app-with-suffix", "channel-missing", "channel-malformed",
            ]
        )
        let startRule = "activity-broadcast-start"
        #expect(Self.broadcastFindings(event: "start").map(\.rule) == [startRule])
        #expect(Self.broadcastFindings(event: "update").map(\.rule) == [])
        let ofBroadcasts = findings + [startRule] + Self.broadcastHeaders.map(\.rule)
        #expect(Set(Self.cases.map(\.rule) + ofBroadcasts) == Set(listed))
        for rule in PushLint.rules {
            #expect(!rule.summary.isEmpty && !rule.summary.hasSuffix(".") && rule.page.hasPrefix(Self.address))
        }
    }

    /// Headers of a broadcast, and the only finding about them with its place and reason.
    static let broadcastHeaders: [(headers: PushHeaders, rule: String, place: String, reason: APNsReason)] = [
        (
            PushHeaders(expiration: "0", priority: "5"), "broadcast-header-missing", "apns-push-type", .missingPushType
        ),
        (
            PushHeaders(pushType: "liveactivity", priority: "5"), "broadcast-header-missing", "apns-expiration",
            .badExpirationDate
        ),
        (
            PushHeaders(pushType: "liveactivity", expiration: "0"), "broadcast-header-missing", "apns-priority",
            .badPriority
        ),
        (
            PushHeaders(pushType: "alert", expiration: "0", priority: "5"), "broadcast-type-wrong", "apns-push-type",
            .invalidPushType
        ),
    ]

    @Test(arguments: broadcastHeaders)
    func `a header that only broadcasts need is found`(
        headers: PushHeaders,
        rule: String,
        place: String,
        reason: APNsReason
    ) {
        let findings = Self.broadcastFindings(event: "update", headers)
        #expect(findings.map(\.rule) == [rule] && findings.first?.reason == reason, "\(findings.map(\.message))")
        #expect(findings.first?.place.description == place)
        let refusal = PushLint.firstRefusal(broadcastTo: "com.example.app", channel: "YQ==", headers: headers)
        #expect(refusal == reason)
    }

    @Test func `a broadcast without aps has the findings of a Live Activity`() {
        let headers = PushHeaders(pushType: "liveactivity", expiration: "0", priority: "5")
        let payload = Array(#"{"n":1}"#.utf8)
        let findings = PushLint.check(
            broadcastTo: "com.example.app",
            channel: "YQ==",
            headers: headers,
            payload: payload
        )
        #expect(findings.map(\.rule) == ["aps-missing", "activity-timestamp-missing", "activity-event-missing"])
    }

    @Test func `a broadcast within its limit has no finding about white space`() {
        let headers = PushHeaders(pushType: "liveactivity", expiration: "0", priority: "5")
        func rules(byteCount: Int, spaces: Int) -> [String] {
            let start = #"{"aps":{"timestamp":1,"event":"update","content-state":{"n":""#
            let filler = String(repeating: "x", count: byteCount - spaces - start.utf8.count - 4)
            let payload = Array((start + filler + #""}}}"# + String(repeating: " ", count: spaces)).utf8)
            #expect(payload.count == byteCount)
            return PushLint.check(
                broadcastTo: "com.example.app",
                channel: "YQ==",
                headers: headers,
                payload: payload
            ).map(\.rule)
        }
        #expect(rules(byteCount: 4_100, spaces: 10) == [])
        #expect(rules(byteCount: 5_120, spaces: 10) == [])
        #expect(rules(byteCount: 5_121, spaces: 10) == ["payload-too-large", "payload-not-minified"])
    }

    @Test func `a topic that may be a bundle identifier is not refused`() {
        let findings = LintedPush(topic: "com.example.app.voip").findings
        #expect(findings.map(\.rule) == ["topic-suffix-wrong"] && findings.first?.reason == nil)
    }

    @Test func `a message names the rule that is checked`() {
        let topic = LintedPush(topic: "com example").findings.first?.message ?? ""
        #expect(topic.contains("letters, digits, hyphens and underscores"), "\(topic)")
        #expect(LintedPush(topic: "com_example.app").findings.isEmpty)
        let collapse = LintedPush(collapseID: String(repeating: "x", count: 65)).findings.first?.message ?? ""
        #expect(collapse.contains("at most 64 bytes (found 65)"), "\(collapse)")
        #expect(LintedPush(collapseID: "").findings.isEmpty)
        let app = PushLint.check(broadcastTo: "com example", channel: "YQ==", headers: PushHeaders(), payload: [])
        #expect(app.first?.message.contains("letters, digits, hyphens and underscores") == true)
    }

    @Test(arguments: [
        LintedPush.aps(#""alert":"Hi","mrt_short":1"#), LintedPush("mdm", #"{"mdm":"M-1","mrt_short":1}"#),
        LintedPush("widgets", #"{"aps":{"content-changed":true},"mrt_short":1}"#),
        LintedPush(nil, #"{"aps":{"url-args":[]},"mrt_short":1}"#, topic: "web.com.example"),
        LintedPush("alert", #"{"aps":{"alert":"Hi"},"mrt_short":1,"mrt_short":2}"#),
        LintedPush.custom("-----BEGIN EC PRIVATE KEY-----", key: "mrt_short"),
    ])
    func `the name of a key that may be a secret is not shown`(push: LintedPush) {
        let findings = push.findings
        #expect(!findings.isEmpty && !findings.contains { "\($0)".contains("mrt_") }, "\(findings)")
    }

    @Test func `an accessory's push without aps lacks four keys`() {
        #expect(LintedPush("accessory", "{}").findings.count { $0.rule == "accessory-key-missing" } == 4)
    }

    @Test(arguments: [
        (LintedPush(expiration: "9223372036854775808"), "must be at most 9223372036854775807", "APNs refuses"),
        (
            LintedPush("alert", String(repeating: "[", count: 65)), "deeper than 64 levels: Apple documents no limit",
            "the simulator refuses"
        ),
        (LintedPush("alert", "{"), "the payload is not valid JSON: ", "the simulator refuses"),
        (LintedPush("alert", "[]"), "not a JSON object, and Apple does not", "the simulator refuses"),
    ])
    func `a refusal names the violation and the refusing server`(push: LintedPush, part: String, end: String) {
        let message = push.findings.first { $0.reason != nil }?.message ?? ""
        #expect(message.contains(part) && message.hasSuffix("; \(end) the push"), "\(message)")
    }

    @Test func `half a surrogate pair is accepted, and the other rules read the payload`() {
        let findings = LintedPush("alert", #"{"aps":{"alert":"\ud83d","badge":"1"}}"#).findings
        #expect(findings.map(\.rule) == ["payload-unpaired-surrogate", "badge-not-a-number"])
        #expect(findings.allSatisfy { $0.reason == nil } && findings.first?.severity == .warning)
    }

    @Test func `a broadcast that is no JSON is refused by APNs`() {
        let headers = PushHeaders(pushType: "liveactivity", expiration: "0", priority: "5")
        let channel = "YQ=="
        let findings = PushLint.check(
            broadcastTo: "com.example.app",
            channel: channel,
            headers: headers,
            payload: [0x7B]
        )
        #expect(findings.first?.message.hasSuffix("; APNs refuses the push") == true, "\(findings)")
    }

    @Test func `whole numbers are accepted in any notation`() {
        let push = LintedPush("alert", #"{"aps":{"alert":"x","badge":1.0,"mutable-content":1e0}}"#)
        #expect(push.findings.isEmpty, "\(push.findings)")
        #expect(LintedPush.beside(#""badge":1.5"#).findings.map(\.rule) == ["badge-not-a-number"])
    }

    /// The findings about a broadcast with this event, complete unless the headers are not.
    private static func broadcastFindings(
        event: String,
        _ headers: PushHeaders = PushHeaders(pushType: "liveactivity", expiration: "0", priority: "5")
    ) -> [PushLint.Finding] {
        let start = #","attributes-type":"A","attributes":{"id":1},"alert":{"title":"A","body":"B"}"#
        let more = event == "start" ? start : ""
        return PushLint.check(
            broadcastTo: "com.example.app",
            channel: "YQ==",
            headers: headers,
            payload: Array(
                #"{"aps":{"timestamp":1,"event":"\#(event)","content-state":{"n":1}\#(more)}}"#.utf8
            )
        )
    }

    @Test func `the article has every rule`() throws {
        let path = "Sources/MartletCore/Documentation.docc/PushRules.md"
        let article = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        #expect(rows == PushLint.rules.map { "| `\($0.id)` | \($0.severity.rawValue) | \($0.summary) |" })
        for rule in PushLint.rules { #expect(article.contains("(\(rule.page))")) }
    }

    @Test(arguments: cases) func `the first reason of the findings is the first refusal`(_ example: RuleCase) {
        let payload = Array(example.push.payload.utf8)
        let refusal = PushLint.firstRefusal(headers: example.push.headers, payload: payload)
        #expect(example.push.findings.compactMap(\.reason).first == refusal)
    }

    @Test(arguments: [
        (LintedPush.beside(#""mutable_content":1"#), "did you mean mutable-content?"),
        (.beside(#""contnet-availabel":1"#), "did you mean content-available?"),
        (.beside(#""sonud":"x""#), "did you mean sound?"),
        (.alert(#""titel":"x""#), "did you mean title?"), (.beside(#""sound":{"volumne":1}"#), "did you mean volume?"),
        (.beside(#""interruption-level":"time-senstive""#), "did you mean time-sensitive?"),
        (.activity(#""timestamp":1,"event":"udpate","content-state":{}"#), "did you mean update?"),
        (.beside(#""title":"x""#), "belongs in alert"), (.alert(#""badge":1"#), "belongs in aps"),
        (LintedPush("alert", #"{"APS":{}}"#), "not as APS"),
    ])
    func `a message suggests the intended name, value or place`(push: LintedPush, hint: String) {
        #expect(push.findings.contains { $0.message.contains(hint) }, "\(push.findings.map(\.message))")
    }

    @Test(arguments: ["data", "id", "x", "locale", "extra", String(repeating: "x", count: 1_000)])
    func `a message suggests nothing without a similar name`(key: String) {
        let findings = LintedPush.beside(#""\#(key)":1"#).findings
        #expect(findings.map(\.rule) == ["aps-key-unknown"])
        #expect(findings.allSatisfy { !$0.message.contains("meant") })
    }

    @Test(arguments: [
        (LintedPush(nil), "looks like alert"), (LintedPush(nil, #"{"aps":{"content-available":1}}"#), "background"),
        (LintedPush(nil, #"{"aps":{"event":"end"}}"#), "liveactivity"),
        (LintedPush(nil, "{\"aps\":{}}", topic: "com.example.app.push-type.controls"), "controls"),
        (LintedPush(nil, #"{"mdm":"x"}"#, topic: "com.apple.mgmt.External.1b2c"), "mdm"),
    ])
    func `a message suggests the likely push type`(push: LintedPush, type: String) {
        let message = push.findings.first { $0.rule == "push-type-missing" }?.message
        #expect(message?.hasSuffix(type) == true)
    }

    @Test func `a message about a truncated text quotes its visible end`() {
        let push = LintedPush.alert(#""title":"Your order from the bakery is on its way to you now""#)
        #expect(push.findings.map(\.message).joined().contains("\"…s on its way\""))
    }

    @Test(arguments: [
        ("1795874187", "seconds", 2057), ("1795874187000", "milliseconds", 58_909), ("1420070400", "seconds", 2046),
        ("4102444800000", "milliseconds", 132_002),
    ])
    func `a time in the wrong unit has the year that the phone reads`(time: String, unit: String, year: Int) {
        let messages = LintedPush.state(#""eta":\#(time)"#).findings.map(\.message)
        let message =
            "this looks like \(unit) since 1970, and Swift's Date decodes seconds since 2001 by default: the phone"
            + " would read a time in the year \(year)"
        #expect(messages == [message])
    }

    @Test(arguments: ["1420070399", "4102444801", "978307199999", "4102444800001", "1e300", "-1795874187"])
    func `numbers of other times are no mistake`(time: String) {
        #expect(LintedPush.state(#""eta":\#(time)"#).findings.isEmpty)
    }

    @Test func `a secret is not repeated`() {
        let findings = RuleCase.secrets.flatMap(\.push.findings).map(\.message).joined()
        #expect(!findings.contains("4111") && !findings.contains("AKIA") && !findings.contains("jane"))
    }

    @Test func `the number of findings is limited`() {
        let members = (0..<400).map { #""k\#($0)":null"# }.joined(separator: ",")
        #expect(LintedPush.aps(members).findings.count <= 30)
        #expect(LintedPush.state(members).findings.count <= 30)
        #expect(LintedPush("widgets", #"{"aps":{"content-changed":true},\#(members)}"#).findings.count <= 30)
    }
}
