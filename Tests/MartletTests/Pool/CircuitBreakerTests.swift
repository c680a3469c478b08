// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletTransport
import Testing

@testable import Martlet

@Suite struct CircuitBreakerTests {
    private var circuit = CircuitBreaker()
    private var now = MonotonicTime.zero

    /// Records a response; returns the error for further pushes when it opens the circuit.
    @discardableResult
    private mutating func answer(_ reason: APNsReason?) -> APNsError? {
        guard let reason else { return circuit.answered(nil, at: now) }
        var error = APNsError(.refused, description: "refused", outcome: .answered)
        error.properties.reason = reason
        error.properties.status = reason.status
        return circuit.answered(error, at: now)
    }

    /// Opens the circuit with responses for the last of which it returns the error.
    private mutating func open() -> APNsError? {
        for _ in 1..<CircuitBreaker.badDeviceTokenLimit { answer(.badDeviceToken) }
        return answer(.badDeviceToken)
    }

    private mutating func isRefused() -> Bool { circuit.refusal(at: now) != nil }

    @Test mutating func `the circuit opens with the response that reaches the limit, and names the reason`() {
        for _ in 1..<CircuitBreaker.badDeviceTokenLimit {
            let opening = answer(.badDeviceToken)
            #expect(opening == nil && !circuit.isOpen)
        }
        let opening = answer(.badDeviceToken)
        #expect(opening?.code == .circuitOpen && opening?.reason == .badDeviceToken)
        let further = answer(.badDeviceToken)
        #expect(further == nil && circuit.isOpen)
    }

    @Test mutating func `fewer responses that reject the credentials open it`() {
        for _ in 1..<CircuitBreaker.forbiddenLimit { answer(.invalidProviderToken) }
        #expect(!circuit.isOpen)
        let opening = answer(.invalidProviderToken)
        #expect(opening?.reason == .invalidProviderToken)
    }

    @Test(arguments: [nil, APNsReason.unregistered, .serviceUnavailable, .expiredProviderToken])
    mutating func `any other response restarts the count`(reason: APNsReason?) {
        for _ in 1..<CircuitBreaker.badDeviceTokenLimit { answer(.badDeviceToken) }
        answer(reason)
        answer(.badDeviceToken)
        #expect(!circuit.isOpen)
    }

    @Test mutating func `responses of two kinds do not add up`() {
        for _ in 0..<CircuitBreaker.badDeviceTokenLimit {
            answer(.badDeviceToken)
            answer(.invalidProviderToken)
        }
        #expect(!circuit.isOpen)
    }

    @Test mutating func `after the pause one push tests whether the reason persists`() {
        let opening = open()
        #expect(opening != nil)
        var refusals = [isRefused()]
        now = now.advanced(by: CircuitBreaker.pause)
        refusals += [isRefused(), isRefused()]
        #expect(refusals == [true, false, true])
        answer(.badDeviceToken)
        let isRefusedAgain = isRefused()
        now = now.advanced(by: CircuitBreaker.pause)
        let isSecondTestRefused = isRefused()
        #expect(isRefusedAgain && !isSecondTestRefused)
        answer(nil)
        let isRefusedAfterwards = isRefused()
        #expect(!circuit.isOpen && !isRefusedAfterwards)
    }

    @Test mutating func `a test push without a response is followed by another`() {
        let opening = open()
        #expect(opening != nil)
        now = now.advanced(by: CircuitBreaker.pause)
        var refusals = [isRefused()]
        circuit.unanswered()
        refusals += [isRefused(), isRefused()]
        #expect(refusals == [false, false, true])
    }
}
