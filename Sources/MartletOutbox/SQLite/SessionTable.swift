// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The sessions of surfaces on installations, and the events of installations whose audiences may have changed.
final class SessionTable {
    /// The maximum number of sessions that one page makes due because their installations have left the audience.
    private static let leavingLimit = 1_000
    /// The values of a session that is due at a time, `?1`, unless it was due before.
    private static let due = due(at: "?1")
    /// Stores that an installation has left the audience at a time, `?1`.
    private static let leaving = "UPDATE surface_session SET revision = 0, \(due)"

    private let database: OutboxDatabase
    private let addResult: Statement
    private let changeState: Statement

    /// Prepares the statements that ends of pushes, and steps, need.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        self.database = database
        addResult = try database.connection.prepare(
            """
            UPDATE surface_session SET results = coalesce(results, '') || ?, due_at = coalesce(min(due_at, ?), ?),
                version = version + 1
            WHERE number = ?
            """
        )
        changeState = try database.connection.prepare(
            """
            UPDATE surface_session SET state = ?, results = NULL, due_at = ?, is_reachable = ?, version = version + 1
            WHERE number = ? AND version = ?
            """
        )
    }

    /// Adds the result of a push to its session, unless the session was removed.
    func add(_ result: SessionResult, to session: Int64) throws(SQLiteError) {
        try addResult.run(with: result.line, result.dueAt, result.endedAt, session)
    }

    // MARK: Reading

    /// Returns the sessions that a condition selects, with their surfaces and installations.
    func all<each Value: Bindable>(
        _ condition: String,
        _ values: repeat each Value
    ) throws(SQLiteError) -> [DueSession] {
        let rows = try database.connection.prepare(
            "SELECT \(SurfaceRow.sessionColumns) FROM surface_session WHERE \(condition)"
        )
        try rows.bind(repeat each values)
        let sessions = try rows.all { StoredSession($0) }
        let surfaces = try SurfaceTable(database)
            .all(OutboxDatabase.isListed, OutboxDatabase.list(sessions.map(\.surface)))
        let surfacesByNumber = Dictionary(surfaces.map { ($0.number, $0) }) { first, _ in first }
        let installations = try installations(sessions.map(\.installation))
        return sessions.compactMap { session in
            guard let surface = surfacesByNumber[session.surface],
                let installation = installations[session.installation]
            else { return nil }
            return DueSession(session: session, surface: surface, installation: installation)
        }
    }

    /// Returns the surface and the installation of a session; nil once it was removed.
    func place(of session: Int64) throws(SQLiteError) -> SessionPlace? {
        let rows = try database.connection.prepare(
            """
            SELECT f.app, f.id, i.id FROM surface_session s JOIN surface f ON f.number = s.surface
            JOIN installation i ON i.number = s.installation WHERE s.number = ?
            """
        )
        try rows.bind(session)
        guard try rows.step(), let installation = InstallationID(bytes: rows.blob(at: 2)) else { return nil }
        let app = database.name(of: rows.integer(at: 0))
        return SessionPlace(app: app, surface: rows.text(at: 1), installation: installation)
    }

    /// Returns events, of which the apps take turns.
    func events(limit: Int) throws(SQLiteError) -> [InstallationEvent] {
        let waiting = try database.waitingRows(of: "installation_event", by: "number", limit: limit)
        let rows = try database.connection.prepare(
            "SELECT number, installation FROM installation_event WHERE \(OutboxDatabase.isListed) ORDER BY number"
        )
        try rows.bind(OutboxDatabase.list(waiting))
        let events = try rows.all { (number: $0.integer(at: 0), installation: $0.integer(at: 1)) }
        let installations = try installations(events.map(\.installation))
        return events.compactMap { event in
            installations[event.installation].map { InstallationEvent(number: event.number, installation: $0) }
        }
    }

    private func installations(_ numbers: [Int64]) throws(SQLiteError) -> [Int64: StoredInstallation] {
        let found = try InstallationTable(database).all(OutboxDatabase.isListed, OutboxDatabase.list(numbers))
        return Dictionary(found.map { ($0.number, $0) }) { first, _ in first }
    }

    // MARK: Audiences

    private static func due(at time: String) -> String {
        "due_at = min(coalesce(due_at, \(time)), \(time)), version = version + 1"
    }

    /// Returns the clause with which an insertion stores that an installation is in the audience since a time, `?1`.
    ///
    /// - Parameter delay: The time by which a known session is due later if it is not reachable.
    /// - Returns: The clause.
    private static func joining(later delay: String = "0") -> String {
        """
        ON CONFLICT (surface, installation) DO UPDATE SET revision = excluded.revision,
            \(due(at: "?1 + CASE WHEN is_reachable THEN 0 ELSE \(delay) END"))
        """
    }

    /// Stores a page of a surface; returns false if the surface has another revision or cursor.
    func store(_ page: SurfacePage, at now: Int64) throws(SQLiteError) -> Bool {
        let cursor = try database.connection.prepare(
            "UPDATE surface SET cursor = ? WHERE number = ? AND revision = ? AND cursor = ?"
        )
        try cursor.run(with: page.next, page.surface, page.revision, page.cursor)
        guard database.connection.changes > 0 else { return false }
        let session = try database.connection.prepare(
            """
            INSERT INTO surface_session (surface, installation, app, revision, version, state, due_at)
            SELECT ?2, number, app, ?3, 0, x'', ?1 FROM installation WHERE number = ?4 \(Self.joining(later: "?5"))
            """
        )
        let event = try database.connection.prepare(
            """
            INSERT OR REPLACE INTO installation_event (installation, app)
            SELECT installation, app FROM installation_event WHERE installation = ?
            """
        )
        let delay = page.isOneOfSeveral ? SurfacePage.unreachableDelay : 0
        for installation in page.installations {
            try session.run(with: now, page.surface, page.revision, installation, delay)
            try event.run(with: installation)
        }
        guard page.next == nil else { return true }
        try database.connection.prepare(
            """
            \(Self.leaving) WHERE number IN (
                SELECT number FROM surface_session WHERE surface = ?2 AND revision > 0 AND revision < ?3
                LIMIT \(Self.leavingLimit)
            )
            """
        ).run(with: now, page.surface, page.revision)
        if database.connection.changes == Self.leavingLimit {
            try database.connection.prepare("UPDATE surface SET cursor = ? WHERE number = ?")
                .run(with: page.installations.max() ?? page.cursor, page.surface)
        }
        return true
    }

    /// Stores the sessions of an installation, and removes its event, unless it has a newer one.
    func store(_ membership: SurfaceMembership, at now: Int64) throws(SQLiteError) {
        let (event, surfaces) = (membership.event, membership.surfaces)
        try database.connection.prepare("DELETE FROM installation_event WHERE number = ?").run(with: event.number)
        guard database.connection.changes > 0 else { return }
        let installation = event.installation.number
        let session = try database.connection.prepare(
            """
            INSERT INTO surface_session (surface, installation, app, revision, version, state, due_at)
            SELECT number, ?2, app, revision, 0, x'', ?1 FROM surface
            WHERE number = ?3 AND revision = ?4 \(Self.joining())
            """
        )
        for surface in surfaces { try session.run(with: now, installation, surface.number, surface.revision) }
        // One that was named with an earlier revision is left to the pages of its surface.
        try database.connection.prepare(
            """
            \(Self.leaving) WHERE installation = ?2 AND surface NOT IN (SELECT value FROM json_each(?3))
                AND revision = (SELECT revision FROM surface WHERE number = surface_session.surface)
            """
        ).run(with: now, installation, OutboxDatabase.list(surfaces.map(\.number)))
        guard !membership.shown.isEmpty else { return }
        try database.connection.prepare(
            """
            INSERT INTO surface_session (surface, installation, app, revision, version, state, due_at)
            SELECT number, ?2, app, 0, 0, x'', ?1 FROM surface WHERE number IN (SELECT value FROM json_each(?3))
            ON CONFLICT DO NOTHING
            """
        ).run(with: now, installation, OutboxDatabase.list(membership.shown.map(\.number)))
    }

    // MARK: Steps

    /// Stores a step with its pushes, if the session has its version, and adds the pushes that it has cancelled.
    func store(
        _ step: SessionStep,
        with pushes: PushTable,
        _ cancelled: inout [PushStatus],
        at now: Int64
    ) throws(SQLiteError) -> SessionStepResult {
        guard step.pushes.isEmpty || step.pushes.count <= database.limit - database.count else { return .full }
        try changeState.run(with: step.state, step.dueAt, Int64(step.isReachable ? 1 : 0), step.session, step.version)
        guard database.connection.changes > 0 else { return .outdated }
        // Before the new pushes, which may wait behind them.
        try cancel(step, pushes, &cancelled, at: now)
        database.state.latest = max(database.state.latest, now)
        for hashed in step.pushes {
            guard try !pushes.accept(hashed, at: now).isStored else { continue }
            let result = SessionResult(id: hashed.push.id, state: .cancelled, status: nil, endedAt: now)
            try add(result, to: step.session)
        }
        if step.isFinished {
            try database.connection.prepare("DELETE FROM surface_session WHERE number = ?").run(with: step.session)
        }
        return .stored
    }

    /// Makes sessions due that are only due after a time, and returns their number.
    func recall(dueAfter time: Int64, at now: Int64, limit: Int) throws(SQLiteError) -> Int {
        // By app, as the index is; a cross join is not reordered.
        try database.connection.prepare(
            """
            UPDATE surface_session SET due_at = ? WHERE number IN (
                SELECT s.number FROM app CROSS JOIN surface_session s ON s.app = app.number WHERE s.due_at > ? LIMIT ?
            )
            """
        ).run(with: now, time, Int64(limit))
        return database.connection.changes
    }

    /// Cancels the pushes that a step names, without claimed ones, and adds them.
    private func cancel(
        _ step: SessionStep,
        _ pushes: PushTable,
        _ cancelled: inout [PushStatus],
        at now: Int64
    ) throws(SQLiteError) {
        guard !step.cancelled.isEmpty, let app = database.number(ofKnown: step.place.app) else { return }
        let row = try database.connection.prepare(
            """
            SELECT number FROM push
            WHERE apns_id = ? AND app = ? AND session = ? AND (ready_at IS NOT NULL OR is_in_line = 1)
            """
        )
        for id in step.cancelled {
            try row.bind(id.bytes, app, step.session)
            let numbers = try row.all { $0.integer(at: 0) }
            for number in numbers where database.state.claimed[number] == nil {
                try pushes.end(number, Outcome(.cancelled), at: now)
                if let status = try pushes.known(id, app)?.status { cancelled.append(status) }
            }
        }
    }
}
