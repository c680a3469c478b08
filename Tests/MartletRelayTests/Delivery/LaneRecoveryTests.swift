// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

/// A lane whose pushes Apple does not take for a while: when it tries, and when it sends again.
private struct LaneInOutage {
    private static let lane = Lane(app: "orders", environment: .production)
    /// The time between a claim or a try and its answer, in milliseconds.
    private static let latency: Int64 = 20

    private var machine: DeliveryMachine
    private var number: Int64 = 0
    /// The times of the tries.
    private(set) var tries: [Int64] = []
    /// The highest number of tries that were under way together.
    private(set) var triesAtOnce = 0

    init(seed: UInt64) {
        machine = DeliveryMachine(seed: seed)
        machine.add(Self.lane, at: 0)
        machine.markReady(Self.lane)
    }

    /// Runs until a push is accepted.
    ///
    /// - Parameter answer: The answer to a try at a time.
    /// - Returns: The time of the first accepted try.
    mutating func run(_ answer: (Int64) -> SendResult) -> Int64? {
        var now: Int64 = 0
        while now < 24 * 3_600_000 {
            let actions = machine.takeActions(at: now)
            triesAtOnce = max(triesAtOnce, actions.sends.count)
            if actions.claims.isEmpty, actions.sends.isEmpty, actions.settlements.isEmpty {
                now = machine.nextTime(after: now) ?? now + 1
                continue
            }
            for order in actions.claims { machine.claimed(claim(order), order, at: now) }
            tries += actions.sends.map { _ in now }
            now += Self.latency
            for push in actions.sends {
                let result = answer(now)
                machine.answered(push.number, result, at: now)
                if case .accepted = result { return now }
            }
            _ = machine.settled(actions.settlements)
        }
        return nil
    }

    private mutating func claim(_ order: DeliveryMachine.ClaimAction) -> Claim {
        // One at a time, so that a try of a lane that is not down yet is a single one, too.
        guard order.urgency == .immediate else { return Claim(pushes: [], nextDue: nil) }
        number += 1
        let push = OutboxPush.broadcast(number, Self.lane)
        let claimed = ClaimedPush(number: number, push: push, acceptedAt: 0, attempts: 0, unknownTries: 0)
        return Claim(pushes: [claimed], nextDue: 0)
    }
}

@Suite struct LaneRecoveryTests {
    private static let unreachable = SendResult.neverSent(reason: "ConnectionFailed", retryAfter: nil)

    @Test(arguments: [
        [LaneRecoveryTests.unreachable], [LaneRecoveryTests.unreachable, .unknown],
        [LaneRecoveryTests.unreachable, .lost],
    ])
    func `a lane sends again within five seconds after an outage of Apple`(
        results: [SendResult]
    ) throws {
        for seed in 0..<200 as Range<UInt64> {
            var generator = SplitMix64(state: seed)
            let end = Int64.random(in: 1_000...7_200_000, using: &generator)
            var lane = LaneInOutage(seed: seed)
            var count = 0
            let back = lane.run { now in
                count += 1
                // The first failure is always one of the connection, which is what a lane stops for.
                return now < end ? results[count == 1 ? 0 : Int(seed) % results.count] : .accepted(uniqueID: nil)
            }
            let time = try #require(back) - end
            #expect(time <= 5_000, "seed \(seed): \(time) ms after the end of an outage of \(end) ms")
            #expect(lane.triesAtOnce == 1, "seed \(seed)")
            // Six quick ones, and then one in 3.5 seconds at most.
            #expect(lane.tries.count <= 8 + Int(end / 3_500), "seed \(seed): \(lane.tries.count) in \(end) ms")
        }
    }

    @Test func `attempts during an outage get rarer the longer it lasts`() throws {
        let refusal = SendResult.refused(status: 403, reason: .invalidProviderToken, timestamp: nil, retryAfter: nil)
        let fault = SendResult.refused(status: 503, reason: nil, timestamp: nil, retryAfter: nil)
        for result in [refusal, fault] {
            var lane = LaneInOutage(seed: 1)
            _ = lane.run { $0 < 3_600_000 ? result : .accepted(uniqueID: nil) }
            #expect((40...90).contains(lane.tries.count), "\(lane.tries.count) tries in an hour")
        }
    }

    @Test func `a new push waits for the end of an outage unless it tests the lane`() {
        var generator = SplitMix64(state: 1)
        var state = DeliveryLane()
        #expect(!state.holdsNewPushes(at: 0))
        let fault = SendResult.refused(status: 503, reason: nil, timestamp: nil, retryAfter: nil)
        state.pause(after: fault, 1_000, at: 0, using: &generator)
        let end = state.pausedUntil ?? 0
        #expect(state.holdsNewPushes(at: end - 1) && !state.holdsNewPushes(at: end))
        state.sent(.immediate, at: end)
        #expect(state.holdsNewPushes(at: end))
        state.ended(.accepted(uniqueID: nil), isFinal: true, at: end)
        state.recover()
        #expect(!state.holdsNewPushes(at: end))
    }

    @Test func `a lane whose device tokens are refused holds new pushes until its next attempt`() {
        var generator = SplitMix64(state: 1)
        var state = DeliveryLane()
        let refusal = SendResult.refused(status: 400, reason: .badDeviceToken, timestamp: nil, retryAfter: nil)
        state.pause(after: refusal, 1_000, at: 0, using: &generator)
        #expect(state.holdsNewPushes(at: 0) && !state.holdsNewPushes(at: state.pausedUntil ?? 0))
    }

    @Test func `a lane with new credentials makes an attempt immediately`() {
        var generator = SplitMix64(state: 1)
        var state = DeliveryLane()
        for _ in 0..<10 {
            let now = state.pausedUntil ?? 0
            let refusal = SendResult.refused(status: 403, reason: .badCertificate, timestamp: nil, retryAfter: nil)
            state.pause(after: refusal, nil, at: now, using: &generator)
        }
        let now = (state.pausedUntil ?? 0) - 50_000
        state.tryAgain(at: now)
        #expect(state.pausedUntil == now && state.outage?.reason == "BadCertificate" && state.outage?.since == 0)
    }
}
