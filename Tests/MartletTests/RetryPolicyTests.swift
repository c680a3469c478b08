// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import Martlet

@Suite struct RetryPolicyTests {
    private func delay(
        _ policy: RetryPolicy,
        before retry: Int,
        isUrgent: Bool = false,
        status: Int = 503,
        reason: APNsReason? = .serviceUnavailable,
        outcome: APNsError.Outcome = .answered
    ) -> Duration? {
        var error = APNsError(.refused, description: "refused", outcome: outcome)
        error.properties.reason = reason
        error.properties.status = status
        var generator = SplitMix64(state: 1)
        return policy.delay(before: retry, isUrgent: isUrgent, after: error, using: &generator)
    }

    @Test func `the delays are the documented ones`() {
        let policy = RetryPolicy(hasJitter: false)
        let waits = (0..<4).map { delay(policy, before: $0) }
        #expect(waits == [.milliseconds(100), .milliseconds(200), .milliseconds(400), nil])
        let urgent = (0..<3).map { delay(policy, before: $0, isUrgent: true) }
        #expect(urgent == [.milliseconds(200), .milliseconds(400), nil])
        #expect(delay(RetryPolicy(retries: 20, hasJitter: false), before: 10) == .seconds(5))
        #expect(delay(.none, before: 0) == nil)
    }

    @Test(arguments: [500, 501, 502, 503, 504, 599], [nil, .internalServerError, APNsReason(rawValue: "BrandNew")])
    func `every status of 500 or more is retried`(status: Int, reason: APNsReason?) {
        for outcome in [APNsError.Outcome.answered, .unknown] {
            #expect(delay(.standard, before: 0, status: status, reason: reason, outcome: outcome) != nil)
        }
    }

    @Test func `reasons can be chosen, and some are never retried`() {
        let chosen = RetryPolicy(retryableReasons: [.badTopic, .unregistered])
        #expect(delay(chosen, before: 0, status: 400, reason: .badTopic) != nil)
        #expect(delay(chosen, before: 0, status: 403, reason: .expiredProviderToken) == nil)
        #expect(delay(.standard, before: 0, status: 403, reason: .expiredProviderToken) != nil)
        #expect(delay(.standard, before: 0, status: 400, reason: .badTopic) == nil)
        for reason in RetryPolicy.neverRetriedReasons {
            #expect(delay(RetryPolicy(retryableReasons: [reason]), before: 0, status: 500, reason: reason) == nil)
        }
    }

    @Test func `options without retries differ from options without a policy`() {
        #expect(SendOptions(retry: .none).retry == RetryPolicy.none)
        #expect(SendOptions(timeout: .seconds(1)).retry == nil)
    }

    @Test(arguments: [(["MARTLET_RETRY": "off"], false), (["MARTLET_RETRY": "on"], true), ([:], true)])
    func `the environment turns retries off`(environment: [String: String], allowsRetries: Bool) {
        #expect(PushClient.Configuration.allowsRetries(in: environment) == allowsRetries)
    }

    @Test func `the delay of Apple's policy is fifteen minutes and jitter`() throws {
        let wait = try #require(delay(.apple, before: 0))
        #expect(wait >= .seconds(900) && wait < .seconds(901))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .seconds(-1)])
    func `extreme delays cause no trap`(wait: Duration) throws {
        let policy = RetryPolicy(retries: .max, urgentRetries: .max, baseDelay: wait, maximumDelay: wait)
        for retry in [0, 1, 50, Int.max - 1] {
            for isUrgent in [true, false] {
                let reckoned = try #require(delay(policy, before: retry, isUrgent: isUrgent))
                #expect(reckoned >= .zero)
            }
        }
    }
}
