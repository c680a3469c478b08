// SPDX-License-Identifier: Apache-2.0

import MartletOutbox
import Testing

@testable import MartletRelay

@Suite struct StoreHealthTests {
    @Test func `a failure is reported with its start until a success`() {
        var health = StoreHealth()
        let failed = health.record(OutboxError(.full, "no room"), at: 1_000)
        #expect(failed == .failed(problem: "no room", since: 1_000, omitted: 0))
        let repeated = (2...10).map { health.record(OutboxError(.full, "still none"), at: $0 * 1_000) }
        #expect(repeated.allSatisfy { $0 == nil }, "not a line each second")
        let later = health.record(OutboxError(.full, "still none"), at: 11_000)
        #expect(later == .failed(problem: "still none", since: 1_000, omitted: 9))
        #expect(health.problemSince == 1_000 && health.refusal == nil)
        let recovered = health.record(nil, hasPushes: true, at: 13_000)
        #expect(recovered == .recovered && health.problem == nil && health.problemSince == nil)
        let success = health.record(nil, at: 14_000)
        #expect(success == nil)
        let next = health.record(OutboxError(.full, "no room"), at: 15_000)
        #expect(next == .failed(problem: "no room", since: 15_000, omitted: 0), "a new problem is logged at once")
    }

    @Test func `on a full disk, a small write shows room only five seconds after an error`() {
        var health = StoreHealth()
        _ = health.record(OutboxError(.full, "no room"), at: 1_000)
        let small = health.record(nil, at: 1_001)
        #expect(small == nil && health.problem == "no room")
        _ = health.record(OutboxError(.full, "no room"), at: 5_000)
        let early = health.record(nil, at: 9_999)
        #expect(early == nil && health.problem != nil)
        let late = health.record(nil, at: 10_000)
        #expect(late == .recovered && health.problem == nil && health.problemSince == nil)
        _ = health.record(OutboxError(.unavailable, "read-only"), at: 11_000)
        let other = health.record(nil, at: 11_001)
        #expect(other == .recovered, "another error ends with any write")
    }

    @Test func `the lines about a problem that lasts get rarer, to one in ten minutes`() {
        var throttle = GrowingThrottle()
        let times = (0..<7_200 as Range<Int64>).filter { throttle.take(at: $0 * 1_000) != nil }
        #expect(times == [0, 10, 30, 70, 150, 310, 630] + (0..<10).map { 1_230 + $0 * 600 })
        let back = throttle.take(at: 1_000)
        #expect(back != nil, "a clock that was set back")
    }

    @Test func `pushes are refused without a write while a database does not answer`() {
        var health = StoreHealth()
        _ = health.record(nil, at: 0)
        _ = health.record(OutboxError(.unreachable, "timed out"), at: 1_000)
        #expect(health.isUnreachable && health.refusal?.kind == .unreachable)
        #expect(health.problem == "the database has not answered since 1970-01-01T00:00:00.000Z: timed out")
        _ = health.record(nil, at: 2_000)
        #expect(!health.isUnreachable && health.refusal == nil)
    }

    @Test func `a commit that takes too long is a problem until it ends`() {
        var health = StoreHealth()
        _ = health.record(nil, at: 0)
        let silent = OutboxError(.unreachable, "no answer")
        let stalled = health.recordStall(silent, since: 1_000, at: 3_100)
        #expect(stalled == .failed(problem: "no answer", since: 1_000, omitted: 0))
        #expect(health.problem == "no answer" && health.problemKind == .unreachable && health.stalledSince == 1_000)
        #expect(health.refusal == nil && !health.hasFailed, "the gate refuses pushes meanwhile")
        let again = health.recordStall(silent, since: 1_000, at: 3_350)
        // Another table can still be written.
        let other = health.record(nil, at: 3_400)
        #expect(again == nil && other == nil && health.problem == "no answer")
        let ended = health.recordStall(nil, since: 5_000, at: 5_000)
        #expect(ended == .recovered && health.problem == nil && health.problemSince == nil)
        let twice = health.recordStall(nil, since: 5_000, at: 5_000)
        #expect(twice == nil)
    }

    @Test func `a commit that takes too long and fails is one problem`() {
        var health = StoreHealth()
        _ = health.recordStall(OutboxError(.unavailable, "no answer"), since: 1_000, at: 3_100)
        let failed = health.record(OutboxError(.unavailable, "canceled"), at: 30_000)
        #expect(failed == .failed(problem: "canceled", since: 1_000, omitted: 0))
        let ended = health.recordStall(nil, since: 30_000, at: 30_000)
        #expect(ended == nil && health.problem == "canceled" && health.problemSince == 1_000)
        let stored = health.record(nil, hasPushes: true, at: 31_000)
        #expect(stored == .recovered && health.problem == nil)
    }

    @Test func `damage stays a problem although a write succeeds`() {
        var health = StoreHealth()
        _ = health.record(OutboxError(.damaged, "damaged"), at: 0)
        let success = health.record(nil, at: 1)
        #expect(success == nil && health.refusal?.kind == .damaged && health.problem == "damaged")
    }

    @Test func `the outbox is checked after an error, and after ten seconds without a write`() {
        var health = StoreHealth()
        #expect(health.isCheckDue(at: 1_000_000))
        _ = health.record(nil, at: 1_000_000)
        #expect(!health.isCheckDue(at: 1_009_999) && health.isCheckDue(at: 1_010_000))
        #expect(health.isCheckDue(at: 999_999), "a clock that was set back")
        _ = health.record(OutboxError(.full, "no room"), at: 1_010_000)
        #expect(health.isCheckDue(at: 1_010_001))
    }
}
