import MartletCore
import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct DeliveryPolicyTests {
    private let policy = DeliveryPolicy()

    private func verdict(
        on result: SendResult,
        attempts: Int = 0,
        unknownTries: Int = 0,
        expiresAt: Int64? = nil
    ) -> DeliveryPolicy.Verdict {
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
        return policy.verdict(on: result, for: claimed, at: 1_000, using: &generator)
    }

    /// Reasons, and what each means for a push that has not been tried before.
    @Test(arguments: Reason.all)
    func `each reason ends a push, sends it again or stops its lane`(reason: Reason) throws {
        let status = try #require(reason.status)
        let verdict = verdict(on: .refused(status: status, reason: reason, timestamp: nil, retryAfter: nil))
        switch (verdict, status) {
        case (.pause, 403): #expect(reason.advice == .renewToken)
        case (.credentialsRefused(let outcome, nil), 403):
            #expect(outcome.status == 403 && outcome.reason == reason.rawValue && reason.advice != .renewToken)
        case (.pause, 429) where reason == .tooManyProviderTokenUpdates: break
        case (.again(let wait, 1, 0), 500...): #expect(wait >= DeliveryPolicy.serverErrorDelay)
        case (.again(let wait, 1, 0), _): #expect(reason.advice != .mendFirst && wait >= 10_000)
        case (.end(let outcome, let isTokenDead), _):
            #expect(outcome.state == .refused && outcome.reason == reason.rawValue && outcome.status == status)
            #expect(isTokenDead == (status == 410) && reason.advice == .mendFirst)
        default: Issue.record("\(reason): \(verdict)")
        }
    }

    @Test func `what Apple says of the time to wait counts`() {
        let busy = SendResult.refused(status: 503, reason: .serviceUnavailable, timestamp: nil, retryAfter: 2_000)
        #expect(verdict(on: busy) == .again(after: 2_000, attempts: 1, unknownTries: 0))
    }

    @Test func `the waits grow, and end`() throws {
        let busy = SendResult.refused(status: 429, reason: .tooManyRequests, timestamp: nil, retryAfter: nil)
        var waits: [Int64] = []
        for attempts in 0..<policy.attemptLimit - 1 {
            guard case .again(let wait, _, _) = verdict(on: busy, attempts: attempts) else { break }
            waits.append(wait)
        }
        #expect(waits.count == policy.attemptLimit - 1)
        #expect(zip(waits, waits.dropFirst()).prefix(8).allSatisfy { $0 < $1 })
        #expect(waits.allSatisfy { $0 <= policy.longestDelay * 5 / 4 })
        guard case .end(let outcome, false) = verdict(on: busy, attempts: policy.attemptLimit - 1) else {
            Issue.record("it goes on")
            return
        }
        #expect(outcome.state == .dead && outcome.attempts == policy.attemptLimit && outcome.status == 429)
    }

    @Test func `a push that a relay has crashed with many times waits no longer for that`() {
        guard case .again(let wait, 1, 13) = verdict(on: .unknown, unknownTries: 12) else {
            Issue.record("it is not tried again")
            return
        }
        #expect(wait <= policy.unknownDelay * 5 / 4)
    }

    @Test func `nothing is tried after its time`() {
        let busy = SendResult.refused(status: 429, reason: .tooManyRequests, timestamp: nil, retryAfter: 5_000)
        guard case .end(let outcome, false) = verdict(on: busy, expiresAt: 6_000) else {
            Issue.record("it goes on")
            return
        }
        #expect(outcome.state == .expired && outcome.status == 429)
        #expect(verdict(on: busy, expiresAt: 6_001) == .again(after: 5_000, attempts: 1, unknownTries: 0))
    }
}
