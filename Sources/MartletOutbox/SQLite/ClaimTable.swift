// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The waiting pushes of an outbox by their due times.
final class ClaimTable {
    private let database: OutboxDatabase
    private let pushes: PushTable
    private let findDue: Statement
    private let makeDueAgain: Statement
    private let findNextDue: Statement
    private let setHorizon: Statement
    private let findOldest: Statement
    private let findRetries: Statement
    private let countBlocked: Statement
    private let findExpired: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase, _ pushes: PushTable) throws(SQLiteError) {
        self.database = database
        self.pushes = pushes
        findDue = try database.connection.prepare(
            """
            SELECT \(PushTable.columns), user_id IS NOT NULL AND NOT coalesce((
                SELECT max(i.user_id = push.user_id) FROM installation_token t CROSS JOIN installation i
                WHERE t.token = push.token AND i.number = t.installation AND i.app = push.app
            ), NOT is_to_user AND user_id <> '') FROM push
            WHERE app = ? AND environment = ? AND urgency = ? AND (ready_at, number) > (?, ?) AND ready_at <= ?
            ORDER BY ready_at, number
            """
        )
        makeDueAgain = try database.connection.prepare(
            """
            UPDATE push SET ready_at = ?1, ready_check = ~?1 WHERE number IN (
                SELECT number FROM push
                WHERE app = ?2 AND environment = ?3 AND urgency = ?4 AND ready_at > ?1 AND ready_at <= ?5
                    AND ready_at <= accepted_at AND attempts = 0 AND ready_check = ~ready_at
                ORDER BY ready_at, number LIMIT ?6
            )
            """
        )
        findNextDue = try database.connection.prepare(
            """
            SELECT ready_at FROM push
            WHERE app = ? AND environment = ? AND urgency = ? AND (ready_at, number) > (?, ?) AND ready_at IS NOT NULL
            ORDER BY ready_at, number LIMIT 1
            """
        )
        setHorizon = try database.connection.prepare(
            "INSERT OR REPLACE INTO claimed (app, environment, urgency, until) VALUES (?, ?, ?, ?)"
        )
        findOldest = try database.connection.prepare(
            """
            SELECT MIN(ready_at) FROM push
            WHERE app = ? AND environment = ? AND urgency = ? AND ready_at IS NOT NULL
            """
        )
        findRetries = try database.connection.prepare(
            """
            SELECT COUNT(*), MIN(accepted_at) FROM push INDEXED BY push_retry
            WHERE app = ? AND environment = ? AND attempts > 0 AND ready_at IS NOT NULL
            """
        )
        // The first push of each key is due, claimed or postponed. The index alone has the numbers.
        countBlocked = try database.connection.prepare(
            """
            SELECT COALESCE(SUM(pushes - 1), 0) FROM (
                SELECT COUNT(*) AS pushes FROM push INDEXED BY push_order
                WHERE app = ? AND environment = ? AND is_in_line = 1 GROUP BY order_key
            )
            """
        )
        findExpired = try database.connection.prepare(
            """
            SELECT \(PushTable.columns) FROM push
            WHERE expires_at <= ? AND (ready_at IS NOT NULL OR is_in_line = 1) ORDER BY expires_at
            """
        )
    }

    // MARK: Claiming

    /// Claims due pushes.
    func claim(
        _ queue: UrgencyQueue,
        _ lane: Lane,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> Claim {
        let mayHaveMore = now < database.state.latest ? try makeDueAgain(queue, limit: limit, at: now) : false
        let due = try duePushes(queue, lane, limit: limit, at: now)
        database.state.lastClaim += 1
        var claimed: [ClaimedPush] = []
        claimed.reserveCapacity(due.count)
        for var row in due {
            // A damaged push ends without being sent, so it takes no place in a line.
            if let key = row.claimed.push.orderKey, !row.isInLine, !row.claimed.isDamaged,
                try !pushes.joinLine(key, queue, row)
            {
                continue
            }
            row.claimed.claim = database.state.lastClaim
            database.state.claimed[row.claimed.number] = row.claimed.claim
            claimed.append(row.claimed)
        }
        if let last = due.last { try extendHorizon(of: queue, to: last.readyAt) }
        return Claim(pushes: claimed, nextDue: mayHaveMore ? now : try nextDue(queue))
    }

    /// Returns the due, unclaimed pushes after the cursor and advances the cursor behind them.
    private func duePushes(
        _ queue: UrgencyQueue,
        _ lane: Lane,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> [DuePush] {
        var cursor = database.state.cursors[queue] ?? OutboxDatabase.Cursor()
        var due: [DuePush] = []
        try findDue.bind(
            queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            cursor.readyAt,
            cursor.number,
            now
        )
        while due.count < limit, try findDue.step() {
            var row = DuePush(findDue, lane: lane)
            row.claimed.hasFormerUser = findDue.integer(at: 29) != 0
            cursor = OutboxDatabase.Cursor(readyAt: row.readyAt, number: row.claimed.number)
            if database.state.claimed[cursor.number] == nil { due.append(row) }
        }
        findDue.reset()
        database.state.cursors[queue] = cursor
        return due
    }

    /// Makes pushes due again that were due on acceptance, after the clock was set back to before that time.
    ///
    /// - Returns: Whether there may be more than the limit.
    private func makeDueAgain(_ queue: UrgencyQueue, limit: Int, at now: Int64) throws(SQLiteError) -> Bool {
        try makeDueAgain.run(
            with: now,
            queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            database.state.latest,
            Int64(limit)
        )
        let changes = database.connection.changes
        guard changes > 0 else { return false }
        database.moveCursor(before: .min + 1, now, in: queue)
        return changes >= limit
    }

    /// Stores the time up to which pushes may have been claimed.
    ///
    /// It is set 100 milliseconds ahead, so that it is seldom written.
    private func extendHorizon(of queue: UrgencyQueue, to time: Int64) throws(SQLiteError) {
        guard time > database.state.horizons[queue] ?? .min else { return }
        let horizon = time + 100
        try setHorizon.run(
            with: queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            horizon
        )
        database.state.horizons[queue] = horizon
    }

    private func nextDue(_ queue: UrgencyQueue) throws(SQLiteError) -> Int64? {
        let cursor = database.state.cursors[queue] ?? OutboxDatabase.Cursor()
        try findNextDue.bind(
            queue.app,
            queue.environment.rawValue,
            Int64(queue.urgency.rawValue),
            cursor.readyAt,
            cursor.number
        )
        defer { findNextDue.reset() }
        return try findNextDue.step() ? findNextDue.integer(at: 0) : nil
    }

    // MARK: Waiting pushes

    /// Returns unclaimed pushes that have expired.
    ///
    /// A damaged push stays until a claim finds the damage: the expiry of its row, or of the index, may be what has
    /// changed.
    func expired(at now: Int64, limit: Int) throws(SQLiteError) -> [EndingPush] {
        var found: [EndingPush] = []
        try findExpired.bind(now)
        defer { findExpired.reset() }
        while found.count < limit, try findExpired.step() {
            let lane = Lane(
                app: database.name(of: findExpired.integer(at: 1)),
                environment: PushEnvironment(findExpired, at: 2)
            )
            let row = DuePush(findExpired, lane: lane).claimed
            guard !row.isDamaged, database.state.claimed[row.number] == nil else { continue }
            let outcome = Outcome(.expired, attempts: row.attempts, unknownTries: row.unknownTries)
            let state = PushStatus.State.ended(outcome, at: now)
            let status = PushStatus(id: row.push.id, lane: lane, acceptedAt: row.acceptedAt, state: state)
            found.append((row.number, status))
        }
        return found
    }

    /// Returns unclaimed pushes of a lane up to a number, including scheduled pushes and pushes behind others.
    func unclaimed(
        _ lane: Lane,
        _ app: Int64,
        upTo last: Int64,
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) -> [EndingPush] {
        let base = "FROM push INDEXED BY"
        let condition = "WHERE app = ? AND environment = ? AND number <= ? AND"
        let columns = OutboxDatabase.endingColumns
        var found: [EndingPush] = []
        let due = try database.connection.prepare(
            "SELECT \(columns) \(base) push_ready \(condition) urgency = ? AND ready_at IS NOT NULL"
        )
        for urgency in Urgency.allCases where found.count < limit {
            due.reset()
            try due.bind(app, lane.environment.rawValue, last, Int64(urgency.rawValue))
            try database.addUnclaimed(due, as: .cancelled, to: &found, limit: limit, at: now)
        }
        // Pushes behind others come last, because a step that ends the first push of an order key makes the next one
        // due.
        guard found.count < limit else { return found }
        let behind = try database.connection.prepare(
            "SELECT \(columns) \(base) push_order \(condition) is_in_line = 1 AND ready_at IS NULL"
        )
        try behind.bind(app, lane.environment.rawValue, last)
        try database.addUnclaimed(behind, as: .cancelled, to: &found, limit: limit, at: now)
        return found
    }

    /// Returns the unclaimed pushes of a selection in a range of numbers, latest first.
    func unclaimed(
        _ selection: PushSelection,
        _ app: Int64,
        in numbers: Range<Int64>,
        at now: Int64
    ) throws(SQLiteError) -> [EndingPush] {
        let rows = try database.connection.prepare(
            """
            SELECT \(OutboxDatabase.endingColumns)
            FROM \(selection.fileRows) AND \(selection.fileCondition) AND number >= ?3 AND number < ?4
                AND (ready_at IS NOT NULL OR is_in_line = 1)
            ORDER BY number DESC
            """
        )
        try rows.bind(selection.value, app, numbers.lowerBound, numbers.upperBound)
        var found: [EndingPush] = []
        try database.addUnclaimed(rows, as: .cancelled, to: &found, at: now)
        return found
    }

    /// Returns the unclaimed pushes of a job in a range of installations, latest first.
    func unclaimed(
        ofJob job: Int64,
        in installations: Range<Int64>,
        at now: Int64
    ) throws(SQLiteError) -> [EndingPush] {
        let rows = try database.connection.prepare(
            """
            SELECT \(OutboxDatabase.endingColumns)
            FROM \(JobTable.pushes) AND installation >= ?2 AND installation < ?3
                AND (ready_at IS NOT NULL OR is_in_line = 1)
            ORDER BY installation DESC
            """
        )
        try rows.bind(job, installations.lowerBound, installations.upperBound)
        var found: [EndingPush] = []
        try database.addUnclaimed(rows, as: .cancelled, to: &found, at: now)
        return found
    }

    /// Returns the number of the last row of a step that reads the rows before a number, latest first; nil if it reads
    /// all of them.
    ///
    /// - Parameters:
    ///   - rows: The rows of `push`, which an index finds for the value.
    ///   - value: The value.
    ///   - column: The column of the numbers, by which the index orders the rows.
    ///   - end: The number.
    ///   - limit: The maximum number of rows.
    /// - Returns: The number of the last row.
    /// - Throws: ``SQLiteError``.
    func startOfStep(
        _ rows: String,
        _ value: some Bindable,
        by column: String = "number",
        before end: Int64,
        limit: Int
    ) throws(SQLiteError) -> Int64? {
        let row = try database.connection.prepare(
            "SELECT \(column) FROM \(rows) AND \(column) < ?2 ORDER BY \(column) DESC LIMIT 1 OFFSET ?3"
        )
        try row.bind(value, end, Int64(limit) - 1)
        return try row.step() ? row.integer(at: 0) : nil
    }

    /// Returns the earliest time when a push of a lane is due; nil while all wait behind others.
    func oldest(_ lane: Lane, _ app: Int64) throws(SQLiteError) -> Int64? {
        var oldest: Int64?
        for urgency in Urgency.allCases {
            try findOldest.bind(app, lane.environment.rawValue, Int64(urgency.rawValue))
            if try findOldest.step(), let time = findOldest.optionalInteger(at: 0) {
                oldest = min(time, oldest ?? time)
            }
            findOldest.reset()
        }
        return oldest
    }

    /// Returns the number of pushes of a lane that are sent again, and the time when the oldest was accepted.
    func retries(_ lane: Lane, _ app: Int64) throws(SQLiteError) -> (count: Int, oldest: Int64?) {
        try findRetries.bind(app, lane.environment.rawValue)
        defer { findRetries.reset() }
        guard try findRetries.step() else { return (0, nil) }
        return (Int(findRetries.integer(at: 0)), findRetries.optionalInteger(at: 1))
    }

    /// Returns the number of pushes of a lane that wait behind others.
    func blocked(_ lane: Lane, _ app: Int64) throws(SQLiteError) -> Int {
        try countBlocked.bind(app, lane.environment.rawValue)
        defer { countBlocked.reset() }
        return try countBlocked.step() ? Int(countBlocked.integer(at: 0)) : 0
    }
}
