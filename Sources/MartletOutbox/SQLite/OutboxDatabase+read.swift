internal import MartletCore
internal import MartletSQLite

extension OutboxDatabase {
    /// A push that was accepted and whose outcome has not been deleted.
    struct KnownPush {
        var status: PushStatus
        var fingerprint: [UInt8]?
        /// The number of its row; nil once the push has ended.
        var number: Int64?
    }

    /// Returns a push by its identifier; nil for an unknown push.
    func known(_ id: APNsID, _ app: Int64) throws(SQLiteError) -> KnownPush? {
        if let ended = try endedPush(id, app) { return ended }
        try statements.findPush.bind(id.bytes, app)
        defer { statements.findPush.reset() }
        guard try statements.findPush.step() else { return nil }
        return waitingPush(id, app, statements.findPush)
    }

    private func endedPush(_ id: APNsID, _ app: Int64) throws(SQLiteError) -> KnownPush? {
        try statements.findOutcome.bind(id.bytes, app)
        defer { statements.findOutcome.reset() }
        guard try statements.findOutcome.step() else { return nil }
        let place = PushStatus.Place.ended(Outcome(statements.findOutcome), at: statements.findOutcome.integer(at: 2))
        return KnownPush(
            status: status(id, app, statements.findOutcome, place),
            fingerprint: statements.findOutcome.optionalBlob(at: 10)
        )
    }

    private func waitingPush(_ id: APNsID, _ app: Int64, _ row: borrowing Statement) -> KnownPush {
        let number = row.integer(at: 2)
        return KnownPush(
            status: status(id, app, row, state.claimed.contains(number) ? .inFlight : .accepted),
            fingerprint: row.optionalBlob(at: 3),
            number: number
        )
    }

