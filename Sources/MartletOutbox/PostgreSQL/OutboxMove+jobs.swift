// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL
internal import MartletSQLite

/// Moving of jobs. One that is being expanded does not move: its cursor is the number of an installation, which has
/// another number in the database.
extension OutboxMove {
    /// Returns the jobs of the file; throws if one of them is being expanded.
    func storedJobs() async throws(OutboxError) -> [StoredJob] {
        let jobs = try await file.read { (tables) throws(SQLiteError) in
            try tables.jobs.all("number > 0 ORDER BY number")
        }
        guard let job = jobs.first(where: { $0.state == .expanding })?.job else { return jobs }
        throw OutboxError(
            .refused,
            "the job \(job.id) of the app \(job.app) is being expanded: start the relay with the file again, wait until"
                + " the job is expanded or cancel it, stop the relay, and repeat the command"
        )
    }

    /// Moves a job, unless an interrupted migration has moved it, and returns its number in the database.
    func move(_ stored: StoredJob) async throws(OutboxError) -> Int64 {
        let job = stored.job
        let app = try await database.apps.number(of: job.app)
        let states = Outcome.State.allCases
        // The webhook has not accepted the ends after its position. An app without a position probably has no webhook.
        let position = try await file.records.cursor(of: "webhook-jobs " + job.app)
        let isReported = stored.endCursor.map { position == 0 || $0 <= position } ?? false
        let endCursor: Int64? = isReported ? 0 : nil
        let number = try await database.connections.query(
            .accepting,
            "SELECT martlet.adopt_job(\(Parameter.places(17)))",
            [
                .integer(app), .identifier(job.id), .text(job.caller), .bytes(job.fingerprint), .bytes(job.request),
                .text(job.audience), .integer(stored.createdAt), .integer(job.notBefore), .integer(job.expiresAt),
                .text(stored.state.rawValue), .integer(stored.expandedAt), .integer(Int64(stored.stored)),
                .text(JobCounts.text(stored.leftOut)), .integer(stored.outcomesChangedAt),
                .integer(endCursor), .texts(states.map(\.rawValue)),
                .integers(states.map { Int64(stored.outcomes[$0] ?? 0) }),
            ]
        ) { $0.first?.optionalInteger(at: 0) }
        if let number { return number }
        throw OutboxError(
            .refused,
            "the database has another job of the app \(job.app) with the identifier \(job.id): move into a new database"
        )
    }
}
