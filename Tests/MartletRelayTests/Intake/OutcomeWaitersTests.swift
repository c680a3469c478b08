// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletTransport
import Synchronization
import Testing

@testable import MartletRelay

/// Callers that wait for the end of a push.
@Suite struct OutcomeWaitersTests {
    private let recorded = RecordedOutcomes()

    private final class RecordedOutcomes: Sendable {
        let words = Mutex<[String]>([])

        func record(_ name: String, _ outcome: Outcome?) {
            words.withLock { $0.append("\(name) \(outcome?.state.rawValue ?? "gives up")") }
        }
    }

    private func id(_ number: UInt64) -> APNsID { APNsID(randomBits: (number, number)) }
    private func ended(_ number: UInt64, of app: String = "orders", _ state: Outcome.State = .delivered) -> PushStatus {
        let lane = Lane(app: app, environment: .production)
        return PushStatus(id: id(number), lane: lane, acceptedAt: 0, state: .ended(Outcome(state), at: 7))
    }
    private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `each waiter is called once, with the outcome or at its deadline`() {
        var waiters = OutcomeWaiters()
        for (name, number, seconds) in [("a", 1, 10), ("b", 1, 20), ("c", 2, 10), ("d", 3, 5)] {
            waiters.add(
                waiters.makeNumber(),
                for: id(UInt64(number)),
                of: "orders",
                by: "x",
                until: time(Int64(seconds))
            ) { [recorded] in
                recorded.record(name, $0?.outcome)
            }
        }
        #expect(waiters.count == 4 && waiters.nextDeadline == time(5))
        waiters.report(ended(2, of: "rides", .refused))
        waiters.report(ended(2))
        waiters.expire(at: time(4))
        waiters.expire(at: time(10))
        #expect(recorded.words.withLock { $0.sorted() } == ["a gives up", "c delivered", "d gives up"])
        #expect(waiters.count == 1 && waiters.nextDeadline == time(20))
        waiters.cancelAll()
        #expect(
            recorded.words.withLock { $0.last } == "b gives up" && waiters.count == 0 && waiters.nextDeadline == nil
        )
    }

    @Test func `deadlines of answered waiters are removed, others remain`() {
        var waiters = OutcomeWaiters()
        waiters.add(waiters.makeNumber(), for: id(0), of: "orders", by: "x", until: time(100_000)) { [recorded] in
            recorded.record("first", $0?.outcome)
        }
        for number in 1...10_000 as ClosedRange<UInt64> {
            waiters.add(0, for: id(number), of: "orders", by: "x", until: time(Int64(number))) { _ in }
            waiters.report(ended(number))
        }
        // Some are left from after the last time that they were looked through.
        #expect(waiters.nextDeadline.map { $0 > time(8_000) } == true)
        waiters.expire(at: time(99_999))
        #expect(waiters.nextDeadline == time(100_000) && recorded.words.withLock { $0.isEmpty })
        waiters.expire(at: time(100_000))
        #expect(recorded.words.withLock { $0 } == ["first gives up"])
    }

    @Test func `a cancelled waiter no longer counts for its caller`() {
        var waiters = OutcomeWaiters()
        for (name, number, caller) in [("a", 1, "x"), ("b", 2, "x"), ("c", 3, "y")] {
            waiters.add(number, for: id(7), of: "orders", by: caller, until: time(10)) { [recorded] in
                recorded.record(name, $0?.outcome)
            }
        }
        #expect(waiters.count == 3 && waiters.count(of: "x") == 2)
        waiters.cancel(2)
        waiters.cancel(2)
        #expect(waiters.count(of: "x") == 1 && recorded.words.withLock { $0 } == ["b gives up"])
        waiters.cancelAll { $0 == "y" }
        waiters.report(ended(7))
        #expect(recorded.words.withLock { $0 } == ["b gives up", "c gives up", "a delivered"])
        #expect(waiters.count == 0 && waiters.count(of: "x") == 0 && waiters.names.isEmpty)
    }
}
