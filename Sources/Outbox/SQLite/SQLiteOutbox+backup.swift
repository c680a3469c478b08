internal import SQLite

extension SQLiteOutbox {
    /// The number of pages, one megabyte, that are copied before other work can run.
    private static let pagesPerStep = 256

    /// Copies the outbox to a file beside its own while it is in use.
    ///
    /// The copy contains everything that was stored until shortly before this returns. The ``ClaimedPush/unknownTries``
    /// of each of its pushes is increased by 1, as the push may be sent after the copy was made.
    ///
    /// - Returns: The path of the copy, which replaces an earlier one.
    /// - Throws: ``OutboxError`` of kind `.inUse` while another copy is being made, and of other kinds when the file
    ///   cannot be written; an earlier copy is unchanged then.
    package func backUp() async throws(OutboxError) -> String {
        let database = try openDatabase()
        let path = file + ".backup"
        guard !isBackingUp else { throw OutboxError(.inUse, "a backup is being made already") }
        isBackingUp = true
        defer { isBackingUp = false }
        do throws(SQLiteError) {
            try await copy(database, to: path)
            try markPushes(in: path)
        } catch {
            throw OutboxError(error, "the backup \(path) cannot be made")
        }
        return path
    }

    private func copy(_ database: OutboxDatabase, to path: String) async throws(SQLiteError) {
        let backup = try Backup(of: database.connection, to: path)
        while try backup.step(SQLiteOutbox.pagesPerStep) { await Task.yield() }
    }

    /// Marks every push that has not ended as possibly sent.
    private func markPushes(in path: String) throws(SQLiteError) {
        let copy = try Connection(path: path, options: Connection.Options(mustExist: true))
        try copy.execute(
            """
            UPDATE push SET unknown_tries = unknown_tries + 1 WHERE ready_at IS NOT NULL OR in_line = 1;
            DELETE FROM given_out;
            """
        )
    }
}
