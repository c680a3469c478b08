// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// The decisions about installations, as values.
@Suite struct InstallationRuleTests {
    private func installation() -> Installation {
        var generator = SplitMix64(state: 1)
        return Installation(
            id: InstallationID(milliseconds: 0, using: &generator),
            app: "orders",
            user: "anna",
            environment: .production,
            bundleID: "com.example.orders",
            at: 1_000
        )
    }

    private func token(_ hex: String) throws -> DeviceToken { try DeviceToken(hex: hex) }

    @Test func `a report of the same token changes only the time of its registration`() throws {
        var change = InstallationChange()
        change.tokens[.init(.device)] = try token("ab")
        var own = installation()
        try own.apply(change, at: 2_000, by: .app)
        #expect(own.changedAt == 2_000 && own.seenAt == 2_000)
        let before = own
        try own.apply(change, at: 3_000, by: .app)
        #expect(own.tokens[.init(.device)]?.registeredAt == 3_000 && own.changedAt == 2_000 && own.seenAt == 3_000)
        let difference = InstallationDifference(from: before, to: own)
        #expect(difference.removed.isEmpty && difference.registered.count == 1 && difference.tags == nil)
    }

    @Test func `a change by the back end does not update the time last seen`() throws {
        var change = InstallationChange()
        change.tags = ["vip"]
        var own = installation()
        try own.apply(change, at: 9_000_000, by: .backEnd)
        #expect(own.seenAt == 1_000 && own.changedAt == 9_000_000 && own.tags == ["vip"])
        #expect(InstallationDifference(from: installation(), to: own).tags == ["vip"])
    }

    @Test func `kinds of tokens are removed before tokens are registered`() throws {
        var own = installation()
        var change = InstallationChange()
        change.tokens = [.init(.start, "A"): try token("aa"), .init(.start, "B"): try token("bb")]
        try own.apply(change, at: 2_000, by: .app)
        change.removedKinds = [.start]
        change.tokens = [.init(.start, "C"): try token("cc")]
        let before = own
        try own.apply(change, at: 3_000, by: .app)
        #expect(own.tokens.keys.map(\.name) == ["C"])
        #expect(Set(InstallationDifference(from: before, to: own).removed.map(\.name)) == ["A", "B"])
    }

    @Test func `too many tokens are refused as a whole`() throws {
        var change = InstallationChange()
        for index in 0...Installation.TokenKind.start.limit {
            change.tokens[.init(.start, "\(index)")] = try token("aa")
        }
        change.tags = ["vip"]
        var own = installation()
        #expect(throws: InstallationChangeError.number(.start, 17)) { try own.apply(change, at: 2_000, by: .app) }
        #expect(own == installation())
    }

    @Test func `an installation over the limit of bytes can only be made smaller`() throws {
        var own = installation()
        let digits = try token(String(repeating: "ab", count: 200))
        let name = String(repeating: "n", count: 120)
        for index in 0..<32 { own.tokens[.init(.control, "\(name)\(index)")] = .init(digits, registeredAt: 1_000) }
        for index in 0..<16 { own.tokens[.init(.start, "\(name)\(index)")] = .init(digits, registeredAt: 1_000) }
        let size = own.byteCount
        #expect(size > Installation.byteLimit)
        var change = InstallationChange()
        change.tokens = [.init(.activity, "a"): try token("aa")]
        for index in 0..<4 { change.tokens.updateValue(nil, forKey: .init(.control, "\(name)\(index)")) }
        try own.apply(change, at: 2_000, by: .app)
        #expect(own.byteCount < size && own.tokens.count == 45)
        change.tokens = [.init(.activity, "b"): try token("aabb")]
        #expect(throws: InstallationChangeError.bytes(own.byteCount + 5)) { try own.apply(change, at: 3_000, by: .app) }
        #expect(own.tokens.count == 45)
    }

