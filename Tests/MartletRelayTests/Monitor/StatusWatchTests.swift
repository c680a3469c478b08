// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the events between two states of a relay.
@Suite struct StatusWatchTests {
    private static let lane = Lane(app: "orders", environment: .production)

    /// The watch of a test, in a class because `#expect` cannot call a mutating method.
    private final class Recorder {
        private var watch = StatusWatch()

        func events(_ state: StatusWatch.State, at now: Int64 = 10) -> [StatusEvent] { watch.update(state, at: now) }

        func kinds(_ state: StatusWatch.State) -> [StatusEvent.Kind] { events(state).map(\.kind) }

        var outage: LossLedger.Problem? { watch.ledger[.outage(StatusWatchTests.lane)] }

        var pastOutages: [StatusWatch.PastOutage] { watch.pastOutages() }

        func lost(of app: String) -> [Int] { watch.pastOutages(of: [app]).map(\.losses.total) }

        func takeCounted(at time: Int64) -> [StatusWatch.PastOutage] { watch.takeCounted(at: time) }

        var totalsBeforeOutage: RecentRates.Totals? { watch.totalsBeforeOutage(of: StatusWatchTests.lane) }

        func lanesDeliveredElsewhere(_ state: StatusWatch.State) -> [Lane] { watch.lanesDeliveredElsewhere(state) }

        var attemptsBeforeRecovery: Int { watch.totalsBeforeRecovery(of: StatusWatchTests.lane).attempts }

        func notStored(of total: Int) -> Int { watch.notStored(of: total) }
    }

    private let recorder = Recorder()

    private static func state(_ change: (inout StatusWatch.WatchedLane) -> Void = { _ in }) -> StatusWatch.State {
        var lane = StatusWatch.WatchedLane()
        change(&lane)
        return StatusWatch.State(lanes: [Self.lane: lane])
    }

    private static func loss(_ time: Int64, expired: Int = 0, refused: Int = 0) -> Loss {
        Loss(lane: lane, counts: LossCounts(expired: expired, refused: refused), from: time, to: time)
    }

