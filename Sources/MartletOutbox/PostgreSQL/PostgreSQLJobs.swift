// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

/// The jobs of an outbox in PostgreSQL.
struct PostgreSQLJobs: JobStore {
    let outbox: PostgreSQLOutbox

    func add(_ job: Job, at now: Int64) async throws(OutboxError) -> JobAddition {
        let app = try await outbox.apps.number(of: job.app)
        let isNew = try await outbox.connections.query(
            .watching,
            "SELECT martlet.add_job(\(Parameter.places(10)))",
            [
                .integer(app), .identifier(job.id), .text(job.caller), .bytes(job.fingerprint), .bytes(job.request),
                .text(job.audience), .integer(now), .integer(job.notBefore), .integer(job.expiresAt),
                .texts(Outcome.State.allCases.map(\.rawValue)),
            ]
        ) { $0.first?.flag(at: 0) ?? false }
        guard let stored = try await self.job(job.id, of: job.app) else {
            throw OutboxError(.unavailable, "the job was deleted while it was submitted again: submit it once more")
        }
        if isNew { return .added(stored) }
        return stored.job.fingerprint == job.fingerprint ? .duplicate(stored) : .conflict
    }

    func job(_ id: APNsID, of app: String) async throws(OutboxError) -> StoredJob? {
        let number = try await outbox.apps.number(of: app)
        return try await all("j.id = $1 AND j.app = $2", [.identifier(id), .integer(number)]).first
    }

    func jobs(of app: String, before number: Int64?, limit: Int) async throws(OutboxError) -> [StoredJob] {
        let appNumber = try await outbox.apps.number(of: app)
        return try await all(
            "j.app = $1 AND j.number < $2 ORDER BY j.number DESC LIMIT $3",
            [.integer(appNumber), .integer(number ?? Int64.max), .integer(Int64(limit))]
        )
    }

    func activeJobs(at now: Int64, limit: Int) async throws(OutboxError) -> [StoredJob] {
        // The first condition is that of the index.
        try await all(
            """
            j.state <> 'expanded' AND (
                j.state = 'expanding' AND coalesce(j.not_before, 0) <= $1
                OR j.state = 'cancelled' AND j.ended < j.stored
            ) ORDER BY j.number LIMIT $2
            """,
            [.integer(now), .integer(Int64(limit))]
        )
    }

    func expandingJobCount(of app: String) async throws(OutboxError) -> Int {
        let number = try await outbox.apps.number(of: app)
        return try await outbox.connections.query(
            .watching,
            """
            SELECT count(*) FROM martlet.job WHERE state <> 'expanded' AND state = 'expanding' AND app = $1
            """,
            [.integer(number)]
        ) { rows in rows.first.map { Int($0.integer(at: 0)) } ?? 0 }
    }

    private func all(_ condition: String, _ parameters: [Parameter]) async throws(OutboxError) -> [StoredJob] {
        try await outbox.connections.query(
            .watching,
            """
            SELECT j.number, a.name, j.id, j.caller, j.fingerprint, j.request, j.audience, j.not_before, j.expires_at,
                j.created_at, j.high_mark, j.cursor, j.state, j.expanded_at, j.stored, j.left_out::text, j.outcomes,
                j.changed_at, j.end_cursor
            FROM martlet.job_content j JOIN martlet.app a ON a.number = j.app WHERE \(condition)
            """,
            parameters
        ) { rows in rows.all.compactMap { StoredJob($0, app: $0.text(at: 1)) } }
    }

    func expand(_ page: JobPage, at now: Int64) async throws(OutboxError) -> JobExpansion {
        try await expand(page, in: outbox, at: now)
    }

    /// Stores a page on the connection of long statements: it must not delay the pushes that are sent singly.
    private func expand(
        _ page: JobPage,
        in outbox: isolated PostgreSQLOutbox,
        at now: Int64
    ) async throws(OutboxError) -> JobExpansion {
        guard page.pushes.count <= outbox.options.limit - outbox.backlogCount.pushes else { return .full }
        for app in Set(page.pushes.map(\.push.lane.app)) { _ = try await outbox.apps.number(of: app) }
        let entries = page.pushes.map { hashed in
            let app = outbox.apps.number(ofKnown: hashed.push.lane.app) ?? 0
            return PostgreSQLOutbox.Entry(hashed: hashed, app: app, now: now)
        }
        outbox.progress.recordTime(now)
        let head: [Parameter] = [
            .integer(page.job), .integer(page.cursor), .integer(page.nextCursor), .flag(page.isLast), .integer(now),
            .text(JobCounts.text(page.leftOut)),
        ]
        let (counts, superseded) = try await outbox.connections.query(
            .maintaining,
            "SELECT * FROM martlet.expand(\(Parameter.places(32)))",
            head + PostgreSQLOutbox.Entry.parameters(entries[...])
                + [.integers(page.pushes.map(\.push.installation))]
        ) { rows -> (String?, [PushStatus]) in
            let superseded = rows.all.compactMap { row -> PushStatus? in
                guard row.optionalText(at: 5) == nil, let app = page.pushes.first?.push.lane.app else { return nil }
                let lane = Lane(app: app, environment: row.environment(at: 1))
                return PushStatus(row, from: 2, endedAs: .superseded, in: lane, at: now)
            }
            return (rows.all.compactMap { $0.optionalText(at: 5) }.first, superseded)
        }
        guard let counts else { return .outdated }
        let refused: [LeftOutReason: Int] = JobCounts.read(counts)
        let stored = refused.values.reduce(entries.count, -)
        outbox.backlogCount.pushes += stored - superseded.count
        outbox.progress.recordPushes(due: now)
        return .stored(pushes: stored, leftOut: refused, superseded: superseded)
    }

