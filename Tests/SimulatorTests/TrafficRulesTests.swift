import APNs
import Testing

@testable import Simulator

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
        keyID: String = "",
        issuedAt: Int64? = nil
    ) -> TrafficRules.Facts {
        TrafficRules.Facts(
            time: time,
            connection: connection,
            earlierPushCount: earlierPushCount,
            deviceToken: deviceToken,
            isOnline: isOnline,
            topic: "com.example.app" + type.topicSuffix,
            pushType: type,
            collapseID: collapseID,
            payload: Array((payload ?? type.rawValue).utf8),
            providerToken: token.map {
                TrafficRules.ProviderTokenFacts(identity: $0, keyID: keyID, issuedAt: issuedAt ?? time)
            }
        )
    }

    /// What is found in each push, joined.
    private static func rules(_ pushes: [TrafficRules.Facts]) -> [String] {
        var rules = TrafficRules()
        return pushes.map { rules.findings(for: $0).map(\.rule).joined(separator: " ") }
    }

    @Test(arguments: [
        ([push(at: 10), push(at: 11)], ["", "device-token-repeated"]), ([push(at: 10), push(at: 12)], ["", ""]),
        ([push(at: 10), push(at: 10, to: "5d3b")], ["", ""]), ([push(at: 10), push(at: 10, .background)], ["", ""]),
        ([push(at: 10), push(at: 10, payload: "another")], ["", ""]),
        ([push(at: .min), push(at: .max)], ["", ""]),
        ([push(at: 10, collapseID: "a"), push(at: 10, collapseID: "a")], ["", ""]),
        ([push(at: 10, collapseID: "a"), push(at: 10, collapseID: "b")], ["", "device-token-repeated"]),
        ([push(at: 10), push(at: 10, collapseID: "a")], ["", "device-token-repeated"]),
        ([push(at: 10, isOnline: false), push(at: 10, isOnline: false)], ["", ""]),
        ([push(at: 10, isOnline: false), push(at: 10)], ["", ""]),
    ])
    func `a device that is in the list twice is noticed`(pushes: [TrafficRules.Facts], expected: [String]) {
        #expect(Self.rules(pushes) == expected)
    }

    @Test(arguments: [
        ([push(at: 0, token: 1), push(at: 1_199, token: 2)], ["", "provider-token-refreshed-early"]),
        ([push(at: 0, token: 1), push(at: 1_200, token: 2)], ["", ""]),
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
    func `provider tokens are kept for 20 minutes and given up after 60`(
        pushes: [TrafficRules.Facts],
        expected: [String]
    ) {
        #expect(Self.rules(pushes) == expected)
    }

    @Test func `what APNs refuses has its reason`() {
        var rules = TrafficRules()
        _ = rules.findings(for: Self.push(at: 0, token: 1))
        let findings = rules.findings(for: Self.push(at: 60, token: 2, issuedAt: -9_999))
        #expect(findings.compactMap(\.reason) == [.expiredProviderToken, .tooManyProviderTokenUpdates])
    }

    @Test func `a token of another key is named as the cause`() {
        var rules = TrafficRules()
        _ = rules.findings(for: Self.push(at: 0, token: 1, keyID: "KEY0000001"))
        let finding = rules.findings(for: Self.push(at: 60, token: 2, keyID: "KEY0000002")).first
        #expect(finding?.message.contains("another key, KEY0000002") == true)
    }

    @Test func `a connection for each push becomes a habit`() {
        let alone = (1...12).map {
            Self.push(at: Int64($0) * 10, over: $0, after: 0, to: "\($0)")
        }
        let quiet = Array(repeating: "", count: 10)
        #expect(Self.rules(alone) == quiet + ["connection-per-push", "connection-per-push"])
        let slow = (1...12).map { Self.push(at: Int64($0) * 31, over: $0, after: 0, to: "\($0)") }
        #expect(Set(Self.rules(slow)) == [""])
        let shared = alone.flatMap { first -> [TrafficRules.Facts] in
            var second = first
            second.earlierPushCount = 1
            second.deviceToken += "b"
            return [first, second]
        }
        #expect(Set(Self.rules(shared)) == [""])
    }

    @Test func `a token that replaces an expired one is not early`() {
        var renewal = Self.push(at: 60, token: 2)
        renewal.providerToken?.isRenewalOfExpired = true
        #expect(Self.rules([Self.push(at: 0, token: 1), renewal]) == ["", ""])
    }

    @Test func `every rule is listed once, beside those for a single push`() {
        let names = [TrafficRules.all, ProviderTokenRules.all, ActivityRule.allCases.map(\.rule), RefusalRules.all]
            .joined().map(\.id)
        #expect(Set(names).count == names.count)
        #expect(Set(names).isDisjoint(with: Lint.rules.map(\.id)))
    }
}
