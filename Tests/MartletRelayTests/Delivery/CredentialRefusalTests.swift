// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// A lane whose pushes are sent one after the other.
private struct OneLane {
    private static let lane = Lane(app: "orders", environment: .production)
    static let refusal = SendResult.refused(
        status: 403,
        reason: .invalidProviderToken,
        timestamp: nil,
        retryAfter: nil
    )

    private(set) var machine: DeliveryMachine
    private(set) var now: Int64 = 0

    init() {
        machine = DeliveryMachine(seed: 1)
        machine.add(Self.lane, at: 0)
    }

    /// Sends a push and takes Apple's answer; returns its settlement.
    mutating func send(
        _ number: Int64,
        _ result: SendResult,
        attempts: Int = 0
    ) throws -> Settlement.Change {
        now += 100_000
        machine.markReady(Self.lane)
        let order = try #require(machine.takeActions(at: now).claims.first { $0.urgency == .immediate })
        let push = OutboxPush.broadcast(number, Self.lane)
        let claimed = ClaimedPush(number: number, push: push, acceptedAt: 0, attempts: attempts, unknownTries: 0)
        machine.claimed(Claim(pushes: [claimed], nextDue: nil), order, at: now)
        #expect(machine.takeActions(at: now).sends.map(\.number) == [number])
        machine.answered(number, result, at: now)
        let settlements = machine.takeActions(at: now).settlements
        _ = machine.settled(settlements)
        return try #require(settlements.first { $0.number == number }).change
    }

    var pausedUntil: Int64? { machine.lanes[Self.lane]?.pausedUntil }
    var isPaused: Bool { pausedUntil != nil }

    /// Returns the time to the next try and the number of tries.
    func postponement(_ change: Settlement.Change) throws -> (delay: Int64, attempts: Int) {
        guard case .postponed(let time, let attempts, _) = change else {
            Issue.record("the push has ended: \(change)")
            return (0, 0)
        }
        return (time - now, attempts)
    }
}

/// The meaning of a refusal of credentials for the push and for its lane.
@Suite struct CredentialRefusalTests {
    @Test func `refused credentials among accepted pushes end a push after three`() throws {
        var lane = OneLane()
        _ = try lane.send(1, .accepted(uniqueID: nil))
        for attempts in 0..<2 {
            let change = try lane.send(9, OneLane.refusal, attempts: attempts)
            let (delay, count) = try lane.postponement(change)
            #expect(delay >= 10_000 && count == attempts + 1 && !lane.isPaused)
            _ = try lane.send(2, .accepted(uniqueID: nil))
        }
        let outcome = Outcome(.refused, status: 403, reason: "InvalidProviderToken", attempts: 3)
        let last = try lane.send(9, OneLane.refusal, attempts: 2)
        #expect(last == .ended(outcome))
        #expect(!lane.isPaused)
    }

    @Test func `a single refused push is retried within a minute, uncounted`() throws {
        var lane = OneLane()
        for _ in 0..<20 {
            let change = try lane.send(9, OneLane.refusal)
            let (delay, attempts) = try lane.postponement(change)
            #expect((10_000...75_000).contains(delay) && attempts == 0 && !lane.isPaused)
        }
    }

    @Test func `two different pushes in a row pause the lane, and none of them ends`() throws {
        var lane = OneLane()
        _ = try lane.send(1, .accepted(uniqueID: nil))
        _ = try lane.send(2, OneLane.refusal)
        #expect(!lane.isPaused)
        for number: Int64 in 3...20 {
            let change = try lane.send(number, OneLane.refusal)
            #expect(try lane.postponement(change).attempts == 0)
            #expect(lane.isPaused)
        }
        _ = try lane.send(2, .accepted(uniqueID: nil))
        #expect(!lane.isPaused)
    }

    /// The trial goes first to a push that was not refused before, so one bad push cannot keep a lane paused.
    @Test func `a refused push waits until others were tried`() throws {
        var lane = OneLane()
        _ = try lane.send(1, .accepted(uniqueID: nil))
        _ = try lane.send(2, OneLane.refusal)
        let change = try lane.send(3, OneLane.refusal)
        let delay = try lane.postponement(change).delay
        #expect(delay > (lane.pausedUntil ?? 0) - lane.now)
    }
}
