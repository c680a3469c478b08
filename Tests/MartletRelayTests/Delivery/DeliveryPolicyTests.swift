// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct DeliveryPolicyTests {
    private let policy = DeliveryPolicy()

    private func decision(
        on result: SendResult,
        attempts: Int = 0,
        unknownTries: Int = 0,
        expiresAt: Int64? = nil
    ) -> DeliveryPolicy.Decision {
        var push = OutboxPush(
            lane: Lane(app: "orders", environment: .production),
            id: APNsID(randomBits: (1, 1)),
            destination: .channel("channel", bundle: "com.example.app"),
            headers: PushHeaders(),
            payload: []
        )
        push.expiresAt = expiresAt
        let claimed = ClaimedPush(
            number: 1,
            push: push,
            acceptedAt: 0,
            attempts: attempts,
            unknownTries: unknownTries
        )
        var generator = SplitMix64(state: 7)
        return policy.decision(on: result, for: claimed, at: 1_000, using: &generator)
    }

    private func postponement(_ decision: DeliveryPolicy.Decision) -> Settlement.Change? {
        guard case .settle(let settlement) = decision, settlement.outcome == nil else { return nil }
        return settlement.change
    }

    @Test(arguments: APNsReason.all)
    func `each reason ends a push, sends it again or stops its lane`(reason: APNsReason) throws {
        let status = try #require(reason.status)
        let decision = decision(on: .refused(status: status, reason: reason, timestamp: nil, retryAfter: nil))
        switch (decision, RefusalCause(reason)) {
        case (.settle(let settlement), .temporary):
            guard case .postponed(let time, 1, 0) = settlement.change else {
                Issue.record("\(reason): \(settlement)")
                return
            }
            #expect(time - 1_000 >= (status >= 500 ? DeliveryPolicy.serverErrorDelay : 10_000))
        case (.pause(nil), .providerToken): break
        case (.credentialsRefused(let outcome, nil), .credentials):
            #expect(outcome.status == 403 && outcome.reason == reason.rawValue)
        case (.settle(let settlement), .push), (.settle(let settlement), .deviceToken):
            let outcome = try #require(settlement.outcome)
            #expect(outcome.state == .refused && outcome.reason == reason.rawValue && outcome.status == status)
            #expect(settlement.isTokenUnregistered == (status == 410))
        default: Issue.record("\(reason): \(decision)")
        }
    }

    @Test func `an unknown refusal with a Retry-After is sent again`() {
        let unknown = SendResult.refused(status: 400, reason: nil, timestamp: nil, retryAfter: 2_000)
        #expect(postponement(decision(on: unknown)) == .postponed(until: 3_000, attempts: 1, unknownTries: 0))
    }

    @Test(arguments: [(SendResult.unknown, "NoAnswer"), (.lost, "ConnectionLost")])
    func `an unanswered push ends with the reason of its last attempt`(
        result: SendResult,
        reason: String
    ) throws {
        guard case .settle(let settlement) = decision(on: result, attempts: policy.attemptLimit - 1) else {
            Issue.record("it goes on")
            return
        }
        #expect(settlement.outcome?.state == .dead && settlement.outcome?.reason == reason && result.reason == reason)
    }

    @Test func `the Retry-After of Apple sets the delay`() {
        let busy = SendResult.refused(status: 503, reason: .serviceUnavailable, timestamp: nil, retryAfter: 2_000)
        #expect(postponement(decision(on: busy)) == .postponed(until: 3_000, attempts: 1, unknownTries: 0))
    }

    @Test func `a short Retry-After does not use up the attempts at once`() {
        let busy = SendResult.refused(status: 503, reason: .serviceUnavailable, timestamp: nil, retryAfter: 1_000)
        var now: Int64 = 0
        for attempts in 0..<policy.attemptLimit - 1 {
            guard case .postponed(let time, _, _) = postponement(decision(on: busy, attempts: attempts)) else { break }
            now += time - 1_000
        }
        #expect(now > 8 * 3_600_000, "it is abandoned after \(now) ms")
        let long = SendResult.refused(status: 503, reason: .serviceUnavailable, timestamp: nil, retryAfter: 90_000)
        #expect(
            postponement(decision(on: long, attempts: 3)) == .postponed(until: 91_000, attempts: 4, unknownTries: 0)
        )
    }

    @Test func `delays grow, and the last attempt ends the push`() throws {
        let busy = SendResult.refused(status: 429, reason: .tooManyRequests, timestamp: nil, retryAfter: nil)
        var waits: [Int64] = []
        for attempts in 0..<policy.attemptLimit - 1 {
            guard case .postponed(let time, _, _) = postponement(decision(on: busy, attempts: attempts)) else { break }
            waits.append(time - 1_000)
        }
        #expect(waits.count == policy.attemptLimit - 1)
        #expect(zip(waits, waits.dropFirst()).prefix(8).allSatisfy { $0 < $1 })
        #expect(waits.allSatisfy { $0 <= policy.longestDelay * 5 / 4 })
        guard case .settle(let settlement) = decision(on: busy, attempts: policy.attemptLimit - 1) else {
            Issue.record("it goes on")
            return
        }
        let outcome = try #require(settlement.outcome)
        #expect(!settlement.isTokenUnregistered)
        #expect(outcome.state == .dead && outcome.attempts == policy.attemptLimit && outcome.status == 429)
    }

    @Test func `the delay does not grow with unknown attempts`() {
        guard case .postponed(let time, 1, 13) = postponement(decision(on: .unknown, unknownTries: 12)) else {
            Issue.record("it is not tried again")
            return
        }
        #expect(time - 1_000 <= policy.unknownDelay * 5 / 4)
    }

    @Test func `a push is not postponed beyond its expiration`() throws {
        let busy = SendResult.refused(status: 429, reason: .tooManyRequests, timestamp: nil, retryAfter: 5_000)
        guard case .settle(let settlement) = decision(on: busy, expiresAt: 6_000) else {
            Issue.record("it goes on")
            return
        }
        let outcome = try #require(settlement.outcome)
        #expect(!settlement.isTokenUnregistered)
        #expect(outcome.state == .expired && outcome.status == 429)
        let postponed = postponement(decision(on: busy, expiresAt: 6_001))
        #expect(postponed == .postponed(until: 6_000, attempts: 1, unknownTries: 0))
    }
}
