// SPDX-License-Identifier: Apache-2.0

import LiveSurfaces
import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// The decisions about a Live Activity on a channel.
struct SurfaceChannelTests {
    private let channel = SurfaceChannel.test()

    @Test func `a phone that cannot join gets a card with a token`() throws {
        let other = SurfaceChannel.test("b3RoZXI=", environment: .development)
        let widget = SurfaceChannel.test("b3RoZXI=", bundleID: "com.example.orders.widget")
        for (system, channel, canJoin) in [
            ("18", channel, true), ("26.1", channel, true), ("17.6.1", channel, false), ("", channel, false),
            ("26.1", other, false), ("26.1", widget, false),
        ] {
            var bench = SurfaceSessionBench(systemVersion: system)
            try bench.report([.startToken("start")])
            bench.show(.activity(1, on: channel))
            let joined = canJoin ? channel : nil
            #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now, channel: joined)])
        }
    }

    @Test func `a card that is reported before the answer to its start is that of the start`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1, on: channel))
        let start = try #require(bench.plan.sends.first?.id)
        bench.now += 2
        try bench.report([bench.card(nil)])
        #expect(try bench.account(.liveActivity).state == .sending)
        bench.step([SessionResult(id: start, state: .delivered, status: 200, endedAt: bench.now * 1_000)])
        #expect(try bench.account(.liveActivity).state == .current)
    }

    @Test func `a change is one broadcast, and not a push to the card`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        #expect(bench.plan.sends.isEmpty)
        bench.show(.activity(2, isUrgent: true, on: channel))
        let first = try #require(bench.broadcast)
        #expect(bench.plan.sends.count == 1 && bench.plan.sends.first?.token == nil)
        #expect(first.update.generation == 2 && first.update.priority == 10 && first.age == 0 && !first.isEnd)
        bench.step()
        #expect(bench.plan.sends.isEmpty)
        // The earlier one is not needed if it still waits.
        bench.now += 1
        bench.show(.activity(3, isUrgent: true, on: channel))
        let second = try #require(bench.broadcast)
        #expect(bench.plan.cancelled.count == 1 && second.update.timestamp > first.update.timestamp)
    }

    @Test func `changes that are not urgent are broadcast at intervals`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(.activity(2, on: channel))
        #expect(bench.broadcast?.update.priority == 5)
        bench.now += 5
        bench.show(.activity(3, on: channel))
        #expect(bench.broadcast == nil && bench.plan.dueAt == (bench.now + 10) * 1_000)
        bench.now += 10
        bench.step()
        #expect(bench.broadcast?.update.generation == 3)
    }

    @Test func `a state is broadcast again for late starts, and before it is outdated`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(.activity(2, isUrgent: true, on: channel))
        let changedAt = bench.now
        for age: Int64 in [660, 7_560, 14_460] {
            #expect(bench.plan.dueAt == (changedAt + age) * 1_000)
            bench.now = changedAt + age
            bench.step()
            #expect(bench.broadcast?.age == age && bench.broadcast?.update.priority == 5)
        }
    }

    @Test func `a state is broadcast again for a card that has joined late`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1, on: channel))
        let start = try #require(bench.plan.sends.first?.id)
        bench.show(.activity(2, isUrgent: true, on: channel))
        #expect(bench.plan.sends.isEmpty)
        let changedAt = bench.now
        bench.now += 12
        bench.step([SessionResult(id: start, state: .delivered, status: 200, endedAt: bench.now * 1_000)])
        #expect(bench.broadcast?.age == 0 && bench.plan.dueAt == (changedAt + 30) * 1_000)
        bench.now = changedAt + 40
        bench.step()
        // As for all cards that have joined in the same interval.
        #expect(bench.broadcast?.age == 30 && bench.plan.dueAt == (changedAt + 660) * 1_000)
    }

    @Test func `a broadcast of another session counts`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(.activity(2, isUrgent: true, on: channel))
        try bench.settle(.cancelled, nil)
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (bench.now + 660) * 1_000)
    }

    @Test func `a broadcast ends the cards of a withdrawn surface`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(nil)
        #expect(bench.broadcast?.isEnd == true && bench.plan.sends.first?.snapshot.id == "order-7@1")
        try bench.settle()
        #expect(!bench.plan.isFinished && bench.plan.dueAt == (bench.now + 660) * 1_000)
        bench.now += 5
        try bench.report([.gone("card", .app)])
        #expect(bench.plan.sends.isEmpty && bench.plan.isFinished)
    }

    @Test func `a phone that leaves the audience ends no cards of others`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.isWithdrawn = false
        bench.show(nil)
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (bench.now + 6_900) * 1_000)
        #expect(bench.state.account(of: nil, changedBy: bench.last).map(\.state) == [.outdated])
        bench.isWithdrawn = true
        bench.now += 6_900
        bench.revision += 1
        bench.step()
        #expect(bench.broadcast?.isEnd == true)
    }

    @Test func `a surface that is shown again starts a new card`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(nil)
        bench.now += 1
        bench.show(.activity(3, on: channel))
        // The end would reach the new card, too.
        #expect(bench.plan.cancelled.count == 1)
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now, channel: channel)])
    }

    @Test func `the end of an earlier card does not concern a later one`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(nil)
        try bench.settle()
        bench.now += 10
        // The app has started another card, which gets an end of its own.
        let other = ActivityWorld.CardReport(id: "other", token: "t", startedAt: bench.now, isStartedByPush: false)
        try bench.report([.cards([other])])
        try bench.settle()
        bench.now += 10
        bench.show(.activity(3, on: channel))
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now, channel: channel)])
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
    }

    @Test func `a corrected storage policy holds for cards on the phone`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: .test(storesBroadcasts: true))
        bench.show(.activity(2, isUrgent: true, on: channel))
        #expect(bench.broadcast?.channel == channel && bench.broadcast?.channel.storesBroadcasts == false)
        bench.show(nil)
        #expect(bench.broadcast?.isEnd == true && bench.broadcast?.channel == channel)
        bench = SurfaceSessionBench()
        try bench.goLive(on: .test(storesBroadcasts: true))
        bench.show(nil)
        bench.now += 1
        bench.show(.activity(3, on: channel))
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now, channel: channel)])
    }

    @Test(arguments: [(5, [0]), (20, [0, 15]), (700, [0, 15, 660])] as [(Int64, [Int64])])
    func `a corrected storage policy repeats a refused broadcast`(delay: Int64, ages: [Int64]) throws {
        var bench = SurfaceSessionBench()
        let wrong = SurfaceChannel.test(storesBroadcasts: true)
        try bench.report([.startToken("start")])
        bench.put(.activity(1, on: wrong))
        try bench.settle()
        bench.now += 2
        try bench.report([bench.card(nil)])
        // Before the card may have joined, so that the broadcast is repeated after 15 seconds.
        bench.put(.activity(2, isUrgent: true, on: wrong))
        let changedAt = bench.now
        var refused: [ActivitySession.Broadcast] = []
        for age in ages {
            bench.now = changedAt + age
            if age > 0 { bench.step() }
            refused.append(try #require(bench.broadcast))
            try bench.settle(.refused, 400)
        }
        #expect(refused.map(\.age) == ages)
        bench.now = changedAt + delay
        bench.put(.activity(2, isUrgent: true, on: channel))
        let repeated = try #require(bench.broadcast)
        #expect(repeated.update.generation == 2 && repeated.channel == channel && repeated.age == ages.last)
        let surface = MartletOutbox.Surface(
            app: "orders",
            id: ReportedInstallation.surface,
            caller: "back end",
            audience: .users(["anna"]),
            request: [],
            fingerprint: []
        )
        let stored = StoredSurface(number: 1, revision: 3, surface: surface, createdAt: 0, changedAt: 0)
        // The outbox stores no other broadcast with the same identifier.
        #expect(!refused.contains { stored.id(of: $0) == stored.id(of: repeated) })
        try bench.settle()
        #expect(bench.plan.sends.isEmpty)
    }

    @Test func `a card on a deleted channel moves to another channel`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(.activity(2, isUrgent: true, on: channel))
        try bench.settle(.refused, 400)
        bench.sent.missingChannel = channel.id
        bench.step()
        #expect(bench.plan.sends.isEmpty, "another channel is not known")
        bench.now += 60
        let other = SurfaceChannel.test("b3RoZXI=")
        bench.put(.activity(2, isUrgent: true, on: other))
        #expect(bench.plan.sends.map(\.content) == [.start(timestamp: bench.now, channel: other)])
        try bench.settle()
        // The app still lists the card on the deleted channel.
        bench.step()
        #expect(bench.plan.sends.isEmpty)
        #expect(try bench.account(.liveActivity).state == .unconfirmed)
    }

    @Test func `a card stays on a channel that exists`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.sent.missingChannel = "bWlzc2luZw=="
        let other = SurfaceChannel.test("b3RoZXI=")
        bench.put(.activity(2, isUrgent: true, on: other))
        #expect(bench.plan.sends.count == 1 && bench.broadcast?.channel == channel)
    }

    @Test func `a card on a channel is replaced by a start to its phone`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.now += 27_000
        bench.step()
        #expect(bench.plan.sends.last?.content == .start(timestamp: bench.now + 1, channel: channel))
        try bench.settle()
        bench.now += 1_800
        // The old one has ended after eight hours.
        try bench.report([.gone("card", .system)])
        #expect(bench.state.activity.assumed.phase != .none && bench.plan.sends.allSatisfy { $0.token == nil })
    }

    @Test func `a start that made no card is repeated without the channel`() throws {
        var bench = SurfaceSessionBench()
        try bench.report([.startToken("start")])
        bench.show(.activity(1, on: channel))
        try bench.settle()
        bench.now += 700
        try bench.report([.cards([])])
        bench.now += 60
        bench.step()
        #expect(bench.plan.sends.last?.content == .start(timestamp: bench.now, channel: nil))
    }

    @Test func `a card that the app has started is updated by its token`() throws {
        var bench = SurfaceSessionBench()
        bench.show(.activity(1, isUrgent: true, on: channel))
        let own = ActivityWorld.CardReport(id: "own", token: "update", startedAt: bench.now - 1, isStartedByPush: false)
        try bench.report([.cards([own])])
        #expect(bench.plan.sends.first?.token == (try ReportedInstallation.token("update")))
    }

    @Test func `a refused broadcast is reported, and is not repeated at once`() throws {
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        bench.show(.activity(2, isUrgent: true, on: channel))
        let id = try #require(bench.plan.sends.first?.id)
        let refused = SessionResult(id: id, state: .refused, status: 400, endedAt: bench.now * 1_000)
        let expected = BroadcastResult(channel: channel.id, result: refused)
        #expect(bench.state.broadcastResults(in: [refused]) == [expected])
        bench.step([refused])
        #expect(bench.plan.sends.isEmpty && bench.plan.dueAt == (bench.now + 660) * 1_000)
    }

    // MARK: Accounts

    /// The account of the Live Activity, for an outcome of the broadcast.
    private func account(_ bench: SurfaceSessionBench, _ state: Outcome.State?) throws -> SurfaceAccount {
        var status = PushStatus(
            id: APNsID(randomBits: (1, 1)),
            lane: Lane(app: "orders", environment: .production),
            acceptedAt: 0,
            state: .accepted
        )
        if let state { status.state = .ended(Outcome(state), at: 5) }
        let accounts = bench.state.account(of: bench.content, changedBy: bench.last, broadcast: status)
        return try #require(accounts.first)
    }

    @Test(arguments: [false, true]) func `the account follows the broadcast`(storesBroadcasts: Bool) throws {
        let channel = SurfaceChannel.test(storesBroadcasts: storesBroadcasts)
        var bench = SurfaceSessionBench()
        try bench.goLive(on: channel)
        let started = try bench.account(.liveActivity)
        #expect(started.usesChannel && started.state == .current && started.shownRevision == 1)
        bench.show(.activity(2, isUrgent: true, on: channel))
        #expect(try bench.account(.liveActivity).state == .outdated)
        #expect(try account(bench, nil).state == .sending)
        let delivered = try account(bench, .delivered)
        #expect(delivered.state == (storesBroadcasts ? .current : .broadcast))
        #expect(delivered.shownRevision == 2 && delivered.since == 5)
        let refused = try account(bench, .refused)
        #expect(refused.state == .outdated && refused.reason == .refused && refused.shownRevision == nil)
        bench.show(nil)
        #expect(try account(bench, .delivered).state == .ending)
    }
}
