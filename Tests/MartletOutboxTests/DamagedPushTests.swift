// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSQLite
import TestSupport
import Testing

/// Stored pushes whose content has changed since they were accepted.
@Suite(.timeLimit(.minutes(10))) struct DamagedPushTests {
    /// The token of ``OutboxPush/numbered``.
    private static let token = "00112233445566778899aabbccddeeff"

    /// Changes a push of a closed outbox and its entries in indexes.
    private func damage(_ place: OutboxEngine.Place, _ change: String, of number: Int = 2) throws {
        try Connection(path: place.file).execute("UPDATE push SET \(change) WHERE number = \(number)")
    }

    @Test(arguments: [
        // One bit of the payload.
        "payload = CAST(replace(CAST(payload AS TEXT), 'ready', 'readx') AS BLOB)",
        "token = replace(token, '0011', '0111')", "token = 'x'", "token = NULL, channel = 'a', bundle_id = 'b'",
        "topic = 'com.example.orderr'", "push_type = NULL", "priority = '5'", "collapse_id = 'a'", "expiration = '1'",
        "expires_at = 1099511627776", "trace_parent = 'a'", "apns_id = zeroblob(16)", "checksum = checksum + 1",
        "ready_check = ready_check + 8", "ready_check = NULL", "order_key = 'collapse a'",
    ])
    func `a claim marks the push that has changed`(change: String) async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        _ = try await store.accept(try (1...3).map { try OutboxPush.numbered($0) }, at: 10)
        await store.close(isInOrder: true)
        try damage(place, change)
        store = try await place.open()
        let claimed = try await store.claimAll(at: 10)
        #expect(claimed.map(\.number) == [1, 2, 3] && claimed.map(\.isDamaged) == [false, true, false])
        await store.close(isInOrder: true)
    }

    @Test func `a claim marks a push that damage moved to another app`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        _ = try await store.accept([.numbered(1), .numbered(2), .numbered(3, .rides)], at: 10)
        await store.close(isInOrder: true)
        try damage(place, "app = (SELECT number FROM app WHERE name = 'rides')")
        store = try await place.open()
        #expect(try await store.claimAll(at: 10).map(\.isDamaged) == [false])
        let ofRides = try await store.claimAll(.rides, at: 10)
        #expect(ofRides.map(\.number) == [2, 3] && ofRides.map(\.isDamaged) == [true, false])
        await store.close(isInOrder: true)
    }

    @Test func `a push whose expiry was changed does not expire`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        _ = try await store.accept([.numbered(1, expiresAt: 15), .numbered(2, expiresAt: 1 << 40)], at: 10)
        await store.close(isInOrder: true)
        try damage(place, "expires_at = 15")
        store = try await place.open()
        #expect(try await store.expire(at: 20, limit: 9).map(\.id) == [OutboxPush.numbered(1).id])
        let claimed = try await store.claimAll(at: 20)
        #expect(claimed.map(\.number) == [2] && claimed.allSatisfy(\.isDamaged))
        await store.close(isInOrder: true)
    }

    @Test func `PostgreSQL does not expire a push whose expiry was changed`() async throws {
        let place = try await OutboxEngine.postgresql.place()
        let store = try await place.open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0, expiresAt: $0 == 1 ? 15 : 1 << 40) }
        _ = try await store.accept(pushes, at: 10)
        try await place.ask("UPDATE martlet.push SET expires_at = 15 WHERE number = 2")
        try await place.ask("UPDATE martlet.queue SET expires_at = 15 WHERE number = 3")
        #expect(try await store.expire(at: 20, limit: 9).map(\.id) == [pushes[0].id])
        let claimed = try await store.claimAll(at: 20)
        #expect(claimed.map(\.number) == [2, 3] && claimed.map(\.isDamaged) == [true, false])
        await store.close(isInOrder: true)
    }

    @Test(arguments: ["user_id = 'annb'", "user_id = NULL", "is_to_user = 0", "token = replace(token, '0011', '0111')"])
    func `a claim marks a push whose user or token was changed`(change: String) async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0, user: "anna") }
        try await store.installations.enroll(Installation.numbered(1).with(Self.token))
        #expect(try await store.accept(pushes, at: 10) == [.accepted, .accepted, .accepted])
        await store.close(isInOrder: true)
        try damage(place, change)
        store = try await place.open()
        #expect(try await store.claimAll(at: 10).map(\.isDamaged) == [false, true, false])
        await store.close(isInOrder: true)
    }

    @Test func `a push to a token whose user has changed is not sent`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0) }
        try await store.installations.enroll(Installation.numbered(1).with(Self.token))
        _ = try await store.accept(pushes, at: 10)
        await store.close(isInOrder: true)
        try damage(place, "user_id = 'annb'")
        store = try await place.open()
        #expect(try await store.claimAll(at: 10).map(\.hasFormerUser) == [false, true, false])
        await store.close(isInOrder: true)
    }

    @Test(arguments: [nil, "collapse a"])
    func `a scheduled push whose time was changed is not sent`(orderKey: String?) async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        let pushes = try (1...2).map { try OutboxPush.numbered($0, notBefore: 1 << 40, orderKey: orderKey) }
        _ = try await store.accept(pushes, at: 10)
        await store.close(isInOrder: true)
        try damage(place, "ready_at = ready_at - (1 << 40) + 20")
        store = try await place.open()
        let claimed = try await store.claimAll(at: 20)
        #expect(claimed.map(\.number) == [2] && claimed.allSatisfy(\.isDamaged))
        // It leaves its place in the line to the push with the right time.
        let outcome = Outcome(.dead, reason: Outcome.damagedReason)
        try await store.settle([Settlement(claimed[0], .ended(outcome))], at: 20)
        #expect(try await store.claimAll(at: 1 << 40).map(\.isDamaged) == [false])
        await store.close(isInOrder: true)
    }

    @Test(arguments: 1...4, ["order_key = 'collapse b'", "order_key = NULL", "environment = 'qroduction'"])
    func `a changed order key holds no other push`(number: Int, change: String) async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        _ = try await store.accept(try (1...4).map { try OutboxPush.numbered($0, orderKey: "collapse a") }, at: 10)
        await store.close(isInOrder: true)
        try damage(place, change, of: number)
        store = try await place.open()
        var claimed: [ClaimedPush] = []
        while case let due = try await store.claimAll(at: 20), !due.isEmpty {
            claimed += due
            try await store.settle(due.map(\.ended), at: 20)
        }
        let sound = claimed.filter { !$0.isDamaged }.map(\.number)
        #expect(sound == sound.sorted(), "the others keep their order")
        #expect(Set(claimed.map(\.number)) == [1, 2, 3, 4])
        await store.close(isInOrder: true)
    }

    @Test func `a push that damage moved to another line releases none of it`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        let keys = ["a", "a", "b", "b"]
        let pushes = try keys.enumerated().map { try OutboxPush.numbered(UInt64($0 + 1), orderKey: $1) }
        _ = try await store.accept(pushes, at: 10)
        await store.close(isInOrder: true)
        try damage(place, "order_key = 'b'", of: 1)
        store = try await place.open()
        let first = try await store.claimAll(at: 20)
        #expect(first.map(\.number) == [1, 2, 3] && first.map(\.isDamaged) == [true, false, false])
        try await store.settle([first[0].ended], at: 20)
        #expect(try await store.claimAll(at: 20).isEmpty)
        try await store.settle([first[2].ended], at: 20)
        #expect(try await store.claimAll(at: 20).map(\.number) == [4])
        await store.close(isInOrder: true)
    }

    @Test func `a push in the wrong urgency is sent`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        _ = try await store.accept((1...2).map { try OutboxPush.numbered($0) }, at: 10)
        await store.close(isInOrder: true)
        try damage(place, "urgency = 1")
        store = try await place.open()
        let claimed = try await store.claimAll(.orders, .powerAware, at: 10)
        #expect(claimed.map(\.number) == [2] && claimed.map(\.isDamaged) == [false])
        await store.close(isInOrder: true)
    }

    @Test func `a due time that the store changes is no damage`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        _ = try await store.accept((1...3).map { try OutboxPush.numbered($0, orderKey: "a") }, at: 1_000)
        // The first is postponed, the second waits behind it.
        let first = try #require(try await store.claimAll(at: 1_000).first)
        try await store.settle([first.postponed(until: 1_200, attempts: 1)], at: 1_100)
        // Without an orderly end the pushes count as possibly sent.
        await store.close(isInOrder: false)
        store = try await place.open()
        let again = try await store.claimAll(at: 1_200)
        #expect(again.map(\.number) == [1] && again.map(\.isDamaged) == [false])
        try await store.end(again[0], at: 1_300)
        #expect(try await store.claimAll(at: 1_300).map(\.isDamaged) == [false])
        await store.close(isInOrder: false)
        store = try await place.open()
        // The clock is behind the time of acceptance.
        _ = try await store.accept([.numbered(4)], at: 5_000)
        let claimed = try await store.claimAll(at: 4_000)
        #expect(claimed.map(\.number) == [2, 4] && claimed.allSatisfy { !$0.isDamaged })
        await store.close(isInOrder: false)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a push with every field is sound`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let store = try await place.open()
        var full = try OutboxPush.numbered(1, hasCallersID: true, expiresAt: 90_000, orderKey: "collapse é")
        full.headers = PushHeaders(
            pushType: "alert",
            expiration: "90",
            priority: "10",
            topic: "com.example.orders",
            collapseID: "é"
        )
        full.traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        var broadcast = try OutboxPush.numbered(2, .orderTests, payload: "")
        broadcast.destination = .channel(ChannelID("dHN0LXNyY2gtY2hubA=="), bundle: "com.example.orders")
        _ = try await store.accept([full, broadcast], at: 10)
        #expect(try await store.claimAll(at: 10).map(\.isDamaged) == [false])
        #expect(try await store.claimAll(.orderTests, at: 10).map(\.isDamaged) == [false])
        await store.close(isInOrder: true)
    }

    @Test(arguments: OutboxEngine.allCases)
    func `a damaged dead letter is not requeued`(engine: OutboxEngine) async throws {
        let store = try await engine.place().open()
        let pushes = try (1...2).map { try OutboxPush.numbered($0) }
        _ = try await store.accept(pushes, at: 10)
        let claimed = try await store.claimAll(at: 10)
        let outcome = Outcome(.dead, reason: Outcome.damagedReason)
        try await store.settle([Settlement(claimed[1], .ended(outcome))], at: 20)
        #expect(try await store.records.deadLetters(of: "orders", limit: 10).map(\.outcome) == [outcome])
        let counts = ["orders": DeadLetterCount(count: 0, newest: 0, damaged: 1)]
        #expect(try await store.records.deadLetterCounts() == counts)
        for ids in [nil, [pushes[1].id]] as [[APNsID]?] {
            #expect(try await store.requeueDeadLetters(ids, of: "orders", at: 30) == 0)
        }
        #expect(try await store.claimAll(at: 30).isEmpty)
        #expect(try await store.records.deadLetterCounts() == counts)
        await store.close(isInOrder: true)
    }

    @Test func `a file whose log is damaged is not opened`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await SQLiteOutbox(file: place.file)
        for number in 1...10 as ClosedRange<UInt64> {
            _ = try await store.accept([.numbered(number, payload: "push \(number) of ten")], at: 10)
        }
        let copy = try await place.afterCrash()
        await store.close(isInOrder: true)
        let log = URL(filePath: copy.file + "-wal")
        var content = try Data(contentsOf: log)
        // The first time that the fifth push was written; the commits of the others follow.
        let byte = try #require(content.range(of: Data("push 5 of ten".utf8))?.lowerBound)
        content[byte] ^= 1
        try content.write(to: log)
        do throws(OutboxError) {
            _ = try await SQLiteOutbox(file: copy.file, options: SQLiteOutbox.Options(retriesOpening: true))
            Issue.record("the damage was not found")
        } catch {
            #expect(error.kind == .damaged && error.description.contains("is damaged, and SQLite would"), "\(error)")
        }
        #expect(try Data(contentsOf: log) == content, "the log is kept")
        // Without the damage it is opened, with all pushes.
        content[byte] ^= 1
        try content.write(to: log)
        let whole = try await SQLiteOutbox(file: copy.file)
        #expect(try await whole.claimAll(at: 10).count == 10)
        await whole.close(isInOrder: true)
    }

    @Test func `PostgreSQL finds a push that has changed, and one that was damaged in a file`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let file = try await place.open()
        _ = try await file.accept([.numbered(1), .numbered(2)], at: 10)
        await file.close(isInOrder: true)
        try damage(place, "payload = x'00'")

        let database = try await OutboxEngine.postgresql.place()
        _ = try await OutboxMove(from: place.file, to: database.address).run(at: 10)
        let store = try await database.open()
        let moved = try await store.claimAll(at: 10)
        #expect(moved.map(\.isDamaged) == [false, true])
        _ = try await store.accept([.numbered(3), .numbered(4)], at: 20)
        try await database.ask("UPDATE martlet.push SET payload = payload || '!' WHERE accepted_at = 20")
        let changed = try await store.claimAll(at: 20)
        #expect(changed.map(\.isDamaged) == [true, true])
        let toUser = try OutboxPush.numbered(5, user: "anna")
        try await store.installations.enroll(Installation.numbered(1).with(Self.token))
        #expect(try await store.accept([toUser], at: 30) == [.accepted])
        try await database.ask("UPDATE martlet.push SET user_id = 'annb' WHERE is_to_user")
        #expect(try await store.claimAll(at: 30).map(\.isDamaged) == [true])
        await store.close(isInOrder: true)
    }

    @Test func `PostgreSQL marks an ordered push whose time has changed`() async throws {
        let place = try await OutboxEngine.postgresql.place()
        let store = try await place.open()
        _ = try await store.accept((1...2).map { try OutboxPush.numbered($0, orderKey: "a") }, at: 10)
        // No statement changes a generated column.
        try await place.ask("ALTER TABLE martlet.queue ALTER COLUMN ready_check DROP EXPRESSION")
        try await place.ask("UPDATE martlet.queue SET ready_check = NULL WHERE number = 1")
        try await place.ask("SELECT martlet.line_up(app, is_production, 0, 10) FROM martlet.queue LIMIT 1")
        try await place.ask("ALTER TABLE martlet.queue DROP COLUMN ready_check")
        try await place.ask(
            "ALTER TABLE martlet.queue ADD COLUMN ready_check bigint GENERATED ALWAYS AS (~ready_at) STORED"
        )
        let first = try await store.claimAll(at: 10)
        #expect(first.map(\.number) == [1] && first.allSatisfy(\.isDamaged))
        try await store.end(try #require(first.first), at: 11)
        let second = try await store.claimAll(at: 11)
        #expect(second.map(\.number) == [2] && second.allSatisfy { !$0.isDamaged })
        await store.close(isInOrder: true)
    }

    @Test func `PostgreSQL marks a push without a check of its time`() async throws {
        let place = try await OutboxEngine.postgresql.place()
        let store = try await place.open()
        _ = try await store.accept([.numbered(1)], at: 10)
        try await place.ask("ALTER TABLE martlet.queue ALTER COLUMN ready_check DROP EXPRESSION")
        try await place.ask("UPDATE martlet.queue SET ready_check = NULL")
        #expect(try await store.claimAll(at: 10).map(\.isDamaged) == [true])
        await store.close(isInOrder: true)
    }
}
