// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

/// Tests of the problems that are stored and restored after a restart of the relay.
@Suite struct StoredProblemTests {
    private static let lane = Lane(app: "orders", environment: .production)
    private static let rides = Lane(app: "rides", environment: .production)

    private static func state(
        _ losses: [Loss] = [],
        _ change: (inout StatusWatch.WatchedLane) -> Void = { _ in }
    ) -> StatusWatch.State {
        var lane = StatusWatch.WatchedLane()
        change(&lane)
        var state = StatusWatch.State(lanes: [Self.lane: lane])
        state.losses = losses
        return state
    }

    /// The state of a lane that is down.
    private static func down(_ losses: [Loss] = [], since start: Int64 = 4_000) -> StatusWatch.State {
        state(losses) { $0.problem = LaneProblem(since: start, reason: "ConnectionFailed", nextTry: nil) }
    }

    private static func expired(_ count: Int, _ time: Int64, of lane: Lane = lane) -> Loss {
        Loss(lane: lane, counts: LossCounts(expired: count), from: time, to: time)
    }

    /// The watch of the process that follows one that was last known to run at a time.
    private static func restarted(_ watch: StatusWatch, at lastSeen: Int64) -> StatusWatch {
        let text = StoredProblem.text(of: watch.problemsToStore(at: lastSeen))
        var next = StatusWatch()
        next.restore(StoredProblem.list(text, at: lastSeen), until: lastSeen)
        return next
    }

    /// The watch of a lane that is down, and that has lost three pushes.
    private static var watchOfOutage: StatusWatch {
        var watch = StatusWatch()
        _ = watch.update(down([expired(3, 5_000)]), at: 5_000)
        _ = watch.update(down(), at: 20_000)
        return watch
    }

    private static func summary(of watch: StatusWatch, at now: Int64) -> [Incident] {
        var facts = StatusSummaryTests.threeLanes
        facts.now = now
        facts.pastOutages = watch.pastOutages(of: ["orders", "rides", "wallet"])
        return StatusSummary(facts).incidents
    }

    @Test func `an outage that is over is shown for its hour after restarts`() {
        var watch = StatusWatch()
        _ = watch.update(Self.down([Self.expired(1_239, 10_000)]), at: 12_000)
        _ = watch.update(Self.state(), at: 60_000)
        var next = Self.restarted(Self.restarted(watch, at: 61_000), at: 90_000)
        #expect(next.pastOutages() == watch.pastOutages() && next.pastOutages().count == 1)
        #expect(next.pastOutages(of: ["rides"]).isEmpty)
        let incident = Self.summary(of: next, at: 100_000).first
        #expect(incident?.title == "The outage of orders is over" && incident?.lost == 1_239)
        #expect(incident?.effect == "It lasted 56 s; 1,239 pushes have expired.")
        _ = next.update(Self.state([Self.expired(2, 50_000)]), at: 110_000)
        #expect(next.pastOutages().first?.losses.expired == 1_241, "a loss that is stored late")
        let end: Int64 = 60_000 + StatusSummary.pastTime
        #expect(next.problemsToStore(at: end - 1).count == 1 && next.problemsToStore(at: end).isEmpty)
        #expect(Self.summary(of: next, at: end).isEmpty)
    }

    @Test func `an outage continues after a restart with its start and its losses`() {
        var next = Self.restarted(Self.restarted(Self.watchOfOutage, at: 20_000), at: 25_000)
        _ = next.update(Self.state(), at: 30_000)
        let open = next.pastOutages()
        #expect(open.map(\.isInterrupted) == [true] && open.map(\.start) == [4_000] && open.map(\.end) == [20_000])
        let notice = Self.summary(of: next, at: 30_000).first
        #expect(notice?.title == "The outage of orders may be over" && notice?.lost == 3)
        let effect = "It lasted 16 s; 3 pushes have expired. It was not over when this relay was stopped."
        #expect(notice?.effect == effect)
        _ = next.update(Self.down([Self.expired(2, 31_000)], since: 30_500), at: 31_000)
        let outage = next.ledger[.outage(Self.lane)]
        #expect(outage?.start == 4_000 && outage?.losses == LossCounts(expired: 5))
        #expect(next.pastOutages().isEmpty)
        _ = next.update(Self.state(), at: 40_000)
        let past = next.pastOutages()
        #expect(past.map(\.start) == [4_000] && past.map(\.end) == [40_000] && past.map(\.losses.total) == [5])
        #expect(past.map(\.isInterrupted) == [false])
    }

