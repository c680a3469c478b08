// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletPostgreSQL

/// The records of an outbox in PostgreSQL.
struct PostgreSQLRecords: OutboxRecords {
    let connections: DatabaseConnections
    let apps: AppNumbers

    func pauses() async throws(OutboxError) -> [LanePause] {
        try await connections.query(
            .watching,
            """
            SELECT a.name, p.is_production, p.since, p.caller
            FROM martlet.lane_pause p JOIN martlet.app a ON a.number = p.app
            """
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: row.text(at: 0), environment: row.environment(at: 1))
                return LanePause(lane: lane, since: row.integer(at: 2), caller: row.text(at: 3))
            }
        }
    }

    func pause(_ lane: Lane, by caller: String, at now: Int64) async throws(OutboxError) -> LanePause {
        let number = try await apps.number(of: lane.app)
        let stored = try await connections.query(
            .watching,
            // The update changes nothing: without it the statement returns no row for a lane that is already paused.
            """
            INSERT INTO martlet.lane_pause AS p VALUES ($1, $2, $3, $4) ON CONFLICT (app, is_production)
            DO UPDATE SET caller = p.caller RETURNING p.since, p.caller
            """,
            [.integer(number), .flag(lane.environment.isProduction), .integer(now), .text(caller)]
        ) { rows in rows.first.map { LanePause(lane: lane, since: $0.integer(at: 0), caller: $0.text(at: 1)) } }
        return stored ?? LanePause(lane: lane, since: now, caller: caller)
    }

    func resume(_ lane: Lane) async throws(OutboxError) -> Bool {
        let number = try await apps.number(of: lane.app)
        return try await connections.query(
            .watching,
            "DELETE FROM martlet.lane_pause WHERE app = $1 AND is_production = $2 RETURNING 1",
            [.integer(number), .flag(lane.environment.isProduction)]
        ) { $0.count > 0 }
    }

    func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [FoundPush] {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .watching,
            """
            SELECT found.number, k.* FROM (
                SELECT p.number, p.apns_id FROM martlet.push p
                WHERE right(p.token, 2) = right($2, 2) AND p.token = $2 AND p.app = $1 AND p.number > $3
                ORDER BY p.number LIMIT $4
            ) found CROSS JOIN LATERAL martlet.known($1, found.apns_id) k ORDER BY found.number
            """,
            [.integer(number), .text(token.hex), .integer(cursor), .integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                PushStatus(row, from: 1, app: app).map { FoundPush(number: row.integer(at: 0), status: $0) }
            }
        }
    }

    func pushes(
        _ selection: PushSelection,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> FoundPushes {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .watching,
            """
            SELECT found.number, k.* FROM (
                SELECT p.number, p.apns_id FROM martlet.push p WHERE \(selection.databaseCondition) AND p.number > $3
                ORDER BY p.number LIMIT $4
            ) found LEFT JOIN LATERAL martlet.known($1, found.apns_id) k ON true ORDER BY found.number
            """,
            [.integer(number), .text(selection.value), .integer(cursor), .integer(Int64(limit))]
        ) { rows in
            var found = FoundPushes()
            for row in rows.all {
                if let status = PushStatus(row, from: 1, app: app) { found.pushes.append(status) }
                if rows.count == limit { found.next = row.integer(at: 0) }
            }
            return found
        }
    }

    func unregisteredTokens(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError)
        -> [UnregisteredToken]
    {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .watching,
            """
            SELECT cursor, token, is_production, topic, unregistered_at, reported_at, reason
            FROM martlet.unregistered_token WHERE app = $1 AND cursor > $2 ORDER BY cursor LIMIT $3
            """,
            [.integer(number), .integer(cursor), .integer(Int64(limit))]
        ) { $0.all.compactMap { UnregisteredToken($0) } }
    }

    func markRegistered(_ token: DeviceToken, of app: String) async throws(OutboxError) -> Bool {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .watching,
            "DELETE FROM martlet.unregistered_token WHERE app = $1 AND token = $2 RETURNING 1",
            [.integer(number), .text(token.hex)]
        ) { $0.count > 0 }
    }

    func deadLetters(of app: String, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        try await deadLetters(of: app, "ORDER BY o.ended_at DESC LIMIT $2", .integer(Int64(limit)))
    }

    func deadLetter(_ id: APNsID, of app: String) async throws(OutboxError) -> DeadLetter? {
        try await deadLetters(of: app, "AND o.apns_id = $2", .identifier(id)).first
    }

    func deadLetterCounts() async throws(OutboxError) -> [String: DeadLetterCount] {
        try await connections.query(
            .maintaining,
            """
            SELECT a.name, count(*) FILTER (WHERE o.reason IS DISTINCT FROM '\(Outcome.damagedReason)'),
                coalesce(max(o.ended_at) FILTER (WHERE o.reason IS DISTINCT FROM '\(Outcome.damagedReason)'), 0),
                count(*) FILTER (WHERE o.reason = '\(Outcome.damagedReason)')
            FROM martlet.outcome o JOIN martlet.app a ON a.number = o.app WHERE o.state = 'dead' GROUP BY 1
            """
        ) { rows in
            let counts = rows.all.map { row -> (String, DeadLetterCount) in
                let count = DeadLetterCount(
                    count: Int(row.integer(at: 1)),
                    newest: row.integer(at: 2),
                    damaged: Int(row.integer(at: 3))
                )
                return (row.text(at: 0), count)
            }
            return Dictionary(counts) { first, _ in first }
        }
    }

    func deleteDeadLetters(_ ids: [APNsID], of app: String) async throws(OutboxError) -> Int {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .maintaining,
            """
            WITH letter AS (
                DELETE FROM martlet.outcome WHERE app = $1 AND state = 'dead' AND apns_id = ANY ($2) RETURNING apns_id
            )
            DELETE FROM martlet.push p USING letter WHERE p.apns_id = letter.apns_id AND p.app = $1 RETURNING 1
            """,
            [.integer(number), .identifiers(ids.map(\.bytes))]
        ) { $0.count }
    }

    private func deadLetters(
        of app: String,
        _ condition: String,
        _ parameter: Parameter
    ) async throws(OutboxError) -> [DeadLetter] {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .maintaining,
            """
            SELECT p.number, 0, o.attempts, o.unknown_tries, p.apns_id, p.fingerprint IS NOT NULL, p.token, p.channel,
                p.bundle_id, p.push_type, p.topic, p.priority, p.expiration, p.collapse_id, p.trace_parent, p.order_key,
                p.expires_at, p.accepted_at, p.payload, o.is_production, o.state, o.status, o.reason, o.unique_id,
                o.unregistered_at, o.attempts, o.unknown_tries, o.ended_at, o.history, p.job
            FROM martlet.outcome o JOIN martlet.push p ON p.apns_id = o.apns_id AND p.app = o.app
            WHERE o.app = $1 AND o.state = 'dead' \(condition)
            """,
            [.integer(number), parameter]
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: app, environment: row.environment(at: 19))
                let claimed = ClaimedPush(row, lane: lane)
                var push = claimed.push
                push.job = row.optionalInteger(at: 29)
                return DeadLetter(
                    push: push,
                    acceptedAt: claimed.acceptedAt,
                    outcome: Outcome(row, from: 20),
                    endedAt: row.integer(at: 27),
                    history: AttemptHistory(stored: row.optionalText(at: 28))
                )
            }
        }
    }

    func cursor(of reader: String) async throws(OutboxError) -> Int64 {
        try await connections.query(.watching, "SELECT cursor FROM martlet.reader WHERE name = $1", [.text(reader)]) {
            $0.first?.integer(at: 0) ?? 0
        }
    }

    func setCursor(_ cursor: Int64, of reader: String) async throws(OutboxError) {
        try await connections.query(
            .watching,
            "INSERT INTO martlet.reader VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor",
            [.text(reader), .integer(cursor)]
        ) { _ in }
    }

    func problems(of relay: String) async throws(OutboxError) -> String? {
        try await connections.query(
            .watching,
            "SELECT problems FROM martlet.relay_history WHERE relay = $1",
            [.text(relay)]
        ) { $0.first?.text(at: 0) }
    }

    func storeProblems(
        _ problems: String,
        of relay: String,
        at now: Int64,
        deletingBefore time: Int64
    ) async throws(OutboxError) {
        try await connections.query(
            .watching,
            """
            WITH deleted AS (
                DELETE FROM martlet.relay_history WHERE relay IN (
                    SELECT h.relay FROM martlet.relay_history h WHERE h.stored_at < $4 AND h.relay <> $1
                    FOR UPDATE SKIP LOCKED
                )
            )
            INSERT INTO martlet.relay_history VALUES ($1, $2, $3)
            ON CONFLICT (relay) DO UPDATE SET stored_at = excluded.stored_at, problems = excluded.problems
            """,
            [.text(relay), .integer(now), .text(problems), .integer(time)]
        ) { _ in }
    }

    func forgetAlerts(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await connections.query(
            .maintaining,
            """
            DELETE FROM martlet.alert_day WHERE (app, user_id, day) IN (
                SELECT d.app, d.user_id, d.day FROM martlet.alert_day d WHERE d.day < $1
                ORDER BY d.day LIMIT $2 FOR UPDATE SKIP LOCKED
            ) RETURNING 1
            """,
            [.integer(AlertLimit.day(of: time)), .integer(Int64(limit))]
        ) { $0.count }
    }
}

extension PushSelection {
    /// The condition of the rows `p` of `push` that are selected by ``value``, `$2`, in an app, `$1`.
    var databaseCondition: String {
        switch self {
        case .user: "p.user_id = $2 AND p.app = $1"
        case .tokenWithoutUser: "right(p.token, 2) = right($2, 2) AND p.token = $2 AND p.user_id IS NULL AND p.app = $1"
        }
    }
}
