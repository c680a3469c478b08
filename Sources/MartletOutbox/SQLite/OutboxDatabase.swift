// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQL
internal import MartletCore
internal import MartletSQLite

/// The file of an outbox, its transactions, the numbers of apps, and the state that is kept in memory.
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

    /// The state that is restored when a change is rolled back.
    struct LoadedState {
        var apps: [String: Int64] = [:]
        var cursors: [UrgencyQueue: Cursor] = [:]
        /// The numbers of rows that are claimed and not settled, each with the number of its claim.
        var claimed: [Int64: Int64] = [:]
        /// The number of the last claim.
        var lastClaim: Int64 = 0
        /// The latest time that a caller has passed.
        var latest = Int64.min
        /// The times up to which pushes may have been claimed, as stored in the file.
        var horizons: [UrgencyQueue: Int64] = [:]
        var nextNumber: Int64 = 1
        /// The number of pushes that have not ended.
        var counts: [Lane: Int] = [:]
        var hasUnregisteredTokens = false
    }

    /// The version of the tables.
    static let version = 1

    /// The remark on a damaged log of a file whose ``SQLiteOutbox/Options/Durability`` is not known.
    static let relaxedRemark = " (a loss of power also leaves this if the relay's durability was relaxed)"

    /// The size of the log after a checkpoint, in bytes; a large batch makes it longer until the next change.
    private static let longestLog = 32 << 20
    /// The time before the next search for space on a full disk, after a search that found none.
    private static let roomInterval = Duration.seconds(1)
    /// The time between two repairs of the indexes, which read the whole file.
    private static let repairInterval = Duration.seconds(600)

    /// The first push of each order key that has no due push.
    ///
    /// A push that waits for others of its key becomes due at the end of the one before it. No key is without a due
    /// push unless damage has changed a key, in a row or in the index.
    private static let heldPushes = """
        SELECT MIN(number) FROM push INDEXED BY push_order WHERE is_in_line = 1
        GROUP BY app, environment, order_key HAVING COUNT(ready_at) = 0
        """

    let connection: Connection
    private let addApp: Statement
    let limit: Int
    var state = LoadedState()
    private var nextSearchForRoom = ContinuousClock.now
    /// The earliest time of the next repair; nil after one that has failed.
    private var nextRepair: ContinuousClock.Instant? = .now

    /// The number of pushes that an earlier process may have claimed before it ended without closing the file.
    private(set) var possiblySent = 0

    /// The number of pushes that have not ended.
    var count: Int { state.counts.values.reduce(0, +) }

    /// Opens a file, or creates it unless it must exist; a file that must exist has an unknown durability.
    init(file: String, options: SQLiteOutbox.Options, mustExist: Bool) throws(SQLiteError) {
        var opening = Connection.Options(synchronous: options.durability == .full ? .full : .normal)
        opening.busyTimeout = .seconds(1)
        opening.mustExist = mustExist
        // Two relays on one file would send every push twice.
        opening.isExclusive = true
        connection = try Connection(path: file, options: opening)
        // Before the first change, which would overwrite the frames behind a damaged one. With relaxed durability the
        // log may have gaps after a loss of power, because frames reach the disk in any order.
        if options.durability == .full {
            try connection.checkLog(remark: mustExist ? OutboxDatabase.relaxedRemark : "")
        }
        // Without it, which is the default of some builds, removed content stays in the file until its space is reused.
        try connection.execute(
            """
            PRAGMA secure_delete = on; PRAGMA wal_autocheckpoint = 4000;
            PRAGMA journal_size_limit = \(OutboxDatabase.longestLog);
            """
        )
        try connection.createTables(
            unsafe String(cString: martlet_sql_sqlite_tables()),
            version: OutboxDatabase.version
        )
        addApp = try connection.prepare("INSERT INTO app (name) VALUES (?)")
        limit = options.limit
        if !options.isSealed, let key = try SealingTable(self).key() {
            throw .refused(OutboxError.needsKey(key.number))
        }
        let holdsPushes = try change { () throws(SQLiteError) -> Bool in
            try markOutcomesUnknown()
            try loadState()
            return try connection.prepare(OutboxDatabase.heldPushes + " LIMIT 1").step()
        }
        // The index may be what is damaged, so that the pushes behind are released by a sound one.
        if holdsPushes { try repair() }
    }

    /// Marks pushes as possibly sent that an earlier process may have claimed before it ended without closing.
    private func markOutcomesUnknown() throws(SQLiteError) {
        try connection.execute(
            """
            UPDATE push SET unknown_tries = unknown_tries + 1 FROM claimed
            WHERE push.app = claimed.app AND push.environment = claimed.environment
                AND push.urgency = claimed.urgency AND ready_at <= until;
            """
        )
        let changes = try connection.prepare("SELECT changes()")
        possiblySent = try changes.step() ? Int(changes.integer(at: 0)) : 0
        try endInOrder()
    }

    /// Loads the state that is kept in memory.
    private func loadState() throws(SQLiteError) {
        let apps = try connection.prepare("SELECT number, name FROM app")
        while try apps.step() { state.apps[apps.text(at: 1)] = apps.integer(at: 0) }
        let last = try connection.prepare("SELECT number, accepted_at FROM push ORDER BY number DESC LIMIT 1")
        if try last.step() {
            state.nextNumber = last.integer(at: 0) + 1
            state.latest = last.integer(at: 1)
        }
        let registered = try connection.prepare("SELECT MAX(last_push) FROM installation_token")
        if try registered.step() { state.nextNumber = max(state.nextNumber, registered.integer(at: 0) + 1) }
        try count("INDEXED BY push_ready WHERE ready_at IS NOT NULL")
        try count("INDEXED BY push_order WHERE is_in_line = 1 AND ready_at IS NULL")
        let tokens = try connection.prepare("SELECT 1 FROM unregistered_token LIMIT 1")
        state.hasUnregisteredTokens = try tokens.step()
    }

    /// Records that no push is claimed.
    func endInOrder() throws(SQLiteError) {
        try connection.execute("DELETE FROM claimed")
    }

    private func count(_ condition: String) throws(SQLiteError) {
        let lanes = try connection.prepare(
            "SELECT app, environment, COUNT(*) FROM push \(condition) GROUP BY app, environment"
        )
        while try lanes.step() {
            let lane = Lane(app: name(of: lanes.integer(at: 0)), environment: PushEnvironment(lanes, at: 1))
            state.counts[lane, default: 0] += Int(lanes.integer(at: 2))
        }
    }

    /// Makes a change in a transaction: either all of it is stored or none.
    ///
    /// It is tried again when the disk is full, after a checkpoint, which may free space in the log; and when the file
    /// is damaged, after a repair of the indexes.
    func change<Value>(_ body: () throws(SQLiteError) -> Value) throws(SQLiteError) -> Value {
        do throws(SQLiteError) {
            return try changeOnce(body)
        } catch {
            switch error.kind {
            case .full where findRoom(): break
            case .corrupt where nextRepair.map { $0 <= .now } ?? false: try repair()
            default: throw error
            }
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

    /// Rebuilds the indexes from the rows, whose damage the checksums show.
    ///
    /// SQLite refuses to change a row that differs from its entry in an index. One flipped bit would keep everything
    /// that is stored together with it from being stored.
    private func repair() throws(SQLiteError) {
        nextRepair = nil
        try connection.rebuildIndexes()
        try changeOnce { () throws(SQLiteError) in
            try exposeDamagedPushes()
            try releaseHeldPushes()
        }
        nextRepair = .now + OutboxDatabase.repairInterval
    }

    /// Moves waiting pushes whose queue or due time is damaged to where claims find them and compare their checksums.
    ///
    /// Until the indexes were rebuilt, claims found them by the intact entries of the index.
    private func exposeDamagedPushes() throws(SQLiteError) {
        let urgency = "iif(job IS NOT NULL, 3, CASE priority WHEN '5' THEN 1 WHEN '1' THEN 2 ELSE 0 END)"
        try connection.execute(
            """
            UPDATE push SET
                app = iif(app IN (SELECT number FROM app), app, (SELECT MIN(number) FROM app)),
                environment = iif(environment = 'development', environment, 'production'),
                urgency = \(urgency), ready_at = iif(ready_check IS ~ready_at, ready_at, accepted_at)
            WHERE ready_check IS NOT ~ready_at OR (ready_at IS NOT NULL OR is_in_line = 1) AND (
                app NOT IN (SELECT number FROM app) OR environment NOT IN ('production', 'development')
                OR urgency <> \(urgency)
            )
            """
        )
        state.cursors = [:]
    }

    /// Makes the first push of each order key due that has no due push.
    func releaseHeldPushes() throws(SQLiteError) {
        let released = try connection.prepare(
            """
            UPDATE push SET ready_at = accepted_at, ready_check = ~accepted_at
            WHERE number IN (\(OutboxDatabase.heldPushes)) RETURNING number, app, environment, urgency, accepted_at
            """
        )
        while try released.step() {
            moveCursor(before: released.integer(at: 0), released.integer(at: 4), in: UrgencyQueue(released, from: 1))
        }
    }

    private func changeOnce<Value>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value {
        let before = state
        do throws(SQLiteError) {
            return try connection.transaction(body)
        } catch {
            state = before
            throw error
        }
    }

    /// Returns the number of an app; nil for an app that has never submitted a push.
    func number(ofKnown app: String) -> Int64? { state.apps[app] }

    /// Returns the number of an app, which is assigned when the app first submits a push.
    func number(of app: String) throws(SQLiteError) -> Int64 {
        if let number = state.apps[app] { return number }
        try addApp.run(with: app)
        let number = connection.lastInsertRowID
        state.apps[app] = number
        return number
    }

    /// Returns the lane of a queue.
    func lane(of queue: UrgencyQueue) -> Lane { Lane(app: name(of: queue.app), environment: queue.environment) }

    func name(of app: Int64) -> String {
        state.apps.first { $0.value == app }?.key ?? ""
    }

    /// Moves the cursor back if it is behind a row with a new due time, so that the next claim finds the row.
    ///
    /// A row can get an earlier time when its push was postponed, and when the clock was set back.
    func moveCursor(before number: Int64, _ readyAt: Int64, in queue: UrgencyQueue) {
        guard let cursor = state.cursors[queue], !cursor.isBefore(readyAt, number) else { return }
        state.cursors[queue] = Cursor(readyAt: readyAt, number: number - 1)
    }
}

/// One urgency of a lane, as stored in rows.
struct UrgencyQueue: Hashable {
    var app: Int64
    var environment: PushEnvironment
    var urgency: Urgency
}

extension OutboxError {
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
