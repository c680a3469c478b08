internal import CSQLite

/// A copy of a database that is made step by step, while its connection goes on reading and writing
/// (https://www.sqlite.org/backup.html).
///
/// The copy is as the database was at the last step: what the same connection writes in between is copied, too. Until
/// then the file keeps what it had.
package final class Backup {
    private let raw: OpaquePointer
    private let target: Connection

    /// Prepares a copy.
    ///
    /// - Parameters:
    ///   - source: The database, whose connection must stay open until the last step.
    ///   - path: The file of the copy: a database whose content is replaced, or none.
    /// - Throws: ``SQLiteError`` when the file cannot be made or written to.
    package init(of source: borrowing Connection, to path: String) throws(SQLiteError) {
        target = try Connection(path: path)
        raw = try target.beginBackup(of: source)
    }

    deinit {
        sqlite3_backup_finish(raw)
    }

    /// Copies pages.
    ///
    /// - Parameter pages: How many at most.
    /// - Returns: Whether there are more.
    /// - Throws: ``SQLiteError``; then the copy cannot be continued.
    package func step(_ pages: Int) throws(SQLiteError) -> Bool {
        let status = sqlite3_backup_step(raw, CInt(clamping: pages))
        guard status == SQLITE_OK || status == SQLITE_DONE else {
            throw SQLiteError(status, on: nil, during: "cannot copy the database")
        }
        return status == SQLITE_OK
    }
}
