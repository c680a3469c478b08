// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Which of the cards that a phone reports is the one of the surface, and the ends of the others.
struct SurfaceEndTests {
    /// Returns a card that has run for a number of seconds.
    private func card(
        _ id: String,
        _ token: String,
        age: Int64,
        byPush: Bool = true,
        in bench: SurfaceSessionBench
    ) -> ActivityWorld.CardReport {
        ActivityWorld.CardReport(id: id, token: token, startedAt: bench.now - age, isStartedByPush: byPush)
    }

    /// Returns the timestamps of the ends in the last plan, by the tokens.
    private func ends(in plan: SurfacePlan) -> [String: Int64] {
        var timestamps: [String: Int64] = [:]
        for send in plan.sends {
            guard case .end(let timestamp) = send.content, let token = send.token else { continue }
            timestamps[String(decoding: token.bytes, as: UTF8.self)] = timestamp
        }
        return timestamps
    }

    @Test func `a phone whose clock is hours behind gets one card, and another one after its time`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        try bench.settle()
        bench.now += 2
        try bench.report([.cards([card("first", "first", age: 30_000, in: bench)])])
        #expect(bench.plan.sends.isEmpty)
        bench.now += 27_000
        bench.step()
        guard case .start? = bench.plan.sends.last?.content else {
            Issue.record("no start: \(bench.plan.sends)")
            return
        }
        try bench.settle()
        bench.now += 2
        let first = card("first", "first", age: 57_002, in: bench)
        let second = card("second", "second", age: 30_000, in: bench)
        try bench.report([.cards([first, second])])
        #expect(ends(in: bench.plan).keys.sorted() == ["first"])
    }

    @Test func `the newest of the cards that pushes have started is that of the start`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        try bench.settle()
        // The clock of the phone is a second behind.
        let (old, new) = (card("old", "old", age: 3_600, in: bench), card("new", "new", age: 1, in: bench))
        try bench.report([.cards([old, new])])
        #expect(ends(in: bench.plan).keys.sorted() == ["old"])
        #expect(bench.plan.sends.count == 1, "the new card shows the content of its start")
    }

    @Test func `cards that are ended at once have one timestamp, which is not ahead of the clock`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.now += 60
        let cards = (1...9).map { card("\($0)", "\($0)", age: 10 - $0, byPush: false, in: bench) }
        try bench.report([.cards([card("card", "update", age: 62, in: bench)] + cards)])
        let ends = ends(in: bench.plan)
        #expect(ends.count == 9)
        #expect(Set(ends.values) == [bench.now])
    }

    @Test func `a phone that invents cards gets 32 ends at once, and then one a minute`() throws {
        var bench = SurfaceSessionBench()
        var count = 0
        for number in 0..<40 {
            try bench.report([.cards([card("card", "\(number)", age: 1, in: bench)])])
            count += ends(in: bench.plan).count
            if bench.plan.sends.last != nil { try bench.settle() }
        }
        #expect(count == 32)
        #expect(bench.plan.dueAt == (bench.now + 60) * 1_000)
        bench.now += 60
        bench.step()
        #expect(ends(in: bench.plan).keys.sorted() == ["39"])
    }

    @Test func `updates do not wait while ends exceed the budget`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        while bench.budget.takeEnd(at: bench.now) {}
        bench.now += 1
        let update = card("card", "update", age: 1, in: bench)
        try bench.report([.cards([update, card("new", "new", age: 0, byPush: false, in: bench)])])
        #expect(ends(in: bench.plan).isEmpty)
        let time = try #require(bench.plan.dueAt)
        #expect(time <= (bench.now + 15) * 1_000)
    }

    @Test func `the end that Apple has refused is named`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.show(nil)
        #expect(try bench.account(.liveActivity).reason == nil)
        try bench.settle(.refused, 400)
        let account = try bench.account(.liveActivity)
        #expect(account.state == .ending && account.reason == .refused)
        #expect(try SurfaceSessionState(stored: bench.state.stored) == bench.state)
    }
}
