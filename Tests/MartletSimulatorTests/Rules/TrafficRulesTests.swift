// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import Testing

@testable import MartletSimulator

/// Pushes one after another, as lists of facts.
@Suite struct TrafficRulesTests {
    /// A push to one device over one connection, a minute after the other.
    private static func push(
        at time: Int64,
        over connection: Int = 1,
        after earlierPushCount: Int = 1,
        to deviceToken: String = "5d3a",
        _ type: PushType = .alert,
        payload: String? = nil,
        isOnline: Bool = true,
        collapseID: String? = nil,
        token: Int? = nil,
        issuedAt: Int64? = nil,
        sender: String = "",
        earlyReplacement: String? = nil
    ) -> TrafficRules.Push {
        TrafficRules.Push(
            time: Int64(millisecondsOf: time),
            connection: connection,
            sender: sender,
            earlierPushCount: earlierPushCount,
            deviceToken: deviceToken,
            isOnline: isOnline,
            topic: "com.example.app" + type.topicSuffix,
            pushType: type,
            collapseID: collapseID,
            payload: Array((payload ?? #"{"aps":{"alert":"Hi"}}"#).utf8),
            providerToken: token.map {
                TrafficRules.SentToken(
                    identity: $0,
                    issuedAtSeconds: issuedAt ?? time,
                    earlyReplacement: earlyReplacement
                )
            }
        )
    }

    /// Returns the rules of the findings about each push, joined.
    private static func rules(_ pushes: [TrafficRules.Push]) -> [String] {
        var rules = TrafficRules()
        return pushes.map { rules.check($0).findings.map(\.rule).joined(separator: " ") }
    }

    @Test(arguments: [
        ([push(at: 10), push(at: 69)], ["", "device-token-repeated"]), ([push(at: 10), push(at: 70)], ["", ""]),
        ([push(at: 10), push(at: 10, to: "5d3b")], ["", ""]), ([push(at: 10), push(at: 10, .background)], ["", ""]),
        ([push(at: 10), push(at: 10, payload: #"{"aps":{"alert":"Ho"}}"#)], ["", ""]),
        ([push(at: 10, .background), push(at: 10, .background)], ["", ""]),
        ([push(at: 10, .widgets), push(at: 10, .widgets)], ["", ""]),
        ([push(at: 10, .mdm), push(at: 10, .mdm)], ["", ""]),
        ([push(at: 10, payload: "{}"), push(at: 10, payload: "{}")], ["", ""]),
        ([push(at: 10, payload: #"{"aps":{"badge":1}}"#), push(at: 10, payload: #"{"aps":{"badge":1}}"#)], ["", ""]),
        ([push(at: .min), push(at: .max)], ["", ""]),
        ([push(at: 10, collapseID: "a"), push(at: 10, collapseID: "a")], ["", ""]),
        ([push(at: 10, collapseID: "a"), push(at: 10, collapseID: "b")], ["", "device-token-repeated"]),
        ([push(at: 10), push(at: 10, collapseID: "a")], ["", "device-token-repeated"]),
        ([push(at: 10, isOnline: false), push(at: 10, isOnline: false)], ["", ""]),
        ([push(at: 10, isOnline: false), push(at: 10)], ["", ""]),
    ])
    func `a repeated alert to a device has a finding`(pushes: [TrafficRules.Push], expected: [String]) {
        #expect(Self.rules(pushes) == expected)
    }

    @Test func `a repeated push names the first one, and the identifier that they share`() throws {
        var rules = TrafficRules()
        var pushes = [Self.push(at: 10), Self.push(at: 22), Self.push(at: 24)]
        for (index, id) in ["a", "a", "b"].enumerated() {
            pushes[index].number = index + 1
            pushes[index].id = id
        }
        let results = pushes.map { rules.check($0) }
        #expect(results.map(\.repeated) == [nil, 1, 2])
        let messages = results.map { $0.findings.first?.message ?? "" }
        #expect(messages[1].hasPrefix("push 1 to this device, 12 seconds before, is the same, and the user sees both"))
        #expect(messages[1].contains("the same apns-id") && messages[2].contains("contains the token twice"))
    }

    /// A list of devices that is sent to twice, as a table of few places would forget some.
    @Test(arguments: [20, 1_000, 5_000]) func `each repeated device of a long list has a finding`(count: Int) {
        var rules = TrafficRules(capacity: 5_000)
        let list = (0..<count).map { Self.push(at: 10, to: "\($0)") }
        #expect(list.allSatisfy { rules.check($0).findings.isEmpty })
        #expect(list.allSatisfy { rules.check($0).findings.map(\.rule) == ["device-token-repeated"] })
        #expect(rules.check(Self.push(at: 70, to: "0")).findings.isEmpty, "the burst is over")
    }

    @Test func `repeated devices are found among the last ones`() {
        var rules = TrafficRules(capacity: 3)
        let list = (0..<4).map { Self.push(at: 10, to: "\($0)") }
        for push in list { _ = rules.check(push).findings }
        #expect(rules.check(list[3]).findings.count == 1)
        #expect(rules.check(list[0]).findings.isEmpty)
    }

    @Test func `pushes that were removed are not repeated`() {
        var rules = TrafficRules()
        let pushes = ["a", "b"].map { Self.push(at: 10, to: $0) }
        for push in pushes { _ = rules.check(push).findings }
        rules.forget([("a", "com.example.app")])
        #expect(pushes.map { rules.check($0).findings.count } == [0, 1])
    }

    @Test(arguments: [
        (
            [push(at: 0, token: 1), push(at: 60, token: 2, earlyReplacement: "early"), push(at: 120, token: 2)],
            ["", "provider-token-refreshed-early", ""]
        ), ([push(at: 0, token: 1), push(at: 60, token: 2)], ["", ""]),
        ([push(at: 0, token: 1), push(at: 60, token: 1)], ["", ""]),
        ([push(at: 0, token: 1), push(at: 60, over: 2, token: 2)], ["", ""]),
        ([push(at: 0), push(at: 60, token: 2)], ["", ""]),
        ([push(at: 3_601, token: 1, issuedAt: 0)], ["provider-token-too-old"]),
        ([push(at: 3_600, token: 1, issuedAt: 0)], [""]),
        ([push(at: 0, token: 1, issuedAt: 61)], ["provider-token-ahead"]),
        ([push(at: 0, token: 1, issuedAt: 60)], [""]),
        ([push(at: 0, token: 1, issuedAt: .max)], ["provider-token-ahead"]),
        ([push(at: .max, token: 1, issuedAt: .min)], ["provider-token-too-old"]),
    ])
    func `provider tokens are used for 20 to 60 minutes`(
        pushes: [TrafficRules.Push],
        expected: [String]
    ) {
        #expect(Self.rules(pushes) == expected)
    }

    @Test func `findings about refusals have the reason`() {
        var rules = TrafficRules()
        let push = Self.push(at: 60, token: 2, issuedAt: -9_999, earlyReplacement: "early")
        let findings = rules.check(push).findings
        #expect(findings.compactMap(\.reason) == [.expiredProviderToken, .tooManyProviderTokenUpdates])
    }

    @Test func `repeated connections for single pushes have a finding`() {
        let alone = (1...12).map {
            Self.push(at: Int64($0) * 10, over: $0, after: 0, to: "\($0)")
        }
        let quiet = Array(repeating: "", count: 10)
        #expect(Self.rules(alone) == quiet + ["connection-per-push", "connection-per-push"])
        let slow = (1...12).map { Self.push(at: Int64($0) * 31, over: $0, after: 0, to: "\($0)") }
        #expect(Set(Self.rules(slow)) == [""])
        let shared = alone.flatMap { first -> [TrafficRules.Push] in
            var second = first
            second.earlierPushCount = 1
            second.deviceToken += "b"
            return [first, second]
        }
        #expect(Set(Self.rules(shared)) == [""])
    }

    @Test func `connections are counted for each sender`() {
        let many = (1...40).map {
            Self.push(at: Int64($0), over: $0, after: 0, to: "\($0)", sender: "\($0 % 4)")
        }
        #expect(Set(Self.rules(many)) == [""])
        let rules = Self.rules(many + [Self.push(at: 41, over: 41, after: 0, to: "41", sender: "1")])
        #expect(rules.last == "connection-per-push")
    }

    @Test func `the article has every rule of the simulator`() throws {
        let path = "Sources/MartletSimulator/Documentation.docc/SimulatorRules.md"
        let article = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("| `") }.map(String.init)
        let rules = [
            ProviderTokenRules.all, RefusalRules.all, RequestRules.all, ActivityRules.all,
            ContentStateRules.all, ActivityContract.rules, TrafficRules.all,
        ].joined()
        #expect(rows == rules.map { "| `\($0.id)` | \($0.severity.rawValue) | \($0.summary) |" })
        for rule in rules { #expect(article.contains("(\(rule.page))"), "\(rule.page)") }
    }

    @Test func `every rule is listed once, beside those for a single push`() {
        let names = [
            TrafficRules.all, ProviderTokenRules.all, ActivityRules.all, ContentStateRules.all, RefusalRules.all,
        ].joined().map(\.id)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isDisjoint(with: PushLint.rules.map(\.id)))
    }
}
