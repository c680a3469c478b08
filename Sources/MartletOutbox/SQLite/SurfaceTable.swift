// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

/// The surfaces of an outbox, with the users of their audiences.
struct SurfaceTable {
    /// The new values of a surface that is withdrawn at a time, `?1`.
    private static let withdrawal = "withdrawn_at = ?1, changed_at = ?1, revision = revision + 1, cursor = 0"

    private let database: OutboxDatabase

    init(_ database: OutboxDatabase) {
        self.database = database
    }

    /// Returns the surfaces that a condition selects.
    func all<each Value: Bindable>(
        _ condition: String,
        _ values: repeat each Value
    ) throws(SQLiteError) -> [StoredSurface] {
        let rows = try database.connection.prepare("SELECT \(SurfaceRow.columns) FROM surface WHERE \(condition)")
        try rows.bind(repeat each values)
        return try rows.all { surface($0) }
    }

    /// Returns the surfaces that a condition selects, without their content.
    func allWithoutContent<each Value: Bindable>(
        _ condition: String,
        _ values: repeat each Value
    ) throws(SQLiteError) -> [StoredSurface] {
        let columns = SurfaceRow.columnsWithoutContent(empty: "x''")
        let rows = try database.connection.prepare("SELECT \(columns) FROM surface WHERE \(condition)")
        try rows.bind(repeat each values)
        return try rows.all { surface($0) }
    }

    private func surface(_ row: borrowing Statement) -> StoredSurface {
        StoredSurface(row, app: database.name(of: row.integer(at: 1)))
    }

