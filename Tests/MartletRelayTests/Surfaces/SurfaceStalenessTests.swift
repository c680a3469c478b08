// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

/// The times from changes of surfaces until Apple accepted their pushes, in the last minutes.
@Suite struct SurfaceStalenessTests {
    /// 2026-11-25 12:41:00 UTC.
    private static let start: Int64 = 1_795_610_460_000
    private static let minute: Int64 = 60_000

    @Test func `the last five minutes have a median, a p95 and a maximum`() throws {
        var staleness = SurfaceStaleness()
        #expect(staleness.recent(at: Self.start) == nil)
        for _ in 0..<19 { staleness.add(300, of: "order-7", at: Self.start) }
        staleness.add(8_200, of: "order-8", at: Self.start + Self.minute)
        staleness.add(100, of: "order-9", at: Self.start + Self.minute)
        let times = try #require(staleness.recent(at: Self.start + 2 * Self.minute))
        #expect(times.count == 21 && times.late == 0 && times.longest == 8_200 && times.slowest == "order-8")
        #expect((251...500).contains(times.quantile(0.5)) && (251...500).contains(times.quantile(0.9)))
        #expect(times.quantile(1) == 8_200, "not more than the longest")
        #expect(staleness.recent(at: Self.start + 5 * Self.minute)?.count == 2)
        #expect(staleness.recent(at: Self.start + 6 * Self.minute) == nil)
    }

    @Test func `one late push in twenty is not late, and two are`() {
        var times = SurfaceStaleness.Times()
        for _ in 0..<19 { times.add(60_000, of: "order-7") }
        times.add(60_001, of: "order-7")
        #expect(times.late == 1 && !times.areLate)
        times.add(60_001, of: "order-7")
        #expect(times.late == 2 && times.areLate)
    }

    @Test func `two late minutes are a problem until a minute without`() {
        var staleness = SurfaceStaleness()
        func add(_ time: Int64, minute: Int64) {
            staleness.add(time, of: "order-7", at: Self.start + minute * Self.minute + 1)
        }
        func since(minute: Int64) -> Int64? { staleness.lateSince(at: Self.start + minute * Self.minute + 2) }
        add(90_000, minute: 0)
        #expect(since(minute: 0) == nil)
        add(90_000, minute: 1)
        #expect(since(minute: 1) == nil, "the second one is not over")
        #expect(since(minute: 2) == Self.start, "it is over, also without another push")
        // Minutes without pushes do not count.
        add(300, minute: 3)
        #expect(since(minute: 3) == Self.start)
        #expect(since(minute: 4) == nil, "a minute without is over")
        #expect(since(minute: 9) == nil, "nothing is known any more")
        add(300, minute: 4)
        #expect(since(minute: 4) == nil)
    }

    @Test func `late minutes far from each other are no problem`() {
        var staleness = SurfaceStaleness()
        for minute: Int64 in [0, 6, 12, 18] {
            let now = Self.start + minute * Self.minute
            staleness.add(90_000, of: "order-7", at: now)
            #expect(staleness.lateSince(at: now) == nil)
        }
    }

    @Test func `times after a clock was set back replace later ones`() {
        var staleness = SurfaceStaleness()
        staleness.add(90_000, of: "order-7", at: Self.start)
        staleness.add(300, of: "order-7", at: Self.start - 60 * Self.minute)
        #expect(staleness.recent(at: Self.start - 60 * Self.minute)?.count == 1)
    }
}
