// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// The retries and results of pushes that APNs rejects or does not answer.
@Suite struct PoolRetryTests {
    @Test func `a temporary refusal is retried on the schedule of the policy`() throws {
        var story = PoolStory()
        let policy = RetryPolicy(retries: 2, hasJitter: false)
        story.submit("a", retry: policy)
        story.open()
        _ = story.actions()
        for wait in [100, 200] {
            try story.refuse("a", .serviceUnavailable)
            story.wait(.milliseconds(wait - 1))
            #expect(story.actions() == [])
            story.wait(.milliseconds(1))
            #expect(story.actions() == ["open a on 1"])
        }
        try story.refuse("a", .serviceUnavailable)
        #expect(story.actions() == ["fail a: refused, answered"])
    }

    @Test func `a retry waits for the Retry-After of the server`() throws {
        var story = PoolStory()
        story.submit("a", retry: .standard)
        story.open()
        _ = story.actions()
        try story.refuse("a", .tooManyRequests, retryAfter: .seconds(12))
        story.wait(.milliseconds(11_999))
        #expect(story.actions() == [])
        story.wait(.milliseconds(1))
        #expect(story.actions() == ["open a on 1"])
    }

    @Test func `a retry that would start after the deadline is not made`() throws {
        var story = PoolStory()
        story.submit("a", retry: .standard, timeout: .seconds(5))
        story.open()
        _ = story.actions()
        try story.refuse("a", .tooManyRequests, retryAfter: .seconds(12))
        #expect(story.actions() == ["fail a: refused, answered"])
    }

    @Test(arguments: APNsReason.all) func `a reason is retried according to its advice`(reason: APNsReason)
        throws
    {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(hasJitter: false))
        story.open()
        _ = story.actions()
        try story.refuse("a", reason)
        let actions = story.actions()
        switch reason.advice {
        case .fixFirst:
            #expect(actions == ["fail a: refused, answered"])
        case .backOff:
            #expect(actions == [])
            story.wait(.milliseconds(100))
            #expect(story.actions() == ["open a on 1"])
        case .reconnect, .renewToken:
            #expect(actions == ["close 1"])
            story.disconnect(.closedLocally)
            story.wait(.milliseconds(200))
            #expect(story.actions() == ["connect 2"])
            story.open(2)
            #expect(story.actions() == ["open a on 2"])
        }
    }

    @Test func `a push with an unknown outcome is sent again only when the policy asks for it`() throws {
        for policy in [RetryPolicy.UnknownOutcome.report, .resend] {
            var story = PoolStory()
            story.submit("a", retry: RetryPolicy(hasJitter: false, unknownOutcome: policy))
            story.open()
            _ = story.actions()
            try story.breakOff("a")
            story.wait(.milliseconds(100))
            #expect(story.actions() == (policy == .report ? ["fail a: connectionLost, unknown"] : ["open a on 1"]))
        }
    }

    @Test func `a push that has to wait is not sent before its time, and can be cancelled`() throws {
        var story = PoolStory()
        story.submit("now")
        story.open()
        #expect(story.actions() == ["connect 1", "open now on 1"])
        story.submit("later", "never", delay: .milliseconds(700))
        story.wait(.milliseconds(699))
        try story.cancel("never")
        #expect(story.actions() == ["fail never: cancelled, neverSent"])
        story.wait(.milliseconds(1))
        #expect(story.actions() == ["open later on 1"])
        try story.accept("later")
        #expect(story.actions() == ["accept later"])
        let result = try #require(story.results["later"])
        #expect(result.timing.backingOff == .milliseconds(700) && result.attempts == 1)
    }

    @Test func `pushes that wait for a retry count towards the limit`() throws {
        var story = PoolStory(waitingLimit: 2)
        story.submit("now")
        story.open()
        _ = story.actions()
        story.submit("a", "b", "c", delay: .milliseconds(700))
        #expect(story.actions() == ["fail c: overloaded, neverSent"])
        try story.cancel("a")
        story.submit("d", "e", delay: .milliseconds(700))
        #expect(story.actions() == ["fail a: cancelled, neverSent", "fail e: overloaded, neverSent"])
        // A stream is free, so this one does not wait.
        story.submit("immediate")
        #expect(story.actions() == ["open immediate on 1"])
        story.wait(.milliseconds(700))
        #expect(Set(story.actions()) == ["open b on 1", "open d on 1"])
        #expect(story.machine.pushes.queue.delayedCount == 0)
        story.submit("f", delay: .milliseconds(700))
        story.machine.giveUp(at: story.now)
        #expect(story.machine.pushes.queue.delayedCount == 0)
    }

    @Test func `a cancelled push names the failure of its last try, and the cancellation`() throws {
        var story = PoolStory()
        story.submit("a", retry: .standard)
        story.open()
        try story.refuse("a", .serviceUnavailable)
        try story.cancel("a")
        _ = story.actions()
        let error = try #require(story.results["a"]?.failure)
        #expect(error.code == .cancelled && error.cause is CancellationError)
        #expect(error.lastFailure?.reason == .serviceUnavailable && error.lastFailure?.code == .refused)
        #expect(error.lastFailure?.cause == nil)
    }

    // MARK: The circuit

    @Test func `bad device tokens open the circuit until a push is accepted`() throws {
        var story = PoolStory()
        for number in 0..<CircuitBreaker.badDeviceTokenLimit { story.submit("\(number)") }
        story.open(streams: 1_000)
        _ = story.actions()
        for number in 0..<CircuitBreaker.badDeviceTokenLimit { try story.refuse("\(number)", .badDeviceToken) }
        _ = story.actions()
        story.submit("a")
        #expect(story.actions() == ["fail a: circuitOpen, neverSent"])
        story.wait(CircuitBreaker.pause)
        story.submit("b", "c")
        #expect(story.actions() == ["open b on 1", "fail c: circuitOpen, neverSent"])
        try story.refuse("b", .badDeviceToken)
        story.submit("d")
        #expect(story.actions() == ["fail b: refused, answered", "fail d: circuitOpen, neverSent"])
        story.wait(CircuitBreaker.pause)
        story.submit("e")
        try story.accept("e")
        story.submit("f")
        #expect(story.actions() == ["open e on 1", "accept e", "open f on 1"])
    }

    @Test func `a good answer among bad ones keeps the circuit closed`() throws {
        var story = PoolStory()
        story.submit("first")
        story.open(streams: 1_000)
        for number in 0..<(3 * CircuitBreaker.badDeviceTokenLimit) {
            story.submit("\(number)")
            try story.refuse("\(number)", number.isMultiple(of: 90) ? .unregistered : .badDeviceToken)
        }
        _ = story.actions()
        story.submit("a")
        #expect(story.actions() == ["open a on 1"])
    }
}
