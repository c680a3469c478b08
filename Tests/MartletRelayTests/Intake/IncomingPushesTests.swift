// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletTransport
import Testing

@testable import MartletRelay

@Suite(.timeLimit(.minutes(10))) struct IncomingPushesTests {
    private static func push(_ number: UInt64) throws -> HashedPush {
        HashedPush(
            OutboxPush(
                lane: Lane(app: "orders", environment: .production),
                id: APNsID(randomBits: (number, number)),
                destination: .device(RelayBench.token),
                headers: PushHeaders(pushType: "alert"),
                payload: []
            )
        )
    }

    @Test func `the callers of a commit are answered once, by the store or at the deadline`() throws {
        var incoming = IncomingPushes()
        incoming.add([try Self.push(1), try Self.push(2)], from: "a") { _, _ in }
        incoming.add([try Self.push(3)], from: "b") { _, _ in }
        let slowCommit = incoming.take(at: 1_000, answerBy: MonotonicTime(nanoseconds: 50))
        let slow = try #require(slowCommit)
        incoming.add([try Self.push(4)], from: "a") { _, _ in }
        let fastCommit = incoming.take(at: 2_000, answerBy: MonotonicTime(nanoseconds: 90))
        let fast = try #require(fastCommit)
        #expect(incoming.oldestCall == 1_000 && incoming.count == 4)
        let early = incoming.takeOverdue(at: MonotonicTime(nanoseconds: 49))
        let overdue = incoming.takeOverdue(at: MonotonicTime(nanoseconds: 50))
        let again = incoming.takeOverdue(at: MonotonicTime(nanoseconds: 60))
        #expect(early.isEmpty && again.isEmpty)
        #expect(overdue.map(\.startedAt) == [1_000] && overdue[0].groups.map(\.caller) == ["a", "b"])
        // The pushes take up capacity until the store has answered.
        #expect(incoming.oldestCall == 1_000 && incoming.count == 4)
        let (late, rest) = (incoming.answered(slow), incoming.answered(fast))
        #expect(late.isEmpty && rest.map(\.count) == [1])
        #expect(incoming.oldestCall == nil && incoming.count == 0)
    }

    @Test func `a caller takes a bounded part of each commit`() throws {
        let (deadline, later) = (MonotonicTime(nanoseconds: 50), MonotonicTime(nanoseconds: 90))
        var incoming = IncomingPushes()
        let group = [HashedPush](repeating: try Self.push(1), count: 100)
        for _ in 0..<400 { incoming.add(group, from: "flood") { _, _ in } }
        let firstCommit = incoming.take(at: 1_000, answerBy: deadline)
        let first = try #require(firstCommit)
        #expect(first.pushes.count == IncomingPushes.limitPerCaller && incoming.count == 40_000)
        // The pushes of the caller wait for the answer, also one that would fit, and those of others do not.
        incoming.add([try Self.push(2)], from: "flood") { _, _ in }
        #expect(incoming.take(at: 1_001, answerBy: later) == nil)
        incoming.add([try Self.push(3)], from: "other") { _, _ in }
        let secondCommit = incoming.take(at: 1_002, answerBy: later)
        let second = try #require(secondCommit)
        #expect(second.pushes.map(\.push.id) == [try Self.push(3).push.id])
        #expect(incoming.answered(first).count == 10)
        let thirdCommit = incoming.take(at: 1_003, answerBy: later)
        let third = try #require(thirdCommit)
        #expect(third.pushes.count == IncomingPushes.limitPerCaller)
        // A store that does not answer holds up the pushes behind the commit, too: 380 groups and a single push.
        #expect(incoming.takeOverdue(at: later).reduce(0) { $0 + $1.groups.count } == 1 + 10 + 381)
        #expect(incoming.count == 1_001 && !incoming.hasWaiting)
        let (other, flood) = (incoming.answered(second), incoming.answered(third))
        #expect(other.isEmpty && flood.isEmpty && incoming.count == 0)
    }

    @Test func `one group of a caller's long lists is stored at a time`() throws {
        let deadline = MonotonicTime(nanoseconds: 50)
        var incoming = IncomingPushes()
        incoming.add([try Self.push(1)], from: "flood") { _, _ in }
        let group = [HashedPush](repeating: try Self.push(2), count: IncomingPushes.groupSize)
        for _ in 0..<2 { incoming.add(group, from: "flood") { _, _ in } }
        incoming.add([try Self.push(3)], from: "other") { _, _ in }
        for counts in [[1, 1], [IncomingPushes.groupSize], [IncomingPushes.groupSize]] {
            let taken = incoming.take(at: 1_000, answerBy: deadline)
            let commit = try #require(taken)
            let isNothingMore = incoming.take(at: 1_000, answerBy: deadline) == nil
            #expect(isNothingMore)
            let groups = incoming.answered(commit)
            #expect(groups.map(\.count) == counts)
        }
        #expect(!incoming.hasWaiting)
    }

    @Test func `a look-up counts as pushes until the store has answered`() throws {
        var incoming = IncomingPushes()
        let deadline = MonotonicTime(nanoseconds: 50)
        let slow = incoming.beginLookup(of: ["orders": 3, "rides": 2], from: "a", at: 1_000, answerBy: deadline) {
            _,
            _ in
        }
        let later = MonotonicTime(nanoseconds: 90)
        let fast = incoming.beginLookup(of: ["orders": 1], from: "b", at: 2_000, answerBy: later) { _, _ in }
        #expect(incoming.count == 6 && incoming.counts == ["orders": 4, "rides": 2] && incoming.oldestCall == 1_000)
        let overdue = incoming.takeOverdue(at: deadline)
        #expect(overdue.map(\.startedAt) == [1_000] && overdue[0].groups.map(\.count) == [5])
        #expect(incoming.count == 6, "a look-up that the store has not answered takes up capacity")
        let (isAwaited, isLateAwaited) = (incoming.end(fast), incoming.end(slow))
        #expect(isAwaited && !isLateAwaited && incoming.count == 0 && incoming.oldestCall == nil)
    }

    @Test func `the deadline of a look-up begins again with each step`() {
        var incoming = IncomingPushes()
        let (deadline, later) = (MonotonicTime(nanoseconds: 50), MonotonicTime(nanoseconds: 90))
        let lookup = incoming.beginLookup(of: ["orders": 500], from: "a", at: 1_000, answerBy: deadline) { _, _ in }
        incoming.continued(lookup, at: 2_000, answerBy: later)
        let (early, overdue) = (incoming.takeOverdue(at: deadline), incoming.takeOverdue(at: later))
        #expect(early.isEmpty && overdue.map(\.startedAt) == [2_000])
        let isAwaited = incoming.end(lookup)
        incoming.continued(lookup, at: 3_000, answerBy: later)
        #expect(!isAwaited && incoming.oldestCall == nil && incoming.count == 0)
    }

    @Test func `a group beyond the limit is stored alone`() throws {
        var incoming = IncomingPushes()
        let count = IncomingPushes.limitPerCaller + 1
        incoming.add([HashedPush](repeating: try Self.push(1), count: count), from: "a") { _, _ in }
        incoming.add([try Self.push(2)], from: "a") { _, _ in }
        let taken = incoming.take(at: 1_000, answerBy: MonotonicTime(nanoseconds: 50))
        let commit = try #require(taken)
        #expect(commit.pushes.count == count)
    }
}
