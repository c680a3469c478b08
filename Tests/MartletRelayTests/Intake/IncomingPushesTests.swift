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
        _ = incoming.add([try Self.push(1), try Self.push(2)], from: "a") { _, _ in }
        _ = incoming.add([try Self.push(3)], from: "b") { _, _ in }
        let slow = incoming.take(at: 1_000, answerBy: MonotonicTime(nanoseconds: 50))
        _ = incoming.add([try Self.push(4)], from: "a") { _, _ in }
        let fast = incoming.take(at: 2_000, answerBy: MonotonicTime(nanoseconds: 90))
        #expect(incoming.oldestCommit == 1_000 && incoming.count == 4)
        let early = incoming.takeOverdue(at: MonotonicTime(nanoseconds: 49))
        let overdue = incoming.takeOverdue(at: MonotonicTime(nanoseconds: 50))
        let again = incoming.takeOverdue(at: MonotonicTime(nanoseconds: 60))
        #expect(early.isEmpty && again.isEmpty)
        #expect(overdue.map(\.startedAt) == [1_000] && overdue[0].groups.map(\.caller) == ["a", "b"])
        // The pushes take up capacity until the store has answered.
        #expect(incoming.oldestCommit == 1_000 && incoming.count == 4)
        let (late, rest) = (incoming.answered(slow), incoming.answered(fast))
        #expect(late.isEmpty && rest.map(\.count) == [1])
        #expect(incoming.oldestCommit == nil && incoming.count == 0)
    }
}
