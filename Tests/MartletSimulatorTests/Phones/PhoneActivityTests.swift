// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator
import Testing

/// Starts, updates and ends of Live Activities on a simulated phone.
@Suite struct PhoneActivityTests {
    @Test func `a start shows a card whose token is reported`() throws {
        var bench = PhoneBench()
        #expect(bench.start() == .accepted)
        let card = try #require(bench.phone.cards.first)
        #expect(card.surface == "order-1" && card.content == ["n": 1])
        #expect(card.state == .active && card.isStartedByPush && card.startedAt == bench.now)
        let activity = try #require(bench.activities.first)
        #expect(activity.id == card.id && activity.surface == "order-1" && activity.token != nil)
        #expect(bench.phone.account.effective == 1)
    }

    @Test(arguments: ["alert", "attributes", "attributes-type", "content-state", "timestamp"])
    func `a start that lacks a value is dropped`(key: String) {
        var bench = PhoneBench()
        #expect(bench.start(without: key) == .accepted)
        #expect(bench.phone.cards.isEmpty && bench.dropped(.malformed) == 1)
    }

    @Test func `a start of another type is dropped`() {
        var bench = PhoneBench()
        bench.start(type: "OtherAttributes")
        #expect(bench.phone.cards.isEmpty && bench.dropped(.malformed) == 1)
    }

    @Test func `an update to a start token is dropped`() {
        var bench = PhoneBench()
        bench.send(["timestamp": 1_790_000_000, "event": "update", "content-state": [:]], to: bench.startToken)
        #expect(bench.dropped(.wrongToken) == 1)
    }

    @Test func `ten starts empty the budget, which grows slowly`() {
        var bench = PhoneBench()
        for number in 1...11 {
            bench.start("order-1", ["n": .number(JSONNumber(number))])
            bench.wait(1)
        }
        #expect(bench.phone.account.effective == 10 && bench.dropped(.budget) == 1)
        #expect(bench.contents == [["n": 10]])
        bench.wait(8_640)
        bench.start()
        bench.start()
        #expect(bench.phone.account.effective == 11 && bench.dropped(.budget) == 2)
    }

    @Test func `an app has at most five activities`() {
        var bench = PhoneBench()
        for number in 1...6 { bench.start("order-\(number)") }
        #expect(bench.phone.cards.map(\.surface) == (1...5).map { "order-\($0)" })
        #expect(bench.dropped(.activityLimit) == 1)
    }