    @Test func `an outage is over when Apple has accepted a push after a restart`() {
        var next = Self.restarted(Self.watchOfOutage, at: 20_000)
        let delivers = Self.state { $0.totals = RecentRates.Totals(attempts: 2, failures: 1) }
        _ = next.update(delivers, at: 30_000)
        #expect(next.pastOutages().map(\.isInterrupted) == [false])
        let logged = next.takeCounted(at: 60_000)
        #expect(logged.map(\.losses.total) == [3])
        _ = next.update(Self.down(), at: 70_000)
        #expect(next.ledger[.outage(Self.lane)]?.losses.total == 0 && next.pastOutages().count == 1)
    }

    @Test func `problems that are restored late are combined with those that last`() {
        let stored = Self.watchOfOutage.problemsToStore(at: 20_000)
        var next = StatusWatch()
        let problem = LaneProblem(since: 30_000, reason: "TimedOut", nextTry: nil)
        _ = next.update(Self.state([Self.expired(2, 31_000)]) { $0.problem = problem }, at: 31_000)
        next.restore(Array(stored), until: 20_000)
        let outage = next.ledger[.outage(Self.lane)]
        #expect(outage?.start == 4_000 && outage?.losses == LossCounts(expired: 5))
        #expect(next.pastOutages().isEmpty)
    }

    @Test func `an expiry continues after a restart until no push expires`() {
        var watch = StatusWatch()
        _ = watch.update(Self.state([Self.expired(5, 10_000)]), at: 10_000)
        var next = Self.restarted(watch, at: 20_000)
        _ = next.update(Self.state([Self.expired(2, 31_000)]), at: 31_000)
        #expect(next.ledger[.expiry(Self.lane)]?.losses.expired == 7)
        _ = next.update(Self.state(), at: 100_000)
        let past = next.pastOutages()
        #expect(past.map(\.kind) == [.expiry] && past.map(\.losses.expired) == [7])
        #expect(past.map(\.start) == [10_000] && past.map(\.end) == [31_000])
    }

    @Test func `a pause and a failing lane continue after a restart`() {
        let pause = LanePause(lane: Self.lane, since: 1_000, caller: "kim")
        var watch = StatusWatch()
        _ = watch.update(Self.state([Self.expired(4, 2_000)]) { $0.pause = pause }, at: 3_000)
        var next = Self.restarted(watch, at: 20_000)
        _ = next.update(Self.state { $0.pause = pause }, at: 30_000)
        let paused = next.ledger[.pause(Self.lane)]
        #expect(paused?.losses.expired == 4 && paused?.isContinued == true && next.pastOutages().isEmpty)
        _ = next.update(Self.state(), at: 40_000)
        #expect(next.pastOutages().map(\.kind) == [.pause] && next.pastOutages().map(\.reason) == ["kim"])

        func fails(since time: Int64, _ losses: [Loss] = []) -> StatusWatch.State {
            Self.state(losses) {
                $0.failing = DispatchCounts.Failing(since: time, reason: "429 TooManyRequests")
                $0.fails = true
            }
        }
        watch = StatusWatch()
        _ = watch.update(fails(since: 2_000, [Self.expired(6, 2_500)]), at: 3_000)
        next = Self.restarted(watch, at: 20_000)
        _ = next.update(Self.state(), at: 30_000)
        #expect(Self.summary(of: next, at: 30_000).first?.title == "Apple may accept pushes of orders again")
        _ = next.update(fails(since: 31_000), at: 32_000)
        let failing = next.ledger[.failing(Self.lane)]
        #expect(failing?.start == 2_000 && failing?.losses.expired == 6)
        // An outage shows as well that Apple has accepted nothing since.
        next = Self.restarted(watch, at: 20_000)
        for time: Int64 in [30_000, 31_000] { _ = next.update(Self.down(since: 25_000), at: time) }
        #expect(next.pastOutages().isEmpty && next.ledger[.failing(Self.lane)]?.start == 2_000)
        _ = next.update(Self.state { $0.totals = RecentRates.Totals(attempts: 2, failures: 1) }, at: 40_000)
        #expect(next.pastOutages().map(\.kind).contains(.failing))
    }

