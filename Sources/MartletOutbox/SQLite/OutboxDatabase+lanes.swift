internal import MartletCore
internal import MartletSQLite

extension OutboxDatabase {
    func pauses() throws(SQLiteError) -> [LanePause] {
        let rows = try connection.prepare("SELECT app, environment, since, caller FROM lane_pause")
        var pauses: [LanePause] = []
        while try rows.step() {
            let lane = Lane(app: name(of: rows.integer(at: 0)), environment: PushEnvironment(rows, at: 1))
            pauses.append(LanePause(lane: lane, since: rows.integer(at: 2), caller: rows.text(at: 3)))
        }
        return pauses
    }

    func pause(_ lane: Lane, by caller: String, at now: Int64) throws(SQLiteError) -> LanePause {
        let app = try number(of: lane.app)
        let row = try connection.prepare(
            "INSERT OR IGNORE INTO lane_pause (app, environment, since, caller) VALUES (?, ?, ?, ?)"
        )
        try row.run(with: app, lane.environment.rawValue, now, caller)
        return try pauses().first { $0.lane == lane } ?? LanePause(lane: lane, since: now, caller: caller)
    }

    func resume(_ lane: Lane) throws(SQLiteError) -> Bool {
        guard let app = number(ofKnown: lane.app) else { return false }
        let row = try connection.prepare("DELETE FROM lane_pause WHERE app = ? AND environment = ?")
        try row.run(with: app, lane.environment.rawValue)
        return connection.changes > 0
    }

    func purge(_ lane: Lane, upTo last: Int64?, limit: Int, at now: Int64) throws(SQLiteError) -> PurgedPushes {
        let last = last ?? state.nextNumber - 1
        guard let app = number(ofKnown: lane.app) else { return PurgedPushes(pushes: [], last: last) }
        var found: [(number: Int64, status: PushStatus)] = []
        for urgency in Urgency.allCases where found.count < limit {
            let rows = try waitingRows("INDEXED BY push_ready", "urgency = ? AND ready_at IS NOT NULL")
            try rows.bind(app, lane.environment.rawValue, last, Int64(urgency.rawValue))
            try add(rows, to: &found, limit: limit, at: now)
        }
        // Pushes behind others come last, because a step that ends the first push of an order key makes the next one
        // due.
        if found.count < limit {
            let rows = try waitingRows("INDEXED BY push_order", "in_line = 1 AND ready_at IS NULL")
            try rows.bind(app, lane.environment.rawValue, last)
            try add(rows, to: &found, limit: limit, at: now)
        }
        for (number, _) in found { try end(number, Outcome(.cancelled), at: now) }
        return PurgedPushes(pushes: found.map(\.status), last: last)
    }

    private func waitingRows(_ index: String, _ condition: String) throws(SQLiteError) -> Statement {
        try connection.prepare(
            """
            SELECT number, app, environment, urgency, apns_id, accepted_at, attempts, unknown_tries
            FROM push \(index) WHERE app = ? AND environment = ? AND number <= ? AND \(condition)
            """
        )
    }

    /// Appends the unclaimed pushes of rows, up to a limit.
    private func add(
        _ rows: borrowing Statement,
        to found: inout [(number: Int64, status: PushStatus)],
        limit: Int,
        at now: Int64
    ) throws(SQLiteError) {
        while found.count < limit, try rows.step() {
            if let push = unclaimedPush(rows, endedAs: .cancelled, at: now) { found.append(push) }
        }
    }

    func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) throws(SQLiteError) -> [FoundPush] {
        guard let number = number(ofKnown: app) else { return [] }
        // The unary plus keeps SQLite from using the token's value for the first condition, which needs the index.
        let rows = try connection.prepare(
            """
            SELECT number, apns_id FROM push INDEXED BY push_token
            WHERE substr(token, -2) = ? AND +token = ? AND token IS NOT NULL AND app = ? AND number > ?
            ORDER BY number LIMIT ?
            """
        )
        try rows.bind(String(token.hex.suffix(2)), token.hex, number, cursor, Int64(limit))
        var names: [(number: Int64, id: APNsID)] = []
        while try rows.step() {
            if let id = APNsID(bytes: rows.blob(at: 1)) { names.append((rows.integer(at: 0), id)) }
        }
        var found: [FoundPush] = []
        for name in names {
            guard let status = try known(name.id, number)?.status else { continue }
            found.append(FoundPush(number: name.number, status: status))
        }
        return found
    }
}
