// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// Claimed pushes that are not sent soon, and the number that a lane claims.
@Suite struct HeldPushTests {
    private static let lane = Lane(app: "orders", environment: .production)

    private func push(_ number: Int64, priority: String = "10") -> ClaimedPush {
        let push = OutboxPush.broadcast(number, Self.lane, priority: priority)
        return ClaimedPush(number: number, push: push, acceptedAt: 0, readyAt: -number, attempts: 2, unknownTries: 1)
    }

    private func machine(rate: Int? = nil, claimed pushes: [ClaimedPush]) -> DeliveryMachine {
        var machine = DeliveryMachine(seed: 1)
        machine.add(Self.lane, rate: rate, at: 0)
        for action in machine.takeActions(at: 0).claims {
            let found = action.urgency == .immediate ? pushes : []
            machine.claimed(Claim(pushes: found, nextDue: nil), action, at: 0)
        }
        return machine
    }

    private func settlement(of number: Int64) -> Settlement {
        Settlement(push(number), .postponed(until: -number, attempts: 2, unknownTries: 1))
    }

    @Test func `a push that is not sent soon keeps its place in the queue`() {
        var machine = machine(rate: 1, claimed: [push(1), push(2), push(3)])
        let first = machine.takeActions(at: 0)
        #expect(first.sends.map(\.number) == [1] && first.settlements.isEmpty)
        let end = DeliveryLane.holdTime
        #expect(machine.nextTime(after: 0) == end)
        #expect(machine.takeActions(at: end - 1).settlements.isEmpty)
        #expect(machine.takeActions(at: end).settlements == [settlement(of: 2), settlement(of: 3)])
    }

    @Test func `a push without a connection is returned without an attempt`() {
        var machine = machine(claimed: [push(1), push(2)])
        #expect(machine.takeActions(at: 0).sends.count == 2)
        machine.notStarted(2, at: 250)
        machine.notStarted(2, at: 250)
        #expect(machine.takeActions(at: 250).settlements == [settlement(of: 2)])
        #expect(machine.inFlight == 1 && machine.lanes[Self.lane]?.inFlight == 1)
        #expect(machine.lanes[Self.lane]?.outage == nil)
    }

    @Test func `a push that was in flight is claimed again before another attempt`() {
        var machine = machine(claimed: [push(1)])
        #expect(machine.takeActions(at: 0).sends.count == 1)
        machine.answered(1, .neverSent(reason: "ConnectionFailed", retryAfter: nil), at: 20_000)
        machine.tryAgain(Self.lane, at: 20_000)
        let actions = machine.takeActions(at: 20_000)
        #expect(actions.sends.isEmpty && actions.settlements == [settlement(of: 1)])
    }

    @Test func `a push that must not be sent ends instead of being returned`() {
        var moved = push(2)
        moved.hasFormerUser = true
        var machine = machine(rate: 1, claimed: [push(1), moved])
        #expect(machine.takeActions(at: 0).sends.map(\.number) == [1])
        let outcome = Outcome(.cancelled, reason: Outcome.formerUserReason, attempts: 2, unknownTries: 1)
        let ended = Settlement(moved, .ended(outcome))
        #expect(machine.takeActions(at: 250).settlements == [ended])
    }

    @Test func `a clock that is set back does not prolong the hold time`() {
        var machine = machine(rate: 1, claimed: [push(1), push(2)])
        _ = machine.takeActions(at: 0)
        #expect(machine.takeActions(at: -100_000).settlements.isEmpty)
        #expect(machine.takeActions(at: -100_000 + 250).settlements == [settlement(of: 2)])
    }

    @Test func `a lane is down when no connection takes its pushes`() {
        var machine = machine(claimed: [push(1)])
        var now: Int64 = 0
        #expect(machine.takeActions(at: now).sends.count == 1)
        while now < 10_000 {
            #expect(machine.lanes[Self.lane]?.problem(at: now) == nil)
            now += 250
            machine.notStarted(1, at: now)
            _ = machine.settled(machine.takeActions(at: now).settlements)
            for action in machine.takeActions(at: now).claims {
                let pushes = action.urgency == .immediate ? [push(1)] : []
                machine.claimed(Claim(pushes: pushes, nextDue: nil), action, at: now)
            }
            #expect(machine.takeActions(at: now).sends.count == 1)
        }
        #expect(machine.lanes[Self.lane]?.problem(at: now)?.reason == "NoAnswer")
        // The push is cancelled in the outbox.
        machine.notStarted(1, at: now)
        _ = machine.settled(machine.takeActions(at: now).settlements)
        for action in machine.takeActions(at: now).claims {
            machine.claimed(Claim(pushes: [], nextDue: nil), action, at: now)
        }
        #expect(machine.lanes[Self.lane]?.problem(at: now) == nil)
        #expect(!machine.holdsPushes)
    }

