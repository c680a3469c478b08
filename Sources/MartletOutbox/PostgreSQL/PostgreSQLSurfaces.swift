// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

/// The surfaces of an outbox in PostgreSQL.
///
/// Changes of callers use the connection of short statements. The work of a relay uses the one of long statements: it
/// must not delay the pushes that are sent singly.
struct PostgreSQLSurfaces: SurfaceStore, EnqueuedSurfaceStore {
    let outbox: PostgreSQLOutbox

    // MARK: Surfaces

    func put(
        _ surface: Surface,
        if condition: SurfacePrecondition,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange {
        let app = try await outbox.apps.number(of: surface.app)
        let audience = surface.audience.columns
        let result = try await change(
            "put_surface(\(Parameter.places(14)))",
            [
                .integer(app), .text(surface.id), .text(surface.caller), .text(audience.kind), .text(audience.text),
                .texts(surface.audience.userNames), .bytes(surface.fingerprint), .bytes(surface.request),
                .integer(surface.endsAt), .text(surface.channel), .flag(condition.isAbsence),
                .integer(condition.revision), .integer(Int64(limit)), .integer(now),
            ],
            of: surface.app
        )
        return result ?? .refused(nil)
    }

    func withdraw(
        _ id: String,
        of app: String,
        if condition: SurfacePrecondition,
        at now: Int64
    ) async throws(OutboxError) -> SurfaceChange {
        let number = try await outbox.apps.number(of: app)
        let result = try await change(
            "withdraw_surface(\(Parameter.places(5)))",
            [
                .integer(number), .text(id), .flag(condition.isAbsence), .integer(condition.revision), .integer(now),
            ],
            of: app
        )
        return result ?? .refused(nil)
    }

    /// Calls a function that changes a surface; returns nil if it returns no row.
    private func change(
        _ call: String,
        _ parameters: [Parameter],
        of app: String
    ) async throws(OutboxError) -> SurfaceChange? {
        try await outbox.connections.query(
            .watching,
            """
            SELECT \(SurfaceRow.columns), c.result FROM martlet.\(call) c CROSS JOIN LATERAL (SELECT (c.surface).*) s
            """,
            parameters
        ) { rows in rows.first.map { SurfaceChange($0, app: app) } }
    }

    func removeUser(
        _ user: String,
        with installations: [InstallationID],
        of app: String,
        at now: Int64
    ) async throws(OutboxError) {
        let number = try await outbox.apps.number(of: app)
        try await outbox.connections.query(
            .watching,
            "SELECT martlet.remove_surface_user($1, $2, $3, $4)",
            [.integer(number), .text(user), .texts(installations.map(\.description)), .integer(now)]
        ) { _ in }
    }

    func surface(_ id: String, of app: String) async throws(OutboxError) -> StoredSurface? {
        let number = try await outbox.apps.number(of: app)
        return try await all(.watching, "id = $1 AND app = $2", [.text(id), .integer(number)]).first
    }

    func surfaces(of app: String, after number: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface] {
        let appNumber = try await outbox.apps.number(of: app)
        return try await all(
            .watching,
            "app = $1 AND number > $2 ORDER BY number LIMIT $3",
            [.integer(appNumber), .integer(number), .integer(Int64(limit))]
        )
    }

    func surfaceCounts() async throws(OutboxError) -> [String: Int] {
        let query = "SELECT a.name, a.surfaces FROM martlet.app a WHERE a.surfaces > 0"
        return try await outbox.connections.query(.maintaining, query) { rows in
            Dictionary(rows.all.map { ($0.text(at: 0), Int($0.integer(at: 1))) }) { first, _ in first }
        }
    }

    func surfaces(
        for user: String,
        _ installation: InstallationID,
        of app: String
    ) async throws(OutboxError) -> [StoredSurface] {
        let number = try await outbox.apps.number(of: app)
        // An array, because a join may be planned as one of all surfaces.
        return try await allWithoutContent(
            of: app,
            """
            number = ANY (ARRAY(
                SELECT u.surface FROM martlet.surface_user u WHERE u.app = $1 AND u.user_id = $2
                UNION ALL
                SELECT o.number FROM martlet.surface o
                WHERE o.app = $1 AND o.audience = $3 AND o.audience_kind = 'installation' AND o.withdrawn_at IS NULL
            )) AND withdrawn_at IS NULL ORDER BY number
            """,
            [.integer(number), .text(user), .text(installation.description)]
        )
    }

    func surfacesWithExpression(of app: String) async throws(OutboxError) -> [StoredSurface] {
        let number = try await outbox.apps.number(of: app)
        return try await allWithoutContent(
            of: app,
            "app = $1 AND audience_kind = 'matching' AND withdrawn_at IS NULL ORDER BY number",
            [.integer(number)]
        )
    }

    private func allWithoutContent(
        of app: String,
        _ condition: String,
        _ parameters: [Parameter]
    ) async throws(OutboxError) -> [StoredSurface] {
        let columns = SurfaceRow.columnsWithoutContent(empty: "''::bytea")
        return try await outbox.connections.query(
            .maintaining,
            "SELECT \(columns) FROM martlet.surface WHERE \(condition)",
            parameters
        ) { rows in rows.all.map { StoredSurface($0, app: app) } }
    }

    func surfaces(on installation: Int64, limit: Int) async throws(OutboxError) -> [StoredSurface] {
        try await all(
            .enrolling,
            """
            number = ANY (ARRAY(
                SELECT o.surface FROM martlet.surface_session o WHERE o.installation = $1 AND o.revision > 0
            )) AND withdrawn_at IS NULL ORDER BY changed_at DESC, number DESC LIMIT $2
            """,
            [.integer(installation), .integer(Int64(limit))]
        )
    }

    func unfinishedSurfaces(limit: Int) async throws(OutboxError) -> [StoredSurface] {
        let waiting = Self.waiting("surface", "r.cursor IS NOT NULL", "changed_at")
        return try await outbox.connections.query(
            .maintaining,
            """
            SELECT \(SurfaceRow.columns), \(Self.appName)
            FROM \(waiting) w
            CROSS JOIN LATERAL (SELECT s.* FROM martlet.surface s WHERE s.number = w.waiting LIMIT 1) surface
            ORDER BY w.turn, w.since, w.waiting
            """,
            Self.waitingLimits(limit)
        ) { rows in rows.all.map { StoredSurface($0, app: $0.text(at: 15)) } }
    }

    /// The columns ``SurfaceRow/columns``, followed by the name of the app, with their table.
    static let selection = "SELECT \(SurfaceRow.columns), \(appName) FROM martlet.surface"
    private static let appName = "(SELECT a.name FROM martlet.app a WHERE a.number = surface.app)"

    private func all(
        _ purpose: DatabaseConnections.Purpose,
        _ condition: String,
        _ parameters: [Parameter]
    ) async throws(OutboxError) -> [StoredSurface] {
        try await outbox.connections.query(
            purpose,
            "\(Self.selection) WHERE \(condition)",
            parameters
        ) { rows in rows.all.map { StoredSurface($0, app: $0.text(at: 15)) } }
    }

    func endSurfaces(withdrawnBefore time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await outbox.connections.query(
            .maintaining,
            "SELECT martlet.end_surfaces($1, $2, $3)",
            [.integer(time), .integer(now), .integer(Int64(limit))]
        ) { rows in Int(rows.first?.integer(at: 0) ?? 0) }
    }

    // MARK: Sessions

    /// Looks up the installation of each row `d`; a join may be planned as one of all installations.
    private static let installations = """
        CROSS JOIN LATERAL (\(PostgreSQLInstallations.selection) WHERE c.number = d.installation LIMIT 1) i
        """

    func sessions(
        of surface: StoredSurface,
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [DueSession] {
        try await outbox.connections.query(
            .watching,
            """
            SELECT d.*, i.* FROM (
                SELECT \(SurfaceRow.sessionColumns) FROM martlet.surface_session
                WHERE surface = $1 AND installation > $2 ORDER BY installation LIMIT $3
            ) d \(Self.installations) ORDER BY d.installation
            """,
            [.integer(surface.number), .integer(installation), .integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                StoredInstallation(RowPart(row: row, start: 8), app: surface.surface.app)
                    .map { DueSession(session: StoredSession(row), surface: surface, installation: $0) }
            }
        }
    }

    func dueSessions(at now: Int64, limit: Int) async throws(OutboxError) -> [DueSession] {
        let numbers = "SELECT w.waiting FROM \(Self.waiting("surface_session", "true", "due_at")) w"
        let found = try await outbox.connections.query(
            .maintaining,
            """
            SELECT d.*, i.* FROM (
                SELECT \(SurfaceRow.sessionColumns) FROM martlet.surface_session
                WHERE number = ANY (ARRAY(\(numbers)))
            ) d \(Self.installations) ORDER BY d.due_at, d.number
            """,
            Self.waitingLimits(limit, until: now)
        ) { rows in
            rows.all.compactMap { row in
                StoredInstallation(RowPart(row: row, start: 8), app: row.text(at: 11))
                    .map { (session: StoredSession(row), installation: $0) }
            }
        }
        guard !found.isEmpty else { return [] }
        // Each once, because a large surface may have all of the sessions. One that has changed since has another
        // revision than its sessions, as until its pages are stored.
        let listed = Set(found.map(\.session.surface)).sorted()
        let surfaces = try await all(.maintaining, "number = ANY ($1)", [.integers(listed)])
        let surfacesByNumber = Dictionary(surfaces.map { ($0.number, $0) }) { first, _ in first }
        return found.compactMap { session, installation in
            surfacesByNumber[session.surface]
                .map { DueSession(session: session, surface: $0, installation: installation) }
        }
    }

    func installationEvents(limit: Int) async throws(OutboxError) -> [InstallationEvent] {
        let numbers = "SELECT w.waiting FROM \(Self.waiting("installation_event", "true", "number")) w"
        return try await outbox.connections.query(
            .maintaining,
            """
            SELECT d.number, i.* FROM (
                SELECT number, installation FROM martlet.installation_event WHERE number = ANY (ARRAY(\(numbers)))
            ) d \(Self.installations) ORDER BY d.number
            """,
            Self.waitingLimits(limit)
        ) { rows in
            rows.all.compactMap { row in
                StoredInstallation(RowPart(row: row, start: 1), app: row.text(at: 4))
                    .map { InstallationEvent(number: row.integer(at: 0), installation: $0) }
            }
        }
    }

    func store(_ pages: [SurfacePage], at now: Int64) async throws(OutboxError) -> [Bool] {
        let installations = pages.enumerated().flatMap { index, page in
            page.installations.map { (place: Int64(index + 1), number: $0) }
        }
        let stored = try await outbox.connections.query(
            .maintaining,
            "SELECT martlet.store_surface_pages(\(Parameter.places(9)))",
            [
                .integers(pages.map(\.surface)), .integers(pages.map(\.revision)), .integers(pages.map(\.cursor)),
                .integers(pages.map(\.next)), .integers(installations.map(\.place)),
                .integers(installations.map(\.number)), .integer(now),
                .integers(pages.filter(\.isOneOfSeveral).map(\.surface)), .integer(SurfacePage.unreachableDelay),
            ]
        ) { rows in Set(rows.all.map { $0.integer(at: 0) }) }
        return pages.indices.map { stored.contains(Int64($0 + 1)) }
    }

    func store(_ memberships: [SurfaceMembership], at now: Int64) async throws(OutboxError) {
        let surfaces = memberships.enumerated().flatMap { index, membership in
            membership.surfaces.map { (place: Int64(index + 1), number: $0.number, revision: $0.revision) }
        }
        let shown = memberships.enumerated().flatMap { index, membership in
            membership.shown.map { (place: Int64(index + 1), number: $0.number) }
        }
        try await outbox.connections.query(
            .maintaining,
            "SELECT martlet.store_installation_sessions(\(Parameter.places(8)))",
            [
                .integers(memberships.map(\.event.number)), .integers(memberships.map(\.event.installation.number)),
                .integers(surfaces.map(\.place)), .integers(surfaces.map(\.number)),
                .integers(surfaces.map(\.revision)), .integers(shown.map(\.place)), .integers(shown.map(\.number)),
                .integer(now),
            ]
        ) { _ in }
    }

    // MARK: Steps

    func store(_ steps: [SessionStep], at now: Int64) async throws(OutboxError) -> StoredSteps {
        try await store(steps, in: outbox, at: now)
    }

    private func store(
        _ steps: [SessionStep],
        in outbox: isolated PostgreSQLOutbox,
        at now: Int64
    ) async throws(OutboxError) -> StoredSteps {
        for app in Set(steps.flatMap(\.pushes).map(\.push.lane.app)) { _ = try await outbox.apps.number(of: app) }
        var stored = StoredSteps(results: [SessionStepResult](repeating: .stored, count: steps.count))
        var room = max(0, outbox.options.limit - outbox.backlogCount.pushes)
        for (place, step) in steps.enumerated() {
            if step.pushes.count <= room { room -= step.pushes.count } else { stored.results[place] = .full }
        }
        outbox.progress.recordTime(now)
        while true {
            let places = stored.results.indices.filter { stored.results[$0] == .stored }
            guard !places.isEmpty else { return stored }
            // The statement stores nothing if a session is outdated: it is repeated without that session.
            let answer = try await storeOnce(places.map { steps[$0] }, in: outbox, at: now)
            stored.cancelled = answer.cancelled
            guard !answer.outdated.isEmpty else { return stored }
            for place in places where answer.outdated.contains(steps[place].session) {
                stored.results[place] = .outdated
            }
        }
    }

    /// Stores steps, and returns the cancelled pushes, or the numbers of the outdated sessions, of which there is at
    /// least one then.
    private func storeOnce(
        _ steps: [SessionStep],
        in outbox: isolated PostgreSQLOutbox,
        at now: Int64
    ) async throws(OutboxError) -> (outdated: Set<Int64>, cancelled: [PushStatus]) {
        let entries = steps.flatMap(\.pushes).map { hashed in
            let app = outbox.apps.number(ofKnown: hashed.push.lane.app) ?? 0
            return PostgreSQLOutbox.Entry(hashed: hashed, app: app, now: now)
        }
        let named = steps.flatMap { step in step.cancelled.map { (id: $0.bytes, session: step.session) } }
        let head: [Parameter] = [
            .integer(now), .integers(steps.map(\.session)), .integers(steps.map(\.version)),
            .byteLists(steps.map(\.state)), .integers(steps.map(\.dueAt)),
            .flags(steps.map(\.isReachable)), .flags(steps.map(\.isFinished)),
            .identifiers(named.map(\.id)), .integers(named.map(\.session)),
        ]
        // The app of a push that a step cancels is that of its surface.
        let apps = Dictionary(steps.map { ($0.session, $0.place.app) }) { first, _ in first }
        let (outdated, cancelled, change): (Set<Int64>, [PushStatus], Int) = try await outbox.connections.query(
            .maintaining,
            "SELECT * FROM martlet.store_steps(\(Parameter.places(34)))",
            head + PostgreSQLOutbox.Entry.parameters(entries[...])
        ) { rows in
            var (outdated, cancelled, change): (Set<Int64>, [PushStatus], Int) = ([], [], 0)
            for row in rows.all {
                if let session = row.optionalInteger(at: 6) { outdated.insert(session) }
                change += Int(row.integer(at: 7) - row.integer(at: 8))
                let lane = Lane(app: apps[row.integer(at: 1)] ?? "", environment: row.environment(at: 2))
                if let status = PushStatus(row, from: 3, endedAs: .cancelled, in: lane, at: now) {
                    cancelled.append(status)
                }
            }
            return (outdated, cancelled, change)
        }
        outbox.backlogCount.pushes += change
        outbox.progress.recordPushes(due: now)
        return (outdated, cancelled)
    }
}

extension SurfacePrecondition {
    fileprivate var isAbsence: Bool { self == .isAbsent }

    /// The revision that the surface must have; nil for any.
    fileprivate var revision: Int64? { if case .hasRevision(let revision) = self { revision } else { nil } }
}

/// The columns of a row from one on, for a reader that counts them from 0.
private struct RowPart: DatabaseRow {
    let row: Row
    let start: Int

    func integer(at column: Int) -> Int64 { row.integer(at: start + column) }
    func optionalInteger(at column: Int) -> Int64? { row.optionalInteger(at: start + column) }
    func text(at column: Int) -> String { row.text(at: start + column) }
    func optionalText(at column: Int) -> String? { row.optionalText(at: start + column) }
    func bytes(at column: Int) -> [UInt8] { row.bytes(at: start + column) }
    func environment(at column: Int) -> PushEnvironment { row.environment(at: start + column) }
}
