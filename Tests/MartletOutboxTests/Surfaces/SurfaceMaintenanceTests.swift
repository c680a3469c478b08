// SPDX-License-Identifier: Apache-2.0

import MartletCore
import MartletOutbox
import MartletSQLite
import TestSupport
import Testing

/// Surfaces in checks and backups, and in a file with very many of them.
@Suite(.timeLimit(.minutes(10))) struct SurfaceMaintenanceTests {
    /// Stores a surface with a session on a new phone, with the result of a push.
    private func makeSession(in outbox: any OutboxStore) async throws -> DueSession {
        let phone = try await outbox.installations.add(.numbered(1).with("aa"))
        let stored = try await outbox.surfaces.putNew(.numbered(1))
        #expect(try await outbox.surfaces.finish(stored, on: [phone]))
        let due = try await outbox.surfaces.session(of: stored)
        #expect(try await outbox.surfaces.store(due, pushes: [.numbered(1), .numbered(2)]) == .stored)
        for push in try await outbox.claim(.orders, .immediate, limit: 1, at: 20).pushes {
            try await outbox.end(push, at: 20)
        }
        return try await outbox.surfaces.session(of: stored)
    }

    @Test(arguments: [OutboxEngine.sqlite, .postgresql])
    func `a check counts the surfaces and their sessions`(engine: OutboxEngine) async throws {
        let place = try await engine.place()
        let outbox = try await place.open()
        _ = try await makeSession(in: outbox)
        try await outbox.surfaces.putNew(.numbered(2))
        await outbox.close(isInOrder: true)
        let check = try OutboxCheck.run(on: place.location)
        #expect(check.isSound && check.surfaces == 2 && check.sessions == 1, "\(check)")
    }

    @Test(arguments: OutboxEngine.allCases)
    func `sessions that are due too late are recalled`(engine: OutboxEngine) async throws {
        let outbox = try await engine.place().open()
        let surfaces = outbox.surfaces
        for (number, dueAt) in [(1, 1_000), (2, nil), (3, 900), (4, 5_000)] as [(Int, Int64?)] {
            let app = number == 4 ? "rides" : "orders"
            let phone = try await outbox.installations.add(.numbered(UInt64(number), app: app))
            let stored = try await surfaces.putNew(.numbered(number, app: app))
            #expect(try await surfaces.finish(stored, on: [phone]))
            #expect(try await surfaces.store(try await surfaces.session(of: stored), dueAt: dueAt) == .stored)
        }
        #expect(try await surfaces.recallSessions(dueAfter: 5_000, at: 20, limit: 9) == 0)
        #expect(try await surfaces.recallSessions(dueAfter: 900, at: 20, limit: 1) == 1)
        #expect(try await surfaces.recallSessions(dueAfter: 900, at: 20, limit: 9) == 1)
        let due = try await surfaces.dueSessions(at: 20, limit: 9)
        #expect(due.map(\.surface.surface.id).sorted() == ["order-1", "order-4"])
        #expect(try await surfaces.dueSessions(at: .max, limit: 9).count == 3, "the second waits for a change")
        await outbox.close(isInOrder: true)
    }

    @Test func `a check finds a session without its surface`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let outbox = try await place.open()
        _ = try await makeSession(in: outbox)
        await outbox.close(isInOrder: true)
        try Connection(path: place.file).execute("UPDATE surface_session SET surface = 9")
        let problems = try OutboxCheck.run(on: place.location).problems
        #expect(problems == ["the number of sessions without a surface or an installation is 1"])
    }

    @Test func `a backup has the surfaces and their sessions`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        let outbox = try await place.open()
        let session = try await makeSession(in: outbox)
        try await outbox.installations.report("bb", of: session.installation.installation.id, at: 30)
        let changed = try await outbox.surfaces.session(of: session.surface)
        let file = try #require(outbox.localFile)
        let path = try await file.backUp()
        await outbox.close(isInOrder: true)
        let copy = try await SQLiteOutbox(file: path)
        #expect(try await copy.surfaces.session(of: session.surface) == changed)
        #expect(try await copy.surfaces.event().installation == changed.installation)
        for push in try await copy.claimAll(at: 40) { try await copy.end(push, at: 40) }
        #expect(try await copy.surfaces.session(of: session.surface).session.results.count == 2)
        await copy.close(isInOrder: true)
    }

    @Test func `a file with a surface on phones is not moved`() async throws {
        let source = try await OutboxEngine.sqlite.place()
        var file = try await source.open()
        let session = try await makeSession(in: file)
        await file.close(isInOrder: true)
        let target = try await OutboxEngine.postgresql.place()
        for isWithdrawn in [false, true] {
            let refused = await #expect(throws: OutboxError.self) {
                try await OutboxMove(from: source.file, to: target.address).run(at: 60_000)
            }
            let isNamed = refused?.description.contains("the surface order-1 of the app orders may be on phones")
            #expect(isNamed == true && refused?.kind == .refused, "\(isWithdrawn)")
            file = try await source.open()
            if isWithdrawn {
                // Its session is removed with it.
                #expect(try await file.installations.remove(session.installation.installation.id, of: "orders"))
            } else {
                _ = try await file.surfaces.withdraw("order-1", of: "orders", if: .none, at: 70_000)
            }
            await file.close(isInOrder: true)
        }
        #expect(try await OutboxMove(from: source.file, to: target.address).run(at: 71_000).pushes == 1)
    }

    @Test func `very many sessions leave in several pages`() async throws {
        let place = try await OutboxEngine.sqlite.place()
        var outbox = try await place.open()
        let stored = try await outbox.surfaces.putNew(.numbered(1))
        #expect(try await outbox.surfaces.finish(stored, on: []))
        await outbox.close(isInOrder: true)
        try Connection(path: place.file).execute(
            """
            INSERT INTO surface_session (surface, installation, app, revision, version, state)
            WITH RECURSIVE phone (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM phone WHERE number < 1500)
            SELECT 1, number, 1, 1, 0, x'' FROM phone
            """
        )
        outbox = try await place.open()
        _ = try await outbox.surfaces.withdraw("order-1", of: "orders", if: .none, at: 20)
        #expect(try await outbox.surfaces.finish(stored, on: []))
        #expect(try await outbox.surfaces.unfinishedSurfaces(limit: 9).map(\.number) == [stored.number])
        #expect(try await outbox.surfaces.finish(stored, on: []))
        #expect(try await outbox.surfaces.unfinishedSurfaces(limit: 9).isEmpty)
        await outbox.close(isInOrder: true)
        let rest = try Connection(path: place.file)
            .prepare("SELECT count(*) FROM surface_session WHERE revision <> 0 OR due_at IS NULL")
        let hasRow = try rest.step()
        let count = rest.integer(at: 0)
        #expect(hasRow && count == 0)
    }
}
