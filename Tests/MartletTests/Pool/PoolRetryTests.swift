import MartletCore
import Testing

@testable import Martlet
@testable import MartletTransport

/// What becomes of pushes that APNs refuses, and of those that nobody answers.
@Suite struct PoolRetryTests {
    @Test func `a refusal that passes is tried again on the schedule of the policy`() {
        var story = PoolStory()
        let policy = RetryPolicy(retries: 2, hasJitter: false)
        story.submit("a", retry: policy)
        story.open()
        _ = story.orders()
        for wait in [100, 200] {
            story.refuse("a", .serviceUnavailable)
            story.wait(.milliseconds(wait - 1))
            #expect(story.orders() == [])
            story.wait(.milliseconds(1))
            #expect(story.orders() == ["open a on 1"])
        }
        story.refuse("a", .serviceUnavailable)
        #expect(story.orders() == ["fail a: refused, answered"])
    }

    @Test func `a server that names a time is given it`() {
        var story = PoolStory()
        story.submit("a", retry: .standard)
        story.open()
        _ = story.orders()
        story.refuse("a", .tooManyRequests, retryAfter: .seconds(12))
        story.wait(.milliseconds(11_999))
        #expect(story.orders() == [])
        story.wait(.milliseconds(1))
        #expect(story.orders() == ["open a on 1"])
    }

    @Test func `no try is begun that could not end in time`() {
        var story = PoolStory()
        story.submit("a", retry: .standard, timeout: .seconds(5))
        story.open()
        _ = story.orders()
        story.refuse("a", .tooManyRequests, retryAfter: .seconds(12))
        #expect(story.orders() == ["fail a: refused, answered"])
    }

    @Test(arguments: Reason.all) func `every reason is tried again or not as its advice says`(reason: Reason) {
        var story = PoolStory()
        story.submit("a", retry: RetryPolicy(hasJitter: false))
        story.open()
        _ = story.orders()
        story.refuse("a", reason)
        let orders = story.orders()
        switch reason.advice {
        case .mendFirst:
            #expect(orders == ["fail a: refused, answered"])
        case .backOff:
            #expect(orders == [])
            story.wait(.milliseconds(100))
            #expect(story.orders() == ["open a on 1"])
        case .reconnect, .renewToken:
            #expect(orders == ["close 1"])
            story.disconnect(.closedLocally)
            story.wait(.milliseconds(200))
            #expect(story.orders() == ["connect 2"])
            story.open(2)
            #expect(story.orders() == ["open a on 2"])
        }
    }

    @Test func `what nobody knows is sent again only when the policy asks for it`() throws {
        for policy in [RetryPolicy.UnknownOutcome.report, .resend] {
            var story = PoolStory()
            story.submit("a", retry: RetryPolicy(hasJitter: false, unknownOutcome: policy))
            story.open()
            _ = story.orders()
            story.breakOff("a")
            story.wait(.milliseconds(100))
            #expect(story.orders() == (policy == .report ? ["fail a: connectionLost, unknown"] : ["open a on 1"]))
        }
    }

    @Test func `a push that has to wait is not sent before its time, and can be taken back`() throws {
        var story = PoolStory()
        story.submit("now")
        story.open()
        #expect(story.orders() == ["connect 1", "open now on 1"])
        let later = story.push("later", delay: .milliseconds(700))
        let never = story.push("never", delay: .milliseconds(700))
        story.machine.submitted([later, never], at: story.now)
        story.wait(.milliseconds(699))
        story.machine.cancelled(never, at: story.now)
        #expect(story.orders() == ["fail never: cancelled, neverSent"])
        story.wait(.milliseconds(1))
        #expect(story.orders() == ["open later on 1"])
        story.accept("later")
        #expect(later.progress.timing.backingOff == .milliseconds(700) && later.progress.attempts == 1)
    }

    @Test func `pushes that have to wait count towards the limit until they are sent or taken back`() {
        var story = PoolStory(waitingLimit: 2)
        story.submit("now")
        story.open()
        _ = story.orders()
        let pushes = ["a", "b", "c", "d", "e"].map { story.push($0, delay: .milliseconds(700)) }
        for push in pushes.prefix(3) { story.machine.submitted(push, at: story.now) }
        #expect(story.orders() == ["fail c: overloaded, neverSent"])
        story.machine.cancelled(pushes[0], at: story.now)
        story.machine.submitted([pushes[3], pushes[4]], at: story.now)
        #expect(story.orders() == ["fail a: cancelled, neverSent", "fail e: overloaded, neverSent"])
        // A stream is free, so this one does not wait.
        story.submit("immediate")
        #expect(story.orders() == ["open immediate on 1"])
        story.wait(.milliseconds(700))
        #expect(Set(story.orders()) == ["open b on 1", "open d on 1"])
        #expect(story.machine.delayedCount == 0)
        let next = story.push("f", delay: .milliseconds(700))
        story.machine.submitted(next, at: story.now)
        story.machine.giveUp(at: story.now)
        #expect(story.machine.delayedCount == 0)
    }

    @Test func `a cancelled push names the failure of its last try, and the cancellation`() throws {
        var story = PoolStory()
        story.submit("a", retry: .standard)
        story.open()
        story.refuse("a", .serviceUnavailable)
        story.machine.cancelled(story.push("a"), at: story.now)
        let error = try #require(story.push("a").failure)
        #expect(error.code == .cancelled && error.cause is CancellationError)
        #expect(error.lastFailure?.reason == .serviceUnavailable && error.lastFailure?.code == .refused)
        #expect(error.lastFailure?.cause == nil)
    }

    // MARK: The circuit

    @Test func `everything stops when all device tokens are bad, and goes on when one is good`() {
        var story = PoolStory()
        for number in 0..<CircuitBreaker.badDeviceTokenLimit { story.submit("\(number)") }
        story.open(streams: 1_000)
        _ = story.orders()
        for number in 0..<CircuitBreaker.badDeviceTokenLimit { story.refuse("\(number)", .badDeviceToken) }
        _ = story.orders()
        story.submit("a")
        #expect(story.orders() == ["fail a: circuitOpen, neverSent"])
        story.wait(CircuitBreaker.pause)
        story.submit("b", "c")
        #expect(story.orders() == ["open b on 1", "fail c: circuitOpen, neverSent"])
        story.refuse("b", .badDeviceToken)
        story.submit("d")
        #expect(story.orders() == ["fail b: refused, answered", "fail d: circuitOpen, neverSent"])
        story.wait(CircuitBreaker.pause)
        story.submit("e")
        story.accept("e")
        story.submit("f")
        #expect(story.orders() == ["open e on 1", "accept e", "open f on 1"])
    }

    @Test func `a good answer among bad ones keeps the circuit closed`() {
        var story = PoolStory()
        story.submit("first")
        story.open(streams: 1_000)
        for number in 0..<(3 * CircuitBreaker.badDeviceTokenLimit) {
            story.submit("\(number)")
            story.refuse("\(number)", number.isMultiple(of: 90) ? .unregistered : .badDeviceToken)
        }
        _ = story.orders()
        story.submit("a")
        #expect(story.orders() == ["open a on 1"])
    }
}
