// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The records of an outbox in a SQLite file.
struct SQLiteRecords: OutboxRecords {
    /// The outbox, whose transactions run the statements.
    let outbox: SQLiteOutbox

    // MARK: Unregistered tokens

    func unregisteredTokens(
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [UnregisteredToken] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            let rows = try tables.database.connection.prepare(
                """
                SELECT \(UnregisteredTokenTable.columns) FROM unregistered_token WHERE app = ? AND cursor > ?
                ORDER BY cursor LIMIT ?
                """
            )
            try rows.bind(app, cursor, Int64(limit))
            return try rows.all { UnregisteredToken($0) }
        }
    }

    func markRegistered(_ token: DeviceToken, of app: String) async throws(OutboxError) -> Bool {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return false }
            let row = try tables.database.connection.prepare(
                "DELETE FROM unregistered_token WHERE app = ? AND token = ?"
            )
            try row.run(with: app, token.hex)
            return tables.database.connection.changes > 0
        }
    }

    // MARK: Pauses

    func pauses() async throws(OutboxError) -> [LanePause] {
        try await outbox.read { (tables) throws(SQLiteError) in
            let rows = try tables.database.connection.prepare("SELECT app, environment, since, caller FROM lane_pause")
            var pauses: [LanePause] = []
            while try rows.step() {
                let app = tables.database.name(of: rows.integer(at: 0))
                let lane = Lane(app: app, environment: PushEnvironment(rows, at: 1))
                pauses.append(LanePause(lane: lane, since: rows.integer(at: 2), caller: rows.text(at: 3)))
            }
            return pauses
        }
    }

    func pause(_ lane: Lane, by caller: String, at now: Int64) async throws(OutboxError) -> LanePause {
        try await outbox.change { (tables) throws(SQLiteError) in
            let app = try tables.database.number(of: lane.app)
            try tables.database.connection.prepare(
                "INSERT OR IGNORE INTO lane_pause (app, environment, since, caller) VALUES (?, ?, ?, ?)"
            ).run(with: app, lane.environment.rawValue, now, caller)
            let row = try tables.database.connection.prepare(
                "SELECT since, caller FROM lane_pause WHERE app = ? AND environment = ?"
            )
            try row.bind(app, lane.environment.rawValue)
            guard try row.step() else { return LanePause(lane: lane, since: now, caller: caller) }
            return LanePause(lane: lane, since: row.integer(at: 0), caller: row.text(at: 1))
        }
    }

    func resume(_ lane: Lane) async throws(OutboxError) -> Bool {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: lane.app) else { return false }
            let row = try tables.database.connection.prepare("DELETE FROM lane_pause WHERE app = ? AND environment = ?")
            try row.run(with: app, lane.environment.rawValue)
            return tables.database.connection.changes > 0
        }
    }

    // MARK: Pushes

    func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [FoundPush] {
        try await outbox.read { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return [] }
            // The unary plus keeps SQLite from using the token's value for the first condition, which needs the index.
            let rows = try tables.database.connection.prepare(
                """
                SELECT number, apns_id FROM push INDEXED BY push_token
                WHERE substr(token, -2) = ? AND +token = ? AND token IS NOT NULL AND app = ? AND number > ?
                ORDER BY number LIMIT ?
                """
            )
            try rows.bind(String(token.hex.suffix(2)), token.hex, app, cursor, Int64(limit))
            var found: [FoundPush] = []
            while try rows.step() {
                guard let id = APNsID(bytes: rows.blob(at: 1)), let status = try tables.pushes.known(id, app)?.status
                else { continue }
                found.append(FoundPush(number: rows.integer(at: 0), status: status))
            }
            return found
        }
    }

    func pushes(
        _ selection: PushSelection,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> FoundPushes {
        try await outbox.read { (tables) throws(SQLiteError) in
            var found = FoundPushes()
            guard let app = tables.database.number(ofKnown: app) else { return found }
            let rows = try tables.database.connection.prepare(
                """
                SELECT number, apns_id, \(selection.fileCondition) FROM \(selection.fileRows) AND number > ?3
                ORDER BY number LIMIT ?4
                """
            )
            try rows.bind(selection.value, app, cursor, Int64(limit))
            var count = 0
            while try rows.step() {
                count += 1
                if count == limit { found.next = rows.integer(at: 0) }
                guard rows.integer(at: 2) != 0, let id = APNsID(bytes: rows.blob(at: 1)),
                    let status = try tables.pushes.known(id, app)?.status
                else { continue }
                found.pushes.append(status)
            }
            return found
        }
    }

    func deadLetters(of app: String, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        try await deadLetters(of: app, "ORDER BY ended_at DESC LIMIT ?", Int64(limit))
    }

    func deadLetter(_ id: APNsID, of app: String) async throws(OutboxError) -> DeadLetter? {
        try await deadLetters(of: app, "AND outcome.apns_id = ?", id.bytes).first
    }

    func deadLetterCounts() async throws(OutboxError) -> [String: DeadLetterCount] {
        let damaged = Outcome.damagedReason
        return try await outbox.read { (tables) throws(SQLiteError) in
            let rows = try tables.database.connection.prepare(
                """
                SELECT app, sum(reason IS NOT '\(damaged)'), max(iif(reason IS NOT '\(damaged)', ended_at, 0)),
                    sum(reason IS '\(damaged)')
                FROM outcome WHERE state = 'dead' GROUP BY app
                """
            )
            var counts: [String: DeadLetterCount] = [:]
            while try rows.step() {
                let count = DeadLetterCount(
                    count: Int(rows.integer(at: 1)),
                    newest: rows.integer(at: 2),
                    damaged: Int(rows.integer(at: 3))
                )
                counts[tables.database.name(of: rows.integer(at: 0))] = count
            }
            return counts
        }
    }

    func deleteDeadLetters(_ ids: [APNsID], of app: String) async throws(OutboxError) -> Int {
        try await outbox.change { (tables) throws(SQLiteError) in
            guard let app = tables.database.number(ofKnown: app) else { return 0 }
            let forget = try tables.database.connection.prepare("DELETE FROM outcome WHERE apns_id = ? AND app = ?")
            let delete = try tables.database.connection.prepare("DELETE FROM push WHERE number = ?")
            let letters = try tables.database.deadLetters(ids, of: app)
            for letter in letters {
                try forget.run(with: letter.id.bytes, app)
                try delete.run(with: letter.number)
            }
            return letters.count
        }
    }

    private func deadLetters(
        of app: String,
        _ condition: String,
        _ value: some Bindable & Sendable
    ) async throws(OutboxError) -> [DeadLetter] {
        let columns = PushTable.columns.split(separator: ",").map { "push." + String($0).filter { $0 != " " } }
        return try await outbox.read { (tables) throws(SQLiteError) in
            guard let number = tables.database.number(ofKnown: app) else { return [] }
            let rows = try tables.database.connection.prepare(
                """
                SELECT \(columns.joined(separator: ", ")), ended_at FROM outcome JOIN push USING (apns_id, app)
                WHERE outcome.app = ? AND state = 'dead' \(condition)
                """
            )
            try rows.bind(number, value)
            var letters: [DeadLetter] = []
            while try rows.step() {
                let lane = Lane(app: app, environment: PushEnvironment(rows, at: 2))
                let claimed = DuePush(rows, lane: lane).claimed
                guard let status = try tables.pushes.known(claimed.push.id, number)?.status,
                    case .ended(let outcome, let endedAt) = status.state
                else { continue }
                letters.append(
                    DeadLetter(
                        push: claimed.push,
                        acceptedAt: claimed.acceptedAt,
                        outcome: outcome,
                        endedAt: endedAt,
                        history: status.history
                    )
                )
            }
            return letters
        }
    }

    // MARK: Sealing

    func sealedKey() async throws(OutboxError) -> SealedKey? {
        try await outbox.read { (tables) throws(SQLiteError) in try SealingTable(tables.database).key() }
    }

    func addSealedKey(_ key: SealedKey) async throws(OutboxError) -> SealedKey {
        try await outbox.change { (tables) throws(SQLiteError) in
            let table = SealingTable(tables.database)
            if let stored = try table.key() { return stored }
            try table.add(key)
            return key
        }
    }

    func sealRows(with seal: OutboxSeal) async throws(OutboxError) { try await outbox.sealRows(with: seal) }

    func replaceSealedKey(_ old: SealedKey, with new: SealedKey) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            try SealingTable(tables.database).replace(old, with: new)
        }
    }

    // MARK: Readers

    func cursor(of reader: String) async throws(OutboxError) -> Int64 {
        try await outbox.read { (tables) throws(SQLiteError) in
            let row = try tables.database.connection.prepare("SELECT cursor FROM reader WHERE name = ?")
            try row.bind(reader)
            return try row.step() ? row.integer(at: 0) : 0
        }
    }

    func setCursor(_ cursor: Int64, of reader: String) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            let row = try tables.database.connection.prepare(
                "INSERT OR REPLACE INTO reader (name, cursor) VALUES (?, ?)"
            )
            try row.run(with: reader, cursor)
        }
    }

    // MARK: Problems

    func problems(of relay: String) async throws(OutboxError) -> String? {
        try await outbox.read { (tables) throws(SQLiteError) -> String? in
            let row = try tables.database.connection.prepare("SELECT problems FROM relay_history WHERE relay = ?")
            try row.bind(relay)
            return try row.step() ? row.text(at: 0) : nil
        }
    }

    func storeProblems(
        _ problems: String,
        of relay: String,
        at now: Int64,
        deletingBefore time: Int64
    ) async throws(OutboxError) {
        try await outbox.change { (tables) throws(SQLiteError) in
            let old = try tables.database.connection.prepare(
                "DELETE FROM relay_history WHERE stored_at < ? OR relay = ?"
            )
            try old.run(with: time, relay)
            let row = try tables.database.connection.prepare(
                "INSERT INTO relay_history (relay, stored_at, problems) VALUES (?, ?, ?)"
            )
            try row.run(with: relay, now, problems)
        }
    }

    func forgetAlerts(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await outbox.change { (tables) throws(SQLiteError) in
            try tables.database.connection.prepare(
                """
                DELETE FROM alert_day WHERE (app, user_id, day) IN (
                    SELECT app, user_id, day FROM alert_day WHERE day < ? ORDER BY day LIMIT ?
                )
                """
            ).run(with: AlertLimit.day(of: time), Int64(limit))
            return tables.database.connection.changes
        }
    }
}