    @Test func `claimed pushes and claims under way are held`() {
        var machine = DeliveryMachine(seed: 1)
        machine.add(Self.lane, at: 0)
        #expect(!machine.holdsPushes)
        let actions = machine.takeActions(at: 0).claims
        #expect(machine.holdsPushes)
        for action in actions {
            let pushes = action.urgency == .immediate ? [push(1)] : []
            machine.claimed(Claim(pushes: pushes, nextDue: nil), action, at: 0)
        }
        #expect(machine.holdsPushes)
        #expect(machine.takeActions(at: 0).sends.count == 1)
        #expect(machine.holdsPushes)
        machine.answered(1, .accepted(uniqueID: nil), at: 1)
        #expect(!machine.holdsPushes)
    }

    @Test func `a returned push halves the window, once in each hold time`() {
        var window = SendWindow(limit: 1_000)
        for _ in 0..<60 { window.returned(of: 60, at: 250) }
        #expect(window.size == 30)
        for _ in 0..<9 { window.returned(of: 60, at: 499) }
        #expect(window.size == 30)
        for time in 2...9 as ClosedRange<Int64> { window.returned(of: 60, at: time * 250) }
        #expect(window.size == SendWindow.least)
        window.setBack(by: 100_000)
        for _ in 0..<100 { window.succeeded() }
        #expect(window.size == 16)
        window.returned(of: 60, at: 2_499 - 100_000)
        #expect(window.size == 16)
        window.returned(of: 60, at: 2_500 - 100_000)
        #expect(window.size == 8)
    }

    @Test func `a window grows by an eighth after as many successes`() {
        var window = SendWindow(limit: 20)
        window.succeeded()
        #expect(window.size == 20)
        window.returned(of: 34, at: 0)
        #expect(window.size == 10)
        var small = SendWindow(limit: 3)
        small.returned(of: 3, at: 0)
        #expect(small.size == 3)
        for _ in 0..<9 { window.succeeded() }
        #expect(window.size == 10)
        window.succeeded()
        #expect(window.size == 11)
        for _ in 0..<300 { window.succeeded() }
        #expect(window.size == 20)
    }

    @Test func `a few held pushes do not shrink the window`() {
        var window = SendWindow(limit: 1_000)
        window.returned(of: SendWindow.least, at: 0)
        #expect(window.size == 1_000)
        window.returned(of: SendWindow.least + 1, at: 0)
        #expect(window.size == SendWindow.least)
    }

    /// Apple answers after 80 milliseconds, and there are always more urgent pushes than may be in flight.
    @Test func `less urgent pushes that wait do not slow down a lane`() {
        var limits = DeliveryMachine.Limits()
        limits.inFlightPerLane = 40
        limits.claimedAhead = 40
        var machine = DeliveryMachine(limits: limits, seed: 1)
        machine.add(Self.lane, at: 0)
        var last: Int64 = 0
        var sent: [ClaimedPush] = []
        var returned = 0
        for now in stride(from: 0, to: 8_000, by: 80) as StrideTo<Int64> {
            for push in sent { machine.answered(push.number, .accepted(uniqueID: nil), at: now) }
            sent = []
            // The first actions claim what the second ones send.
            for _ in 0..<2 {
                let actions = machine.takeActions(at: now)
                sent += actions.sends
                returned += actions.settlements.count { $0.outcome == nil }
                _ = machine.settled(actions.settlements)
                for action in actions.claims {
                    let isStored = action.urgency == .immediate || action.urgency == .powerAware
                    let numbers = last..<last + (isStored ? Int64(action.limit) : 0)
                    last = numbers.upperBound
                    let pushes = numbers.map { push($0, priority: action.urgency == .immediate ? "10" : "5") }
                    machine.markReady(Self.lane, action.urgency)
                    machine.claimed(Claim(pushes: pushes, nextDue: nil), action, at: now)
                }
            }
            #expect(sent.count == 40 && sent.allSatisfy { $0.push.urgency == .immediate }, "after \(now) ms")
        }
        // Those that wait are claimed in small numbers.
        #expect((1...400).contains(returned))
    }

    @Test func `a lane claims and sends no more than its window`() {
        var machine = machine(claimed: (1...60).map { push($0) })
        #expect(machine.takeActions(at: 0).sends.count == 60)
        for number in 5...60 as ClosedRange<Int64> { machine.notStarted(number, at: 250) }
        _ = machine.settled(machine.takeActions(at: 250).settlements)
        let claims = machine.takeActions(at: 250).claims
        #expect(claims.map(\.limit) == [30])
    }
}