    /// Stores a surface, unless it changes nothing, does not meet the condition, has the channel of another one, or is
    /// one too many of its app.
    func put(
        _ surface: Surface,
        if condition: SurfacePrecondition,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> SurfaceChange {
        let app = try database.number(of: surface.app)
        let stored = try all("id = ? AND app = ?", surface.id, app).first
        guard condition.allows(stored) else { return .refused(stored) }
        if let stored, stored.shows(surface) { return .unchanged(stored) }
        if let other = try otherSurface(onChannelOf: surface, app) { return .channelInUse(by: other) }
        let isShown = stored.map { $0.withdrawnAt == nil } ?? false
        if !isShown, try count(of: app) >= limit { return .full }
        guard let changed = try store(surface, app, at: now) else { return .refused(stored) }
        try database.connection.prepare("DELETE FROM surface_user WHERE surface = ?").run(with: changed.number)
        guard case .users(let users) = surface.audience else { return .changed(changed) }
        let row = try database.connection.prepare(
            "INSERT OR IGNORE INTO surface_user (app, user_id, surface) VALUES (?, ?, ?)"
        )
        for user in users { try row.run(with: app, user, changed.number) }
        return .changed(changed)
    }

    /// Returns the identifier of another surface that has the channel and is not withdrawn; nil without one.
    private func otherSurface(onChannelOf surface: Surface, _ app: Int64) throws(SQLiteError) -> String? {
        guard let channel = surface.channel else { return nil }
        let row = try database.connection.prepare(
            "SELECT id FROM surface WHERE app = ? AND channel = ? AND withdrawn_at IS NULL AND id <> ?"
        )
        try row.bind(app, channel, surface.id)
        return try row.all { $0.text(at: 0) }.first
    }

    /// Returns the number of surfaces of an app that are not withdrawn.
    private func count(of app: Int64) throws(SQLiteError) -> Int {
        let row = try database.connection.prepare("SELECT surfaces FROM app WHERE number = ?")
        try row.bind(app)
        return try row.all { Int($0.integer(at: 0)) }.first ?? 0
    }

    private func store(_ surface: Surface, _ app: Int64, at now: Int64) throws(SQLiteError) -> StoredSurface? {
        let row = try database.connection.prepare(
            """
            INSERT INTO surface (
                app, id, caller, audience_kind, audience, request, fingerprint, ends_at, created_at, changed_at,
                channel, revision, cursor
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?9, ?9, ?10, 1, 0)
            ON CONFLICT (id, app) DO UPDATE SET
                caller = excluded.caller, audience_kind = excluded.audience_kind, audience = excluded.audience,
                request = excluded.request, fingerprint = excluded.fingerprint, ends_at = excluded.ends_at,
                changed_at = excluded.changed_at, channel = excluded.channel, withdrawn_at = NULL,
                revision = revision + 1, cursor = 0
            RETURNING \(SurfaceRow.columns)
            """
        )
        let audience = surface.audience.columns
        try row.bind(
            app,
            surface.id,
            surface.caller,
            audience.kind,
            audience.text,
            surface.request,
            surface.fingerprint,
            surface.endsAt,
            now,
            surface.channel
        )
        return try row.all { self.surface($0) }.first
    }

    /// Withdraws a surface, unless it is unknown, does not meet the condition or is withdrawn.
    func withdraw(
        _ id: String,
        _ app: Int64,
        if condition: SurfacePrecondition,
        at now: Int64
    ) throws(SQLiteError) -> SurfaceChange {
        let found = try all("id = ? AND app = ?", id, app).first
        guard let stored = found, condition.allows(stored) else { return .refused(found) }
        guard stored.withdrawnAt == nil else { return .unchanged(stored) }
        let row = try database.connection.prepare(
            "UPDATE surface SET \(Self.withdrawal) WHERE number = ?2 RETURNING \(SurfaceRow.columns)"
        )
        try row.bind(now, stored.number)
        return try row.all { surface($0) }.first.map(SurfaceChange.changed) ?? .refused(nil)
    }

    /// Removes a user with installations from audiences; withdraws a surface whose audience is empty then, and deletes
    /// it without sessions.
    func removeUser(
        _ user: String,
        _ installations: [InstallationID],
        _ app: Int64,
        at now: Int64
    ) throws(SQLiteError) {
        let condition = """
            number IN (
                SELECT surface FROM surface_user WHERE app = ?1 AND user_id = ?2
                UNION ALL
                SELECT number FROM surface WHERE app = ?1 AND audience_kind = 'installation'
                    AND audience IN (SELECT value FROM json_each(?3))
            )
            """
        let named = try all(condition, app, user, InstallationRow.text(of: installations.map(\.description)))
        let change = try database.connection.prepare(
            "UPDATE surface SET audience_kind = 'users', audience = ? WHERE number = ?"
        )
        let withdraw = try database.connection.prepare(
            "UPDATE surface SET \(Self.withdrawal) WHERE number = ?2 AND withdrawn_at IS NULL"
        )
        let delete = try database.connection.prepare(
            """
            DELETE FROM surface WHERE number = ?1
                AND NOT EXISTS (SELECT 1 FROM surface_session WHERE surface = ?1)
            """
        )
        let clear = try database.connection.prepare(
            "UPDATE surface SET request = x'', fingerprint = x'' WHERE number = ?"
        )
        for stored in named {
            let users: [String] = if case .users(let names) = stored.surface.audience { names } else { [] }
            let others = users.filter { !$0.utf8.elementsEqual(user.utf8) }
            try change.run(with: SurfaceAudience.users(others).columns.text, stored.number)
            guard others.isEmpty else { continue }
            try withdraw.run(with: now, stored.number)
            try delete.run(with: stored.number)
            try clear.run(with: stored.number)
        }
        try database.connection.prepare("DELETE FROM surface_user WHERE app = ? AND user_id = ?").run(with: app, user)
    }

    /// Withdraws surfaces that have ended, deletes old ones without sessions, and returns the number of both.
    func end(withdrawnBefore time: Int64, at now: Int64, limit: Int) throws(SQLiteError) -> Int {
        try database.connection.prepare(
            """
            UPDATE surface SET \(Self.withdrawal) WHERE number IN (
                SELECT number FROM surface WHERE withdrawn_at IS NULL AND ends_at <= ?1
                ORDER BY ends_at, number LIMIT ?2
            )
            """
        ).run(with: now, Int64(limit))
        let withdrawn = database.connection.changes
        try database.connection.prepare(
            """
            DELETE FROM surface WHERE number IN (
                SELECT number FROM surface s WHERE withdrawn_at < ?
                    AND NOT EXISTS (SELECT 1 FROM surface_session WHERE surface = s.number)
                ORDER BY withdrawn_at, number LIMIT ?
            )
            """
        ).run(with: time, Int64(limit - withdrawn))
        return withdrawn + database.connection.changes
    }
}
