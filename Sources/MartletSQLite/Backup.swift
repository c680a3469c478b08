// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQLite

/// A copy of a database that is made in steps while its connection continues to read and write
/// (https://www.sqlite.org/backup.html).
///
/// The copy holds the database as it was at the last step, including changes that the same connection makes between
/// steps. The file keeps its previous content until then.
package final class Backup {
    private let raw: OpaquePointer
    private let target: Connection

    /// Creates a backup and opens the file of the copy, which is written without a log.
    ///
    /// - Parameters:
    ///   - source: The database, whose connection must stay open until the last step.
    ///   - path: The file of the copy. An existing database is replaced; a missing file is created.
    /// - Throws: ``SQLiteError`` when the file cannot be created or written.
    package init(of source: borrowing Connection, to path: String) throws(SQLiteError) {
        target = try Connection(path: path, options: Connection.Options(isExclusive: true, hasLog: false))
        raw = try target.beginBackup(of: source)
    }

    deinit {
        sqlite3_backup_finish(raw)
    }

    /// Copies pages.
    ///
    /// - Parameter pages: The maximum number of pages.
    /// - Returns: Whether pages remain.
    /// - Throws: ``SQLiteError``; the copy cannot be continued afterwards.
    package func step(_ pages: Int) throws(SQLiteError) -> Bool {
        let status = sqlite3_backup_step(raw, CInt(clamping: pages))
        guard status == SQLITE_OK || status == SQLITE_DONE else {
            throw SQLiteError(status, on: nil, during: "cannot copy the database")
        }
        return status == SQLITE_OK
    }
}