    private func status(
        _ id: APNsID,
        _ app: Int64,
        _ row: borrowing Statement,
        _ place: PushStatus.Place
    ) -> PushStatus {
        let lane = Lane(app: name(of: app), environment: PushEnvironment(row, at: 0))
        return PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 1), place: place)
    }

    func status(of id: APNsID, of app: String) throws(SQLiteError) -> PushStatus? {
        guard let app = number(ofKnown: app) else { return nil }
        return try known(id, app)?.status
    }

    func backlog() throws(SQLiteError) -> [Backlog] {
        var backlog: [Backlog] = []
        for (lane, count) in state.counts where count > 0 {
            guard let app = number(ofKnown: lane.app) else { continue }
            var oldest: Int64?
            for urgency in Urgency.allCases {
                try statements.oldest.bind(app, lane.environment.rawValue, Int64(urgency.rawValue))
                if try statements.oldest.step(), let time = statements.oldest.optionalInteger(at: 0) {
                    oldest = min(time, oldest ?? time)
                }
                statements.oldest.reset()
            }
            var entry = Backlog(lane: lane, count: count, oldest: oldest)
            try statements.retries.bind(app, lane.environment.rawValue)
            if try statements.retries.step() {
                entry.retrying = Int(statements.retries.integer(at: 0))
                entry.oldestRetry = statements.retries.optionalInteger(at: 1)
            }
            statements.retries.reset()
            backlog.append(entry)
        }
        return backlog
    }

    func deadTokens(of app: String, after cursor: Int64, limit: Int) throws(SQLiteError) -> [DeadToken] {
        guard let app = number(ofKnown: app) else { return [] }
        let rows = try connection.prepare(
            """
            SELECT \(OutboxStatements.deadTokenColumns) FROM dead_token WHERE app = ? AND cursor > ?
            ORDER BY cursor LIMIT ?
            """
        )
        try rows.bind(app, cursor, Int64(limit))
        var tokens: [DeadToken] = []
        while try rows.step() {
            if let token = DeadToken(rows) { tokens.append(token) }
        }
        return tokens
    }

    func revive(_ token: DeviceToken, of app: String) throws(SQLiteError) -> Bool {
        guard let app = number(ofKnown: app) else { return false }
        let row = try connection.prepare("DELETE FROM dead_token WHERE app = ? AND token = ?")
        try row.run(with: app, token.hex)
        return connection.changes > 0
    }

    func cursor(of reader: String) throws(SQLiteError) -> Int64 {
        let row = try connection.prepare("SELECT cursor FROM reader WHERE name = ?")
        try row.bind(reader)
        return try row.step() ? row.integer(at: 0) : 0
    }

    func setCursor(_ cursor: Int64, of reader: String) throws(SQLiteError) {
        let row = try connection.prepare("INSERT OR REPLACE INTO reader (name, cursor) VALUES (?, ?)")
        try row.run(with: reader, cursor)
    }

    /// Deletes the outcomes from before a time, with the payloads of dead letters.
    func forgetOutcomes(before time: Int64, limit: Int) throws(SQLiteError) -> Int {
        let old = "SELECT apns_id, app FROM outcome WHERE ended_at < ? ORDER BY ended_at LIMIT ?"
        for table in ["push", "outcome"] {
            let rows = try connection.prepare("DELETE FROM \(table) WHERE (apns_id, app) IN (\(old))")
            try rows.run(with: time, Int64(limit))
        }
        return connection.changes
    }

    func deadLetters(of app: String, limit: Int) throws(SQLiteError) -> [DeadLetter] {
        guard let number = number(ofKnown: app) else { return [] }
        let rows = try deadLetterRows("ORDER BY ended_at DESC LIMIT ?")
        try rows.bind(number, Int64(limit))
        return try deadLetters(in: rows, of: app, number)
    }

    func deadLetter(_ id: APNsID, of app: String) throws(SQLiteError) -> DeadLetter? {
        guard let number = number(ofKnown: app) else { return nil }
        let rows = try deadLetterRows("AND outcome.apns_id = ?")
        try rows.bind(number, id.bytes)
        return try deadLetters(in: rows, of: app, number).first
    }

    private func deadLetterRows(_ condition: String) throws(SQLiteError) -> Statement {
        let columns = OutboxStatements.pushColumns.split(separator: ",").map {
            "push." + String($0).filter { $0 != " " }
        }
        return try connection.prepare(
            """
            SELECT \(columns.joined(separator: ", ")), ended_at FROM outcome JOIN push USING (apns_id, app)
            WHERE outcome.app = ? AND state = 'dead' \(condition)
            """
        )
    }

    private func deadLetters(
        in rows: borrowing Statement,
        of app: String,
        _ number: Int64
    ) throws(SQLiteError) -> [DeadLetter] {
        var letters: [(ClaimedPush, endedAt: Int64)] = []
        while try rows.step() {
            let lane = Lane(app: app, environment: PushEnvironment(rows, at: 2))
            letters.append((DuePush(rows, lane: lane).claimed, rows.integer(at: 22)))
        }
        var whole: [DeadLetter] = []
        for (claimed, endedAt) in letters {
            guard case .ended(let outcome, _)? = try known(claimed.push.id, number)?.status.place else { continue }
            whole.append(
                DeadLetter(push: claimed.push, acceptedAt: claimed.acceptedAt, outcome: outcome, endedAt: endedAt)
            )
        }
        return whole
    }

    func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) throws(SQLiteError) -> Int {
        guard let app = number(ofKnown: app) else { return 0 }
        let letters = try restingLetters(of: app).filter { ids?.contains($0.id) ?? true }
        let forget = try connection.prepare("DELETE FROM outcome WHERE apns_id = ? AND app = ?")
        for letter in letters {
            try forget.run(with: letter.id.bytes, app)
            try statements.postpone.run(with: now, Int64(0), letter.unknownTries, letter.number)
            lookAt(letter.number, now, on: letter.queue)
            state.counts[lane(of: letter.queue), default: 0] += 1
        }
        return letters.count
    }

    /// A dead letter without its payload, because there may be very many.
    private struct RestingLetter {
        var number: Int64
        var id: APNsID
        var queue: UrgencyQueue
        var unknownTries: Int64
    }

    private func restingLetters(of app: Int64) throws(SQLiteError) -> [RestingLetter] {
        let rows = try connection.prepare(
            """
            SELECT number, push.app, push.environment, urgency, push.apns_id, outcome.unknown_tries
            FROM outcome JOIN push USING (apns_id, app) WHERE outcome.app = ? AND state = 'dead' ORDER BY number
            """
        )
        try rows.bind(app)
        var letters: [RestingLetter] = []
        while try rows.step() {
            guard let id = APNsID(bytes: rows.blob(at: 4)) else { continue }
            let queue = UrgencyQueue(rows, from: 1)
            letters.append(
                RestingLetter(number: rows.integer(at: 0), id: id, queue: queue, unknownTries: rows.integer(at: 5))
            )
        }
        return letters
    }
}
