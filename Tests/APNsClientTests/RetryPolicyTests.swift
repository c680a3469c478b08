import APNs
import Testing

@testable import APNsClient

@Suite struct RetryPolicyTests {
    private func delay(_ policy: RetryPolicy, before retry: Int, isUrgent: Bool = false) -> Duration? {
        var error = APNsError(.refused, description: "refused", outcome: .answered)
        error.reason = .serviceUnavailable
        error.status = 503
        var generator = SplitMix64(state: 1)
        return policy.delay(before: retry, isUrgent: isUrgent, after: error, using: &generator)
    }

    @Test func `the published waits are kept`() {
        let policy = RetryPolicy(hasJitter: false)
        let waits = (0..<4).map { delay(policy, before: $0) }
        #expect(waits == [.milliseconds(100), .milliseconds(200), .milliseconds(400), nil])
        let urgent = (0..<3).map { delay(policy, before: $0, isUrgent: true) }
        #expect(urgent == [.milliseconds(200), .milliseconds(400), nil])
        #expect(delay(RetryPolicy(retries: 20, hasJitter: false), before: 10) == .seconds(5))
        #expect(delay(.none, before: 0) == nil)
    }

    @Test func `Apple's quarter of an hour is kept, and chance adds to it`() throws {
        let wait = try #require(delay(.apple, before: 0))
        #expect(wait >= .seconds(900) && wait < .seconds(901))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .seconds(-1)])
    func `absurd waits trap nobody`(wait: Duration) throws {
        let policy = RetryPolicy(retries: .max, urgentRetries: .max, baseDelay: wait, maximumDelay: wait)
        for retry in [0, 1, 50, Int.max - 1] {
            for isUrgent in [true, false] {
                let reckoned = try #require(delay(policy, before: retry, isUrgent: isUrgent))
                #expect(reckoned >= .zero)
            }
        }
    }
}
