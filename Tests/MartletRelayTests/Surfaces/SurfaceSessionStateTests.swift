// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// The steps of a surface on an installation, with the Live Activity and the other kinds.
struct SurfaceSessionStateTests {
    private typealias Send = SurfacePlan.Send.Content

    // MARK: Clocks

    @Test func `a clock that was set back delays no update`() throws {
        var bench = SurfaceSessionBench()
        bench.now += 30 * 86_400
        try bench.goLive()
        bench.show(.activity(2, isUrgent: true))
        guard case .update(let early)? = bench.plan.sends.first?.content else {
            Issue.record("no update")
            return
        }
        try bench.settle()
        bench.now -= 30 * 86_400
        bench.show(.activity(3, isUrgent: true))
        bench.now += 1
        bench.step()
        guard case .update(let update)? = bench.plan.sends.first?.content else {
            Issue.record("no update after the clock was set back")
            return
        }
        #expect(update.timestamp > early.timestamp, "the phone ignores an update with a lower timestamp")
    }

    @Test func `a report counts after a clock was set back`() throws {
        var bench = SurfaceSessionBench()
        bench.now += 30 * 86_400
        try bench.goLive()
        bench.show(.activity(2, isUrgent: true))
        try bench.settle(.refused, 410)
        #expect(try bench.account(.liveActivity).reason == .endedWithoutReport)
        bench.now -= 30 * 86_400
        try bench.report([.startToken("other")])
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (bench.now + 60) * 1_000)
        bench.now += 60
        bench.step()
        #expect(bench.plan.sends.first?.token == (try ReportedInstallation.token("other")))
    }

    @Test func `a clock that was set back prolongs no pause`() throws {
        var bench = SurfaceSessionBench()
        bench.now += 30 * 86_400
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        try bench.settle(.cancelled, nil)
        bench.now -= 30 * 86_400
        bench.step()
        #expect(bench.plan.dueAt == (bench.now + 15) * 1_000)
    }

    // MARK: Live Activities

    @Test func `a card is started, updated and ended`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now)])
        #expect(bench.plan.sends.first?.token == (try ReportedInstallation.token("start")))
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.liveActivity).state == .unconfirmed)
        bench.now += 2
        try bench.report([bench.card("update")])
        #expect(try bench.account(.liveActivity).shownRevision == 1)
        bench.show(.activity(2, isUrgent: true))
        guard case .update(let update)? = bench.plan.sends.first?.content else {
            Issue.record("no update")
            return
        }
        #expect(update.priority == 10)
        #expect(try bench.account(.liveActivity).state == .sending)
        bench.now += 1
        try bench.settle()
        let account = try bench.account(.liveActivity)
        #expect(account.state == .current && account.shownRevision == 2 && account.since == bench.now * 1_000)
        bench.show(nil)
        #expect(bench.plan.sends.first?.snapshot.id == "order-7@2")
        guard case .end? = bench.plan.sends.first?.content else {
            Issue.record("no end")
            return
        }
        bench.now += 5
        try bench.settle()
        #expect(!bench.plan.isFinished)
        try bench.report([.cards([])])
        #expect(bench.plan.isFinished)
    }

    @Test func `a card that is not allowed any more is forgotten once`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        // The app still lists the activity, which the system has ended.
        try bench.report([.allowed(false)])
        bench.show(nil)
        let dueAt = try #require(bench.plan.dueAt)
        bench.now += 600
        bench.step()
        #expect(bench.plan.dueAt == dueAt)
        bench.now = dueAt / 1_000
        bench.step()
        #expect(bench.plan.isFinished && bench.plan.sends.isEmpty)
    }

    @Test func `a step without news sends nothing`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        for _ in 0..<3 {
            bench.step()
            #expect(bench.plan.sends.isEmpty && bench.plan.cancelled.isEmpty)
        }
    }

    @Test func `the result decides what follows a start`() throws {
        let results: [(Outcome.State, Int?, SurfaceAccount.State, ActivitySession.Absence?)] = [
            (.delivered, 200, .unconfirmed, nil), (.refused, 410, .absent, .noStartToken),
            (.refused, 400, .absent, .refused), (.dead, nil, .absent, .refused),
        ]
        for (state, status, expected, reason) in results {
            var bench = SurfaceSessionBench()
            try bench.report([.startToken("start")])
            bench.show(.activity(1))
            try bench.settle(state, status)
            #expect(bench.plan.sends.isEmpty)
            let account = try bench.account(.liveActivity)
            #expect(account.state == expected && account.reason == reason, "\(state)")
        }
    }

    @Test func `a start that was not sent is repeated after a pause`() throws {
        for state in [Outcome.State.expired, .cancelled, .superseded] {
            var bench = SurfaceSessionBench()
            try bench.report([.startToken("start")])
            bench.show(.activity(1))
            try bench.settle(state, nil)
            #expect(bench.plan.sends.isEmpty)
            #expect(bench.plan.dueAt == bench.now * 1_000 + 15_000)
            bench.now += 15
            bench.step()
            #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now)])
        }
    }

    @Test func `a report without a change shows that a start made no card`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        try bench.settle()
        let accepted = bench.now
        #expect(bench.plan.dueAt == (accepted + 660) * 1_000)
        bench.now = accepted + 660
        bench.step()
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (accepted + 1_320) * 1_000)
        // The app runs, and has nothing new to report.
        bench.now = accepted + 700
        let hasChanged = try bench.stored.apply([.startToken("start")], ignoringTokensOf: nil, at: bench.now)
        #expect(!hasChanged)
        bench.now = accepted + 1_320
        bench.step()
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now)])
    }

    @Test func `a waiting start is cancelled for a card of the app`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1))
        let start = try #require(bench.plan.sends.first?.id)
        let card = ActivityWorld.CardReport(id: "own", token: "update", startedAt: bench.now, isStartedByPush: false)
        try bench.report([.cards([card])])
        #expect(bench.plan.cancelled == [start] && bench.plan.sends.isEmpty)
        bench.step([SessionResult(id: start, state: .cancelled, status: nil, endedAt: bench.now * 1_000)])
        #expect(bench.plan.cancelled.isEmpty && bench.plan.sends.isEmpty)
        #expect(bench.plan.dueAt == (bench.now + 15) * 1_000)
    }

    @Test func `a waiting start of a successor is cancelled with its surface`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.now += 27_000
        bench.step()
        let sends = bench.plan.sends
        #expect(sends.count == 2)
        bench.show(nil)
        #expect(bench.plan.cancelled == sends.map(\.id))
        bench.step(
            sends.map { SessionResult(id: $0.id, state: .cancelled, status: nil, endedAt: bench.now * 1_000) }
        )
        #expect(bench.plan.sends.map(\.snapshot.id) == ["order-7@1"])
        guard case .end? = bench.plan.sends.first?.content else {
            Issue.record("no end")
            return
        }
        try bench.settle()
        #expect(bench.state.activity.assumed.phase == .none)
    }

    @Test func `timestamps of updates are never ahead of the clock, however often a surface changes`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        var timestamps: [Int64] = []
        for revision in 2...40 {
            bench.show(.activity(revision, isUrgent: true))
            if case .update(let update)? = bench.plan.sends.last?.content {
                #expect(update.timestamp <= bench.now)
                timestamps.append(update.timestamp)
                try bench.settle()
            }
            if revision.isMultiple(of: 10) { bench.now += 1 }
        }
        #expect(timestamps.count == 4 && timestamps == Set(timestamps).sorted())
    }

    @Test func `a waiting update is cancelled for the newest one`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive()
        bench.show(.activity(2, isUrgent: true))
        let first = try #require(bench.plan.sends.first?.id)
        bench.show(.activity(3, isUrgent: true))
        #expect(bench.plan.cancelled == [first])
        #expect(bench.plan.sends.isEmpty)
        bench.now += 1
        bench.step([SessionResult(id: first, state: .cancelled, status: nil, endedAt: bench.now * 1_000)])
        #expect(bench.plan.sends.map(\.snapshot.id) == ["order-7@3"])
    }

    @Test func `a notification replaces a Live Activity that is not allowed`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.allowed(false)])
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.activity(1, isUrgent: true))
        #expect(bench.plan.sends.map(\.content) == [Send.notification])
        #expect(bench.plan.sends.first?.token == (try ReportedInstallation.token("device")))
        #expect(bench.plan.sends.first?.snapshot.kind == .notification)
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.liveActivity).reason == .notAllowed)
        #expect(try bench.account(.notification).shownRevision == 1)
    }

    @Test func `a waiting notification is cancelled for the newest one`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.allowed(false)])
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.activity(1, isUrgent: true))
        let first = try #require(bench.plan.sends.first?.id)
        bench.show(.activity(2, isUrgent: true))
        #expect(bench.plan.cancelled == [first])
        #expect(bench.plan.sends.map(\.snapshot.id) == ["order-7@2"])
        bench.step([SessionResult(id: first, state: .cancelled, status: nil, endedAt: bench.now * 1_000)])
        #expect(bench.plan.sends.isEmpty)
    }

    @Test func `a notification replaces a card that is gone without a report`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        try bench.goLive()
        bench.now += 20
        bench.show(.activity(2))
        // The outbox removes the token with the answer of APNs.
        try bench.stored.unregister(ReportedInstallation.token("update"), since: bench.now)
        try bench.settle(.refused, 410)
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (bench.now + 660) * 1_000)
        #expect(try bench.account(.liveActivity).reason == .endedWithoutReport)
        bench.show(.activity(3, isUrgent: true))
        #expect(bench.plan.sends.map(\.content) == [Send.notification])
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
        bench.now += 30
        let hasChanged = try bench.stored.apply([.startToken("start")], ignoringTokensOf: nil, at: bench.now)
        #expect(!hasChanged)
        bench.step()
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (bench.now + 60) * 1_000)
        bench.now += 60
        bench.step()
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now)])
    }

    // MARK: Other kinds

    @Test func `each revision of the other kinds is sent once`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.examples(of: .widget))
        #expect(bench.plan.sends.map(\.content) == [.background])
        let first = try #require(bench.plan.sends.first?.id)
        bench.show(.examples(of: .widget))
        #expect(bench.plan.sends.isEmpty)
        #expect(bench.plan.cancelled == [first])
        bench.step([SessionResult(id: first, state: .cancelled, status: nil, endedAt: bench.now * 1_000)])
        #expect(bench.plan.sends.map(\.content) == [.background])
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
        let account = try bench.account(.widget)
        #expect(account.state == .current && account.shownRevision == 2 && account.since == bench.now * 1_000)
        bench.show(nil)
        #expect(bench.plan.isFinished)
    }

    @Test func `widgets and controls are reloaded if their tokens are known`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        try bench.stored.add(.widgets, "widgets", at: bench.now)
        try bench.stored.add(.control, "control", of: "com.example.garage", at: bench.now)
        var shown = SurfaceContent.examples(of: .widget, .control, .standBy)
        bench.show(shown)
        // Without the kind of the control, its token is not known.
        #expect(bench.plan.sends.map(\.content) == [.widgets, .background, .background])
        let tokens = try ["widgets", "device", "device"].map(ReportedInstallation.token)
        #expect(bench.plan.sends.compactMap(\.token) == tokens)
        for send in bench.plan.sends {
            bench.step([SessionResult(id: send.id, state: .delivered, status: 200, endedAt: bench.now * 1_000)])
        }
        #expect(try bench.account(.widget).state == .current)
        shown.control = "com.example.other"
        bench.show(shown)
        #expect(bench.plan.sends.map(\.content) == [.widgets, .background, .background])
        bench = SurfaceSessionBench()
        try bench.stored.add(.control, "control", of: "com.example.garage", at: bench.now)
        shown = SurfaceContent.examples(of: .control)
        shown.control = "com.example.garage"
        bench.show(shown)
        #expect(bench.plan.sends.map(\.content) == [.control])
        #expect(bench.plan.sends.first?.token == (try ReportedInstallation.token("control")))
    }

    @Test func `a widget whose token is unregistered gets a background push`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        try bench.stored.add(.widgets, "widgets", at: bench.now)
        bench.show(.examples(of: .widget))
        #expect(bench.plan.sends.map(\.content) == [.widgets])
        try bench.settle(.refused, 410)
        #expect(bench.plan.sends.map(\.content) == [.background])
        try bench.settle(.refused, 410)
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.widget).reason == .noDeviceToken)
        bench.now += 1
        try bench.stored.add(.widgets, "widgets", at: bench.now)
        bench.step()
        #expect(bench.plan.sends.map(\.content) == [.widgets])
        try bench.settle()
        #expect(try bench.account(.widget).state == .current)
    }

    @Test func `a refused snapshot waits for the next revision`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.examples(of: .control))
        try bench.settle(.refused, 400)
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.control).reason == .refused)
        bench.show(.examples(of: .control))
        #expect(bench.plan.sends.count == 1)
    }

    @Test func `a snapshot waits for a device token`() throws {
        var bench = SurfaceSessionBench()
        bench.show(.examples(of: .standBy))
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.standBy).reason == .noDeviceToken)
        try bench.stored.add(.device, "device", at: bench.now)
        bench.step()
        #expect(bench.plan.sends.count == 1)
        try bench.settle(.refused, 410)
        #expect(bench.plan.sends.isEmpty)
        bench.now += 1
        try bench.stored.add(.device, "device", at: bench.now)
        bench.step()
        #expect(bench.plan.sends.count == 1)
    }

    @Test func `a notification over the limit waits for the next revision`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.show(.examples(of: .notification))
        try bench.settle(.cancelled, nil)
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == nil)
        #expect(try bench.account(.notification).reason == .notSent)
        bench.show(.examples(of: .notification))
        #expect(bench.plan.sends.map(\.content) == [.notification])
    }

    @Test func `no notification is sent to a user who does not allow them`() throws {
        var bench = SurfaceSessionBench()
        try bench.stored.add(.device, "device", at: bench.now)
        bench.stored.allowAlerts(false)
        bench.show(.examples(of: .notification))
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.notification).reason == .alertsNotAllowed)
        bench.stored.allowAlerts(true)
        bench.step()
        #expect(bench.plan.sends.map(\.content) == [.notification])
    }
}
