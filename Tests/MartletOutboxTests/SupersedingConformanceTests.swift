// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import Testing

/// Tests of pushes that replace earlier ones, which every engine of the outbox passes.
@Suite(.timeLimit(.minutes(10))) struct SupersedingConformanceTests {
    /// The status of a push that another one has replaced.
    private static func superseded(
        _ push: OutboxPush,
        acceptedAt: Int64,
        at time: Int64,
        attempts: Int = 0,
        unknownTries: Int = 0
    ) -> PushStatus {
        let outcome = Outcome(.superseded, attempts: attempts, unknownTries: unknownTries)
        return PushStatus(id: push.id, lane: push.lane, acceptedAt: acceptedAt, state: .ended(outcome, at: time))
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a superseding push ends the waiting ones of its order key`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        var store = try await place.open()
        let line = try [(1, "10"), (2, "5"), (3, "10")].map { number, priority in
            try OutboxPush.numbered(number, priority: priority, orderKey: "score")
        }
        let others = try [
            OutboxPush.numbered(4, orderKey: "position"), .numbered(5), .numbered(6, .orderTests, orderKey: "score"),
            .numbered(7, .rides, orderKey: "score"),
        ]
        _ = try await store.accept(line + others, at: 10)
        let newest = try OutboxPush.numbered(8, orderKey: "score").superseding
        let expected = line.reversed().map { Self.superseded($0, acceptedAt: 10, at: 20) }
        #expect(try await store.accept([newest], at: 20) == [.superseding(expected)])
        // The end survives a restart.
        await store.close(isInOrder: true)
        store = try await place.open()
        for push in line { #expect(try await store.outcome(of: push) == Outcome(.superseded)) }
        #expect(try await store.claimAll(.orders, .powerAware, at: 30).isEmpty)
        let claimed = try await store.claimAll(at: 30).map(\.push.id)
        #expect(Set(claimed) == [others[0].id, others[1].id, newest.id])
        for lane in [Lane.orderTests, .rides] { #expect(try await store.claimAll(lane, at: 30).count == 1) }
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a superseding push waits behind a claimed one`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...4).map { try OutboxPush.numbered($0, orderKey: "score") }
        _ = try await store.accept(Array(pushes[..<3]), at: 10)
        let claimed = try await store.claimAll(at: 10)
        #expect(claimed.map(\.push.id) == [pushes[0].id])
        let expected = [pushes[2], pushes[1]].map { Self.superseded($0, acceptedAt: 10, at: 20) }
        #expect(try await store.accept([pushes[3].superseding], at: 20) == [.superseding(expected)])
        #expect(try await store.claimAll(at: 30).isEmpty)
        let backlog = try await store.backlog()
        #expect(backlog.map(\.count) == [2])
        try await store.end(claimed[0], at: 40)
        #expect(try await store.claimAll(at: 50).map(\.push.id) == [pushes[3].id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push that is tried again is superseded with its attempts`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let first = try OutboxPush.numbered(1, orderKey: "score")
        _ = try await store.accept([first], at: 10)
        var history = AttemptHistory()
        history.append(FailedAttempt(time: 15, node: "a", keyID: "K", status: 503, reason: "ServiceUnavailable"))
        var settlement = try await store.claimAll(at: 10)[0].postponed(until: 100, attempts: 3, unknownTries: 1)
        settlement.history = history
        try await store.settle([settlement], at: 15)
        let second = try OutboxPush.numbered(2, orderKey: "score")
        let expected = Self.superseded(first, acceptedAt: 10, at: 20, attempts: 3, unknownTries: 1)
        #expect(try await store.accept([second.superseding], at: 20) == [.superseding([expected])])
        let status = try await store.status(of: first.id, of: "orders")
        #expect(status?.state == expected.state && status?.history == history)
        #expect(try await store.claimAll(at: 20).map(\.push.id) == [second.id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `of superseding pushes in one call, only the last waits`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...10).map { try OutboxPush.numbered($0, orderKey: "score").superseding }
        let answers = try await store.accept(pushes, at: 10)
        #expect(answers[0] == .accepted)
        for (push, answer) in zip(pushes, answers.dropFirst()) {
            #expect(answer == .superseding([Self.superseded(push, acceptedAt: 10, at: 10)]))
        }
        #expect(try await store.claimAll(at: 20).map(\.push.id) == [pushes[9].id])
        #expect(try await store.backlog().map(\.count) == [1])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push after a superseding one of its call waits behind it`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...4).map { try OutboxPush.numbered($0, orderKey: "score") }
        let answers = try await store.accept([pushes[0], pushes[1].superseding, pushes[2], pushes[3]], at: 10)
        let expected = Self.superseded(pushes[0], acceptedAt: 10, at: 10)
        #expect(answers == [.accepted, .superseding([expected]), .accepted, .accepted])
        for push in pushes[1...] {
            let claimed = try await store.claimAll(at: 20)
            #expect(claimed.map(\.push.id) == [push.id])
            try await store.end(claimed[0], at: 20)
        }
    }

    @Test(arguments: OutboxEngine.allCases)
    func `scheduled pushes are superseded, and supersede at once`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let late = try OutboxPush.numbered(1, notBefore: 500, orderKey: "score")
        let due = try OutboxPush.numbered(2, notBefore: 15, orderKey: "score")
        let later = try OutboxPush.numbered(3, notBefore: 900, orderKey: "score")
        _ = try await store.accept([late, due], at: 10)
        // No claim has lined up the second one, which is due.
        let expected = [due, late].map { Self.superseded($0, acceptedAt: 10, at: 20) }
        #expect(try await store.accept([later.superseding], at: 20) == [.superseding(expected)])
        #expect(try await store.claimAll(at: 600).isEmpty)
        #expect(try await store.claimAll(at: 900).map(\.push.id) == [later.id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push that is not stored supersedes none`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open(limit: 3)
        let known = try OutboxPush.numbered(1, hasCallersID: true)
        let waiting = try OutboxPush.numbered(2, orderKey: "score")
        _ = try await store.accept([known, waiting], at: 10)
        let conflict = try OutboxPush.numbered(1, payload: "{}", hasCallersID: true, orderKey: "score").superseding
        #expect(try await store.accept([conflict], at: 20) == [.conflict])
        let other = try OutboxPush.numbered(3)
        let further = try OutboxPush.numbered(4, orderKey: "score").superseding
        #expect(try await store.accept([other, further], at: 20) == [.accepted, .full])
        #expect(try await store.claimAll(at: 30).map(\.push.id) == [known.id, waiting.id, other.id])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a repeated superseding push is a duplicate and supersedes none`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let first = try OutboxPush.numbered(1, hasCallersID: true, orderKey: "score").superseding
        let second = try OutboxPush.numbered(2, orderKey: "score")
        #expect(try await store.accept([first, second], at: 10) == [.accepted, .accepted])
        let status = PushStatus(id: first.id, lane: .orders, acceptedAt: 10, state: .accepted)
        #expect(try await store.accept([first], at: 20) == [.duplicate(status)])
        #expect(try await store.backlog().map(\.count) == [2])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a job counts its superseded pushes`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let jobs = outbox.jobs
        let first = try await jobs.addNew(.numbered(1))
        let second = try await jobs.addNew(.numbered(2))
        let old = try (1...3).map { try OutboxPush.numbered($0, orderKey: "key \($0)") }
        let new = try (1...2).map { try OutboxPush.numbered($0 + 10, orderKey: "key \($0)").superseding }
        _ = try await jobs.expand(first, old, isLast: true, at: 20)
        guard case .stored(2, _, let superseded) = try await jobs.expand(second, new, isLast: true, at: 30) else {
            Issue.record("the page is not stored")
            return
        }
        let expected = old[..<2].map { Self.superseded($0, acceptedAt: 20, at: 30) }
        #expect(Set(superseded) == Set(expected))
        let current = try await jobs.current(first)
        #expect(current.outcomes == [.superseded: 2] && current.outcomesChangedAt == 30 && current.unfinished == 1)
        #expect(try await outbox.claimAll(.orders, .job, at: 40).count == 3)
        await outbox.close(isInOrder: true)
    }
}
