// SPDX-License-Identifier: Apache-2.0

import MartletCore
import Testing

@testable import MartletOutbox

/// The failed attempts that a store keeps with a push and with its outcome.
@Suite struct AttemptHistoryTests {
    private static func attempt(_ time: Int64, status: Int? = 503) -> FailedAttempt {
        let reason = status == nil ? "NoAnswer" : "ServiceUnavailable"
        return FailedAttempt(time: time, node: "relay-1", keyID: "ABCDE12345", status: status, reason: reason)
    }

    private static func history(_ times: Int64...) -> AttemptHistory {
        times.reduce(into: AttemptHistory()) { $0.append(attempt($1)) }
    }

    private static func settlement(
        _ push: ClaimedPush,
        _ change: Settlement.Change,
        _ history: AttemptHistory = AttemptHistory()
    ) -> Settlement {
        var settlement = Settlement(push, change)
        settlement.history = history
        return settlement
    }

    @Test(arguments: OutboxEngine.allCases)
    func `failed attempts are stored until the outcome is deleted`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        let pushes = try (1...5).map {
            try OutboxPush.numbered($0, hasCallersID: true, expiresAt: $0 == 4 ? 90 : nil)
        }
        _ = try await store.accept(pushes, at: 10)
        let claimed = try await store.claimAll(at: 10)
        #expect(claimed.allSatisfy { $0.history.isEmpty })
        let again = Settlement.Change.postponed(until: 30, attempts: 1, unknownTries: 0)
        try await store.settle(
            [
                Self.settlement(claimed[0], .ended(Outcome(.dead, status: 503, attempts: 1)), Self.history(20)),
                Self.settlement(claimed[1], .ended(Outcome(.refused, status: 400, attempts: 1)), Self.history(20)),
                Self.settlement(claimed[2], again, Self.history(20)),
                Self.settlement(claimed[3], again, Self.history(20)),
                Self.settlement(claimed[4], .ended(Outcome(.delivered, status: 200, attempts: 1))),
            ],
            at: 20
        )
        await store.close(isInOrder: true)
        store = try await place.open()
        for push in pushes {
            let history = try await store.status(of: push.id, of: "orders")?.history
            #expect(history == (push.id == pushes[4].id ? AttemptHistory() : Self.history(20)))
        }
        #expect(try await store.records.deadLetters(of: "orders", limit: 9).map(\.history) == [Self.history(20)])
        #expect(try await store.records.deadLetter(pushes[0].id, of: "orders")?.history == Self.history(20))

        let second = try await store.claimAll(at: 30)
        #expect(second.map(\.push.id) == [pushes[2].id, pushes[3].id])
        #expect(second.map(\.history) == [Self.history(20), Self.history(20)])
        // A push that is returned without an attempt keeps what is stored.
        let returned = Settlement.Change.postponed(until: 40, attempts: 1, unknownTries: 0)
        try await store.settle(
            [
                Self.settlement(second[0], .ended(Outcome(.delivered, attempts: 2)), Self.history(20, 31)),
                Self.settlement(second[1], returned),
            ],
            at: 31
        )
        #expect(try await store.expire(at: 90, limit: 9).map(\.id) == [pushes[3].id])
        #expect(try await store.status(of: pushes[2].id, of: "orders")?.history == Self.history(20, 31))
        #expect(try await store.status(of: pushes[3].id, of: "orders")?.history == Self.history(20))
        guard case .duplicate(let known) = try await store.accept([pushes[3]], at: 95)[0] else {
            Issue.record("the push is not known")
            return
        }
        #expect(known.history == Self.history(20))
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a dead letter that is requeued begins a new history`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let push = try OutboxPush.numbered(1)
        _ = try await store.accept([push], at: 10)
        let dead = Settlement.Change.ended(Outcome(.dead, status: 503, attempts: 16))
        let claimed = try await store.claimAll(at: 10)
        try await store.settle([Self.settlement(claimed[0], dead, Self.history(20))], at: 20)
        #expect(try await store.requeueDeadLetters(nil, of: "orders", at: 30) == 1)
        let again = try await store.claimAll(at: 30)
        #expect(again.map(\.history) == [AttemptHistory()])
        try await store.settle([Self.settlement(again[0], dead, Self.history(40))], at: 40)
        #expect(try await store.status(of: push.id, of: "orders")?.history == Self.history(40))
    }

    @Test func `a history has the first attempt and the latest seven`() {
        var history = AttemptHistory()
        for time in 1...20 as ClosedRange<Int64> { history.append(Self.attempt(time, status: nil)) }
        #expect(history.attempts.map(\.time) == [1, 14, 15, 16, 17, 18, 19, 20])
        #expect(history.omitted == 12)
        #expect(AttemptHistory(stored: history.stored) == history)
        #expect(AttemptHistory().stored == nil)
    }

    @Test func `a stored history has a limit of bytes and survives any text`() {
        // The 64th byte is the first one of a character.
        let long = "xxx" + String(repeating: "é\u{0}\"", count: 100)
        var history = AttemptHistory()
        for time in 1...9 as ClosedRange<Int64> {
            history.append(FailedAttempt(time: time, node: long, keyID: long, status: 400, reason: long))
        }
        #expect(history.attempts.allSatisfy { $0.reason.utf8.count == 63 && long.hasPrefix($0.reason) })
        #expect(AttemptHistory(stored: history.stored) == history)
        #expect((history.stored?.utf8.count ?? 0) < 6_000)
        #expect(history.stored?.contains("\u{0}") == false, "PostgreSQL stores no such text")
    }

    @Test(arguments: ["", "x", "[]", "{}", "[-1]", #"[0,[1,"a"]]"#, #"[0,["a","b","c",1,"d"]]"#, "[0,7]"])
    func `a damaged history is read as an empty one`(text: String) {
        #expect(AttemptHistory(stored: text) == AttemptHistory())
    }
}
