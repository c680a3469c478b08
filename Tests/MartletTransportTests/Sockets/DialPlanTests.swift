// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MartletTransport

@Suite struct DialPlanTests {
    @Test func `the failure of a single address is final`() {
        var plan = DialPlan(addressCount: 1)
        #expect(plan.start() == [.attempt(0)])
        #expect(plan.delayPassed() == [])
        #expect(plan.attemptFailed("refused") == [.fail("refused")])
    }

    @Test func `a failure starts the next address immediately`() {
        var plan = DialPlan(addressCount: 3)
        #expect(plan.start() == [.attempt(0), .startTimer])
        #expect(plan.attemptFailed("a") == [.attempt(1), .startTimer])
        #expect(plan.attemptFailed("b") == [.attempt(2)])
        #expect(plan.attemptFailed("c") == [.fail("a; b; c")])
    }

    @Test func `the next address is also tried after a delay`() {
        var plan = DialPlan(addressCount: 2)
        #expect(plan.start() == [.attempt(0), .startTimer])
        #expect(plan.delayPassed() == [.attempt(1)])
        #expect(plan.delayPassed() == [])
        #expect(plan.attemptFailed("b") == [])
        #expect(plan.attemptFailed("a") == [.fail("b; a")])
    }

}