    @Test func `a failure of the storage has the losses of each app after a restart`() {
        var state = Self.state()
        state.lanes[Self.rides] = StatusWatch.WatchedLane()
        var watch = StatusWatch()
        _ = watch.update(state, at: 4_000)
        state.storeError = "the disk is full"
        state.storeSince = 5_000
        _ = watch.update(state, at: 5_000)
        state.storeError = nil
        state.notStored = 300
        state.losses = [Self.expired(3, 50_000), Self.expired(4, 60_000, of: Self.rides)]
        _ = watch.update(state, at: 96_000)
        let next = Self.restarted(watch, at: 100_000)
        #expect(next.pastOutages() == watch.pastOutages() && next.pastOutages().first?.notStored == 300)
        #expect(next.pastOutages(of: ["orders"]).map(\.losses.total) == [3])
        #expect(next.pastOutages(of: ["rides"]).map(\.losses.total) == [4])
    }

    @Test func `damaged problems are left out, and numbers are limited`() {
        #expect(StoredProblem.list("", at: 100).isEmpty && StoredProblem.list("[{", at: 100).isEmpty)
        let greatest = Int64.max
        let text = """
            [7, {"kind": "outage"}, {"kind": "other", "start": 1}, {"kind": "pause", "start": 1},
            {"kind": "stop", "start": \(Int64.min), "end": \(greatest), "not-stored": -1, "losses": [7,
            {"app": "orders", "environment": "production", "expired": \(greatest), "refused": -4}]}]
            """
        let list = StoredProblem.list(text, at: 100)
        let outage = list.first?.outage(until: 50)
        #expect(list.count == 1 && outage?.kind == .stop && outage?.start == 0 && outage?.end == 100)
        #expect(outage?.losses == LossCounts(expired: 1 << 40) && outage?.notStored == 0)
        let stops = Array(repeating: #"{"kind": "stop", "start": 1}"#, count: 500).joined(separator: ",")
        let many = StoredProblem.list("[\(stops)]", at: 100)
        #expect(many.count == StoredProblem.limit)
    }

    @Test func `problems are stored at their start and end, and their losses at intervals`() {
        func problems(_ expired: Int, end: Int64? = nil) -> Set<StoredProblem> {
            let losses = [Self.lane: LossCounts(expired: expired)]
            let problem = LossLedger.Problem(cause: .outage(Self.lane), start: 1, end: end, lossesByLane: losses)
            return [StoredProblem(problem, reason: "TimedOut")]
        }
        let time: Int64 = 1_000_000
        var schedule = ProblemSchedule()
        #expect(!schedule.isDue([], at: time) && schedule.isDue(problems(1), at: time))
        schedule.recordStored(problems(1), at: time)
        #expect(!schedule.isDue(problems(1), at: time + 20_000))
        #expect(!schedule.isDue(problems(2), at: time + 9_999) && schedule.isDue(problems(2), at: time + 10_000))
        #expect(schedule.isDue(problems(2), at: time + 1, isLast: true), "the relay is shut down")
        #expect(schedule.isDue(problems(1, end: 9), at: time + 1) && schedule.isDue([], at: time + 1))
        #expect(schedule.isDue(problems(1), at: time + 1_800_000), "no other relay deletes them")
        #expect(schedule.isDue(problems(2), at: time - 1), "a clock that was set back delays nothing")
    }
}
