// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct DeliveryMachineTests {
    private static let busy = Lane(app: "busy", environment: .production)
    private static let calm = Lane(app: "calm", environment: .production)

    private func push(_ number: Int64, _ lane: Lane, priority: String = "10", expiresAt: Int64? = nil) -> ClaimedPush {
        let push = OutboxPush.broadcast(number, lane, priority: priority, expiresAt: expiresAt)
        return ClaimedPush(number: number, push: push, acceptedAt: 0, attempts: 0, unknownTries: 0)
    }

    /// A machine that knows both lanes, each with these pushes claimed.
    private func machine(
        _ limits: DeliveryMachine.Limits = DeliveryMachine.Limits(),
        rate: Int? = nil,
        claimed: [ClaimedPush],
        at now: Int64 = 0
    ) -> DeliveryMachine {
        var machine = DeliveryMachine(limits: limits, seed: 1)
        machine.add(Self.busy, rate: rate, at: now)
        machine.add(Self.calm, at: now)
        for order in machine.takeActions(at: now).claims {
            let pushes = claimed.filter { $0.push.lane == order.lane && $0.push.urgency == order.urgency }
            machine.claimed(Claim(pushes: pushes, nextDue: nil), order, at: now)
        }
        return machine
    }

    @Test func `many pushes of one app do not delay another app`() {
        var limits = DeliveryMachine.Limits()
        limits.inFlight = 4
        let many = (1...100).map { push($0, Self.busy) }
        var machine = machine(limits, claimed: many + [push(200, Self.calm)])
        #expect(machine.takeActions(at: 1).sends.prefix(2).contains { $0.number == 200 })
    }

    @Test func `urgent pushes are sent first, and expired ones not at all`() {
        let pushes = [
            push(1, Self.busy, priority: "1"), push(2, Self.busy, priority: "5"), push(3, Self.busy),
            push(4, Self.busy, expiresAt: 10),
        ]
        var machine = machine(claimed: pushes)
        let actions = machine.takeActions(at: 10)
        #expect(actions.sends.map(\.number) == [3, 2, 1])
        #expect(actions.settlements == [Settlement(pushes[3], .ended(Outcome(.expired)))])
    }

    @Test func `pushes of jobs are sent after all others of their lane`() {
        var ofJob = push(1, Self.busy)
        ofJob.push.job = 7
        var machine = machine(claimed: [ofJob, push(2, Self.busy, priority: "1"), push(3, Self.busy)])
        #expect(machine.takeActions(at: 10).sends.map(\.number) == [3, 2, 1])
    }

    @Test func `a push whose headers break a rule is refused and not sent`() {
        let pushes = [push(1, Self.busy, priority: "7"), push(2, Self.busy)]
        var machine = machine(claimed: pushes)
        let actions = machine.takeActions(at: 10)
        #expect(actions.sends.map(\.number) == [2])
        let refused = Outcome(.refused, status: 400, reason: "BadPriority")
        #expect(actions.settlements == [Settlement(pushes[0], .ended(refused))])
    }

    @Test func `a damaged push is not sent and ends as a dead letter`() {
        var damaged = push(1, Self.busy, expiresAt: 5)
        damaged.isDamaged = true
        var machine = machine(claimed: [damaged, push(2, Self.busy)])
        let actions = machine.takeActions(at: 10)
        #expect(actions.sends.map(\.number) == [2])
        #expect(actions.settlements == [Settlement(damaged, .ended(Outcome(.dead, reason: "Damaged")))])
    }

    @Test func `a push whose phone has left its user is not sent and ends as cancelled`() {
        var moved = push(1, Self.busy, expiresAt: 5)
        moved.hasFormerUser = true
        var machine = machine(claimed: [moved, push(2, Self.busy)])
        let actions = machine.takeActions(at: 10)
        #expect(actions.sends.map(\.number) == [2])
        #expect(actions.settlements == [Settlement(moved, .ended(Outcome(.cancelled, reason: "FormerUser")))])
    }

    @Test
    func `a lane that cannot send returns its pushes, then tries one`() {
        var machine = machine(claimed: (1...5).map { push($0, Self.busy) } + [push(9, Self.calm)])
        #expect(machine.takeActions(at: 0).sends.count == 6)
        let failure = SendResult.neverSent(reason: "ConnectionFailed", retryAfter: 1_000)
        for number in 1...5 { machine.answered(Int64(number), failure, at: 5) }
        let actions = machine.takeActions(at: 6)
        let back = Settlement.Change.postponed(until: 6, attempts: 0, unknownTries: 0)
        #expect(Set(actions.settlements) == Set((1...5).map { Settlement(push($0, Self.busy), back) }))
        #expect(actions.sends.isEmpty && !actions.claims.contains { $0.lane == Self.busy })
        _ = machine.settled(actions.settlements)
        let time = machine.nextTime(after: 6) ?? 0
        #expect((1_005...1_300).contains(time))
        let claims = machine.takeActions(at: time).claims.filter { $0.lane == Self.busy }
        #expect(claims.map(\.limit) == [1] && claims.map(\.urgency) == [.immediate])
        // The limit of one keeps back the others, which are due.
        machine.claimed(Claim(pushes: [push(1, Self.busy)], nextDue: 6), claims[0], at: time)
        let trial = machine.takeActions(at: time)
        #expect(trial.sends.map(\.number) == [1])
        for claim in trial.claims { machine.claimed(Claim(pushes: [], nextDue: 6), claim, at: time) }
        machine.answered(1, .accepted(uniqueID: nil), at: time + 1)
        let next = machine.takeActions(at: time + 1).claims.filter { $0.lane == Self.busy }
        #expect(next.contains { $0.limit == 500 })
    }

    @Test func `the time of the next attempt is never in the past`() throws {
        var machine = machine(claimed: [push(1, Self.busy)])
        #expect(machine.takeActions(at: 0).sends.count == 1)
        machine.answered(1, .neverSent(reason: "ConnectionFailed", retryAfter: 1_000), at: 5)
        let lane = try #require(machine.lanes[Self.busy])
        let time = try #require(lane.pausedUntil)
        var problem = LaneProblem(since: 5, reason: "ConnectionFailed", nextTry: time, lastTry: 5)
        #expect(lane.problem(at: time - 1) == problem)
        problem.nextTry = nil
        #expect(lane.problem(at: time) == problem)
    }

    @Test func `pushes that expire while Apple does not answer are counted`() {
        var machine = machine(claimed: [push(1, Self.busy, expiresAt: 10_000), push(2, Self.busy, expiresAt: 90_000)])
        #expect(machine.takeActions(at: 0).sends.count == 2)
        #expect(machine.expiredInFlight(at: 9_999).isEmpty)
        #expect(machine.expiredInFlight(at: 10_000) == [Self.busy: 1])
        machine.answered(1, .accepted(uniqueID: nil), at: 10_001)
        #expect(machine.expiredInFlight(at: 10_001).isEmpty)
    }

    @Test func `a push that expires before the next attempt ends with Apple's answer`() {
        var machine = machine(claimed: [push(1, Self.busy, expiresAt: 10_000), push(2, Self.busy, expiresAt: 90_000)])
        #expect(machine.takeActions(at: 0).sends.count == 2)
        let refusal = SendResult.refused(status: 403, reason: .invalidProviderToken, timestamp: nil, retryAfter: nil)
        for number in 1...2 { machine.answered(Int64(number), refusal, at: 5) }
        let changes = machine.takeActions(at: 6).settlements.map(\.change)
        let expired = Outcome(.expired, status: 403, reason: "InvalidProviderToken", attempts: 1)
        #expect(changes.first == .ended(expired) && changes.count == 2)
        guard case .postponed? = changes.last else {
            _ = Issue.record("\(changes)")
            return
        }
    }

    @Test func `the provider token is renewed once when refused credentials stop a lane`() {
        var machine = machine(claimed: (1...3).map { push($0, Self.busy) })
        #expect(machine.takeActions(at: 0).sends.count == 3)
        let expired = SendResult.refused(status: 403, reason: .expiredProviderToken, timestamp: nil, retryAfter: nil)
        for number in 1...2 as ClosedRange<Int64> { machine.answered(number, expired, at: 5) }
        #expect(machine.takeActions(at: 6).renewals == [Self.busy])
        machine.answered(3, expired, at: 7)
        #expect(machine.takeActions(at: 8).renewals.isEmpty)
    }

    @Test func `an outage for another reason renews no provider token`() {
        var machine = machine(claimed: [push(1, Self.busy)])
        #expect(machine.takeActions(at: 0).sends.count == 1)
        machine.answered(1, .neverSent(reason: "ConnectionFailed", retryAfter: nil), at: 5)
        #expect(machine.lanes[Self.busy]?.outage != nil)
        #expect(machine.takeActions(at: 6).renewals.isEmpty)
    }

    @Test func `a paused lane returns its pushes and claims none until resumed`() {
        var machine = machine(rate: 3, claimed: (1...9).map { push($0, Self.busy) } + [push(20, Self.calm)])
        #expect(machine.takeActions(at: 0).sends.count == 4)
        #expect(machine.isReturning(Self.busy))
        machine.pauseManually([Self.busy])
        let back = Settlement.Change.postponed(until: 1, attempts: 0, unknownTries: 0)
        let paused = machine.takeActions(at: 1)
        #expect(Set(paused.settlements) == Set((4...9).map { Settlement(push($0, Self.busy), back) }))
        #expect(paused.sends.isEmpty && !paused.claims.contains { $0.lane == Self.busy })
        #expect(machine.isReturning(Self.busy))
        _ = machine.settled(paused.settlements)
        #expect(!machine.isReturning(Self.busy) && machine.nextTime(after: 1) == nil)
        // Pushes answered in the meantime end, and unsent ones are returned, too.
        machine.answered(1, .accepted(uniqueID: nil), at: 2)
        machine.answered(2, .neverSent(reason: "ConnectionFailed", retryAfter: nil), at: 2)
        let late = machine.takeActions(at: 2)
        #expect(late.settlements.map(\.number) == [1, 2] && late.claims.allSatisfy { $0.lane == Self.calm })
        _ = machine.settled(late.settlements)
        machine.pauseManually([])
        #expect(machine.takeActions(at: 5_000).claims.contains { $0.lane == Self.busy })
    }

    @Test func `nothing is claimed before the paused lanes are known`() {
        var machine = DeliveryMachine(seed: 1)
        machine.pauseManually(nil)
        machine.add(Self.busy, at: 0)
        #expect(machine.takeActions(at: 0).claims.isEmpty)
        machine.pauseManually([Self.calm])
        machine.add(Self.calm, at: 0)
        #expect(Set(machine.takeActions(at: 0).claims.map(\.lane)) == [Self.busy])
    }

    @Test func `pushes whose claims are lost are not sent`() {
        var machine = machine(claimed: (1...5).map { push($0, Self.busy) })
        machine.claimsLost()
        let actions = machine.takeActions(at: 0)
        #expect(actions.sends.isEmpty && actions.claims.count { $0.lane == Self.busy } == Urgency.allCases.count)
    }

    @Test func `a lane does not exceed its rate`() {
        var machine = DeliveryMachine(seed: 1)
        machine.add(Self.busy, rate: 10, at: 0)
        var (now, number, sent): (Int64, Int64, Int) = (0, 0, 0)
        while now <= 3_000 {
            let actions = machine.takeActions(at: now)
            sent += actions.sends.count
            for action in actions.claims {
                let isUsed = action.urgency == .immediate
                let pushes = (0..<(isUsed ? action.limit : 0)).map { push(number + Int64($0), Self.busy) }
                number += Int64(pushes.count)
                machine.claimed(Claim(pushes: pushes, nextDue: isUsed ? 0 : nil), action, at: now)
            }
            for push in actions.sends { machine.answered(push.number, .accepted(uniqueID: nil), at: now) }
            _ = machine.settled(actions.settlements)
            guard actions.sends.isEmpty, actions.claims.isEmpty else { continue }
            now = machine.nextTime(after: now) ?? .max
        }
        #expect(sent == 40)
    }

    @Test func `a settlement that cannot be stored is stored later`() {
        var machine = machine(claimed: [push(1, Self.busy)])
        _ = machine.takeActions(at: 0)
        machine.answered(1, .accepted(uniqueID: nil), at: 10)
        let settlements = machine.takeActions(at: 10).settlements
        machine.settleFailed(settlements, at: 20)
        #expect(machine.takeActions(at: 21).settlements.isEmpty)
        #expect(machine.nextTime(after: 21) == 1_020)
        #expect(machine.takeActions(at: 1_020).settlements == settlements)
        #expect(!machine.isIdle)
        #expect(machine.settled(settlements).map { $0.outcome.state } == [.delivered])
        #expect(machine.isIdle)
    }

    @Test func `a push that is claimed again has two settlements`() throws {
        var machine = machine(claimed: [push(1, Self.busy)])
        _ = machine.takeActions(at: 0)
        machine.notStarted(1, at: 10)
        let first = machine.takeActions(at: 10).settlements
        // It is stored, and its answer is lost.
        machine.settleFailed(first, at: 20)
        machine.markReady(Self.busy)
        let actions = machine.takeActions(at: 1_020)
        #expect(actions.settlements == first)
        let action = try #require(actions.claims.first { $0.lane == Self.busy && $0.urgency == .immediate })
        var again = push(1, Self.busy)
        again.claim = 1
        machine.claimed(Claim(pushes: [again], nextDue: nil), action, at: 1_030)
        #expect(machine.takeActions(at: 1_030).sends == [again])
        machine.answered(1, .accepted(uniqueID: nil), at: 1_040)
        let second = machine.takeActions(at: 1_040).settlements
        #expect(machine.settled(first).isEmpty && !machine.isIdle)
        #expect(machine.settled(second).map { $0.push } == [again])
        #expect(machine.isIdle)
    }

    @Test func `a push that is claimed again while it is in flight counts once`() throws {
        var machine = machine(claimed: [push(1, Self.busy)])
        #expect(machine.takeActions(at: 0).sends.count == 1)
        machine.claimsLost()
        let claims = machine.takeActions(at: 10).claims
        let action = try #require(claims.first { $0.lane == Self.busy && $0.urgency == .immediate })
        var again = push(1, Self.busy)
        again.claim = 1
        machine.claimed(Claim(pushes: [again], nextDue: nil), action, at: 20)
        #expect(machine.takeActions(at: 20).sends == [again])
        for time in [30, 40] as [Int64] { machine.answered(1, .accepted(uniqueID: nil), at: time) }
        #expect(machine.lanes[Self.busy]?.inFlight == 0)
        #expect(machine.takeActions(at: 40).settlements.map(\.claim) == [1])
    }

    @Test func `a clock that is set back does not prolong pauses`() {
        var machine = machine(claimed: [push(1, Self.busy), push(2, Self.calm)], at: 10_000_000)
        #expect(machine.takeActions(at: 10_000_000).sends.count == 2)
        machine.answered(1, .neverSent(reason: "ConnectionFailed", retryAfter: 8_000), at: 10_000_000)
        machine.answered(2, .accepted(uniqueID: nil), at: 10_000_000)
        let settlements = machine.takeActions(at: 10_000_000).settlements
        machine.settleFailed(settlements, at: 10_000_000)
        // Two hours earlier by the clock, and as long to wait as before: a second, and ten at most.
        #expect(machine.takeActions(at: 2_800_000).settlements.isEmpty)
        #expect(machine.takeActions(at: 2_801_000).settlements == settlements)
        _ = machine.settled(settlements)
        #expect(!machine.takeActions(at: 2_807_999).claims.contains { $0.lane == Self.busy })
        #expect(machine.takeActions(at: 2_810_001).claims.contains { $0.lane == Self.busy })
    }

    @Test func `a lane with a limit claims no more than it sends soon`() {
        var machine = DeliveryMachine(seed: 1)
        machine.add(Self.busy, rate: 70, at: 0)
        machine.add(Self.calm, at: 0)
        let claims = machine.takeActions(at: 0).claims
        #expect(Set(claims.filter { $0.lane == Self.busy }.map(\.limit)) == [17])
        #expect(Set(claims.filter { $0.lane == Self.calm }.map(\.limit)) == [500])
    }

    @Test func `a lane without answers for ten seconds is down, but sends`() {
        var machine = machine(claimed: (1...4).map { push($0, Self.busy) }, at: 1_000)
        #expect(machine.takeActions(at: 1_000).sends.count == 4)
        machine.answered(1, .accepted(uniqueID: nil), at: 2_000)
        #expect(machine.lanes[Self.busy]?.problem(at: 11_999) == nil)
        let silent = LaneProblem(since: 2_000, reason: "NoAnswer", nextTry: nil)
        #expect(machine.lanes[Self.busy]?.problem(at: 12_000) == silent)
        #expect(machine.lanes[Self.busy]?.outage == nil && machine.takeActions(at: 12_000).sends.isEmpty)
        // The client gives up later; the lane has been down since the last answer.
        machine.answered(2, .neverSent(reason: "TimedOut", retryAfter: nil), at: 57_000)
        #expect(machine.lanes[Self.busy]?.problem(at: 57_000)?.since == 2_000)
        machine.answered(3, .accepted(uniqueID: nil), at: 58_000)
        #expect(machine.lanes[Self.busy]?.problem(at: 58_000) == nil)
        // Answered is answered; nothing in flight is no silence.
        machine.answered(4, .refused(status: 410, reason: .unregistered, timestamp: 1, retryAfter: nil), at: 59_000)
        #expect(machine.lanes[Self.busy]?.problem(at: 200_000) == nil)
    }

    @Test func `a lane whose last push ends without an answer is not down`() {
        var machine = machine(claimed: [push(1, Self.busy, expiresAt: 31_500)], at: 1_000)
        #expect(machine.takeActions(at: 1_000).sends.count == 1)
        #expect(machine.lanes[Self.busy]?.problem(at: 11_000)?.reason == "NoAnswer")
        let decision = machine.answered(1, .unknown, at: 31_000)
        #expect(decision?.isFinal == true && machine.lanes[Self.busy]?.outage == nil)
        #expect(machine.lanes[Self.busy]?.problem(at: 32_000) == nil)
    }

    @Test func `a lane is down after several connections without an answer`() {
        var machine = machine(claimed: (1...6).map { push($0, Self.busy) })
        #expect(machine.takeActions(at: 0).sends.count == 6)
        // The loss of several connections at the same time, with all pushes on them, is no outage.
        for number in 1...3 as ClosedRange<Int64> { machine.answered(number, .lost, at: 1_000 + number) }
        #expect(machine.lanes[Self.busy]?.outage == nil)
        machine.answered(4, .accepted(uniqueID: nil), at: 1_900)
        machine.answered(5, .lost, at: 2_000)
        #expect(machine.lanes[Self.busy]?.outage == nil, "Apple has answered since")
        machine.answered(6, .lost, at: 3_100)
        let outage = machine.lanes[Self.busy]?.outage
        #expect(outage?.reason == "ConnectionLost" && outage?.since == 2_000)
    }

    @Test func `connections lost at long intervals are not an outage`() {
        var machine = machine(claimed: (1...2).map { push($0, Self.busy) })
        #expect(machine.takeActions(at: 0).sends.count == 2)
        machine.answered(1, .lost, at: 1_000)
        machine.answered(2, .lost, at: 3_600_000)
        #expect(machine.lanes[Self.busy]?.outage == nil)
    }

    @Test func `a lane that sends its last push again is still down`() {
        var machine = machine(claimed: [push(1, Self.busy)], at: 1_000)
        #expect(machine.takeActions(at: 1_000).sends.count == 1)
        machine.answered(1, .unknown, at: 31_000)
        #expect(machine.lanes[Self.busy]?.problem(at: 32_000)?.reason == "NoAnswer")
    }

    @Test func `a connection that is lost soon is no missing answer`() {
        for (lossTime, reason) in [(1_010, nil), (31_000, "NoAnswer")] as [(Int64, String?)] {
            var machine = machine(claimed: [push(1, Self.busy)], at: 1_000)
            #expect(machine.takeActions(at: 1_000).sends.count == 1)
            machine.answered(1, .lost, at: lossTime)
            #expect(machine.lanes[Self.busy]?.problem(at: 32_000)?.reason == reason)
        }
    }

    @Test func `a lane without pushes is up when another relay has delivered`() {
        var machine = machine(claimed: [push(1, Self.busy)])
        #expect(machine.takeActions(at: 0).sends.count == 1)
        machine.answered(1, .neverSent(reason: "ConnectionFailed", retryAfter: 1_000), at: 5)
        let isOverBefore = machine.endOutage(of: Self.busy, at: 6)
        #expect(!isOverBefore, "the push is still claimed")
        _ = machine.settled(machine.takeActions(at: 6).settlements)
        let isOverEarly = machine.endOutage(of: Self.busy, at: 7)
        #expect(!isOverEarly, "the next try is not due")
        let isOver = machine.endOutage(of: Self.busy, at: 2_000)
        #expect(isOver)
        #expect(machine.lanes[Self.busy]?.problem(at: 2_000) == nil)
        let others = [Self.busy, Self.calm].map { machine.endOutage(of: $0, at: 2_001) }
        #expect(others == [false, false], "they are not down")
    }

    @Test func `a lane whose device tokens are refused stays down until Apple accepts one`() throws {
        let limit = Int64(DeliveryLane.badTokenLimit)
        var machine = machine(claimed: (1...limit + 1).map { push($0, Self.busy) })
        #expect(machine.takeActions(at: 0).sends.count == Int(limit) + 1)
        let bad = SendResult.refused(status: 400, reason: .badDeviceToken, timestamp: nil, retryAfter: nil)
        for number in 1..<limit { machine.answered(number, bad, at: 1) }
        #expect(machine.lanes[Self.busy]?.outage == nil)
        machine.answered(limit, bad, at: 5)
        #expect(machine.lanes[Self.busy]?.outage?.since == 1, "the first refusal counts")
        // Those in flight, and the test pushes, are refused as well.
        machine.answered(limit + 1, bad, at: 6)
        _ = machine.settled(machine.takeActions(at: 6).settlements)
        for time in [60_000, 120_000, 180_000] as [Int64] {
            machine.markReady(Self.busy, .immediate)
            for order in machine.takeActions(at: time).claims where order.urgency == .immediate {
                machine.claimed(Claim(pushes: [push(time, Self.busy)], nextDue: nil), order, at: time)
            }
            let trial = machine.takeActions(at: time).sends
            #expect(trial.count == 1)
            if time == 180_000 { continue }
            machine.answered(time, bad, at: time + 1)
            let outage = try #require(machine.lanes[Self.busy]?.outage)
            #expect(outage.since == 1 && outage.reason == "BadDeviceToken" && outage.nextTry >= time + 30_001)
        }
        machine.answered(180_000, .accepted(uniqueID: nil), at: 180_001)
        #expect(machine.lanes[Self.busy]?.outage == nil)
    }

    @Test func `a lane without pushes forgets the refused device tokens of its outage`() {
        var state = DeliveryLane()
        var generator = SplitMix64(state: 1)
        let bad = SendResult.refused(status: 400, reason: .badDeviceToken, timestamp: nil, retryAfter: nil)
        func refuse(_ count: Int) {
            for _ in 0..<count { state.recordBadToken(after: bad, at: 1, using: &generator) }
        }
        refuse(DeliveryLane.badTokenLimit - 1)
        state.endOutage()
        refuse(1)
        #expect(state.outage != nil, "the lane was not down")
        state.endOutage()
        refuse(DeliveryLane.badTokenLimit - 1)
        #expect(state.outage == nil)
    }

    @Test func `refused device tokens between others do not stop a lane`() {
        var state = DeliveryLane()
        var generator = SplitMix64(state: 1)
        let bad = SendResult.refused(status: 400, reason: .badDeviceToken, timestamp: nil, retryAfter: nil)
        for number in 0..<3 * DeliveryLane.badTokenLimit {
            if number.isMultiple(of: DeliveryLane.badTokenLimit - 1) {
                state.recover()
            } else {
                state.recordBadToken(after: bad, at: 1, using: &generator)
            }
        }
        #expect(state.outage == nil)
    }
}
