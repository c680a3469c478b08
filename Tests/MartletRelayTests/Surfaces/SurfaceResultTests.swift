// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// The results of pushes, and the steps that take them.
struct SurfaceResultTests {
    /// The result of the push that was planned last, as it is accepted now.
    private func accepted(_ bench: SurfaceSessionBench) throws -> [SessionResult] {
        let id = try #require(bench.plan.sends.last?.id)
        return [SessionResult(id: id, state: .delivered, status: 200, endedAt: bench.now * 1_000)]
    }

    @Test func `an accepted update is taken with the next change`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.now += 10
        bench.show(.activity(2, isUrgent: true))
        let sentAt = bench.now
        #expect(bench.plan.dueAt == (sentAt + 6_900) * 1_000, "the time of the next update, as if it were accepted")
        bench.now += 2
        let results = try accepted(bench)
        #expect(bench.state.staleness(of: results) == [.liveActivity: 2_000])
        bench.now += 30
        (bench.revision, bench.content) = (3, .activity(3, isUrgent: true))
        bench.step(results)
        #expect(bench.plan.sends.map(\.snapshot.id) == ["order-7@3"] && bench.plan.cancelled.isEmpty)
        #expect(try bench.account(.liveActivity).shownRevision == 2)
    }

    @Test func `a step waits for a push on which others depend`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        #expect(bench.plan.dueAt == nil, "the card of a start")
        bench = SurfaceSessionBench()
        try bench.goLive()
        bench.show(.activity(2, isUrgent: true))
        bench.show(.activity(3, isUrgent: true))
        #expect(bench.plan.cancelled.count == 1 && bench.plan.dueAt == nil, "the newer update")
        bench = SurfaceSessionBench()
        try bench.goLive()
        bench.show(.activity(2, isUrgent: true))
        bench.now += 1
        try bench.report([bench.card("other")])
        #expect(bench.plan.dueAt == nil, "the update of the other token")
        bench.show(nil)
        #expect(bench.plan.dueAt == nil, "the end")
        bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.examples(of: .widget))
        #expect(bench.plan.dueAt == (bench.now + 86_400) * 1_000)
        bench.show(.examples(of: .widget))
        #expect(bench.plan.dueAt == nil, "the newer snapshot")
    }

    @Test func `a snapshot on its way does not delay the Live Activity`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.examples(of: .liveActivity, .widget))
        let update = try #require(bench.plan.sends.first?.id)
        bench.show(.examples(of: .liveActivity, .widget))
        #expect(bench.plan.cancelled.count == 2)
        bench.now += 1
        bench.step([SessionResult(id: update, state: .cancelled, status: nil, endedAt: bench.now * 1_000)])
        #expect(bench.plan.sends.map(\.snapshot.kind) == [.liveActivity])
        #expect(bench.plan.dueAt == (bench.now + 6_900) * 1_000)
    }

    @Test func `a card of which nothing is known but the report is ended once`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        // The stored state could not be read.
        bench.state = SurfaceSessionState()
        bench.now += 10
        bench.show(nil)
        #expect(bench.plan.sends.map(\.content) == [.end(timestamp: bench.now)])
        #expect(bench.plan.sends.first?.snapshot == .removal(of: ReportedInstallation.surface))
        let dueAt = (bench.now + 12 * 3_600) * 1_000
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
        #expect(bench.plan.dueAt == dueAt, "the app may list the card for as long as the phone could show it")
        bench.now += 1
        bench.step()
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == dueAt)
    }

    @Test func `the same content, and a report, have no staleness`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.now += 6_900
        bench.step()
        #expect(bench.plan.sends.count == 1)
        var results = try accepted(bench)
        #expect(bench.state.staleness(of: results).isEmpty)
        bench = SurfaceSessionBench()
        bench.show(.examples(of: .widget))
        bench.now += 60
        try bench.stored.add(.device, "device", at: bench.now)
        bench.step()
        #expect(bench.plan.sends.count == 1)
        results = try accepted(bench)
        #expect(bench.state.staleness(of: results).isEmpty)
    }

    @Test func `a phone is reachable while a push can probably show the next change`() throws {
        var bench = SurfaceSessionBench()
        bench.show(.activity(1))
        #expect(!bench.state.isReachable, "no token has been reported")
        try bench.report([.startToken("start")])
        #expect(bench.state.isReachable, "a start is being sent")
        try bench.settle()
        #expect(!bench.state.isReachable, "the app has not confirmed the start")
        try bench.report([bench.card("update")])
        #expect(bench.state.isReachable)
        bench = SurfaceSessionBench()
        try bench.goLive(on: .test())
        #expect(bench.state.isReachable, "a broadcast reaches the card")
        bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.examples(of: .widget))
        #expect(bench.state.isReachable, "the result of the push is not known")
        try bench.settle()
        #expect(bench.state.isReachable, "the token is in use")
    }

    // MARK: Accounts

    @Test func `a notification in place of a Live Activity is outdated after a change that none followed`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.allowed(false)])
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.activity(1, isUrgent: true))
        try bench.settle()
        let sent = try bench.account(.notification)
        #expect(sent.state == .current && sent.shownRevision == 1 && sent.desiredRevision == nil)
        bench.show(.activity(2))
        let later = try bench.account(.notification)
        #expect(later.state == .outdated && later.reason == .notUrgent && later.shownRevision == 1)
        try bench.stored.unregister(ReportedInstallation.token("device"), since: bench.now)
        bench.show(.activity(3, isUrgent: true))
        let last = try bench.account(.notification)
        #expect(last.state == .outdated && last.reason == .noDeviceToken && last.shownRevision == 1)
        // The Live Activity shows the state instead.
        try bench.report([.allowed(true), .startToken("start")])
        #expect(try bench.account(.liveActivity).state == .sending)
        #expect(try bench.account(.notification).reason == nil)
    }

    @Test func `a card is ending until the app has reported its end`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.show(nil)
        #expect(try bench.account(.liveActivity).state == .ending)
        try bench.settle()
        #expect(try bench.account(.liveActivity).state == .ending, "a phone that is offline shows the card")
        bench.now += 5
        try bench.report([.gone("card", .app)])
        #expect(bench.plan.isFinished)
    }

    @Test func `nothing is ending on a phone whose surface cannot be read`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.now += 10
        try bench.report([.gone("card", .user)])
        #expect(try bench.account(.liveActivity).state == .absent)
        #expect(bench.state.account(of: nil, changedBy: bench.last).isEmpty)
    }

    @Test func `no notification follows one after the user has removed the Live Activity`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.allowed(false)])
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.activity(1, isUrgent: true))
        try bench.settle()
        try bench.report([.allowed(true), .startToken("start")])
        try bench.settle()
        bench.now += 10
        try bench.report([bench.card("update")])
        bench.now += 10
        try bench.report([.gone("card", .user)])
        bench.show(.activity(2, isUrgent: true))
        let account = try bench.account(.notification)
        #expect(account.state == .outdated && account.reason == .declined)
    }
}
