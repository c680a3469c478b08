// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletSQLite
import TestSupport
import Testing

@testable import MartletOutbox

/// Tests of the SQLite engine beyond those of all engines.
@Suite struct SQLiteOutboxTests {
    @Test(arguments: [false, true])
    func `waiting pushes are claimed after the clock is set back`(isReopened: Bool) async throws {
        let place = try await OutboxEngine.sqlite.place()
        var store = try await place.open()
        let waiting = try (1...10).map { try OutboxPush.numbered($0) }
        let scheduled = try OutboxPush.numbered(11, notBefore: 90_000)
        _ = try await store.accept(waiting + [scheduled], at: 80_000)
        let claimed = try await store.claim(.orders, .immediate, limit: 3, at: 80_000).pushes
        if isReopened {
            await store.close(isInOrder: true)
            store = try await place.open()
        }
        var ids = isReopened ? [] : claimed.map(\.push.id)
        var nextDue: Int64?
        repeat {
            let claim = try await store.claim(.orders, .immediate, limit: 4, at: 50_000)
            ids += claim.pushes.map(\.push.id)
            nextDue = claim.nextDue
        } while nextDue.map { $0 <= 50_000 } ?? false
        #expect(ids == waiting.map(\.id) && nextDue == 90_000)
        #expect(try await store.claimAll(at: 90_000).map(\.push.id) == [scheduled.id])
        #expect(try await store.claimAll(at: 100_000).isEmpty)
    }

    @Test func `a file with tables of another version is refused`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        await store.close(isInOrder: true)
        try Connection(path: place.file).setUserVersion(6)
        let words = "have version 6, and this program uses version 1: use a new file, or the version of Martlet"
        let error = await #expect(throws: OutboxError.self) { _ = try await place.open() }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `the search for expired pushes does not read dead letters`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        _ = try await store.accept([.numbered(1, expiresAt: 60), .numbered(2, expiresAt: 70)], at: 10)
        try await store.end(store.claimAll(at: 10)[0], .dead, at: 20)
        await store.close(isInOrder: true)
        let file = try Connection(path: place.file)
        let entries = try file.prepare(
            """
            SELECT COUNT(*) FROM push INDEXED BY push_expiry
            WHERE expires_at <= 1000 AND (ready_at IS NOT NULL OR is_in_line = 1)
            """
        )
        #expect(try entries.step() && entries.integer(at: 0) == 1)
        let plan = try file.prepare(
            """
            EXPLAIN QUERY PLAN SELECT number FROM push
            WHERE expires_at <= 1000 AND (ready_at IS NOT NULL OR is_in_line = 1) ORDER BY expires_at
            """
        )
        #expect(try plan.step() && plan.text(at: 3).contains("USING INDEX push_expiry"))
    }

    @Test func `a search by token reads the pushes with its last byte only`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        _ = try await store.accept([.numbered(1)], at: 10)
        await store.close(isInOrder: true)
        let plan = try Connection(path: place.file).prepare(
            """
            EXPLAIN QUERY PLAN SELECT number, apns_id FROM push INDEXED BY push_token
            WHERE substr(token, -2) = ? AND +token = ? AND token IS NOT NULL AND app = ? AND number > ?
            ORDER BY number LIMIT ?
            """
        )
        #expect(try plan.step() && plan.text(at: 3) == "SEARCH push USING INDEX push_token (<expr>=? AND rowid>?)")
        #expect(try plan.step() == false, "nothing is sorted")
    }

    @Test func `a page of the pushes of a user is a range of an index`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let store = try await place.open()
        await store.close(isInOrder: true)
        let ranges: [(PushSelection, String)] = [
            (.user("anna"), "push_user (user_id=? AND rowid>?)"),
            (.tokenWithoutUser(try DeviceToken(hex: "aabb")), "push_token (<expr>=? AND rowid>?)"),
        ]
        for (selection, range) in ranges {
            let plan = try Connection(path: place.file).prepare(
                """
                EXPLAIN QUERY PLAN SELECT number, apns_id, \(selection.fileCondition)
                FROM \(selection.fileRows) AND number > ?3 ORDER BY number LIMIT ?4
                """
            )
            #expect(try plan.step() && plan.text(at: 3) == "SEARCH push USING INDEX \(range)")
            #expect(try plan.step() == false, "nothing is sorted")
        }
    }

    /// Opens an outbox in which 600 pushes of one app are claimed, and returns it with their results.
    private func outboxWithResults(at file: String) async throws -> (SQLiteOutbox, [Settlement]) {
        let outbox = try await SQLiteOutbox(file: file, options: SQLiteOutbox.Options(durability: .relaxed))
        let pushes = try (1...600).map { try OutboxPush.numbered($0) }
        _ = try await outbox.accept(pushes, at: 10)
        let claimed = try await outbox.claimAll(at: 10)
        return (outbox, claimed.map(\.ended))
    }

    @Test func `a commit has at most 250 results`() async throws {
        let directory = try ScratchDirectory()
        let (outbox, results) = try await outboxWithResults(at: directory.path + "/outbox.sqlite")
        let push = try OutboxPush.numbered(601, .rides)
        try await outbox.settle(results, by: 100) { outbox in
            _ = try await outbox.accept([HashedPush(push)], at: 20)
        }
        #expect(try await outbox.backlog().map(\.lane) == [.rides])
        // The first one stored the 600 pushes.
        #expect(await outbox.measures.commitSizes.counts.reduce(0, +) == 1 + 3)
        await outbox.close(isInOrder: true)
    }

    @Test func `all results that wait are stored when an outbox is closed`() async throws {
        let directory = try ScratchDirectory()
        let file = directory.path + "/outbox.sqlite"
        let (outbox, results) = try await outboxWithResults(at: file)
        try await outbox.settle(results, by: 100) { $0.close(isInOrder: true) }
        let opened = try await SQLiteOutbox(file: file)
        #expect(try await opened.claimAll(at: 30).isEmpty)
        await opened.close(isInOrder: true)
    }
}

extension SQLiteOutbox {
    /// Stores results in groups, and then makes another call; all calls arrive in this order, in one turn of the loop.
    ///
    /// Their answers arrive in any order, because the tasks go on in parallel.
    fileprivate func settle(
        _ results: [Settlement],
        by size: Int,
        _ last: @escaping @Sendable (isolated SQLiteOutbox) async throws -> Void
    ) async throws {
        var calls: [Task<Void, any Error>] = []
        for start in stride(from: 0, to: results.count, by: size) {
            let group = Array(results[start..<min(start + size, results.count)])
            calls.append(Task { try await self.settle(group, at: 20) })
        }
        calls.append(Task { try await last(self) })
        for call in calls { try await call.value }
    }
}
