// SPDX-License-Identifier: Apache-2.0

import Foundation
import MartletCore
import MartletOutbox
import MartletSQLite
import TestSupport
import Testing

/// Drills with files of waiting pushes that a failing disk or a bad copy has damaged.
@Suite(.timeLimit(.minutes(10))) struct DamageDrillTests {
    enum Damage: CaseIterable {
        case bit
        case page
    }

    enum Target: CaseIterable {
        case file
        case log
    }

    @Test(arguments: Damage.allCases, Target.allCases)
    func `damage at 25 random places loses no push in silence`(damage: Damage, target: Target) async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await SQLiteOutbox(file: place.file)
        let pushes = try OutboxPush.varied(60)
        for start in stride(from: 0, to: 60, by: 10) {
            _ = try await store.accept(Array(pushes[start..<start + 10]), at: 10)
        }
        // Damage in the last commits of a log cannot be told from a crash.
        for cursor in 1...5 as ClosedRange<Int64> { try await store.records.setCursor(cursor, of: "reader") }
        let expected = Set(pushes.map(\.withoutStoredParts))
        var random = SplitMix64(state: 1)
        for round in 0..<25 {
            let copy = try await place.afterCrash()
            // Moves the content of the log into the file.
            if target == .file { try Connection(path: copy.file).restartLog() }
            try change(target == .file ? copy.file : copy.file + "-wal", damage, &random)
            let isSound = (try? OutboxCheck.run(on: copy.location))?.isSound == true
            let (claimed, error) = await sendAll(copy.file)
            let sent = Set(claimed.filter { !$0.isDamaged }.map(\.push.withoutStoredParts))
            #expect(sent.isSubset(of: expected), "\(damage) \(target) \(round): a damaged push was sent")
            let damaged = Set(claimed.filter(\.isDamaged).map(\.number))
            let missing = pushes.enumerated().filter { index, push in
                !sent.contains(push.withoutStoredParts) && !damaged.contains(Int64(index + 1))
            }
            #expect(
                missing.isEmpty || error != nil || !isSound,
                "\(damage) \(target) \(round): \(missing.map { $0.offset + 1 }) are missing and not reported"
            )
        }
        await store.close(isInOrder: true)
    }

    @Test func `a flipped bit of an order key, in a row or in the index, holds no push`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        _ = try await store.accept(try (1...3).map { try OutboxPush.numbered($0, orderKey: "collapse a") }, at: 10)
        await store.close(isInOrder: true)
        let content = try Data(contentsOf: URL(filePath: place.file))
        var start = content.startIndex
        var count = 0
        while let found = content.range(of: Data("collapse a".utf8), in: start..<content.endIndex) {
            start = found.upperBound
            count += 1
            let copy = try await OutboxEngine.sqlite.place()
            var damaged = content
            damaged[found.upperBound - 1] ^= 2
            try damaged.write(to: URL(filePath: copy.file))
            let (claimed, error) = await sendAll(copy.file)
            #expect(error == nil, "place \(count)")
            #expect(Set(claimed.map(\.number)) == [1, 2, 3], "place \(count)")
            let sent = claimed.filter { !$0.isDamaged }.map(\.number)
            #expect(sent.count >= 2 && sent == sent.sorted(), "place \(count): \(sent)")
        }
        #expect(count >= 6, "three rows and their entries in the index")
    }

    @Test func `a relay continues after the repair of an index`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        _ = try await store.accept(try (1...3).map { try OutboxPush.numbered($0, expiresAt: 0x4d61_7274_6c65) }, at: 10)
        await store.close(isInOrder: true)
        var content = try Data(contentsOf: URL(filePath: place.file))
        // The rows come before the indexes, so this is an entry of the index by expiry.
        let last = try #require(content.range(of: Data("Martle".utf8), options: .backwards))
        content[last.lowerBound] ^= 1
        try content.write(to: URL(filePath: place.file))
        #expect(try !OutboxCheck.run(on: place.location).isSound)
        let (claimed, error) = await sendAll(place.file)
        #expect(error == nil && claimed.map(\.number) == [1, 2, 3] && claimed.allSatisfy { !$0.isDamaged })
        #expect(try OutboxCheck.run(on: place.location).isSound)
    }

    /// Opens a file, and claims and ends everything; returns the claimed pushes, and the error that stopped it.
    private func sendAll(_ file: String) async -> (claimed: [ClaimedPush], error: OutboxError?) {
        let store: SQLiteOutbox
        do throws(OutboxError) {
            store = try await SQLiteOutbox(file: file)
        } catch {
            return ([], error)
        }
        var claimed: [ClaimedPush] = []
        var failure: OutboxError?
        do throws(OutboxError) {
            var hasMore = true
            while hasMore {
                let start = claimed.count
                for lane in [Lane.orders, .orderTests] {
                    for urgency in Urgency.allCases {
                        claimed += try await store.claim(lane, urgency, limit: 1_000, at: 1 << 41).pushes
                    }
                }
                try await store.settle(claimed[start...].map(\.ended), at: 1 << 41)
                hasMore = claimed.count > start
            }
        } catch {
            failure = error
        }
        await store.close(isInOrder: true)
        return (claimed, failure)
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
