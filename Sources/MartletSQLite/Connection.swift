// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQLite
internal import MartletCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A connection to a database file, closed when the value is destroyed.
///
/// The module `MartletSQLite` stores rows in a file through SQLite and contains all unsafe pointers that this needs. It
/// handles SQL statements and columns and contains no application logic.
///
/// The file has a write-ahead log: one connection writes while others read, and a commit is one append. A connection
/// and its statements belong to one actor or task. The compiler enforces this: none of them is `Sendable`.
package struct Connection: ~Copyable {
    /// The failures that a commit survives (https://www.sqlite.org/pragma.html#pragma_synchronous).
    package enum Synchronous: String, Sendable {
        /// A loss of power: each commit waits for the disk.
        case full
        /// The end of the process. A loss of power may undo the last commits but does not damage the file.
        case normal
    }

    /// The options for opening a file.
    package struct Options: Sendable {
        /// The failures that a commit survives; ``Synchronous/full`` by default.
        package var synchronous: Synchronous
        /// The maximum time to wait for other connections that write; 5 seconds by default.
        package var busyTimeout: Duration
        /// Whether a missing file is an error; by default it is created, readable and writable for its owner only.
        package var mustExist: Bool
        /// Whether no other connection may use the file while this one is open; false by default.
        ///
        /// The index of the log is in memory then, so that a file can be opened when the disk has no space for one.
        package var isExclusive: Bool
        /// Whether changes are logged so that a crash cannot damage the file; true by default.
        ///
        /// Without a log the file is the only one that is written. This suits a file that is deleted after a failure.
        package var hasLog: Bool
        /// Whether the file and its log stay as they are, which includes ``isExclusive``; false by default.
        package var isReadOnly: Bool

        /// Creates options, with a default for each.
        package init(
            synchronous: Synchronous = .full,
            busyTimeout: Duration = .seconds(5),
            mustExist: Bool = false,
            isExclusive: Bool = false,
            hasLog: Bool = true,
            isReadOnly: Bool = false
        ) {
            self.synchronous = synchronous
            self.busyTimeout = busyTimeout
            self.mustExist = mustExist
            self.isExclusive = isExclusive || isReadOnly
            self.hasLog = hasLog
            self.isReadOnly = isReadOnly
        }
    }

    /// Evaluated once, before the first file is opened: SQLite rejects this setting after it has been initialized.
    private static let settings = martlet_sqlite3_leave_memory_uncounted()

    private let raw: OpaquePointer
    private let cache: StatementCache
    /// The path of the empty log that SQLite has created for a file that is only read; empty for none.
    private var createdLog: String

    /// Opens a database file and checks that it is one.
    ///
    /// - Parameters:
    ///   - path: The file. Its log and its index are stored beside it.
    ///   - options: The options for opening it.
    /// - Throws: ``SQLiteError``, of kind `.notADatabase` for another file, `.readOnly` for one that may not be
    ///   written, `.cannotOpen` for one that cannot be opened or created.
    package init(path: String, options: Options = Options()) throws(SQLiteError) {
        self = try Connection.opened(path, options)
    }

    /// Creates a connection that owns an open database handle.
    private init(adopting raw: OpaquePointer) {
        self.raw = raw
        cache = StatementCache()
        createdLog = ""
    }

    deinit {
        // Before the file is unlocked, because another process may use the log then.
        if !createdLog.isEmpty { unlink(createdLog) }
        cache.close()
        // SQLite keeps the database open until the remaining statements are finalized.
        sqlite3_close_v2(raw)
    }

    private static func opened(_ path: String, _ options: Options) throws(SQLiteError) -> Connection {
        // Treats every path as a file, including those with a special meaning for SQLite, such as `:memory:`.
        let file = path.first == "/" ? path : "./" + path
        let creationError = options.mustExist ? 0 : Connection.makeFile(file)
        _ = Connection.settings
        let flags =
            SQLITE_OPEN_READWRITE | (options.mustExist ? 0 : SQLITE_OPEN_CREATE)
            // One task at a time uses a connection, so SQLite's own mutex would only add cost.
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(file, &opened, flags, nil)
        guard status == SQLITE_OK, let opened else {
            let what = "cannot open \(ShownValue(path))"
            let error = SQLiteError(status, on: opened, during: what, systemError: creationError)
            sqlite3_close_v2(opened)
            throw error
        }
        var connection = Connection(adopting: opened)
        // SQLite would open the file read-only and fail at the first write.
        guard sqlite3_db_readonly(opened, "main") == 0 else {
            throw SQLiteError(
                SQLITE_READONLY,
                "cannot write to \(ShownValue(path)): give this user the right to, or mount its disk for writing"
            )
        }
        let (seconds, attoseconds) = options.busyTimeout.components
        let milliseconds = min(seconds, 86_400) * 1_000 + attoseconds / 1_000_000_000_000_000
        sqlite3_busy_timeout(opened, CInt(clamping: milliseconds))
        do throws(SQLiteError) {
            // Must precede the first use of the log; otherwise SQLite keeps the index on disk.
            if options.isExclusive { try connection.execute("PRAGMA locking_mode = EXCLUSIVE") }
            if options.isReadOnly {
                try connection.beginReading(file)
            } else {
                try connection.setJournal(options)
            }
        } catch {
            throw SQLiteError(error.code, "cannot open \(ShownValue(path)): \(error.message)")
        }
        return connection
    }

    private func setJournal(_ options: Options) throws(SQLiteError) {
        let wanted = options.hasLog ? "wal" : "off"
        let mode = try firstText("PRAGMA journal_mode = \(wanted)")
        guard mode == wanted else {
            throw SQLiteError(SQLITE_CANTOPEN, "the journal mode must be \(wanted) (found \(mode))")
        }
        try execute("PRAGMA synchronous = \(options.synchronous.rawValue)")
        // On systems where a plain sync does not reach the disk, such as macOS, use the sync that does.
        if options.synchronous == .full { try execute("PRAGMA fullfsync = on") }
    }

    /// Locks the file for reading, without a checkpoint of its log at the end.
    private mutating func beginReading(_ file: String) throws(SQLiteError) {
        martlet_sqlite3_keep_log(raw)
        try execute("PRAGMA query_only = on")
        let log = file + "-wal"
        let hasLog = access(log, F_OK) == 0
        // The first read takes the lock. Only then is it certain that nothing else uses a new log.
        _ = try userVersion
        if !hasLog, DiskFile.size(log) == 0 { createdLog = log }
    }

    /// Creates the file for its owner only, because SQLite would make it readable for every user.
    ///
    /// Never opens an existing file: closing it again would release the locks of this process's other connections
    /// (https://www.sqlite.org/howtocorrupt.html, 2.2).
    ///
    /// - Returns: The system's error number; 0 if the file was created or exists.
    private static func makeFile(_ path: String) -> CInt {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return errno == EEXIST ? 0 : errno }
        close(descriptor)
        return 0
    }

    // MARK: Statements

    /// Runs a script of any number of statements without parameters and discards their rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        let status = sqlite3_exec(raw, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw SQLiteError(status, on: raw, during: "cannot execute SQL") }
    }

    /// Prepares a statement that can be run any number of times.
    ///
    /// - Parameter sql: The statement, with `?` for each value that is bound later. Values must be bound, not inserted
    ///   into the text.
    /// - Returns: The statement. It keeps the file open as long as it exists, even after the connection is destroyed.
    /// - Throws: ``SQLiteError`` for invalid SQL, and for text that is not exactly one statement.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        if let known = cache.take(sql) { return Statement(adopting: known, sql, from: cache) }
        return Statement(adopting: try compile(sql), sql, from: cache)
    }

    private func compile(_ sql: String) throws(SQLiteError) -> OpaquePointer {
        var statement: OpaquePointer?
        var hasMore = false
        var sql = sql
        let status = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                var rest: UnsafePointer<CChar>?
                let flags = CUnsignedInt(SQLITE_PREPARE_PERSISTENT)
                let status = sqlite3_prepare_v3(raw, text.baseAddress, CInt(text.count), flags, &statement, &rest)
                if let rest, let start = text.baseAddress {
                    hasMore = text[(rest - start)...].contains { $0 > CChar(0x20) && $0 != CChar(0x3B) }
                }
                return status
            }
        }
        guard status == SQLITE_OK else { throw SQLiteError(status, on: raw, during: "cannot prepare SQL") }
        guard let statement else { throw SQLiteError(SQLITE_MISUSE, "there is no statement in the SQL") }
        guard !hasMore else {
            sqlite3_finalize(statement)
            throw SQLiteError(SQLITE_MISUSE, "there is more than one statement in the SQL")
        }
        return statement
    }

    /// Runs a body in a transaction: either all of its changes are stored or none.
    ///
    /// Other connections can read meanwhile. Another writer waits when its transaction begins, not within it.
    ///
    /// - Parameter body: The changes. It must not begin a transaction of its own.
    /// - Returns: The result of the body, after the commit.
    /// - Throws: The error of the body, or ``SQLiteError`` when the commit fails; nothing has changed then.
    package func transaction<Value: ~Copyable>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // Some errors, such as a full disk, have already rolled back the transaction.
            if sqlite3_get_autocommit(raw) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The key of the row that was inserted last.
    package var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(raw) }

    /// The number of rows that the last statement inserted, updated or deleted.
    package var changes: Int { Int(sqlite3_changes64(raw)) }

    // MARK: The file

    /// The schema version of the file; 0 for a new one.
    package var userVersion: Int {
        get throws(SQLiteError) {
            let statement = try prepare("PRAGMA user_version")
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// Sets the schema version of the file, as part of the current transaction.
    package func setUserVersion(_ version: Int) throws(SQLiteError) {
        try execute("PRAGMA user_version = \(version)")
    }

    /// Creates the tables of a new file in one transaction; does nothing for a file that has them.
    ///
    /// - Parameters:
    ///   - script: The script that creates the tables.
    ///   - version: The version of the tables.
    /// - Throws: ``SQLiteError``, of kind `.other` for a file with tables of another version, which stays as it is.
    package func createTables(_ script: String, version: Int) throws(SQLiteError) {
        try transaction { () throws(SQLiteError) in
            guard try userVersion == 0 else { return try checkVersion(version) }
            try execute(script)
            try setUserVersion(version)
        }
    }

    /// Checks that the tables of the file have a version.
    ///
    /// - Parameter version: The version of the program.
    /// - Throws: ``SQLiteError``, of kind `.other` for another version, with what to do.
    package func checkVersion(_ version: Int) throws(SQLiteError) {
        let found = try userVersion
        guard found != version else { return }
        throw SQLiteError(
            SQLITE_MISMATCH,
            "the tables of the file have version \(found), and this program uses version \(version): use a new file, or"
                + " the version of Martlet that wrote it"
        )
    }

    /// Reads the whole file and checks its integrity.
    ///
    /// - Throws: ``SQLiteError`` of kind `.corrupt`, with the first problem found.
    package func checkIntegrity() throws(SQLiteError) {
        guard let problem = try integrityProblems(limit: 1).first else { return }
        throw SQLiteError(SQLITE_CORRUPT, "the database is damaged: \(problem)")
    }

    /// Reads the whole file, checks its integrity and that of its indexes, and returns the problems found.
    package func integrityProblems(limit: Int) throws(SQLiteError) -> [String] {
        try problems(of: "integrity_check(\(limit))")
    }

    /// Rebuilds the indexes from the rows of their tables, after a check of all pages.
    ///
    /// - Throws: ``SQLiteError``, of kind `.corrupt` for a file with damaged pages, which stays as it is: to clear an
    ///   index whose pages are damaged could clear a page of a table.
    package func rebuildIndexes() throws(SQLiteError) {
        if let problem = try problems(of: "quick_check(1)").first?.split(separator: "\n").last {
            throw SQLiteError(SQLITE_CORRUPT, "the database is damaged: \(problem)")
        }
        try execute("REINDEX")
    }

    private func problems(of check: String) throws(SQLiteError) -> [String] {
        let rows = try prepare("PRAGMA \(check)")
        var problems: [String] = []
        while try rows.step() { problems.append(rows.text(at: 0)) }
        return problems == ["ok"] ? [] : problems
    }

    /// Reads the log and checks it for damage after which SQLite would silently discard later commits.
    ///
    /// The connection must be exclusive, each commit must have waited for the disk, and nothing may have been written
    /// since the connection was opened, because that would overwrite the log. A damaged log stays as it is.
    ///
    /// - Parameter remark: A remark for the end of the error about a damaged log, by default none.
    /// - Throws: ``SQLiteError`` of kind `.corrupt` for a damaged log, and others if it cannot be read.
    package func checkLog(remark: String = "") throws(SQLiteError) {
        guard let name = sqlite3_db_filename(raw, "main") else { return }
        let database = String(cString: name)
        let path = database + "-wal"
        let log = try WriteAheadLog(file: path)
        guard let damage = log.damage, let size = log.sizeBeforeDamage else { return }
        // Otherwise SQLite would copy the part before the damage into the file and delete the log.
        martlet_sqlite3_keep_log(raw)
        let place =
            switch damage {
            case .header: "the header"
            case .frame(let index): "frame \(index + 1) of \(log.frameCount)"
            }
        let commits = log.discardedCommitCount == 0 ? "" : " (\(log.discardedCommitCount.counted("commit")))"
        throw SQLiteError(
            SQLITE_CORRUPT,
            "\(place) in the log \(path) is damaged, and SQLite would discard it and all later changes\(commits):"
                + " copy \(database) and \(path), then restore a backup, or give up these changes with"
                + " truncate --size=\(size) \(path)\(remark)"
        )
    }

    /// Copies the content of the log into the file, so that the next change is written to the start of the log.
    ///
    /// The log keeps its size and its space on the disk.
    ///
    /// - Throws: ``SQLiteError`` of kind `.full` when the file has to grow and the disk has no space.
    package func restartLog() throws(SQLiteError) {
        try execute("PRAGMA wal_checkpoint(RESTART)")
    }

    /// Copies the content of the log into the file, and makes the log empty.
    ///
    /// It takes as long as it takes to write the log to the disk. A log that a statement or another connection reads
    /// keeps its content.
    ///
    /// - Throws: ``SQLiteError`` of kind `.full` when the file has to grow and the disk has no space.
    package func truncateLog() throws(SQLiteError) {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Prepares this database to be overwritten with a copy of another.
    func beginBackup(of source: borrowing Connection) throws(SQLiteError) -> OpaquePointer {
        guard let backup = sqlite3_backup_init(raw, "main", source.raw, "main") else {
            throw SQLiteError(sqlite3_errcode(raw), on: raw, during: "cannot copy the database")
        }
        return backup
    }

    private func firstText(_ sql: String) throws(SQLiteError) -> String {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(at: 0) : ""
    }
}