    @Test func `a push-started card has no token before Allow`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.waitForAllow = true
        var bench = PhoneBench(behavior)
        bench.start()
        bench.wait(3_600)
        #expect(bench.activities.count == 1 && bench.updateToken == nil)
        bench.handle(.allow)
        #expect(bench.updateToken != nil)
        bench.start("order-2")
        #expect(bench.activities.compactMap(\.token).count == 2)
    }

    @Test func `an activity of the app needs no Allow`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.waitForAllow = true
        var bench = PhoneBench(behavior)
        bench.handle(.start(surface: "order-1", content: ["n": 1]))
        #expect(bench.phone.cards.isEmpty)
        bench.handle(.launch)
        bench.handle(.start(surface: "order-1", content: ["n": 1]))
        #expect(bench.updateToken != nil && bench.activities.first?.isStartedByPush == false)
        bench.handle(.end(surface: "order-1"))
        #expect(bench.phone.cards.isEmpty && bench.endings.map(\.cause) == [.app])
    }

    @Test func `an update changes the content`() {
        var bench = PhoneBench()
        bench.start()
        #expect(bench.update(["n": 2]) == .accepted)
        #expect(bench.contents == [["n": 2]])
    }

    @Test func `old, equal and distant timestamps are dropped`() {
        var bench = PhoneBench()
        bench.start()
        let start = Int64(bench.now.timeIntervalSince1970)
        bench.update(["n": 2], timestamp: start - 1)
        bench.update(["n": 2], timestamp: start)
        bench.update(["n": 2], timestamp: start + 8 * 3_600 + 1)
        #expect(bench.dropped(.timestamp) == 3 && bench.contents == [["n": 1]])
        bench.update(["n": 2], timestamp: start + 8 * 3_600)
        #expect(bench.contents == [["n": 2]])
    }

    @Test func `an end with an old timestamp ends the activity`() {
        var bench = PhoneBench()
        bench.start()
        bench.end(timestamp: 1_790_000_000 - 60)
        #expect(bench.phone.cards.isEmpty && bench.endings.map(\.cause) == [.push])
    }

    @Test func `priority 10 has a budget and priority 5 has none`() {
        var bench = PhoneBench(permissions: SimulatedPhone.Permissions(frequentUpdates: false))
        bench.start()
        for number in 1...16 { bench.update(["n": .number(JSONNumber(number))]) }
        #expect(bench.dropped(.budget) == 1 && bench.contents == [["n": 15]])
        bench.update(["n": 17], priority: 5)
        #expect(bench.contents == [["n": 17]])
        bench.wait(240)
        bench.update(["n": 18])
        #expect(bench.contents == [["n": 18]])
    }

    @Test func `frequent updates have a larger budget`() {
        var bench = PhoneBench()
        bench.start()
        for number in 1...240 { bench.update(["n": .number(JSONNumber(number))]) }
        #expect(bench.dropped(.budget) == 0)
    }

    @Test func `the screen shows content at intervals`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.limits.renderInterval = .seconds(15)
        var bench = PhoneBench(behavior)
        bench.start()
        bench.wait(5)
        bench.update(["n": 2])
        bench.wait(9)
        bench.update(["n": 3])
        #expect(bench.contents == [["n": 1]])
        bench.wait(1)
        #expect(bench.contents == [["n": 3]])
        bench.wait(16)
        bench.update(["n": 4])
        #expect(bench.contents == [["n": 4]])
    }

    @Test func `priority 5 is delayed, and longer in Low Power Mode`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.limits.powerAwareDelay = .seconds(60)
        var bench = PhoneBench(behavior)
        bench.start()
        bench.update(["n": 2], priority: 5)
        #expect(bench.phone.account.waiting == 1)
        bench.wait(60)
        #expect(bench.phone.account.waiting == 0 && bench.contents == [["n": 2]])
        bench.handle(.setLowPower(true))
        for number in 3...12 { bench.update(["n": .number(JSONNumber(number))], priority: 5) }
        bench.wait(60)
        #expect(bench.phone.account.waiting > 0)
        bench.wait(240)
        #expect(bench.phone.account.waiting == 0)
    }

    @Test func `an end removes the card or leaves it for four hours`() {
        var bench = PhoneBench()
        bench.start()
        bench.end()
        #expect(bench.phone.cards.isEmpty && bench.endings.map(\.cause) == [.push])
        bench.start()
        bench.end(dismissalDate: nil)
        #expect(bench.phone.cards.map(\.state) == [.ended] && bench.contents == [["n": 0]])
        bench.wait(4 * 3_600 - 1)
        #expect(bench.phone.cards.count == 1)
        bench.wait(1)
        #expect(bench.phone.cards.isEmpty && bench.phone.account.cardsRemoved == 2)
    }

    @Test func `the system ends an activity after eight hours`() throws {
        var bench = PhoneBench()
        bench.start()
        let token = try #require(bench.updateToken)
        bench.wait(8 * 3_600 - 1)
        #expect(bench.phone.cards.map(\.state) == [.active])
        bench.wait(1)
        let end = bench.now
        #expect(bench.phone.cards.map(\.state) == [.ended] && bench.endings.map(\.cause) == [.system])
        #expect(bench.send(["event": "update"], to: token) == .unregistered(since: end))
        bench.wait(4 * 3_600)
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `content is stale after its stale date`() {
        var bench = PhoneBench()
        bench.start()
        bench.update(["n": 2], staleDate: bench.now + 60)
        #expect(bench.phone.cards.map(\.state) == [.active])
        bench.wait(60)
        #expect(bench.phone.cards.map(\.state) == [.stale])
        bench.update(["n": 3])
        #expect(bench.phone.cards.map(\.state) == [.active])
    }

    @Test func `dates in pushes count by the phone's clock`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.clockOffset = 60
        var bench = PhoneBench(behavior)
        bench.start()
        bench.update(["n": 2], staleDate: bench.now + 90)
        bench.wait(29)
        #expect(bench.phone.cards.map(\.state) == [.active])
        bench.wait(1)
        #expect(bench.phone.cards.map(\.state) == [.stale])
        bench.end(dismissalDate: bench.now + 90)
        bench.wait(29)
        #expect(bench.phone.cards.map(\.state) == [.ended])
        bench.wait(1)
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `an iPad can show two cards of one start`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.duplicateStart = 1
        behavior.endsDuplicates = false
        var bench = PhoneBench(behavior)
        bench.start()
        #expect(bench.phone.cards.count == 2 && bench.activities.count == 2)
    }
}
