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

        func lost(of total: Int) -> Int { watch.lost(of: StatusWatchTests.lane, total: total) }

        var pastOutages: [StatusWatch.PastOutage] { watch.pastOutages }

        var totalsBeforeOutage: RecentRates.Totals? { watch.totalsBeforeOutage(of: StatusWatchTests.lane) }

        func lanesDeliveredElsewhere(_ state: StatusWatch.State) -> [Lane] { watch.lanesDeliveredElsewhere(state) }

        var attemptsBeforeRecovery: Int { watch.totalsBeforeRecovery(of: StatusWatchTests.lane).attempts }

        func notStored(of total: Int) -> Int { watch.notStored(of: total) }

        func refused(of total: Int) -> Int { watch.refused(of: StatusWatchTests.lane, total: total) }
    }

    private let recorder = Recorder()

    private static func state(_ change: (inout StatusWatch.WatchedLane) -> Void = { _ in }) -> StatusWatch.State {
        var lane = StatusWatch.WatchedLane()
        change(&lane)
        return StatusWatch.State(lanes: [Self.lane: lane])
    }

    @Test func `outages and pauses are events with the time when they began`() {
        #expect(recorder.kinds(Self.state()).isEmpty)
        let down = Self.state {
            $0.problem = LaneProblem(since: 4, reason: "ConnectionFailed", nextTry: nil)
            $0.lost = 5
            $0.refused = 2
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
        #expect(recorder.kinds(down).isEmpty && recorder.lost(of: 9) == 4)
        #expect(recorder.refused(of: 205) == 203)
        #expect(recorder.totalsBeforeOutage?.attempts == 300)
        #expect(recorder.events(Self.state(), at: 30).map { [$0.time] } == [[30]])
        #expect(recorder.totalsBeforeOutage == nil)
        #expect(recorder.attemptsBeforeRecovery == 300, "later failures are none of the outage")
        #expect(recorder.lost(of: 9) == 0, "nothing is lost because of an outage that has ended")
        let paused = Self.state { $0.pause = LanePause(lane: Self.lane, since: 7, caller: "kim") }
        let pause = recorder.events(paused, at: 40)
        #expect(pause.map(\.text) == ["orders production was paused by kim"] && pause.first?.time == 7)
        #expect(recorder.kinds(Self.state()) == [.resumed])
    }

    @Test func `outages that are over are stored with their losses`() {
        func down(_ lost: Int, _ refused: Int) -> StatusWatch.State {
            Self.state {
                $0.problem = LaneProblem(since: 4_000, reason: "BadDeviceToken", nextTry: nil)
                $0.lost = lost
                $0.refused = refused
            }
        }
        _ = recorder.events(down(5, 2), at: 5_000)
        _ = recorder.events(
            Self.state {
                $0.lost = 50
                $0.refused = 302
            },
            at: 100_000
        )
        let outage = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "BadDeviceToken",
            start: 4_000,
            end: 100_000,
            lost: 45,
            refused: 300
        )
        #expect(recorder.pastOutages == [outage])
        _ = recorder.events(down(50, 302), at: 5_000)
        _ = recorder.events(
            Self.state {
                $0.lost = 50
                $0.refused = 302
            },
            at: 13_999
        )
        #expect(recorder.pastOutages == [outage], "a short outage without losses is not worth a line")
    }

    @Test func `an outage ends with the pause of its lane unless attempts fail after it`() {
        func state(_ lost: Int, lastTry: Int64?, isPaused: Bool = false) -> StatusWatch.State {
            Self.state {
                $0.lost = lost
                $0.problem = lastTry.map { LaneProblem(since: 1_000, reason: "ConnectionFailed", lastTry: $0) }
                $0.pause = isPaused ? LanePause(lane: Self.lane, since: 29_000, caller: "kim") : nil
            }
        }
        func run(lastTry: Int64) -> [StatusWatch.PastOutage] {
            let recorder = Recorder()
            _ = recorder.events(state(0, lastTry: 1_000), at: 1_000)
            _ = recorder.events(state(3, lastTry: 28_000, isPaused: true), at: 29_000)
            _ = recorder.events(state(54, lastTry: 28_000, isPaused: true), at: 80_000)
            _ = recorder.events(state(54, lastTry: 28_000), at: 90_000)
            _ = recorder.events(state(54, lastTry: lastTry), at: 91_000)
            _ = recorder.events(state(54, lastTry: nil), at: 92_000)
            return recorder.pastOutages
        }
        let pause = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "kim",
            isPause: true,
            start: 29_000,
            end: 90_000,
            lost: 51
        )
        var outage = StatusWatch.PastOutage(
            lane: Self.lane,
            reason: "ConnectionFailed",
            start: 1_000,
            end: 29_000,
            lost: 3
        )
        #expect(run(lastTry: 28_000) == [pause, outage], "nothing was tried after the pause before it delivered")
        outage.end = 92_000
        #expect(run(lastTry: 90_500) == [pause, outage])
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
        #expect(
            recorder.pastOutages == [
                StatusWatch.PastOutage(
                    lane: nil,
                    reason: "the disk is full",
                    start: 5,
                    end: 96_005,
                    notStored: 300
                )
            ]
        )
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