    /// An activity of a surface, with the time of its end.
    private func activity(of surface: String, endedAt end: Int64? = nil) -> ActivityChange {
        var change = ActivityChange()
        change.surface = surface
        if let end { change.end = Installation.Activity.End(.user, at: end) }
        return change
    }

    @Test func `a change of an activity changes only what it names`() throws {
        var own = installation()
        var change = InstallationChange()
        var started = activity(of: "order-1")
        started.startedBy = Installation.Activity.Starter.push
        started.startedAt = Int64(900)
        change.activities = ["A": started]
        try own.apply(change, at: 2_000, by: .app)
        change.activities = ["A": ActivityChange()]
        change.tokens = [.init(.activity, "A"): try token("aa")]
        try own.apply(change, at: 3_000, by: .app)
        var expected = Installation.Activity(of: "order-1")
        expected.startedAt = 900
        expected.startedBy = .push
        #expect(own.activities == ["A": expected] && own.tokens.count == 1 && own.changedAt == 3_000)
        change = InstallationChange()
        var other = activity(of: "order-2")
        other.startedBy = .some(nil)
        change.activities = ["A": other]
        let before = own
        try own.apply(change, at: 4_000, by: .app)
        #expect(own.activities["A"]?.surface == "order-2" && own.activities["A"]?.startedBy == nil)
        #expect(InstallationDifference(from: before, to: own).activities == own.activities)
        #expect(InstallationDifference(from: own, to: own).activities == nil)
        change.activities = ["A": nil]
        try own.apply(change, at: 5_000, by: .app)
        #expect(own.activities == [:])
    }

