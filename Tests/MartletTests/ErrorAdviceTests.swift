// SPDX-License-Identifier: Apache-2.0

import Martlet
import Testing

/// Tests of what an error advises, for each reason and each outcome.
@Suite struct ErrorAdviceTests {
    @Test(arguments: APNsReason.all) func `each reason has the advice of its status`(reason: APNsReason) {
        let advice = APNsError.refused(reason).advice
        switch reason.status {
        case 410: #expect(advice == .forgetToken)
        case 429, 500, 503: #expect(advice == .sendLater)
        case 403 where reason == .expiredProviderToken || reason == .unrelatedKeyIDInToken:
            #expect(advice == .sendLater)
        case 403: #expect(advice == .correctConfiguration)
        default: #expect(advice == (reason == .idleTimeout ? .sendLater : .correctPush))
        }
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
