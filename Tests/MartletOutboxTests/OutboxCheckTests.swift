// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSQLite
import TestSupport
import Testing

/// Checks of whole outboxes.
@Suite(.timeLimit(.minutes(10))) struct OutboxCheckTests {
    @Test(arguments: OutboxEngine.stores)
    func `an outbox without damage is sound`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let store = try await place.open()
        _ = try await store.accept(try OutboxPush.varied(20), at: 10)
        let claimed = try await store.claimAll(at: 10)
        let dead = try #require(claimed.first)
        try await store.settle([Settlement(dead, .ended(Outcome(.dead)))], at: 20)
        try await store.end(claimed[1], at: 20)
        await store.close(isInOrder: true)
        let check = try OutboxCheck.run(on: place.location)
        #expect(check.isSound, "\(check)")
        #expect(check.waiting == 18 && check.deadLetters == 1 && check.outcomes == 2)
    }

    @Test(
        arguments: [
            ("payload = x'00'", [.content]), ("checksum = NULL", [.content]),
            ("environment = 'qroduction'", [.content]), ("app = 9", [.content]), ("ready_at = 3", [.dueTime]),
            ("urgency = 7", [.urgency]), ("ready_at = NULL, ready_check = NULL", [.place]),
            ("order_key = 'collapse a'", [.content]),
        ] as [(String, [OutboxCheck.Part])]
    )
    func `a check names the damaged push and its part`(change: String, parts: [OutboxCheck.Part]) async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        let pushes = try (1...3).map { try OutboxPush.numbered($0) }
        _ = try await store.accept(pushes, at: 10)
        await store.close(isInOrder: true)
        try Connection(path: place.file).execute("UPDATE push SET \(change) WHERE number = 2")
        let before = try place.contents()
        let check = try OutboxCheck.run(on: place.location)
        #expect(check.damaged == 1 && check.problems.isEmpty, "\(check)")
        #expect(check.damagedPushes.map(\.id) == [pushes[1].id] && check.damagedPushes.map(\.parts) == [parts])
        #expect(try place.contents() == before, "the files are unchanged")
    }

    @Test(
        arguments: [
            ("martlet.push SET payload = '!'", .content),
            ("martlet.push SET is_production = false", .content), ("martlet.queue SET urgency = 2", .urgency),
            ("martlet.queue SET order_key = 'a'", .place),
        ] as [(String, OutboxCheck.Part)]
    )
    func `a check names the damaged push of a database`(change: String, part: OutboxCheck.Part) async throws {
        let place = try await OutboxEngine.postgresql.place()
        let store = try await place.open()
        _ = try await store.accept((1...3).map { try OutboxPush.numbered($0) }, at: 10)
        try await place.ask("UPDATE \(change) WHERE number = 2")
        let check = try OutboxCheck.run(on: place.location)
        #expect(check.damaged == 1 && check.problems.isEmpty && check.waiting == 3, "\(check)")
        #expect(check.damagedPushes.first?.parts.first == part)
        await store.close(isInOrder: true)
    }

    @Test func `the file of a running relay is not checked`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        let error = #expect(throws: OutboxError.self) { try OutboxCheck.run(on: place.location) }
        #expect(error?.kind == .inUse)
        await store.close(isInOrder: true)
    }

    @Test func `a file of another version is not checked`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        await store.close(isInOrder: true)
        try Connection(path: place.file).execute("PRAGMA user_version = 2")
        let error = #expect(throws: OutboxError.self) { try OutboxCheck.run(on: place.location) }
        #expect(error?.kind == .unavailable)
        #expect(error?.description.hasPrefix("the tables of the file have version 2,") == true)
    }
}
