internal import MartletCore
internal import MartletSQLite

/// The tables of an outbox and their state in memory.
///
/// All calls must come from one thread.
final class OutboxDatabase {
    /// The position up to which all pushes of a lane are claimed, wait behind others or have ended.
    struct Cursor {
        var readyAt = Int64.min
        var number = Int64.min

        func isBefore(_ readyAt: Int64, _ number: Int64) -> Bool {
            (self.readyAt, self.number) < (readyAt, number)
        }
    }

    /// One urgency of a lane, as stored in rows.
    struct Shelf: Hashable {
        var app: Int64
        var environment: PushEnvironment
        var urgency: Urgency
    }

    /// The state that is restored when a change is rolled back.
    struct Knowledge {
        var apps: [String: Int64] = [:]
        var cursors: [Shelf: Cursor] = [:]
        /// The numbers of rows that are claimed and not settled.
        var claimed: Set<Int64> = []
        /// The latest time that a caller has passed.
        var latest = Int64.min
        /// The times up to which pushes may have been claimed, as stored in the file.
        var horizons: [Shelf: Int64] = [:]
        var nextNumber: Int64 = 1
        /// The number of pushes that have not ended.
        var counts: [Lane: Int] = [:]
        var hasDeadTokens = false
    }

    /// The scripts that upgrade older files.
    private static let migrations = [
        """
        CREATE TABLE app (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE push (
            number INTEGER PRIMARY KEY, app INTEGER NOT NULL, environment TEXT NOT NULL, urgency INTEGER NOT NULL,
            ready_at INTEGER, in_line INTEGER NOT NULL, order_key TEXT, expires_at INTEGER,
            apns_id BLOB NOT NULL, fingerprint BLOB, token TEXT, channel TEXT, bundle TEXT,
            push_type TEXT, topic TEXT, priority TEXT, expiration TEXT, collapse_id TEXT, trace TEXT,
            accepted_at INTEGER NOT NULL, attempts INTEGER NOT NULL, unknown_tries INTEGER NOT NULL,
            payload BLOB NOT NULL
        );
        CREATE UNIQUE INDEX push_identity ON push (apns_id, app);
        CREATE INDEX push_ready ON push (app, environment, urgency, ready_at, number) WHERE ready_at IS NOT NULL;
        CREATE INDEX push_order ON push (app, environment, order_key, number) WHERE in_line = 1;
        CREATE INDEX push_expiry ON push (expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE outcome (
            apns_id BLOB NOT NULL, app INTEGER NOT NULL, environment TEXT NOT NULL, state TEXT NOT NULL,
            status INTEGER, reason TEXT, unique_id TEXT, unregistered_at INTEGER,
            attempts INTEGER NOT NULL, unknown_tries INTEGER NOT NULL, fingerprint BLOB,
            accepted_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, PRIMARY KEY (apns_id, app)
        ) WITHOUT ROWID;
        CREATE INDEX outcome_age ON outcome (ended_at);
        CREATE INDEX outcome_dead ON outcome (app, ended_at) WHERE state = 'dead';
        CREATE TABLE dead_token (
            cursor INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, token TEXT NOT NULL,
            since INTEGER, learnt_at INTEGER NOT NULL, reason TEXT NOT NULL, UNIQUE (app, token)
        );
        CREATE TABLE reader (name TEXT PRIMARY KEY, cursor INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE given_out (
            app INTEGER, environment TEXT, urgency INTEGER, until INTEGER NOT NULL,
            PRIMARY KEY (app, environment, urgency)
        ) WITHOUT ROWID;
        """,
        // Excludes dead letters, which do not expire any more, from the search for expired pushes each second.
        """
        DROP INDEX push_expiry;
        CREATE INDEX push_expiry ON push (expires_at)
            WHERE expires_at IS NOT NULL AND (ready_at IS NOT NULL OR in_line = 1);
        """,
        """
        CREATE TABLE lane_pause (
            app INTEGER NOT NULL, environment TEXT NOT NULL, since INTEGER NOT NULL, caller TEXT NOT NULL,
            PRIMARY KEY (app, environment)
        ) WITHOUT ROWID;
        -- By the last byte of the token, which is random. An index by whole tokens makes intake three times as slow
        -- with a million stored pushes, since each insertion changes another page; this one grows in 256 places.
        CREATE INDEX push_token ON push (substr(token, -2)) WHERE token IS NOT NULL;
        """,
    ]

    /// The size of the log after a checkpoint, in bytes; a large batch makes it longer until the next change.
    private static let longestLog = 32 << 20
    /// The time before the next search for space on a full disk, after a search that found none.
    private static let roomInterval = Duration.seconds(1)

    let connection: Connection
    let statements: OutboxStatements
    let limit: Int
    var known = Knowledge()
    private var nextSearchForRoom = ContinuousClock.now

    /// The number of pushes that have not ended.
    var count: Int { known.counts.values.reduce(0, +) }