    func replaceRequest(of job: StoredJob, with request: [UInt8]) async throws(OutboxError) {
        try await outbox.connections.query(
            .watching,
            "UPDATE martlet.job SET request = $2 WHERE number = $1",
            [.integer(job.number), .bytes(request)]
        ) { _ in }
    }

    func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> StoredJob? {
        let number = try await outbox.apps.number(of: app)
        try await outbox.connections.query(
            .watching,
            """
            UPDATE martlet.job j SET state = 'cancelled', expanded_at = coalesce(j.expanded_at, $3)
            WHERE j.id = $1 AND j.app = $2 AND (
                j.state = 'expanding' OR j.state = 'expanded'
                    AND (SELECT sum(o.count) FROM martlet.job_outcome o WHERE o.job = j.number) < j.stored
            )
            """,
            [.identifier(id), .integer(number), .integer(now)]
        ) { _ in }
        return try await job(id, of: app)
    }

    func cancelPushes(
        of job: StoredJob,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> CancelledPushes {
        try await cancelPushes(of: job, in: outbox, before: cursor ?? .max, limit: limit, at: now)
    }

    private func cancelPushes(
        of job: StoredJob,
        in outbox: isolated PostgreSQLOutbox,
        before cursor: Int64,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> CancelledPushes {
        let step = try await outbox.connections.query(
            .maintaining,
            """
            SELECT p.number, p.installation FROM martlet.push p WHERE p.job = $1 AND p.installation < $2
            ORDER BY p.installation DESC LIMIT $3
            """,
            [.integer(job.number), .integer(cursor), .integer(Int64(limit))]
        ) { rows in rows.all.map { (number: $0.integer(at: 0), installation: $0.integer(at: 1)) } }
        var cancelled = CancelledPushes()
        if step.count == limit { cancelled.next = step.last?.installation }
        guard !step.isEmpty else { return cancelled }
        let numbers = step.map(\.number)
        cancelled.pushes = try await outbox.connections.cancelUnclaimed(numbers, of: job.job.app, at: now)
        outbox.backlogCount.pushes -= cancelled.pushes.count
        return cancelled
    }

    func pushes(
        of job: StoredJob,
        in states: [JobPushState],
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [JobPush] {
        let app = job.job.app
        let number = try await outbox.apps.number(of: app)
        // The lateral subquery with a limit makes PostgreSQL look the installations up one by one; a join could read
        // all up to the last one of the page.
        return try await outbox.connections.query(
            .watching,
            """
            SELECT found.installation, i.id, i.user_id, k.* FROM (
                \(states.map(\.databaseRows).joined(separator: " UNION ALL ")) ORDER BY installation LIMIT $4
            ) found CROSS JOIN LATERAL martlet.known($1, found.apns_id) k
            LEFT JOIN LATERAL (
                SELECT * FROM martlet.installation c
                WHERE c.number = found.installation AND c.app = $1 AND c.number <= $5 LIMIT 1
            ) i ON true ORDER BY found.installation
            """,
            [
                .integer(number), .integer(job.number), .integer(installation), .integer(Int64(limit)),
                .integer(job.highMark),
            ]
        ) { rows in
            rows.all.compactMap { row in
                PushStatus(row, from: 3, app: app).map { status in
                    JobPush(
                        place: row.integer(at: 0),
                        status: status,
                        installation: row.optionalBytes(at: 1).flatMap { InstallationID(bytes: $0) },
                        user: row.optionalText(at: 2)
                    )
                }
            }
        }
    }

    func recordEnds(limit: Int) async throws(OutboxError) -> [StoredJob] {
        let numbers = try await outbox.connections.query(
            .maintaining,
            "SELECT martlet.record_job_ends($1)",
            [.integer(Int64(limit))]
        ) { rows in rows.all.map { $0.integer(at: 0) } }
        guard !numbers.isEmpty else { return [] }
        return try await all("j.number = ANY ($1) ORDER BY j.number", [.integers(numbers)])
    }

    func endedJobs(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError) -> [StoredJob] {
        let number = try await outbox.apps.number(of: app)
        return try await all(
            "j.app = $1 AND j.end_cursor > $2 ORDER BY j.end_cursor LIMIT $3",
            [.integer(number), .integer(cursor), .integer(Int64(limit))]
        )
    }

    func deleteJobs(endedBefore time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await outbox.connections.query(
            .maintaining,
            """
            DELETE FROM martlet.job WHERE number IN (
                SELECT j.number FROM martlet.job_content j
                WHERE j.expanded_at < $1 AND j.ended >= j.stored AND j.changed_at < $1
                ORDER BY j.expanded_at LIMIT $2
            ) RETURNING 1
            """,
            [.integer(time), .integer(Int64(limit))]
        ) { $0.count }
    }
}

extension JobPushState {
    /// The pushes of a job, `$2`, in the state: at most `$4` after the installation `$3`.
    fileprivate var databaseRows: String {
        switch self {
        case .waiting:
            """
            SELECT * FROM (
                SELECT p.installation, p.apns_id FROM martlet.push p JOIN martlet.queue q USING (number)
                WHERE p.job = $2 AND p.installation > $3 ORDER BY p.installation LIMIT $4
            ) page
            """
        case .ended(let state):
            """
            SELECT * FROM (
                SELECT o.installation, o.apns_id FROM martlet.outcome o
                WHERE o.job = $2 AND o.state = '\(state.rawValue)' AND o.installation > $3
                ORDER BY o.installation LIMIT $4
            ) page
            """
        }
    }
}
