// SPDX-License-Identifier: Apache-2.0

internal import MartletSQLite

extension SQLiteOutbox {
    /// The number of pages, one megabyte, that are copied before other work can run.
    private static let pagesPerStep = 256

    /// The space on the disk in bytes that a copy leaves to the outbox.
    private static let reserve: Int64 = 16 << 20

    /// Copies the outbox to a file beside its own while it is in use.
    ///
    /// The copy contains everything that was stored until shortly before this returns. The ``ClaimedPush/unknownTries``
    /// of each of its pushes is increased by 1, as the push may be sent after the copy was made.
    ///
    /// The disk needs free space for the outbox with its log, and 16 MB that stay free for the outbox. A copy that
    /// fails is deleted.
    ///
    /// - Returns: The path of the copy, which replaces an earlier one when it is complete.
    /// - Throws: ``OutboxError`` of kind `.inUse` while another copy is being made, `.full` when the disk has too
    ///   little space, and of other kinds when the file cannot be written; an earlier copy is unchanged then, unless
    ///   only its directory cannot be written.
    package func backUp() async throws(OutboxError) -> String {
        try await backUp(freeSpace: DiskFile.freeSpace(beside:))
    }

    /// Copies the outbox to a file beside its own, with another way to find the free space in bytes beside a file.
    package func backUp(freeSpace: @Sendable (String) -> Int64?) async throws(OutboxError) -> String {
        let database = try openTables().database
        let path = file + ".backup"
        let partial = path + ".partial"
        guard !isBackingUp else { throw OutboxError(.inUse, "a backup is being made already") }
        isBackingUp = true
        defer { isBackingUp = false }
        // A relay that was killed may have left one.
        DiskFile.deleteDatabase(partial)
        do throws(SQLiteError) {
            try checkSpace(DiskFile.size(file) + DiskFile.size(file + "-wal"), freeSpace(partial))
            try await copy(database, to: partial, freeSpace)
            try markPushes(in: partial)
            try DiskFile.rename(partial, to: path)
            try DiskFile.syncDirectory(of: path)
        } catch {
            DiskFile.deleteDatabase(partial)
            throw OutboxError(error, "the backup \(path) cannot be made")
        }
        return path
    }

    /// Makes the log empty, which contains removed content until its space is used again; the file itself does not.
    package func discardRemovedContent() async throws(OutboxError) {
        try read { (tables) throws(SQLiteError) in try tables.database.connection.truncateLog() }
    }

    private func copy(
        _ database: OutboxDatabase,
        to path: String,
        _ freeSpace: (String) -> Int64?
    ) async throws(SQLiteError) {
        let backup = try Backup(of: database.connection, to: path)
        while try backup.step(SQLiteOutbox.pagesPerStep) {
            // Pushes that are accepted meanwhile take space, too.
            try checkSpace(0, freeSpace(path))
            await Task.yield()
        }
    }

    /// Throws an error if a disk has too little space for a copy of this size beside the reserve.
    private func checkSpace(_ size: Int64, _ free: Int64?) throws(SQLiteError) {
        let needed = size + SQLiteOutbox.reserve
        guard let free, free < needed else { return }
        throw .full("the disk has \(free >> 20) MB free, and the backup needs \((needed + 0xF_FFFF) >> 20) MB")
    }

    /// Marks every push that has not ended as possibly sent.
    private func markPushes(in path: String) throws(SQLiteError) {
        let options = Connection.Options(mustExist: true, isExclusive: true, hasLog: false)
        let copy = try Connection(path: path, options: options)
        try copy.execute(
            """
            UPDATE push SET unknown_tries = unknown_tries + 1 WHERE ready_at IS NOT NULL OR is_in_line = 1;
            DELETE FROM claimed;
            """
        )
    }
}
