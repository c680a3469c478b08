// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

/// The surfaces of an outbox in a SQLite file.
struct SQLiteSurfaces: SurfaceStore {
    /// The outbox, whose transactions run the statements.
    let outbox: SQLiteOutbox
    var enqueued: (any EnqueuedSurfaceStore)? { nil }

    func put(
        _ surface: Surface,
        if condition: SurfacePrecondition,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange {
        try await outbox.change { (tables) throws(SQLiteError) in
            try SurfaceTable(tables.database).put(surface, if: condition, limit: limit, at: now)
        }
    }

    func withdraw(
        _ id: String,
        of app: String,
        if condition: SurfacePrecondition,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return .refused(nil) }
            return try SurfaceTable(tables.database).withdraw(id, app, if: condition, at: now)
        }
    }

    func removeUser(
        _ user: String,
        with installations: [InstallationID],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return }
            try SurfaceTable(tables.database).removeUser(user, installations, app, at: now)
        }
    }

    // MARK: Reading

    func surface(_ id: String, of app: String) async throws(OutboxError) -> StoredSurface? {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return nil }
            return try SurfaceTable(tables.database).all("id = ? AND app = ?", id, app).first
        }
    }

    func surfaces(of app: String, after number: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let condition = "app = ? AND number > ? ORDER BY number LIMIT ?"
            return try SurfaceTable(tables.database).all(condition, app, number, Int64(limit))
        }
    }

    func surfacesWithChannel(
        of app: String,
        after channel: String,
        limit: Int
    ) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let condition = "app = ? AND channel > ? AND withdrawn_at IS NULL ORDER BY channel LIMIT ?"
            return try SurfaceTable(tables.database).all(condition, app, channel, Int64(limit))
        }
    }

    func surfaceCounts() async throws(OutboxError) -> [String: Int] {
        try await outbox.read { (tables) throws(SQLiteError) in
            let rows = try tables.database.connection.prepare("SELECT name, surfaces FROM app WHERE surfaces > 0")
            var counts: [String: Int] = [:]
            while try rows.step() { counts[rows.text(at: 0)] = Int(rows.integer(at: 1)) }
            return counts
        }
    }

    func surfaces(
        for user: String,
        _ installation: InstallationID,
        of app: String
    ) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let condition = """
                number IN (
                    SELECT surface FROM surface_user WHERE app = ?1 AND user_id = ?2
                    UNION ALL
                    SELECT number FROM surface WHERE app = ?1 AND audience_kind = 'installation' AND audience = ?3
                ) AND withdrawn_at IS NULL ORDER BY number
                """
            return try SurfaceTable(tables.database).allWithoutContent(condition, app, user, installation.description)
        }
    }

    func surfacesWithExpression(of app: String) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let condition = "app = ? AND audience_kind = 'matching' AND withdrawn_at IS NULL ORDER BY number"
            return try SurfaceTable(tables.database).allWithoutContent(condition, app)
        }
    }

    func surfaces(on installation: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.read { (tables) throws(SQLiteError) in
            let condition = """
                number IN (SELECT surface FROM surface_session WHERE installation = ? AND revision > 0)
                AND withdrawn_at IS NULL ORDER BY changed_at DESC, number DESC LIMIT ?
                """
            return try SurfaceTable(tables.database).all(condition, installation, Int64(limit))
        }
    }

    func sessions(
        of surface: StoredSurface,
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [DueSession] {
        try await outbox.read { (tables) throws(SQLiteError) in
            let condition = "surface = ? AND installation > ? ORDER BY installation LIMIT ?"
            return try tables.sessions.all(condition, surface.number, installation, Int64(limit)).map { found in
                DueSession(session: found.session, surface: surface, installation: found.installation)
            }
        }
    }

    // MARK: Audiences

    func unfinishedSurfaces(limit: Int) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.read { (tables) throws(SQLiteError) in
            let waiting = try tables.database
                .waitingRows(of: "surface", where: "cursor IS NOT NULL", by: "changed_at", limit: limit)
            let found = try SurfaceTable(tables.database).all(OutboxDatabase.isListed, OutboxDatabase.list(waiting))
            let surfaces = Dictionary(found.map { ($0.number, $0) }) { first, _ in first }
            return waiting.compactMap { surfaces[$0] }
        }
    }

    func store(_ pages: [SurfacePage], at now: Int64) async throws(OutboxError) -> [Bool] {
        try await outbox.change { (tables) throws(SQLiteError) in
            var areStored: [Bool] = []
            for page in pages { areStored.append(try tables.sessions.store(page, at: now)) }
            return areStored
        }
    }

    func installationEvents(limit: Int) async throws(OutboxError) -> [InstallationEvent] {
        try await outbox.read { (tables) throws(SQLiteError) in try tables.sessions.events(limit: limit) }
    }

    func store(_ memberships: [SurfaceMembership], at now: Int64) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            for membership in memberships { try tables.sessions.store(membership, at: now) }
        }
    }

    // MARK: Steps

    func dueSessions(at now: Int64, limit: Int) async throws(OutboxError) -> [DueSession] {
        try await outbox.read { (tables) throws(SQLiteError) in
            let waiting = try tables.database
                .waitingRows(of: "surface_session", by: "due_at", until: now, limit: limit)
            return try tables.sessions
                .all("\(OutboxDatabase.isListed) ORDER BY due_at, number", OutboxDatabase.list(waiting))
        }
    }

    func store(_ steps: [SessionStep], at now: Int64) async throws(OutboxError) -> StoredSteps {
        guard !steps.isEmpty else { return StoredSteps() }
        return try await outbox.change { (tables) throws(SQLiteError) in
            var stored = StoredSteps()
            for step in steps {
                let result = try tables.sessions.store(step, with: tables.pushes, &stored.cancelled, at: now)
                stored.results.append(result)
            }
            return stored
        }
    }

    func recallSessions(dueAfter time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await outbox.change { (tables) throws(SQLiteError) in
            try tables.sessions.recall(dueAfter: time, at: now, limit: limit)
        }
    }

    func endSurfaces(withdrawnBefore time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await outbox.change { (tables) throws(SQLiteError) in
            try SurfaceTable(tables.database).end(withdrawnBefore: time, at: now, limit: limit)
        }
    }
}
