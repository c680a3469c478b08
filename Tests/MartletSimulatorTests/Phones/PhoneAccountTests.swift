// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator
import Testing

/// The comparison of what a simulated phone shows with what is expected.
@Suite struct PhoneAccountTests {
    @Test func `staleness is the time without the expected content`() {
        var bench = PhoneBench()
        bench.expect(["n": 1, "state": "new"])
        bench.wait(30)
        #expect(bench.phone.account.longestStaleness == .seconds(30))
        #expect(bench.phone.account.staleSurfaces == 1)
        bench.start("order-1", ["state": "new", "n": 1])
        bench.wait(3_600)
        #expect(bench.phone.account.staleSurfaces == 0)
        #expect(bench.phone.account.longestStaleness == .seconds(30))
        bench.expect(["n": 2])
        bench.wait(20)
        bench.expect(["n": 3])
        bench.wait(20)
        bench.update(["n": 2])
        bench.wait(15)
        #expect(bench.phone.account.longestStaleness == .seconds(40))
        bench.update(["n": 3])
        bench.wait(60)
        #expect(bench.phone.account.longestStaleness == .seconds(40))
    }

    @Test func `a number with another text is the same content`() throws {
        var bench = PhoneBench()
        let half = try #require(JSONNumber(0.5))
        let content = try JSONReader.read(Array(#"{"whole": 1.0, "half": 5e-1}"#.utf8))
        bench.expect(content)
        bench.start("order-1", ["whole": 1, "half": .number(half)])
        #expect(bench.phone.account.staleSurfaces == 0)
    }

    @Test func `staleness begins when the card disappears`() throws {
        var bench = PhoneBench()
        bench.expect(["n": 1])
        bench.start()
        bench.wait(3_600)
        let card = try #require(bench.phone.cards.first)
        bench.handle(.swipe(card.id))
        bench.wait(50)
        #expect(bench.phone.account.longestStaleness == .seconds(50))
    }

    @Test func `reachable staleness leaves out the time offline`() {
        var bench = PhoneBench()
        bench.expect(["n": 1])
        bench.start()
        bench.handle(.setOnline(false))
        bench.expect(["n": 2])
        bench.wait(3_600)
        bench.handle(.setOnline(true))
        bench.wait(10)
        bench.update(["n": 2])
        #expect(bench.phone.account.longestStaleness == .seconds(3_610))
        #expect(bench.phone.account.longestReachableStaleness == .seconds(10))
    }

    @Test func `two active cards of a surface are duplicates`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.endsDuplicates = false
        var bench = PhoneBench(behavior)
        bench.start()
        bench.start("order-2")
        #expect(bench.phone.account.duplicates == 0)
        bench.start()
        bench.wait(60)
        #expect(bench.phone.account.duplicates == 1)
        #expect(bench.phone.account.longestDuplication == .seconds(60))
        bench.end()
        bench.wait(60)
        #expect(bench.phone.account.longestDuplication == .seconds(60))
    }

    @Test func `a card after the end of its surface is stranded`() {
        var bench = PhoneBench()
        bench.expect(["n": 1])
        bench.start()
        bench.expect(nil)
        bench.wait(100)
        #expect(bench.phone.account.strandedCards == 1)
        bench.end(dismissalDate: nil)
        bench.wait(100)
        #expect(bench.phone.account.strandedCards == 0)
        #expect(bench.phone.account.longestStranding == .seconds(100))
        #expect(bench.phone.account.longestStaleness == .zero)
    }
}
