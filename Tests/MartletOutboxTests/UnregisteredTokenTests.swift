// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import TestSupport
import Testing

/// The list of unregistered tokens, each in one environment and for one topic.
@Suite struct UnregisteredTokenTests {
    @Test(arguments: OutboxEngine.allCases)
    func `an unregistered token gets no push until it is registered again`(engine: OutboxEngine)
        async throws
    {
        let store = try await engine.place().open()
        let push = try OutboxPush.numbered(1)
        _ = try await store.accept([push], at: 10)
        let claimed = try await store.claimAll(at: 10)
        let outcome = Outcome(.refused, status: 410, reason: "Unregistered", unregisteredAt: 5, attempts: 1)
        try await store.settle(
            [Settlement(claimed[0], .ended(outcome), isTokenUnregistered: true)],
            at: 12
        )
        let dead = try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10)
        #expect(
            dead.map(\.unregisteredAt) == [5] && dead.map(\.reportedAt) == [12]
                && dead.map(\.reason) == ["Unregistered"]
        )
        let next = try OutboxPush.numbered(2)
        #expect(try await store.accept([next], at: 13) == [.suppressed(dead[0])])
        #expect(try await store.accept([OutboxPush.numbered(2, .rides)], at: 13) == [.accepted])
        #expect(try await store.records.unregisteredTokens(of: "orders", after: dead[0].cursor, limit: 10).isEmpty)
        let token = dead[0].token
        #expect(try await store.records.markRegistered(token, of: "orders"))
        #expect(try await store.records.markRegistered(token, of: "orders") == false)
        #expect(try await store.accept([next], at: 14) == [.accepted])
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a token is unregistered in one environment for one topic`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let first = try OutboxPush.numbered(1)
        try await store.unregister(first, at: 10)
        var activity = try OutboxPush.numbered(2)
        activity.headers.topic = "com.example.orders.push-type.liveactivity"
        var topicless = try OutboxPush.numbered(3)
        topicless.headers.topic = nil
        let tests = try OutboxPush.numbered(4, .orderTests)
        #expect(try await store.accept([activity, topicless, tests], at: 20) == [.accepted, .accepted, .accepted])
        try await store.endAll(.orders, at: 21)

        activity.id = try OutboxPush.numbered(5).id
        try await store.unregister(activity, at: 30)
        topicless.id = try OutboxPush.numbered(6).id
        try await store.unregister(topicless, at: 40)
        let dead = try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10)
        #expect(dead.map(\.topic) == ["com.example.orders", "com.example.orders.push-type.liveactivity", ""])
        #expect(dead.map(\.environment) == [.production, .production, .production])
        #expect(dead.map(\.reportedAt) == [11, 31, 41])
        let again = try await store.accept([first, activity, topicless], at: 50)
        #expect(again == dead.map { .suppressed($0) })
        #expect(try await store.accept([.numbered(7, .orderTests)], at: 50) == [.accepted])

        #expect(try await store.records.markRegistered(dead[0].token, of: "orders"))
        #expect(try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10).isEmpty)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a token that is reported again has one row, at the end of the feed`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0) }
        _ = try await store.accept(pushes, at: 10)
        let claimed = try await store.claimAll(at: 10)
        try await store.settle(claimed[..<1].map { .unregistered($0) }, at: 11)
        let before = try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10)
        try await store.settle(claimed[1...].map { .unregistered($0) }, at: 12)
        let after = try await store.records.unregisteredTokens(of: "orders", after: 0, limit: 10)
        #expect(before.count == 1 && after.count == 1)
        #expect((after.first?.cursor ?? 0) > (before.first?.cursor ?? 0) && after.first?.reportedAt == 12)
    }
}

extension OutboxStore {
    /// Has a push end because Apple has reported its token as unregistered.
    fileprivate func unregister(_ push: OutboxPush, at now: Int64) async throws {
        #expect(try await accept([push], at: now) == [.accepted])
        let claimed = try await claimAll(push.lane, at: now)
        try await settle(claimed.map { .unregistered($0) }, at: now + 1)
    }

    /// Ends everything that is due in a lane.
    fileprivate func endAll(_ lane: Lane, at now: Int64) async throws {
        for push in try await claimAll(lane, at: now) { try await end(push, at: now) }
    }
}

extension Settlement {
    fileprivate static func unregistered(_ push: ClaimedPush) -> Settlement {
        let outcome = Outcome(.refused, status: 410, reason: "Unregistered", unregisteredAt: 5, attempts: 1)
        return Settlement(push, .ended(outcome), isTokenUnregistered: true)
    }
}
