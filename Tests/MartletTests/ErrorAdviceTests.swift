// SPDX-License-Identifier: Apache-2.0

import Martlet
import MartletCore
import Testing

/// Tests of what an error advises, for each reason and each outcome.
@Suite struct ErrorAdviceTests {
    @Test(arguments: APNsReason.all) func `each reason has the advice of its cause`(reason: APNsReason) {
        let error = APNsError.refused(reason)
        let advice: APNsError.Advice =
            switch RefusalCause(reason) {
            case .temporary, .providerToken: .sendLater
            case .credentials: .correctConfiguration
            case .deviceToken: .forgetToken
            case .push: .correctPush
            }
        #expect(error.advice == advice)
        #expect(RetryPolicy.standardRetryableReasons.contains(reason) == (advice == .sendLater))
        // Nothing that passes may be among the reasons that no policy retries.
        if advice == .sendLater { #expect(!RetryPolicy.neverRetriedReasons.contains(reason)) }
    }

    @Test func `known reasons keep their advice with a Retry-After`() {
        #expect(APNsError.refused(.badTopic, retryAfter: .seconds(1)).advice == .correctPush)
        #expect(APNsError.refused(.invalidProviderToken, retryAfter: .seconds(1)).advice == .correctConfiguration)
    }

    @Test func `a limit without a Retry-After advises to send later`() {
        #expect(APNsError.refused(.tooManyRequests).retryAfter == nil)
        #expect(APNsError.refused(.tooManyRequests).advice == .sendLater)
        #expect(APNsError.refused(APNsReason(rawValue: "NewReason"), retryAfter: .seconds(1)).advice == .sendLater)
        #expect(APNsError.refused(APNsReason(rawValue: "NewReason")).advice == .correctPush)
    }

    @Test func `a bad device token advises to correct the push`() {
        #expect(APNsError.refused(.badDeviceToken).advice == .correctPush)
    }

    @Test func `an invalid push advises to correct it`() {
        #expect(APNsError(.invalid, description: "too large", outcome: .neverSent).advice == .correctPush)
    }

    @Test func `without an answer the outcome decides about the advice`() {
        func advice(_ code: APNsError.Code, _ outcome: APNsError.Outcome, unknownTries: Int = 0) -> APNsError.Advice {
            APNsError(code, description: "", outcome: outcome, unknownTries: unknownTries).advice
        }
        #expect(advice(.connectionFailed, .neverSent) == .sendLater)
        #expect(advice(.connectionLost, .unprocessed) == .sendLater)
        #expect(advice(.connectionLost, .unprocessed, unknownTries: 1) == .mayHaveArrived)
        #expect(advice(.timedOut, .unknown) == .mayHaveArrived)
        #expect(advice(.circuitOpen, .neverSent) == .sendLater)
        #expect(advice(.badCredentials, .neverSent) == .correctConfiguration)
    }
}