    @Test func `outages and pauses are events with the time when they began`() {
        #expect(recorder.kinds(Self.state()).isEmpty)
        let down = Self.state {
            $0.problem = LaneProblem(since: 4, reason: "ConnectionFailed", nextTry: nil)
            $0.totals.attempts = 300
        }
        let begun = recorder.events(down, at: 20)
        #expect(
            begun == [
                StatusEvent(
                    time: 4,
                    kind: .outageBegan,
                    lane: Self.lane,
                    text: "orders production is down: ConnectionFailed"
                )
            ]
        )
        var losses = down
        losses.losses = [Self.loss(10, expired: 4, refused: 203)]
        #expect(recorder.kinds(losses).isEmpty)
        #expect(recorder.outage?.losses == LossCounts(expired: 4, refused: 203))
        #expect(recorder.totalsBeforeOutage?.attempts == 300)
        #expect(recorder.events(Self.state(), at: 30).map { [$0.time] } == [[30]])
        #expect(recorder.totalsBeforeOutage == nil)
        #expect(recorder.attemptsBeforeRecovery == 300, "later failures are none of the outage")
        #expect(recorder.outage == nil)
        let paused = Self.state { $0.pause = LanePause(lane: Self.lane, since: 7, caller: "kim") }
        let pause = recorder.events(paused, at: 40)
        #expect(pause.map(\.text) == ["orders production was paused by kim"] && pause.first?.time == 7)
        #expect(recorder.kinds(Self.state()) == [.resumed])
    }

    @Test func `outages that are over are stored with their losses`() {
        let down = Self.state { $0.problem = LaneProblem(since: 4_000, reason: "BadDeviceToken", nextTry: nil) }
        var refusals = down
        refusals.losses = [Self.loss(4_500, refused: 300)]
        _ = recorder.events(refusals, at: 5_000)
        var ended = Self.state()
        ended.losses = [Self.loss(99_999, expired: 40)]
        _ = recorder.events(ended, at: 100_000)
        var outage = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "BadDeviceToken",
            start: 4_000,
            end: 100_000,
            losses: LossCounts(expired: 40, refused: 300)
        )
        #expect(recorder.pastOutages == [outage])
        ended.losses = [Self.loss(60_000, expired: 5), Self.loss(100_001, expired: 7)]
        _ = recorder.events(ended, at: 101_000)
        outage.losses.expired = 45
        #expect(recorder.pastOutages == [outage], "those that expired in the outage and ended after it are its losses")
        #expect(recorder.takeCounted(at: 109_999).isEmpty)
        #expect(recorder.takeCounted(at: 110_000) == [outage] && recorder.takeCounted(at: 110_000).isEmpty)
        let short = Self.state { $0.problem = LaneProblem(since: 300_000, reason: "ConnectionFailed", nextTry: nil) }
        _ = recorder.events(short, at: 300_000)
        _ = recorder.events(Self.state(), at: 309_999)
        let kinds = recorder.pastOutages.map(\.kind)
        #expect(kinds == [.outage, .expiry], "a short outage without losses is not worth a line")
        #expect(recorder.pastOutages.last?.losses.total == 7 && recorder.pastOutages.last?.end == 100_001)
    }

    @Test func `a pause ends an outage unless attempts fail after it`() {
        func state(_ losses: [Loss] = [], lastTry: Int64?, isPaused: Bool = false) -> StatusWatch.State {
            var state = Self.state {
                $0.problem = lastTry.map { LaneProblem(since: 1_000, reason: "ConnectionFailed", lastTry: $0) }
                $0.pause = isPaused ? LanePause(lane: Self.lane, since: 29_000, caller: "kim") : nil
            }
            state.losses = losses
            return state
        }
        func run(lastTry: Int64) -> [StatusWatch.PastOutage] {
            let recorder = Recorder()
            _ = recorder.events(state(lastTry: 1_000), at: 1_000)
            _ = recorder.events(state([Self.loss(20_000, expired: 3)], lastTry: 28_000, isPaused: true), at: 29_000)
            _ = recorder.events(state([Self.loss(70_000, expired: 51)], lastTry: 28_000, isPaused: true), at: 80_000)
            _ = recorder.events(state(lastTry: 28_000), at: 90_000)
            _ = recorder.events(state(lastTry: lastTry), at: 91_000)
            _ = recorder.events(state(lastTry: nil), at: 92_000)
            return recorder.pastOutages
        }
        let pause = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "kim",
            kind: .pause,
            start: 29_000,
            end: 90_000,
            losses: LossCounts(expired: 51)
        )
        var outage = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "ConnectionFailed",
            start: 1_000,
            end: 29_000,
            losses: LossCounts(expired: 3),
            lostElsewhere: 51
        )
        #expect(run(lastTry: 28_000) == [pause, outage], "nothing was tried after the pause before it delivered")
        outage.end = 92_000
        #expect(run(lastTry: 90_500) == [pause, outage])
    }

    @Test func `a failing lane is a problem until Apple accepts a push`() throws {
        let failing = DispatchCounts.Failing(since: 2_000, reason: "429 TooManyRequests")
        var fails = Self.state {
            $0.failing = failing
            $0.fails = true
        }
        fails.losses = [Self.loss(2_500, refused: 12)]
        _ = recorder.events(fails, at: 60_000)
        #expect(recorder.pastOutages.isEmpty)
        _ = recorder.events(Self.state { $0.failing = failing }, at: 130_000)
        #expect(recorder.pastOutages.isEmpty, "no traffic shows nothing")
        _ = recorder.events(Self.state(), at: 140_000)
        let past = try #require(recorder.pastOutages.first)
        #expect(past.kind == .failing && past.start == 2_000 && past.end == 140_000 && past.losses.refused == 12)
        #expect(past.reason == "429 TooManyRequests")
    }

    @Test func `a lane that fails again after an accepted push has another problem`() throws {
        func fails(since time: Int64) -> StatusWatch.State {
            Self.state {
                $0.failing = DispatchCounts.Failing(since: time, reason: "429 TooManyRequests")
                $0.fails = true
            }
        }
        _ = recorder.events(fails(since: 2_000), at: 130_000)
        // Apple has accepted a push between two readings.
        _ = recorder.events(fails(since: 133_000), at: 135_000)
        let past = try #require(recorder.pastOutages.first)
        #expect(past.kind == .failing && past.start == 2_000 && past.end == 133_000)
        _ = recorder.events(Self.state(), at: 280_000)
        #expect(recorder.pastOutages.last?.start == 133_000)
    }

    @Test func `losses of other relays count from their first reading`() {
        func state(_ expired: Int, hasRelays: Bool = true) -> StatusWatch.State {
            var state = Self.state {
                $0.problem = LaneProblem(since: 4, reason: "ConnectionFailed", nextTry: nil)
                $0.lostElsewhere.expired = expired
            }
            if hasRelays { state.relays[2] = StatusWatch.Relay(name: "b", version: "1") }
            return state
        }
        _ = recorder.events(state(0, hasRelays: false), at: 4)
        _ = recorder.events(state(70), at: 1_000)
        #expect(recorder.outage?.losses.total == 0)
        _ = recorder.events(state(75), at: 2_000)
        #expect(recorder.outage?.losses.expired == 5)
    }

    @Test func `an outage is over when another relay has delivered since`() {
        func down(_ delivered: Int) -> StatusWatch.State {
            var state = Self.state {
                $0.problem = LaneProblem(since: 4, reason: "ConnectionFailed", nextTry: nil)
                $0.deliveredElsewhere = delivered
            }
            state.relays[2] = StatusWatch.Relay(name: "b", version: "1")
            return state
        }
        var unread = down(0)
        unread.relays = [:]
        _ = recorder.events(unread)
        _ = recorder.events(down(70))
        #expect(recorder.lanesDeliveredElsewhere(down(70)).isEmpty, "the earlier ones were not known before")
        #expect(recorder.lanesDeliveredElsewhere(down(71)) == [Self.lane])
    }

    @Test func `a failure of the storage is an outage, too`() {
        var state = Self.state()
        state.notStored = 7
        _ = recorder.events(state, at: 4)
        state.storeError = "the disk is full"
        state.storeSince = 5
        state.notStored = 9
        _ = recorder.events(state, at: 10)
        #expect(recorder.notStored(of: 12) == 5, "also those before the failure was noticed")
        state.storeError = nil
        state.notStored = 307
        _ = recorder.events(state, at: 96_005)
        #expect(recorder.notStored(of: 307) == 0)
        var outage = StatusWatch.PastOutage(reason: "the disk is full", start: 5, end: 96_005, notStored: 300)
        #expect(recorder.pastOutages == [outage])
        // The first look for expired pushes after the outage.
        state.losses = [Loss(lane: Self.lane, counts: LossCounts(expired: 301), from: 4, to: 96_900)]
        _ = recorder.events(state, at: 97_000)
        outage.losses.expired = 301
        #expect(recorder.pastOutages == [outage])
        #expect(recorder.lost(of: "orders") == [301] && recorder.lost(of: "rides") == [0], "a key sees its own losses")
    }

    @Test func `storage, reloads and shutdown are events of the relay as a whole`() {
        var state = Self.state()
        state.reloads = 3
        state.rejections = 1
        #expect(recorder.kinds(state).isEmpty, "reloads before the first state are not known")
        state.storeError = "the disk is full"
        state.storeSince = 5
        let failure = recorder.events(state, at: 10)
        #expect(failure.map(\.kind) == [.storageFailed] && failure.first?.time == 5 && failure.first?.lane == nil)
        state.storeError = nil
        state.reloads = 4
        #expect(recorder.kinds(state) == [.storageRecovered, .reloaded])
        state.rejections = 2
        state.isDraining = true
        #expect(recorder.kinds(state) == [.reloadRejected, .draining])
        #expect(recorder.kinds(state).isEmpty)
    }

    @Test func `a fleet reports nodes that join, leave and lead`() {
        var state = Self.state()
        #expect(recorder.kinds(state).isEmpty)
        state.relays = [1: .init(name: "a", version: "1"), 2: .init(name: "b", version: "1")]
        #expect(recorder.kinds(state).isEmpty, "the database was read for the first time")
        state.relays[3] = .init(name: "c", version: "2")
        #expect(recorder.events(state, at: 1).map(\.text) == ["Relay 3 (c, version 2) joined"])
        state.relays[1] = nil
        #expect(
            recorder.events(state, at: 1).map(\.text) == [
                "Relay 1 (a, version 1) left", "Relay 2 (b, version 1) leads now",
            ]
        )
    }

    @Test func `the latest events are stored, and a key sees those of its apps`() {
        var events = StatusEvents()
        for index in 0..<600 as Range<Int64> {
            let lane: Lane? =
                index % 3 == 0 ? nil : Lane(app: index % 3 == 1 ? "orders" : "rides", environment: .production)
            events.add([StatusEvent(time: index, kind: .reloaded, lane: lane, text: "\(index)")])
        }
        #expect(events.list(of: ["orders", "rides"]).count == StatusEvents.limit)
        let list = events.list(of: ["orders"])
        #expect(
            list.first?.time == 100 && list.allSatisfy { $0.lane?.app != "rides" } && list.contains { $0.lane == nil }
        )
    }
}
