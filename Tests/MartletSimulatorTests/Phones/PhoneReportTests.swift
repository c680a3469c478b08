// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletSimulator
import Testing

/// The reports of the app on a simulated phone, and its tokens.
@Suite struct PhoneReportTests {
    @Test func `a swipe is reported as the user's`() throws {
        var bench = PhoneBench()
        bench.start()
        let card = try #require(bench.phone.cards.first)
        bench.wait(10)
        bench.handle(.swipe(card.id))
        #expect(bench.phone.cards.isEmpty && bench.activities.isEmpty)
        let ending = try #require(bench.endings.first)
        #expect(ending.id == card.id && ending.surface == "order-1" && ending.cause == .user)
        #expect(ending.endedAt == bench.now)
    }

    @Test func `the app ends all activities of a surface but the newest`() {
        var bench = PhoneBench()
        bench.start("order-1", ["n": 1])
        bench.start("order-1", ["n": 2])
        #expect(bench.contents == [["n": 2]] && bench.endings.map(\.cause) == [.app])
    }

    @Test func `a card stays unreported after a force-quit until launch`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.wakeAfterForceQuit = 0
        var bench = PhoneBench(behavior)
        bench.handle(.forceQuit)
        bench.start()
        #expect(bench.phone.cards.count == 1 && bench.activities.isEmpty)
        bench.handle(.launch)
        #expect(bench.updateToken != nil)
    }

    @Test func `an app that was opened reports a token of a card`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.wakeAfterForceQuit = 0
        behavior.tokens.delayAfterLaunch = .seconds(20)
        var bench = PhoneBench(behavior)
        bench.handle(.forceQuit)
        bench.start()
        bench.handle(.launch)
        bench.handle(.leave)
        #expect(bench.activities.count == 1 && bench.updateToken == nil)
        bench.wait(20)
        #expect(bench.updateToken != nil)
    }

    @Test func `the app can miss a new start token after an update`() throws {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.silenceAfterSystemUpdate = 1
        var bench = PhoneBench(behavior)
        let old = try #require(bench.startToken)
        bench.handle(.updateSystem)
        bench.handle(.launch)
        #expect(bench.startToken == old)
        #expect(bench.start() == .accepted)
        #expect(bench.phone.cards.isEmpty && bench.phone.account.toInvalidTokens == 1)
        bench.handle(.setPermissions(SimulatedPhone.Permissions(liveActivities: false)))
        bench.handle(.setPermissions(SimulatedPhone.Permissions()))
        #expect(bench.startToken != old)
        bench.start()
        #expect(bench.phone.cards.count == 1)
    }

    @Test func `a silent stream hides a new start token until launch`() throws {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.silentStream = 1
        behavior.tokens.startRotationAfterStart = 1
        var bench = PhoneBench(behavior)
        let old = try #require(bench.startToken)
        bench.start()
        #expect(bench.startToken == old)
        bench.handle(.launch)
        #expect(bench.startToken != old)
    }

    @Test func `the system can issue no start token`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.missingStart = 1
        let bench = PhoneBench(behavior)
        #expect(bench.startToken == nil && bench.deviceToken != nil)
    }

    @Test func `the system replaces an update token`() throws {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.tokens.updateRotation = 1
        var bench = PhoneBench(behavior)
        bench.start()
        let old = try #require(bench.updateToken)
        bench.wait(3_600)
        #expect(bench.updateToken != old)
        #expect(bench.update(["n": 2]) == .accepted)
        #expect(bench.send(["event": "update"], to: old) == .unregistered(since: bench.now))
        #expect(bench.contents == [["n": 2]])
    }

    @Test func `a change of a setting ends the activities`() {
        var bench = PhoneBench()
        bench.start()
        var permissions = bench.phone.permissions
        permissions.frequentUpdates = false
        bench.handle(.setPermissions(permissions))
        #expect(bench.phone.cards.isEmpty && bench.endings.map(\.cause) == [.system])
        permissions.liveActivities = false
        bench.handle(.setPermissions(permissions))
        bench.start()
        #expect(bench.dropped(.notAllowed) == 1 && bench.phone.cards.isEmpty)
        let isReported = bench.reports.contains { report in
            if case .permissions(let permissions) = report.content { !permissions.liveActivities } else { false }
        }
        #expect(isReported)
    }

    @Test func `activities survive an update of the system or end`() {
        var bench = PhoneBench()
        bench.start()
        bench.handle(.updateSystem)
        #expect(bench.phone.cards.count == 1)
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.keepsActivitiesInSystemUpdate = false
        bench = PhoneBench(behavior)
        bench.start()
        bench.handle(.updateSystem)
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `reports can be lost or repeated`() {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.reports.loss = 1
        #expect(PhoneBench(behavior).reports.isEmpty)
        behavior.reports.loss = 0
        behavior.reports.repetition = 1
        let numbers = PhoneBench(behavior).reports.map(\.number)
        #expect(!numbers.isEmpty && numbers.count == 2 * Set(numbers).count)
    }

    @Test func `reports can be late`() throws {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.reports.lateness = 1
        var bench = PhoneBench(behavior)
        bench.wait(7_200)
        let last = try #require(bench.reports.last)
        #expect(last.arrival > last.date && last.arrival <= bench.now)
        #expect(bench.startToken != nil && bench.phone.nextDate == nil)
    }

    @Test func `reports wait for the connection`() {
        var bench = PhoneBench()
        let count = bench.reports.count
        bench.handle(.setOnline(false))
        bench.handle(.launch)
        bench.wait(60)
        #expect(bench.reports.count == count)
        bench.handle(.setOnline(true))
        #expect(bench.reports.count > count && bench.reports.last?.date == bench.now - 60)
    }

    @Test func `the phone's clock can be wrong`() throws {
        var behavior = SimulatedPhone.Behavior.reliable
        behavior.clockOffset = 86_400
        var bench = PhoneBench(behavior)
        bench.start()
        let activity = try #require(bench.activities.first)
        #expect(activity.startedAt == bench.now + 86_400)
        #expect(bench.phone.cards.first?.startedAt == bench.now)
    }
}
