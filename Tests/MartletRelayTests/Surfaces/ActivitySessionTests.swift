// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletRelay

struct ActivitySessionTests {
    private static let begin: Int64 = 1_800_000_000
    private static let eightHours: Int64 = 8 * 3_600

    /// A session with a push-to-start token and a budget, and its clock.
    private struct Bench {
        var session = ActivitySession()
        var budget = ActivityBudget(at: begin)
        var now = begin

        init(startToken: String? = "start") {
            if let startToken {
                session.record(.startToken(startToken), madeAt: begin, at: begin)
            }
        }

        mutating func actions() -> [ActivitySession.Action] { session.actions(at: now, within: &budget) }

        mutating func desire(_ generation: Int, isUrgent: Bool = false) -> [ActivitySession.Action] {
            session.desire(ActivitySession.Desired(generation: generation, isUrgent: isUrgent))
            return actions()
        }

        mutating func withdraw() -> [ActivitySession.Action] {
            session.withdraw()
            return actions()
        }

        mutating func settle(_ request: Int, _ result: ActivityBelief.Settlement) -> ActivityBelief.UnregisteredToken? {
            session.settled(request, result, at: now)
        }

        mutating func report(_ id: String, _ token: String?, byPush: Bool = true) -> [ActivitySession.Action] {
            let card = ActivityBelief.CardReport(id: id, token: token, startedAt: now, isStartedByPush: byPush)
            session.record(.card(card), madeAt: now, at: now)
            return actions()
        }

        /// Brings the first generation on the phone: the start is request 1, the card has the token `update`.
        mutating func goLive() {
            _ = desire(1)
            _ = settle(1, .accepted)
            now += 2
            _ = report("card", "update")
        }
    }

    @Test func `a surface starts, takes the token of its card, and shows the newest of the changes meanwhile`() {
        var bench = Bench()
        #expect(bench.desire(1) == [.start(1, "start", generation: 1, timestamp: Self.begin)])
        #expect(bench.desire(2) == [])
        #expect(bench.settle(1, .accepted) == nil)
        #expect(bench.desire(3, isUrgent: true) == [])
        let update = ActivitySession.Update(
            generation: 3,
            timestamp: Self.begin + 1,
            priority: 10,
            staleDate: Self.begin + 7_200
        )
        #expect(bench.report("card", "update") == [.update(2, "update", update)])
    }

    @Test func `changes that are not urgent are sent at intervals, urgent ones at once`() {
        var bench = Bench()
        bench.goLive()
        #expect(bench.desire(2) == [])
        #expect(bench.session.nextTime == bench.now + 15)
        bench.now += 15
        guard case .update(let first, _, let later)? = bench.actions().first else {
            Issue.record("no update")
            return
        }
        #expect(later.priority == 5)
        #expect(bench.desire(3, isUrgent: true) == [])
        _ = bench.settle(first, .accepted)
        guard case .update(_, _, let urgent)? = bench.actions().first else {
            Issue.record("no urgent update")
            return
        }
        #expect(urgent.priority == 10)
        #expect(urgent.timestamp > later.timestamp)
    }

    @Test func `urgent changes beyond the budget are sent with priority 5`() {
        var bench = Bench()
        bench.goLive()
        var priorities: [Int] = []
        for generation in 2...14 {
            guard case .update(let request, _, let update)? = bench.desire(generation, isUrgent: true).first else {
                continue
            }
            priorities.append(update.priority)
            _ = bench.settle(request, .accepted)
        }
        #expect(priorities == Array(repeating: 10, count: 12) + [5])
    }

    @Test func `a surface that is no longer desired ends its card, also one whose token comes later`() {
        var live = Bench()
        live.goLive()
        guard case .end(_, "update", _)? = live.withdraw().first else {
            Issue.record("no end")
            return
        }
        var unconfirmed = Bench()
        _ = unconfirmed.desire(1)
        _ = unconfirmed.settle(1, .accepted)
        #expect(unconfirmed.withdraw() == [])
        unconfirmed.now += 3_600
        guard case .end(_, "update", _)? = unconfirmed.report("card", "update").first else {
            Issue.record("the late card is not ended")
            return
        }
    }

    @Test func `a start that was not sent yet is cancelled once`() {
        var bench = Bench()
        _ = bench.desire(1)
        #expect(bench.withdraw() == [.cancel(1)])
        #expect(bench.actions() == [])
        _ = bench.settle(1, .notSent)
        #expect(bench.session.belief.phase == .none)
    }

