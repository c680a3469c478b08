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
        timestamp: Int64? = nil,
        event: String? = nil,
        token: Int? = nil,
        issuedAt: Int64? = nil
    ) -> TrafficRules.Facts {
        TrafficRules.Facts(
            time: time,
            connection: connection,
            earlierPushCount: earlierPushCount,
            deviceToken: deviceToken,
            topic: "com.example.app" + type.topicSuffix,
            pushType: type,
            payload: Array((payload ?? type.rawValue).utf8),
            timestamp: timestamp,
            event: event,
            providerToken: token.map { TrafficRules.ProviderTokenFacts(identity: $0, issuedAt: issuedAt ?? time) }
        )
    }

    private static func update(at time: Int64, timestamp: Int64, _ event: String = "update") -> TrafficRules.Facts {
        push(at: time, .liveActivity, timestamp: timestamp, event: event)
    }

    /// What is found in each push, joined.
    private static func rules(_ pushes: [TrafficRules.Facts]) -> [String] {
        var rules = TrafficRules()
        return pushes.map { rules.findings(for: $0).map(\.rule).joined(separator: " ") }
    }

    @Test(arguments: [
        ([update(at: 10, timestamp: 10), update(at: 11, timestamp: 11)], ["", ""]),
        ([update(at: 10, timestamp: 10), update(at: 11, timestamp: 9)], ["", "activity-timestamp-older"]),
        ([update(at: 10, timestamp: 10), update(at: 10, timestamp: 10)], ["", "activity-timestamp-repeated"]),
        (
            [update(at: 10, timestamp: 10), update(at: 11, timestamp: 9), update(at: 12, timestamp: 10)],
            ["", "activity-timestamp-older", "activity-timestamp-repeated"]
        ),
        (
            [
                update(at: 10, timestamp: 10, "end"), update(at: 11, timestamp: 11),
                update(at: 12, timestamp: 12, "end"),
            ],
            ["", "activity-after-end", "activity-after-end"]
        ),
        (
            [
                update(at: 10, timestamp: 10, "end"), update(at: 11, timestamp: 9, "start"),
                update(at: 12, timestamp: 10),
            ], ["", "", ""]
        ),
        ([update(at: 10, timestamp: .max), update(at: 11, timestamp: .min)], ["", "activity-timestamp-older"]),
        (
            [update(at: 10, timestamp: 10), push(at: 11, to: "5d3b", .liveActivity, timestamp: 9, event: "update")],
            ["", ""]
        ),
    ])
    func `an activity hears only news, until its end`(pushes: [TrafficRules.Facts], expected: [String]) {
        #expect(Self.rules(pushes) == expected)
    }

    @Test(arguments: [
        ([push(at: 10), push(at: 11)], ["", "device-token-repeated"]), ([push(at: 10), push(at: 12)], ["", ""]),
        ([push(at: 10), push(at: 10, to: "5d3b")], ["", ""]), ([push(at: 10), push(at: 10, .background)], ["", ""]),
        ([push(at: 10), push(at: 10, payload: "another")], ["", ""]),
        ([push(at: .min), push(at: .max)], ["", ""]),
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

    @Test func `only so many activities are remembered`() {
        var rules = TrafficRules(capacity: 2)
        func update(_ device: String, _ timestamp: Int64, _ event: String = "update") -> [String] {
            let push = Self.push(at: 0, to: device, .liveActivity, timestamp: timestamp, event: event)
            return rules.findings(for: push).map(\.rule)
        }
        #expect(update("a", 10).isEmpty && update("b", 10).isEmpty)
        #expect(update("a", 9) == ["activity-timestamp-older"])
        #expect(update("a", 11).isEmpty && update("c", 10).isEmpty)
        #expect(update("a", 5).isEmpty, "the oldest is forgotten")
        #expect(update("c", 9) == ["activity-timestamp-older"])
        // A start forgets its activity, and leaves no room that is never used again.
        for number in 0..<10 { #expect(update("c", Int64(number), number.isMultiple(of: 2) ? "start" : "end").isEmpty) }
        #expect(update("c", 20) == ["activity-after-end"])
    }

    @Test func `every rule is listed once, beside those for a single push`() {
        let names = TrafficRules.all.map(\.id)
        #expect(names.count == 8 && Set(names).count == 8)
        #expect(Set(names).isDisjoint(with: Lint.rules.map(\.id)))
    }
}
