// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

/// The tables of an outbox, which share one connection and its state in memory.
struct OutboxTables {
    let database: OutboxDatabase
    let jobs: JobTable
    let sessions: SessionTable
    let pushes: PushTable
    let claims: ClaimTable

    /// Opens a file, or creates it unless it must exist.
    init(file: String, options: SQLiteOutbox.Options, mustExist: Bool) throws(SQLiteError) {
        database = try OutboxDatabase(file: file, options: options, mustExist: mustExist)
        jobs = try JobTable(database)
        sessions = try SessionTable(database)
        pushes = try PushTable(database, jobs, sessions)
        claims = try ClaimTable(database, pushes)
    }
}
