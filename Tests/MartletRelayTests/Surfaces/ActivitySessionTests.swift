// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletRelay

struct ActivitySessionTests {
    private static let begin: Int64 = 1_800_000_000

    private let start: DeviceToken
    private let update: DeviceToken
    private let rotated: DeviceToken

    init() throws {
        start = try DeviceToken(hex: "0a")
        update = try DeviceToken(hex: "0b")
        rotated = try DeviceToken(hex: "0c")
    }

    /// A session with what the app has reported, a budget, and its clock.
    private struct Bench {
        var session = ActivitySession()
        var budget = ActivityBudget(at: begin)
        var now = begin
        var report: AssumedActivity.Report

        init(startToken: DeviceToken?) {
            let token = startToken.map { AssumedActivity.ReportedToken(token: $0, reportedAt: begin) }
            report = AssumedActivity.Report(startToken: token, seenAt: begin)
        }

        mutating func actions() -> [ActivitySession.Action] {
            session.record(report, at: now)
            return session.actions(at: now, within: &budget)
        }

        mutating func desire(_ generation: Int, isUrgent: Bool = false) -> [ActivitySession.Action] {
            session.desire(ActivitySession.Desired(generation: generation, isUrgent: isUrgent))
            return actions()
        }

        mutating func withdraw() -> [ActivitySession.Action] {
            session.withdraw()
            return actions()
        }

        mutating func settle(_ request: Int, _ result: SurfacePushResult) {
            session.record(report, at: now)
            session.record(result, of: request, at: now * 1_000)
        }

        /// Reports a card that runs since a second ago, with its token.
        mutating func add(_ id: String, _ token: DeviceToken?, byPush: Bool? = true) -> [ActivitySession.Action] {
            let reported = token.map { AssumedActivity.ReportedToken(token: $0, reportedAt: now) }
            report.running.removeAll { $0.id == id }
            report.running.append(
                AssumedActivity.RunningCard(id: id, token: reported, startedAt: now - 1, isStartedByPush: byPush)
            )
            report.seenAt = now
            return actions()
        }

        /// Reports the end of a card.
        mutating func end(_ id: String, isByUser: Bool) -> [ActivitySession.Action] {
            report.running.removeAll { $0.id == id }
            report.ended.append(AssumedActivity.EndedReport(id: id, isByUser: isByUser, mayBeStartedByPush: true))
            report.seenAt = now
            return actions()
        }

        /// Lets APNs report the token of the card as unregistered, with the update to the second generation.
        mutating func loseCard() {
            now += 20
            _ = desire(2)
            settle(2, .unregistered)
            #expect(actions() == [])
            #expect(session.absence == .endedWithoutReport)
        }

        /// Brings the first generation on the phone: the start is request 1.
        mutating func goLive(with token: DeviceToken) {
            _ = desire(1)
            settle(1, .accepted)
            now += 2
            _ = add("card", token)
        }
    }

    @Test func `a surface starts, takes the token of its card, and shows the newest of the changes meanwhile`() {
        var bench = Bench(startToken: start)
        #expect(bench.desire(1) == [.start(1, start, generation: 1, timestamp: Self.begin)])
        #expect(bench.desire(2) == [])
        bench.settle(1, .accepted)
        #expect(bench.desire(3, isUrgent: true) == [])
        bench.now += 1
        let content = ActivitySession.Update(
            generation: 3,
            timestamp: Self.begin + 1,
            priority: 10,
            staleDate: Self.begin + 7_201
        )
        #expect(bench.add("card", update) == [.update(2, update, content)])
    }