    @Test func `time alone starts no second card`() {
        var bench = Bench()
        _ = bench.desire(1)
        _ = bench.settle(1, .accepted)
        bench.now += 13 * 3_600
        #expect(bench.actions() == [])
        #expect(bench.session.absence == .neverConfirmed)
        #expect(bench.desire(2).count == 1)
    }

    @Test func `a card is replaced before the system ends it, and ended when the new one is there`() {
        var bench = Bench()
        bench.goLive()
        bench.now += 27_000
        let actions = bench.actions()
        guard case .start(let start, "start", generation: 1, _)? = actions.last else {
            Issue.record("no successor: \(actions)")
            return
        }
        _ = bench.settle(start, .accepted)
        bench.now += 5
        let ends = bench.report("new card", "new update").filter {
            if case .end(_, "update", _) = $0 { true } else { false }
        }
        #expect(ends.count == 1)
    }

    @Test func `a removed card stays away until the surface is desired anew`() {
        var bench = Bench()
        bench.goLive()
        bench.session.record(.gone("card", .user), madeAt: bench.now, at: bench.now)
        #expect(bench.desire(2, isUrgent: true) == [])
        #expect(bench.session.absence == .declined)
        _ = bench.withdraw()
        #expect(bench.desire(3).count == 1)
    }

    @Test func `an unregistered token is compared before it is removed`() {
        var bench = Bench()
        bench.goLive()
        bench.now += 20
        guard case .update(let request, "update", _)? = bench.desire(2).first else {
            Issue.record("no update")
            return
        }
        // The app reports a new token while the update to the old one is on its way.
        _ = bench.report("card", "rotated")
        let dead = bench.settle(request, .unregistered(since: bench.now))
        #expect(dead == ActivityBelief.UnregisteredToken(token: "update", since: bench.now))
        bench.now += 20
        guard case .update(_, "rotated", _)? = bench.actions().first else {
            Issue.record("the card was given up: \(bench.session.belief.phase)")
            return
        }
    }

    @Test func `a start token that was reported after it was unregistered is kept`() {
        var bench = Bench()
        _ = bench.desire(1)
        _ = bench.settle(1, .unregistered(since: Self.begin - 1))
        #expect(bench.session.belief.startToken?.token == "start")
        var outdated = Bench()
        _ = outdated.desire(1)
        _ = outdated.settle(1, .unregistered(since: Self.begin))
        #expect(outdated.session.belief.startToken == nil)
    }

    @Test func `urgent changes become alerts where no Live Activity can be shown`() {
        var withoutToken = Bench(startToken: nil)
        #expect(withoutToken.desire(1) == [])
        #expect(withoutToken.desire(2, isUrgent: true) == [.alert(1, generation: 2)])
        #expect(withoutToken.actions() == [])
        var forbidden = Bench()
        forbidden.session.record(.allowed(false), madeAt: Self.begin, at: Self.begin)
        #expect(forbidden.desire(1, isUrgent: true) == [.alert(1, generation: 1)])
        #expect(forbidden.session.absence == .notAllowed)
        var unconfirmed = Bench()
        _ = unconfirmed.desire(1)
        _ = unconfirmed.settle(1, .accepted)
        unconfirmed.now += 400
        #expect(unconfirmed.desire(2, isUrgent: true) == [.alert(2, generation: 2)])
    }

    @Test func `an activity that the app has started is adopted`() {
        var bench = Bench(startToken: nil)
        _ = bench.desire(4, isUrgent: true)
        guard case .update(_, "update", let update)? = bench.report("card", "update", byPush: false).first else {
            Issue.record("not adopted")
            return
        }
        #expect(update.generation == 4)
    }

    @Test func `reports with extreme times do not trap`() {
        var bench = Bench()
        for time in [Int64.min, -1, 0, .max] {
            let card = ActivityBelief.CardReport(
                id: "\(time)",
                token: "t\(time)",
                startedAt: time,
                isStartedByPush: true
            )
            let reports: [ActivitySession.Report] = [
                .cards([card]), .allowed(true), .startToken("start"), .gone("\(time)", .app), .allGone,
            ]
            for report in reports { bench.session.record(report, madeAt: time, at: bench.now) }
            _ = bench.desire(bench.session.desired.map { $0.generation + 1 } ?? 1)
        }
        #expect(bench.session.lastTimestamp < bench.now + 100)
    }
}