    @Test func `an activity that is not known must have a surface`() throws {
        var own = installation()
        var change = InstallationChange()
        change.activities = ["A": ActivityChange()]
        #expect(throws: InstallationChangeError.noSurface(activity: "A")) {
            try own.apply(change, at: 2_000, by: .app)
        }
        #expect(own == installation())
    }

    @Test func `an activity that has ended loses its token`() throws {
        var own = installation()
        var change = InstallationChange()
        change.activities = ["A": activity(of: "order-1")]
        change.tokens = [.init(.activity, "A"): try token("aa")]
        try own.apply(change, at: 2_000, by: .app)
        #expect(own.tokens.count == 1)
        change.activities = ["A": activity(of: "order-1", endedAt: 2_500)]
        try own.apply(change, at: 3_000, by: .app)
        #expect(own.tokens.isEmpty && own.activities["A"]?.end?.time == 2_500)
    }

    @Test func `another environment keeps the activities without their tokens`() throws {
        var own = installation()
        own.activities = ["A": Installation.Activity(of: "order-1")]
        own.tokens[.init(.activity, "A")] = .init(try token("aa"), registeredAt: 1_000)
        var change = InstallationChange()
        change.environment = .development
        try own.apply(change, at: 2_000, by: .app)
        #expect(own.tokens.isEmpty && own.activities.count == 1)
    }

    @Test func `only activities that run count towards the limit`() throws {
        var own = installation()
        var change = InstallationChange()
        for index in 0..<16 { change.activities["\(index)"] = activity(of: "order") }
        try own.apply(change, at: 2_000, by: .app)
        var more = InstallationChange()
        more.activities["16"] = activity(of: "order")
        #expect(throws: InstallationChangeError.number(.activity, 17)) { try own.apply(more, at: 2_000, by: .app) }
        more.activities["0"] = activity(of: "order", endedAt: 2_500)
        try own.apply(more, at: 3_000, by: .app)
        #expect(own.activities.count == 17)
    }

    @Test func `the oldest activities that have ended are dropped`() throws {
        var own = installation()
        for number in 1...20 as ClosedRange<Int64> {
            var change = InstallationChange()
            change.activities["\(number)"] = activity(of: "order", endedAt: number)
            try own.apply(change, at: 2_000, by: .app)
        }
        #expect(Set(own.activities.keys) == Set((5...20).map { "\($0)" }))
        var change = InstallationChange()
        change.activities["late"] = activity(of: "order", endedAt: 0)
        try own.apply(change, at: 2_000, by: .app)
        #expect(own.activities["late"] == nil && own.activities.count == 16)
    }

    @Test func `activities that have ended make room for tokens`() throws {
        var own = installation()
        let surface = String(repeating: "s", count: 120)
        var change = InstallationChange()
        for number in 0..<16 { change.activities["\(number)"] = activity(of: surface, endedAt: Int64(number)) }
        try own.apply(change, at: 2_000, by: .app)
        change = InstallationChange()
        let digits = try token(String(repeating: "ab", count: 200))
        for index in 0..<32 { change.tokens[.init(.control, String(repeating: "n", count: 80) + "\(index)")] = digits }
        try own.apply(change, at: 3_000, by: .app)
        #expect(own.tokens.count == 32 && own.byteCount <= Installation.byteLimit)
        #expect(own.activities["0"] == nil && own.activities["15"] != nil)
    }

    @Test(arguments: [.min, -1, 0, .max] as [Int64])
    func `extreme times do not trap`(now: Int64) throws {
        var own = installation()
        own.seenAt = .min
        try own.apply(InstallationChange(), at: now, by: .app)
        var budget = RequestBudget()
        for _ in 0..<RequestBudget.limit { #expect(budget.take([1], at: now) == nil) }
        let delay = budget.take([1], at: now)
        #expect(now == .max ? true : delay.map { (1...61).contains($0) } ?? false)
    }

    @Test func `a request budget belongs to a phone and a minute`() {
        var budget = RequestBudget()
        for _ in 0..<RequestBudget.limit { _ = budget.take([1], at: 1_000_000) }
        #expect(budget.take([1], at: 1_030_000) == 30)
        #expect(budget.take([2], at: 1_030_000) == nil)
        #expect(budget.take([1], at: 1_060_000) == nil)
        for _ in 0..<RequestBudget.limit { _ = budget.take([1], at: 1_060_000) }
        #expect(budget.take([1], at: 1_060_001) != nil)
        #expect(budget.take([1], at: 5) == nil)
    }

    @Test(arguments: [
        ("anna", true), ("Zoë 👋", true), (" ", true), ("", false), ("a\u{0}", false), ("a\tb", false),
        (String(repeating: "a", count: 128), true), (String(repeating: "ä", count: 65), false), ("\u{85}", false),
    ])
    func `a user is any text without control characters`(text: String, isAccepted: Bool) {
        #expect(TextRule.user.accepts(text) == isAccepted)
    }

    @Test(arguments: ["vip", "a:b", "A_b-c.d@e", "0"]) func `a word is a valid tag`(text: String) {
        #expect(TextRule.tag.accepts(text))
    }

    @Test(arguments: ["", "a b", "é", "а", "a|b", "a&&b", "!a", "(a)", "a\n", "١", "ⅷ", "a,b"])
    func `a tag with characters of expressions is invalid`(text: String) {
        #expect(!TextRule.tag.accepts(text))
    }

    @Test func `a secret is random and is read as its own kind only`() throws {
        let (ticket, other) = (RandomSecret(.ticket), RandomSecret(.ticket))
        #expect(ticket.text != other.text && ticket.text.utf8.count == 56)
        #expect(RandomSecret(authorization: "bearer \(ticket.text)", .ticket)?.text == ticket.text)
        #expect(RandomSecret(authorization: "bearer \(ticket.text)", .installation) == nil)
        #expect(RandomSecret(authorization: "basic \(ticket.text)", .ticket) == nil)
        #expect(RandomSecret(authorization: ticket.text, .ticket) == nil)
        #expect(RandomSecret(authorization: nil, .ticket) == nil)
        #expect(try ticket.hash.count == 32 && ticket.hash != other.hash)
    }
}