    /// Opens a file, or creates it unless it must exist.
    init(file: String, options: SQLiteOutbox.Options, mustExist: Bool = false) throws(SQLiteError) {
        var opening = Connection.Options(synchronous: options.durability == .full ? .full : .normal)
        opening.busyTimeout = .seconds(1)
        opening.mustExist = mustExist
        // Two relays on one file would send every push twice.
        opening.isExclusive = true
        connection = try Connection(path: file, options: opening)
        try connection.execute(
            "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = \(OutboxDatabase.longestLog);"
        )
        try connection.migrate(OutboxDatabase.migrations)
        statements = try OutboxStatements(connection)
        limit = options.limit
        try change { (database) throws(SQLiteError) in try database.doubt() }
        try learn()
    }

    /// Marks pushes as possibly sent that an earlier process may have claimed before it ended without closing.
    private func doubt() throws(SQLiteError) {
        try connection.execute(
            """
            UPDATE push SET unknown_tries = unknown_tries + 1 FROM given_out
            WHERE push.app = given_out.app AND push.environment = given_out.environment
                AND push.urgency = given_out.urgency AND ready_at <= until;
            """
        )
        try endInOrder()
    }

    /// Loads the state that is kept in memory.
    private func learn() throws(SQLiteError) {
        let apps = try connection.prepare("SELECT id, name FROM app")
        while try apps.step() { known.apps[apps.text(at: 1)] = apps.integer(at: 0) }
        let last = try connection.prepare("SELECT number, accepted_at FROM push ORDER BY number DESC LIMIT 1")
        if try last.step() {
            known.nextNumber = last.integer(at: 0) + 1
            known.latest = last.integer(at: 1)
        }
        try count("INDEXED BY push_ready WHERE ready_at IS NOT NULL")
        try count("INDEXED BY push_order WHERE in_line = 1 AND ready_at IS NULL")
        let tokens = try connection.prepare("SELECT 1 FROM dead_token LIMIT 1")
        known.hasDeadTokens = try tokens.step()
    }

    /// Records that no push is claimed.
    func endInOrder() throws(SQLiteError) {
        try connection.execute("DELETE FROM given_out")
    }

    private func count(_ condition: String) throws(SQLiteError) {
        let lanes = try connection.prepare(
            "SELECT app, environment, COUNT(*) FROM push \(condition) GROUP BY app, environment"
        )
        while try lanes.step() {
            let lane = Lane(app: name(of: lanes.integer(at: 0)), environment: PushEnvironment(lanes, at: 1))
            known.counts[lane, default: 0] += Int(lanes.integer(at: 2))
        }
    }

    /// Makes a change in a transaction: either all of it is stored or none.
    ///
    /// When the disk is full, it is tried again after a checkpoint, which may free space in the log.
    func change<Value>(_ body: (OutboxDatabase) throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        do throws(SQLiteError) {
            return try changeOnce(body)
        } catch {
            guard error.kind == .full, findRoom() else { throw error }
            return try changeOnce(body)
        }
    }

    private func findRoom() -> Bool {
        guard ContinuousClock.now >= nextSearchForRoom else { return false }
        do throws(SQLiteError) {
            try connection.restartLog()
            return true
        } catch {
            nextSearchForRoom = ContinuousClock.now + OutboxDatabase.roomInterval
            return false
        }
    }

    private func changeOnce<Value>(
        _ body: (OutboxDatabase) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        let before = known
        do throws(SQLiteError) {
            return try connection.transaction { () throws(SQLiteError) in try body(self) }
        } catch {
            known = before
            throw error
        }
    }

    /// Returns the number of an app; nil for an app that has never submitted a push.
    func number(ofKnown app: String) -> Int64? { known.apps[app] }

    /// Returns the number of an app, which is assigned when the app first submits a push.
    func number(of app: String) throws(SQLiteError) -> Int64 {
        if let number = known.apps[app] { return number }
        try statements.addApp.run(with: app)
        let number = connection.lastInsertRowID
        known.apps[app] = number
        return number
    }

    func lane(of shelf: Shelf) -> Lane { Lane(app: name(of: shelf.app), environment: shelf.environment) }

    func name(of app: Int64) -> String {
        known.apps.first { $0.value == app }?.key ?? ""
    }

    /// Moves the cursor back if it is behind a row with a new due time, so that the next claim finds the row.
    ///
    /// A row can get an earlier time when its push was postponed, and when the clock was set back.
    func lookAt(_ number: Int64, _ readyAt: Int64, on shelf: Shelf) {
        guard let cursor = known.cursors[shelf], !cursor.isBefore(readyAt, number) else { return }
        known.cursors[shelf] = Cursor(readyAt: readyAt, number: number - 1)
    }
}

extension OutboxError {
    /// Creates an error from an error of SQLite.
    init(_ error: SQLiteError, _ what: String) {
        let kind: Kind =
            switch error.kind {
            case .full: .full
            case .corrupt, .notADatabase: .damaged
            case .busy: .inUse
            case .readOnly, .constraint, .cannotOpen, .disk, .other: .unavailable
            }
        self.init(kind, "\(what): \(error)")
    }
}
