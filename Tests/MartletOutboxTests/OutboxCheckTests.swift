// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSQLite
import TestSupport
import Testing

/// Checks of whole outboxes, and what becomes of damaged files.
@Suite(.timeLimit(.minutes(10))) struct OutboxCheckTests {
    /// The pushes of a drill: of all urgencies, some scheduled, some with order keys.
    private func pushes(_ count: UInt64) throws -> [OutboxPush] {
        try (1...count).map { number in
            try OutboxPush.numbered(
                number,
                number.isMultiple(of: 4) ? .orderTests : .orders,
                priority: ["10", "5", "1"][Int(number % 3)],
                payload: #"{"aps":{"alert":"\#(String(repeating: "Order \(number) ", count: 9))"}}"#,
                notBefore: number.isMultiple(of: 5) ? 1 << 40 : nil,
                orderKey: number.isMultiple(of: 7) ? "collapse \(number % 3)" : nil
            )
        }
    }

    /// Claims and ends everything that becomes due, and returns it.
    private func sendAll(_ store: any OutboxStore) async throws -> [ClaimedPush] {
        var sent: [ClaimedPush] = []
        let end: Int64 = 1 << 41
        var hasMore = true
        while hasMore {
            hasMore = false
            for lane in [Lane.orders, .orderTests] {
                for urgency in Urgency.allCases {
                    let claimed = try await store.claimAll(lane, urgency, at: end)
                    let ended = claimed.map { Settlement(number: $0.number, .ended(Outcome(.delivered))) }
                    try await store.settle(ended, at: end)
                    sent += claimed
                    hasMore = hasMore || !claimed.isEmpty
                }
            }
        }
        return sent
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql])
    func `an outbox without damage is sound`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let store = try await place.open()
        _ = try await store.accept(try pushes(20), at: 10)
        let claimed = try await store.claimAll(at: 10)
        let dead = try #require(claimed.first)
        try await store.settle([Settlement(number: dead.number, .ended(Outcome(.dead)))], at: 20)
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

    /// The kinds of damage of a drill.
    enum Damage: String, CaseIterable {
        case bit
        case page
    }

    @Test(arguments: Damage.allCases, [1, 2, 3] as [UInt64])
    func `damage at 30 random places is reported or has no effect`(damage: Damage, seed: UInt64) async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await SQLiteOutbox(file: place.file)
        let pushes = try pushes(120)
        for start in stride(from: 0, to: 120, by: 10) {
            _ = try await store.accept(Array(pushes[start..<start + 10]), at: 10)
        }
        // Damage in the last commits of a log cannot be told from a crash.
        for cursor in 1...5 as ClosedRange<Int64> { try await store.records.setCursor(cursor, of: "reader") }
        var random = SplitMix64(state: seed)
        for round in 0..<30 {
            let copy = try await place.afterCrash()
            if round.isMultiple(of: 2) {
                try change(copy.file + "-wal", damage, &random)
            } else {
                // Moves the content of the log into the file.
                try Connection(path: copy.file).restartLog()
                try change(copy.file, damage, &random)
            }
            let isReported = (try? OutboxCheck.run(on: copy.location))?.isSound != true
            // A relay that refuses the file reports the damage, too.
            guard let reopened = try? await SQLiteOutbox(file: copy.file) else { continue }
            let sent = (try? await sendAll(reopened)) ?? []
            await reopened.close(isInOrder: true)
            let sound = Set(sent.filter { !$0.isDamaged }.map(\.push.withoutStoredParts))
            let expected = Set(pushes.map(\.withoutStoredParts))
            #expect(sound.isSubset(of: expected), "\(damage) \(seed) \(round): a damaged push was sent")
            #expect(isReported || sound == expected, "\(damage) \(seed) \(round): a missing push was not reported")
        }
        await store.close(isInOrder: true)
    }

    /// Flips a bit of a file, or fills one of its pages with zeros.
    private func change(_ file: String, _ damage: Damage, _ random: inout SplitMix64) throws {
        let url = URL(filePath: file)
        var content = try Data(contentsOf: url)
        try #require(!content.isEmpty)
        let byte = Int.random(in: 0..<content.count, using: &random)
        switch damage {
        case .bit:
            content[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .page:
            let start = byte / 4_096 * 4_096
            let end = min(start + 4_096, content.count)
            content.replaceSubrange(start..<end, with: Data(count: end - start))
        }
        try content.write(to: url)
    }
}

extension OutboxPush {
    /// The push without the values that a claim does not return.
    fileprivate var withoutStoredParts: OutboxPush {
        var push = self
        push.notBefore = nil
        return push
    }
}