    @Test func `changes are sent at intervals, urgent ones a second after the last`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        #expect(bench.desire(2) == [])
        #expect(bench.session.nextTime(after: bench.now) == bench.now + 14)
        bench.now += 15
        guard case .update(let first, _, let later)? = bench.actions().first else {
            Issue.record("no update")
            return
        }
        #expect(later.priority == 5)
        #expect(bench.desire(3, isUrgent: true) == [.cancel(first)])
        #expect(bench.actions() == [])
        bench.settle(first, .accepted)
        #expect(bench.actions() == [])
        #expect(bench.session.nextTime(after: bench.now) == bench.now + 1)
        bench.now += 1
        guard case .update(_, _, let urgent)? = bench.actions().first else {
            Issue.record("no urgent update")
            return
        }
        #expect(urgent.priority == 10)
        #expect(urgent.timestamp > later.timestamp)
    }

    @Test func `urgent changes beyond the budget are sent with priority 5`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        var priorities: [Int] = []
        for generation in 2...14 {
            bench.now += 1
            guard case .update(let request, _, let update)? = bench.desire(generation, isUrgent: true).first else {
                continue
            }
            priorities.append(update.priority)
            bench.settle(request, .accepted)
        }
        #expect(priorities == Array(repeating: 10, count: 12) + [5])
    }

    @Test func `a surface that is no longer desired ends its card, also one whose token comes later`() {
        var live = Bench(startToken: start)
        live.goLive(with: update)
        guard case .end(_, update, _)? = live.withdraw().first else {
            Issue.record("no end")
            return
        }
        var unconfirmed = Bench(startToken: start)
        _ = unconfirmed.desire(1)
        unconfirmed.settle(1, .accepted)
        #expect(unconfirmed.withdraw() == [])
        unconfirmed.now += 500
        guard case .end(_, update, _)? = unconfirmed.add("card", update).first else {
            Issue.record("the late card is not ended")
            return
        }
    }

    @Test func `a start that was not sent yet is cancelled once`() {
        var bench = Bench(startToken: start)
        _ = bench.desire(1)
        #expect(bench.withdraw() == [.cancel(1)])
        #expect(bench.actions() == [])
        bench.settle(1, .notSent)
        #expect(bench.session.assumed.phase == .none)
    }

    @Test func `time alone starts no second card`() {
        var bench = Bench(startToken: start)
        _ = bench.desire(1)
        bench.settle(1, .accepted)
        bench.now += 13 * 3_600
        #expect(bench.actions() == [])
        #expect(bench.session.absence == .neverConfirmed)
        #expect(bench.desire(2).count == 1)
    }

    @Test func `a card is replaced before the system ends it, and ended when the new one is there`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.now += 27_000
        let actions = bench.actions()
        guard case .start(let request, start, generation: 1, _, _)? = actions.last else {
            Issue.record("no successor: \(actions)")
            return
        }
        bench.settle(request, .accepted)
        bench.now += 5
        let ends = bench.add("new card", rotated).filter {
            if case .end(_, update, _) = $0 { true } else { false }
        }
        #expect(ends.count == 1)
    }

    @Test func `a removed card stays away until the surface is desired anew`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        #expect(bench.end("card", isByUser: true) == [])
        #expect(bench.desire(2, isUrgent: true) == [])
        #expect(bench.session.absence == .declined)
        _ = bench.withdraw()
        #expect(bench.desire(3).count == 1)
    }

    @Test func `an unregistered token that was replaced is ignored`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.now += 20
        guard case .update(let request, update, _)? = bench.desire(2).first else {
            Issue.record("no update")
            return
        }
        // The app reports a new token while the update to the old one is on its way.
        _ = bench.add("card", rotated)
        bench.settle(request, .unregistered)
        bench.now += 20
        guard case .update(_, rotated, _)? = bench.actions().first else {
            Issue.record("the card was given up: \(bench.session.assumed.phase)")
            return
        }
    }

    @Test func `a card with an unregistered token waits for a report`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.loseCard()
        #expect(bench.desire(3, isUrgent: true) == [.alert(generation: 3)])
        bench.now += 86_400
        #expect(bench.actions() == [])
        #expect(bench.session.absence == .endedWithoutReport)
        // Other reports of the app may come before that of the removal.
        bench.report.seenAt = bench.now
        #expect(bench.actions() == [])
        #expect(bench.session.nextTime(after: bench.now) == bench.now + 60)
        var removed = bench
        #expect(removed.end("card", isByUser: true) == [])
        #expect(removed.session.absence == .declined)
        var ended = bench
        #expect(ended.end("card", isByUser: false).count == 1)
        bench.now += 60
        guard case .start(_, start, generation: 3, _, _)? = bench.actions().first else {
            Issue.record("no start: \(bench.session.assumed.phase)")
            return
        }
    }

    @Test func `a removal that is reported late ends the next card`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.loseCard()
        bench.report.seenAt = bench.now + 1
        bench.now += 61
        guard case .start(let request, _, _, _, _)? = bench.actions().first else {
            Issue.record("no start: \(bench.session.assumed.phase)")
            return
        }
        var starting = bench
        #expect(starting.end("card", isByUser: true) == [.cancel(request)])
        bench.settle(request, .accepted)
        var unconfirmed = bench
        #expect(unconfirmed.end("card", isByUser: true) == [])
        for var bench in [bench, unconfirmed] {
            _ = bench.add("new card", rotated)
            if case .live = bench.session.assumed.phase { _ = bench.end("card", isByUser: true) }
            guard case .ending(let card, let end) = bench.session.assumed.phase, card.token == rotated else {
                Issue.record("no end: \(bench.session.assumed.phase)")
                continue
            }
            bench.settle(end, .accepted)
            #expect(bench.desire(3) == [])
            #expect(bench.session.absence == .declined)
        }
    }

    @Test func `an unregistered start token is used after a later report`() {
        var bench = Bench(startToken: start)
        _ = bench.desire(1)
        bench.settle(1, .unregistered)
        #expect(bench.actions() == [])
        #expect(bench.session.absence == .noStartToken)
        bench.now += 1
        bench.report.startToken?.reportedAt = bench.now
        #expect(bench.actions().count == 1)
    }

    @Test func `an update that was not sent is replaced at once`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.now += 20
        guard case .update(let first, _, _)? = bench.desire(2, isUrgent: true).first else {
            Issue.record("no update")
            return
        }
        #expect(bench.desire(3) == [.cancel(first)])
        bench.settle(first, .notSent)
        guard case .update(_, update, let content)? = bench.actions().first else {
            Issue.record("no update")
            return
        }
        #expect(content.generation == 3)
    }

    @Test func `forbidding Live Activities cancels a start`() {
        var bench = Bench(startToken: start)
        _ = bench.desire(1)
        bench.report.isAllowed = false
        #expect(bench.actions() == [.cancel(1)])
        bench.settle(1, .notSent)
        #expect(bench.actions() == [])
        #expect(bench.session.absence == .notAllowed)
    }

    @Test func `forbidding Live Activities ends the card`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.report.isAllowed = false
        #expect(bench.actions() == [])
        #expect(bench.session.assumed.phase == .none)
        bench.report.isAllowed = true
        #expect(bench.actions().count == 1)
    }

    @Test func `a card without a token is waited for`() {
        var bench = Bench(startToken: start)
        _ = bench.add("card", nil, byPush: false)
        #expect(bench.desire(1) == [])
        bench.now += 400
        #expect(bench.desire(2, isUrgent: true) == [.alert(generation: 2)])
        guard case .update(_, update, let content)? = bench.add("card", update, byPush: false).first else {
            Issue.record("not adopted")
            return
        }
        #expect(content.generation == 2)
    }

    @Test func `a start made no card if the app runs later and reports none`() {
        var bench = Bench(startToken: start)
        _ = bench.desire(1)
        bench.settle(1, .accepted)
        bench.now += 700
        bench.report.seenAt = bench.now
        #expect(bench.actions() == [])
        #expect(bench.session.nextTime(after: bench.now) == bench.now + 60)
        bench.now += 60
        #expect(bench.actions().count == 1)
    }

    @Test func `the user's removal of a card without a token counts`() {
        var bench = Bench(startToken: start)
        _ = bench.desire(1)
        bench.settle(1, .accepted)
        _ = bench.add("card", nil)
        #expect(bench.end("card", isByUser: true) == [])
        #expect(bench.session.absence == .declined)
        #expect(bench.desire(2, isUrgent: true) == [])
    }

    @Test func `activities that ended before the session do not count`() {
        var bench = Bench(startToken: start)
        _ = bench.end("old card", isByUser: true)
        #expect(bench.desire(1).count == 1)
        bench.settle(1, .accepted)
        #expect(bench.actions() == [])
        #expect(bench.session.absence == nil)
    }

    @Test func `an ended card that the app still lists stays ended`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        bench.now += 10
        _ = bench.withdraw()
        bench.settle(2, .accepted)
        #expect(bench.actions() == [])
        #expect(bench.session.goneAt == bench.now + 12 * 3_600)
        guard case .start? = bench.desire(2).first else {
            Issue.record("no start: \(bench.session.assumed.phase)")
            return
        }
        var reported = Bench(startToken: start)
        reported.goLive(with: update)
        _ = reported.withdraw()
        reported.settle(2, .accepted)
        _ = reported.end("card", isByUser: false)
        #expect(reported.session.goneAt == reported.session.lastTimestamp + 1)
    }

    @Test func `an ended card with a new token is ended again`() {
        var bench = Bench(startToken: start)
        bench.goLive(with: update)
        _ = bench.withdraw()
        bench.settle(2, .accepted)
        guard case .end(3, rotated, _)? = bench.add("card", rotated).first else {
            Issue.record("no end: \(bench.session.assumed.phase)")
            return
        }
    }

    @Test func `urgent changes become alerts where no Live Activity can be shown`() {
        var withoutToken = Bench(startToken: nil)
        #expect(withoutToken.desire(1) == [])
        #expect(withoutToken.desire(2, isUrgent: true) == [.alert(generation: 2)])
        #expect(withoutToken.actions() == [])
        var forbidden = Bench(startToken: start)
        forbidden.report.isAllowed = false
        #expect(forbidden.desire(1, isUrgent: true) == [.alert(generation: 1)])
        #expect(forbidden.session.absence == .notAllowed)
        var unconfirmed = Bench(startToken: start)
        _ = unconfirmed.desire(1)
        unconfirmed.settle(1, .accepted)
        unconfirmed.now += 400
        #expect(unconfirmed.desire(2, isUrgent: true) == [.alert(generation: 2)])
    }

    @Test func `an activity that the app has started is adopted`() {
        var bench = Bench(startToken: nil)
        _ = bench.desire(4, isUrgent: true)
        guard case .update(_, update, let content)? = bench.add("card", update, byPush: false).first else {
            Issue.record("not adopted")
            return
        }
        #expect(content.generation == 4)
    }

    @Test func `phones with extreme clocks do not trap`() {
        var bench = Bench(startToken: start)
        for (number, time) in [Int64.min, -1, 0, .max].enumerated() {
            let token = AssumedActivity.ReportedToken(token: update, reportedAt: bench.now)
            bench.report.running = [
                AssumedActivity.RunningCard(
                    id: "\(number)",
                    token: number == 1 ? nil : token,
                    startedAt: time,
                    isStartedByPush: true
                )
            ]
            _ = bench.desire(number + 1)
        }
        #expect(bench.session.lastTimestamp < bench.now + 100)
    }
}
