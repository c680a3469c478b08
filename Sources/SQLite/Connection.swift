internal import CSQLite

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One connection to a database file, which it closes when it goes.
///
/// The module `SQLite` keeps what has to outlive a process: rows in a file, through SQLite, with its unsafe pointers
/// inside. It knows SQL statements and columns and nothing of what they are about.
///
/// The file is kept with a write-ahead log: one connection writes while others read, and a commit is one append. A
/// connection and its statements belong to one actor or task, which the compiler sees to: none of them is `Sendable`.
package struct Connection: ~Copyable {
    /// What a commit has to survive (https://www.sqlite.org/pragma.html#pragma_synchronous).
    package enum Synchronous: String, Sendable {
        /// A loss of power: each commit waits for the disk.
        case full
        /// The end of the process. A loss of power may take the last commits back; it damages nothing.
        case normal
    }

    /// How a file is opened.
    package struct Options: Sendable {
        /// What a commit has to survive; everything by default.
        package var synchronous: Synchronous
        /// How long to wait for others who are writing; 5 seconds by default.
        package var busyTimeout: Duration
        /// Whether a file that is not there is an error; by default it is made, for its owner alone.
        package var mustExist: Bool
        /// Whether no other connection may use the file while this one is open; false by default.
        ///
        /// The index of the log is in memory then, so that a file can be opened where the disk has no room for one.
        package var isExclusive: Bool

        /// The defaults, save what is given.
        package init(
            synchronous: Synchronous = .full,
            busyTimeout: Duration = .seconds(5),
            mustExist: Bool = false,
            isExclusive: Bool = false
        ) {
            self.synchronous = synchronous
            self.busyTimeout = busyTimeout
            self.mustExist = mustExist
            self.isExclusive = isExclusive
        }
    }

    /// Done once, before the first file is opened: later SQLite would refuse it, and go on as it was.
    private static let settings = martlet_sqlite3_leave_memory_uncounted()

    private let raw: OpaquePointer

    /// Opens a database file and looks whether it is one.
    ///
    /// - Parameters:
    ///   - path: The file; its log and its index lie beside it.
    ///   - options: How it is opened.
    /// - Throws: ``SQLiteError``, of kind `.notADatabase` for another file, `.readOnly` for one that may not be written
    ///   to, `.cannotOpen` for one that cannot be opened or made.
    package init(path: String, options: Options = Options()) throws(SQLiteError) {
        self = try Connection.opened(path, options)
    }

    /// Takes over a connection.
    private init(adopting raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        // Statements that are still there keep the database until they go, too.
        sqlite3_close_v2(raw)
    }

    private static func opened(_ path: String, _ options: Options) throws(SQLiteError) -> Connection {
        // A path is a file's, also where SQLite has a meaning of its own for it, as for `:memory:`.
        let file = path.first == "/" ? path : "./" + path
        if !options.mustExist { Connection.makeFile(file) }
        _ = Connection.settings
        let flags =
            SQLITE_OPEN_READWRITE | (options.mustExist ? 0 : SQLITE_OPEN_CREATE)
            // One task at a time uses a connection, so that its own lock would only cost.
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var opened: OpaquePointer?
        let status = sqlite3_open_v2(file, &opened, flags, nil)
        guard status == SQLITE_OK, let opened else {
            let error = SQLiteError(status, on: opened, during: "cannot open \(path)")
            sqlite3_close_v2(opened)
            throw error
        }
        let connection = Connection(adopting: opened)
        // SQLite would go on without writing, and tell at the first row.
        guard sqlite3_db_readonly(opened, "main") == 0 else {
            throw SQLiteError(
                SQLITE_READONLY,
                "cannot write to \(path): give this user the right to, or mount its disk for writing"
            )
        }
        let (seconds, attoseconds) = options.busyTimeout.components
        let milliseconds = min(seconds, 86_400) * 1_000 + attoseconds / 1_000_000_000_000_000
        sqlite3_busy_timeout(opened, CInt(clamping: milliseconds))
        do throws(SQLiteError) {
            // Before the first use of the log, as an index on disk stays otherwise.
            if options.isExclusive { try connection.execute("PRAGMA locking_mode = EXCLUSIVE") }
            let mode = try connection.firstText("PRAGMA journal_mode = WAL")
            guard mode == "wal" else {
                throw SQLiteError(SQLITE_CANTOPEN, "there can be no write-ahead log beside it, only \(mode)")
            }
            try connection.execute("PRAGMA synchronous = \(options.synchronous.rawValue)")
            // Where the system tells a sync from one that reaches the disk, as macOS does, the latter.
            if options.synchronous == .full { try connection.execute("PRAGMA fullfsync = on") }
        } catch {
            throw SQLiteError(error.code, "cannot open \(path): \(error.message)")
        }
        return connection
    }

    /// Makes the file for its owner alone, as what is kept is nobody else's; SQLite would let everybody read it.
    ///
    /// Never opens one that is there: closing it again would take the locks of this process's other connections
    /// (https://www.sqlite.org/howtocorrupt.html, 2.2).
    private static func makeFile(_ path: String) {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    // MARK: Statements

    /// Runs a script: any number of statements without parameters, whose rows are not looked at.
    package func execute(_ sql: String) throws(SQLiteError) {
        let status = sqlite3_exec(raw, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw SQLiteError(status, on: raw, during: "cannot execute SQL") }
    }

    /// Prepares one statement, to be run as often as one likes.
    ///
    /// - Parameter sql: The statement, with `?` for what is bound later. Values belong there, not in the text.
    /// - Returns: The statement. It keeps the file open as long as it lives, even when the connection has gone.
    /// - Throws: ``SQLiteError`` for SQL that is wrong, or not one statement.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
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
        let prepared = Statement(adopting: statement)
        guard !hasMore else { throw SQLiteError(SQLITE_MISUSE, "there is more than one statement in the SQL") }
        return prepared
    }

    /// Makes one change of many: all of what the body does is kept, or nothing.
    ///
    /// Others may go on reading; whoever wants to write waits from the beginning, not in the midst of it.
    ///
    /// - Parameter body: What to do. It must not begin a transaction of its own.
    /// - Returns: What the body returns, once it is kept.
    /// - Throws: What the body throws, or ``SQLiteError`` when it could not be kept: then nothing has changed.
    package func transaction<Value: ~Copyable>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            // A full disk and the like have rolled back already.
            if sqlite3_get_autocommit(raw) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// The key of the row that was inserted last.
    package var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(raw) }

    /// How many rows the last statement inserted, updated or deleted.
    package var changes: Int { Int(sqlite3_changes64(raw)) }

    // MARK: The file

    /// The number that tells which tables the file has; 0 for a new one.
    package var userVersion: Int {
        get throws(SQLiteError) {
            let statement = try prepare("PRAGMA user_version")
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// Sets the number that tells which tables the file has; it is part of the transaction.
    package func setUserVersion(_ version: Int) throws(SQLiteError) {
        try execute("PRAGMA user_version = \(version)")
    }

    /// Brings an older file up to date, all at once or not at all.
    ///
    /// - Parameter steps: Scripts, each from the version of its index to the next; they are never changed, only added
    ///   to.
    /// - Throws: ``SQLiteError``, of kind `.other` for a file that is newer than the steps.
    package func migrate(_ steps: [String]) throws(SQLiteError) {
        try transaction { () throws(SQLiteError) in
            let version = try userVersion
            guard (0...steps.count).contains(version) else {
                throw SQLiteError(
                    SQLITE_MISMATCH,
                    "the file has version \(version), this program knows those up to \(steps.count): use a newer one"
                )
            }
            guard version < steps.count else { return }
            for step in steps[version...] { try execute(step) }
            try setUserVersion(steps.count)
        }
    }

    /// Reads the whole file and looks whether it is what SQLite wrote.
    ///
    /// - Throws: ``SQLiteError`` of kind `.corrupt`, with the first thing that is wrong.
    package func checkIntegrity() throws(SQLiteError) {
        let finding = try firstText("PRAGMA integrity_check(1)")
        guard finding == "ok" else { throw SQLiteError(SQLITE_CORRUPT, "the database is damaged: \(finding)") }
    }

    /// Moves the content of the log into the file, so that the next change is written to the start of the log.
    ///
    /// The log keeps its size, and with it the room that it has on the disk.
    ///
    /// - Throws: ``SQLiteError`` of kind `.full` when the file has to grow and the disk has no room.
    package func restartLog() throws(SQLiteError) {
        try execute("PRAGMA wal_checkpoint(RESTART)")
    }

    /// Prepares this database to become a copy of another.
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
