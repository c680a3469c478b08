// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The jobs of an outbox in a SQLite file.
struct SQLiteJobs: JobStore {
    /// The outbox, whose transactions run the statements.
    let outbox: SQLiteOutbox

    func add(_ job: Job, at now: Int64) async throws(OutboxError) -> JobAddition {
        try await outbox.change { (tables) throws(SQLiteError) in
            let app = try tables.database.number(of: job.app)
            if let stored = try tables.jobs.all("id = ? AND app = ?", job.id.bytes, app).first {
                return stored.job.fingerprint == job.fingerprint ? .duplicate(stored) : .conflict
            }
            let number = try tables.jobs.insert(job, app, at: now)
            return try tables.jobs.all("number = ?", number).first.map(JobAddition.added) ?? .conflict
        }
    }

    func job(_ id: APNsID, of app: String) async throws(OutboxError) -> StoredJob? {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return nil }
            return try tables.jobs.all("id = ? AND app = ?", id.bytes, app).first
        }
    }

    func jobs(of app: String, before number: Int64?, limit: Int) async throws(OutboxError) -> [StoredJob] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let condition = "app = ? AND number < ? ORDER BY number DESC LIMIT ?"
            return try tables.jobs.all(condition, app, number ?? Int64.max, Int64(limit))
        }
    }

    func activeJobs(at now: Int64, limit: Int) async throws(OutboxError) -> [StoredJob] {
        try await outbox.read { (tables) throws(SQLiteError) in
            // The first condition is that of the index.
            let condition = """
                state <> 'expanded' AND (
                    state = 'expanding' AND coalesce(not_before, 0) <= ?
                    OR state = 'cancelled' AND NOT \(JobTable.hasNoUnfinished)
                ) ORDER BY number LIMIT ?
                """
            return try tables.jobs.all(condition, now, Int64(limit))
        }
    }

    func expandingJobCount(of app: String) async throws(OutboxError) -> Int {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return 0 }
            let row = try tables.database.connection.prepare(
                """
                SELECT count(*) FROM job INDEXED BY job_active
                WHERE state <> 'expanded' AND state = 'expanding' AND app = ?
                """
            )
            try row.bind(app)
            return try row.step() ? Int(row.integer(at: 0)) : 0
        }
    }

    func expand(_ page: JobPage, at now: Int64) async throws(OutboxError) -> JobExpansion {
        try await outbox.change { (tables) throws(SQLiteError) in
            try tables.jobs.expand(page, into: tables.pushes, at: now)
        }
    }

    func replaceRequest(of job: StoredJob, with request: [UInt8]) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            try tables.database.connection.prepare("UPDATE job SET request = ? WHERE number = ?")
                .run(with: request, job.number)
        }
    }

    func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> StoredJob? {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return nil }
            try tables.database.connection.prepare(
                """
                UPDATE job SET state = 'cancelled', expanded_at = coalesce(expanded_at, ?)
                WHERE id = ? AND app = ?
                    AND (state = 'expanding' OR state = 'expanded' AND NOT \(JobTable.hasNoUnfinished))
                """
            ).run(with: now, id.bytes, app)
            return try tables.jobs.all("id = ? AND app = ?", id.bytes, app).first
        }
    }

    func cancelPushes(
        of job: StoredJob,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> CancelledPushes {
        try await outbox.change { (tables) throws(SQLiteError) in
            var cancelled = CancelledPushes()
            let end: Int64 = cursor ?? .max
            cancelled.next = try tables.claims.startOfStep(
                JobTable.pushes,
                job.number,
                by: "installation",
                before: end,
                limit: limit
            )
            let installations = (cancelled.next ?? Int64.min)..<end
            let pushes = try tables.claims.unclaimed(ofJob: job.number, in: installations, at: now)
            for push in pushes { try tables.pushes.end(push.number, Outcome(.cancelled), at: now) }
            cancelled.pushes = pushes.map(\.status)
            return cancelled
        }
    }

    func pushes(
        of job: StoredJob,
        in states: [JobPushState],
        after installation: Int64,
        limit: Int
    ) async throws(OutboxError) -> [JobPush] {
        try await outbox.read { (tables) throws(SQLiteError) in
            try tables.jobs.pushes(of: job, in: states, after: installation, limit: limit, tables.pushes)
        }
    }

    func recordEnds(limit: Int) async throws(OutboxError) -> [StoredJob] {
        try await outbox.change { (tables) throws(SQLiteError) in try tables.jobs.recordEnds(limit: limit) }
    }

    func endedJobs(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError) -> [StoredJob] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let condition = "app = ? AND end_cursor > ? ORDER BY end_cursor LIMIT ?"
            return try tables.jobs.all(condition, app, cursor, Int64(limit))
        }
    }

    func deleteJobs(endedBefore time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await outbox.change { (tables) throws(SQLiteError) in
            try tables.database.connection.prepare(
                """
                DELETE FROM job WHERE number IN (
                    SELECT number FROM job WHERE expanded_at < ?1 AND \(JobTable.hasNoUnfinished)
                        AND (SELECT max(changed_at) FROM job_outcome WHERE job = number) < ?1
                    ORDER BY expanded_at LIMIT ?2
                )
                """
            ).run(with: time, Int64(limit))
            return tables.database.connection.changes
        }
    }
}
