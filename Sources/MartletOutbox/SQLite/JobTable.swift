// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The jobs of an outbox, with the outcomes of their pushes.
final class JobTable {
    /// The rows of `push` of a job, `?1`, in the order of their installations.
    static let pushes = "push INDEXED BY push_job WHERE job = ?1"
    /// The condition of a job whose pushes have all ended.
    static let hasNoUnfinished = "stored <= (SELECT sum(count) FROM job_outcome WHERE job = number)"
    /// The columns that ``all(_:_:)`` reads.
    private static let columns = """
        number, app, id, caller, fingerprint, request, audience, not_before, expires_at, created_at, high_mark, cursor,
        state, expanded_at, stored, left_out,
        (SELECT json_group_object(state, count) FROM job_outcome WHERE job = number),
        (SELECT max(changed_at) FROM job_outcome WHERE job = number),
        end_cursor
        """

    private let database: OutboxDatabase
    private let countOutcome: Statement

    /// Prepares the statement that ends of pushes need.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        self.database = database
        countOutcome = try database.connection.prepare(
            "UPDATE job_outcome SET count = count + ?, changed_at = max(changed_at, ?) WHERE job = ? AND state = ?"
        )
    }

    /// Adds to the outcomes of a job; a negative number is that of pushes that are sent again.
    func count(_ change: Int64, _ state: Outcome.State, of job: Int64, at now: Int64) throws(SQLiteError) {
        try countOutcome.run(with: change, now, job, state.rawValue)
    }

    /// Returns the jobs that a condition selects.
    func all<each Value: Bindable>(
        _ condition: String,
        _ values: repeat each Value
    ) throws(SQLiteError) -> [StoredJob] {
        let rows = try database.connection.prepare("SELECT \(Self.columns) FROM job WHERE \(condition)")
        try rows.bind(repeat each values)
        return try rows.all { StoredJob($0, app: database.name(of: $0.integer(at: 1))) }
    }

    /// Stores a job, with a row for each state of an outcome, and returns its number.
    func insert(_ job: Job, _ app: Int64, at now: Int64) throws(SQLiteError) -> Int64 {
        try database.connection.prepare(
            """
            INSERT INTO job (
                app, id, caller, fingerprint, audience, created_at, not_before, expires_at, high_mark, cursor, state,
                stored, left_out, request
            ) VALUES (
                ?1, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT max(number) FROM installation WHERE app = ?1), 0), 0,
                'expanding', 0, '{}', ?
            )
            """
        ).run(
            with: app,
            job.id.bytes,
            job.caller,
            job.fingerprint,
            job.audience,
            now,
            job.notBefore,
            job.expiresAt,
            job.request
        )
        let number = database.connection.lastInsertRowID
        let outcome = try database.connection.prepare(
            "INSERT INTO job_outcome (job, state, count, changed_at) VALUES (?, ?, 0, 0)"
        )
        for state in Outcome.State.allCases { try outcome.run(with: number, state.rawValue) }
        return number
    }

    /// Stores a page of a job, if the job has its cursor.
    func expand(_ page: JobPage, into pushes: PushTable, at now: Int64) throws(SQLiteError) -> JobExpansion {
        guard page.pushes.count <= database.limit - database.count else { return .full }
        let row = try database.connection.prepare(
            "SELECT left_out FROM job WHERE number = ? AND cursor = ? AND state = 'expanding'"
        )
        try row.bind(page.job, page.cursor)
        guard try row.step() else { return .outdated }
        var leftOut: [LeftOutReason: Int] = JobCounts.read(row.text(at: 0))
        row.reset()
        database.state.latest = max(database.state.latest, now)
        var refused: [LeftOutReason: Int] = [:]
        var superseded: [PushStatus] = []
        for push in page.pushes {
            let answer = try pushes.accept(push, at: now)
            if let reason = answer.leftOutReason { refused[reason, default: 0] += 1 }
            superseded += answer.superseded
        }
        let stored = refused.values.reduce(page.pushes.count, -)
        leftOut.merge(page.leftOut, uniquingKeysWith: &+)
        leftOut.merge(refused, uniquingKeysWith: &+)
        try database.connection.prepare(
            """
            UPDATE job SET cursor = ?, state = iif(?2, 'expanded', state), expanded_at = iif(?2, ?, NULL),
                stored = stored + ?, left_out = ?
            WHERE number = ?
            """
        ).run(with: page.nextCursor, Int64(page.isLast ? 1 : 0), now, Int64(stored), JobCounts.text(leftOut), page.job)
        return .stored(pushes: stored, leftOut: refused, superseded: superseded)
    }

    /// Returns the pushes of a job in some states, in the order of their installations.
    func pushes(
        of job: StoredJob,
        in states: [JobPushState],
        after installation: Int64,
        limit: Int,
        _ pushes: PushTable
    ) throws(SQLiteError) -> [JobPush] {
        guard let app = database.number(ofKnown: job.job.app) else { return [] }
        let rows = try database.connection.prepare(
            """
            SELECT found.installation, found.apns_id, i.id, i.user_id FROM (
                \(states.map(\.fileRows).joined(separator: " UNION ALL ")) ORDER BY installation LIMIT ?3
            ) found LEFT JOIN installation i ON i.number = found.installation AND i.app = ?4 AND i.number <= ?5
            ORDER BY found.installation
            """
        )
        try rows.bind(job.number, installation, Int64(limit), app, job.highMark)
        var found: [JobPush] = []
        while try rows.step() {
            guard let id = APNsID(bytes: rows.blob(at: 1)), let status = try pushes.known(id, app)?.status else {
                continue
            }
            found.append(
                JobPush(
                    place: rows.integer(at: 0),
                    status: status,
                    installation: rows.optionalBlob(at: 2).flatMap { InstallationID(bytes: $0) },
                    user: rows.optionalText(at: 3)
                )
            )
        }
        return found
    }

    /// Gives jobs that have ended their positions in the order of ends, and returns them.
    func recordEnds(limit: Int) throws(SQLiteError) -> [StoredJob] {
        var ended = try all(
            """
            number IN (
                SELECT number FROM job INDEXED BY job_without_end WHERE expanded_at IS NOT NULL AND end_cursor IS NULL
            ) AND \(Self.hasNoUnfinished) ORDER BY number LIMIT ?
            """,
            Int64(limit)
        )
        guard !ended.isEmpty else { return [] }
        // A counter, because the last job may be deleted.
        let counter = try database.connection.prepare(
            """
            INSERT INTO reader (name, cursor) VALUES ('job-ends', 1)
            ON CONFLICT (name) DO UPDATE SET cursor = cursor + 1 RETURNING cursor
            """
        )
        let row = try database.connection.prepare("UPDATE job SET end_cursor = ? WHERE number = ?")
        for index in ended.indices {
            while try counter.step() { ended[index].endCursor = counter.integer(at: 0) }
            try row.run(with: ended[index].endCursor, ended[index].number)
        }
        return ended
    }
}

extension JobPushState {
    /// The pushes of a job, `?1`, in the state: at most `?3` after the installation `?2`.
    var fileRows: String {
        switch self {
        case .waiting:
            """
            SELECT * FROM (
                SELECT installation, apns_id FROM \(JobTable.pushes) AND installation > ?2
                    AND (ready_at IS NOT NULL OR is_in_line = 1)
                ORDER BY installation LIMIT ?3
            )
            """
        case .ended(let state):
            """
            SELECT * FROM (
                SELECT installation, apns_id FROM outcome INDEXED BY outcome_job
                WHERE job = ?1 AND state = '\(state.rawValue)' AND installation > ?2
                ORDER BY installation LIMIT ?3
            )
            """
        }
    }
}
