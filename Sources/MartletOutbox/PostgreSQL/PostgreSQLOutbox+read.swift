package import MartletCore
internal import MartletPostgreSQL

/// Calls that are rare, compared with accepting and claiming.
extension PostgreSQLOutbox {
    package func status(of id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        let number = try await number(of: app)
        return try await inquire(
            .watching,
            "SELECT * FROM martlet.known($1, $2)",
            [.integer(number), .identifier(id)]
        ) { $0.first.flatMap { PushStatus($0, from: 0, app: app) } }
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> PushStatus? {
        let number = try await number(of: app)
        try await inquire(
            .watching,
            "SELECT martlet.cancel($1, $2, $3)",
            [.integer(number), .identifier(id), .integer(now)]
        ) { _ in }
        return try await status(of: id, of: app)
    }

    package func expire(at now: Int64, limit: Int) async throws(OutboxError) -> [PushStatus] {
        let ended = try await inquire(
            .maintaining,
            "SELECT * FROM martlet.expire($1, $2)",
            [.integer(now), .integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                let outcome = Outcome(
                    .expired,
                    attempts: Int(row.integer(at: 4)),
                    unknownTries: Int(row.integer(at: 5))
                )
                return APNsID(bytes: row.bytes(at: 0)).map { id in
                    let lane = Lane(app: "", environment: PushEnvironment(isProduction: row.flag(at: 2)))
                    let place = PushStatus.Place.ended(outcome, at: now)
                    let status = PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 3), place: place)
                    return (status: status, app: row.integer(at: 1))
                }
            }
        }
        count -= ended.count
        var statuses: [PushStatus] = []
        for (status, app) in ended {
            statuses.append(status)
            statuses[statuses.count - 1].lane.app = try await name(of: app)
        }
        return statuses
    }

    package func forgetOutcomes(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await inquire(.maintaining, "SELECT martlet.forget($1, $2)", [.integer(time), .integer(Int64(limit))]) {
            Int($0.first?.integer(at: 0) ?? 0)
        }
    }

    package func backlog() async throws(OutboxError) -> [Backlog] {
        guard !isClosed else { throw OutboxError(.closed, "the outbox is closed") }
        if let openingProblem { throw openingProblem }
        if ContinuousClock.now < nextCount { return countedBacklog }
        do throws(PostgreSQLError) {
            try await countPushes()
        } catch {
            throw OutboxError(error, "the outbox in PostgreSQL cannot be used")
        }
        return countedBacklog
    }

    /// Counts the waiting pushes; the longer a count takes, the later is the next one.
    func countPushes() async throws(PostgreSQLError) {
        let start = ContinuousClock.now
        countedBacklog = try await ask(
            .maintaining,
            """
            SELECT a.name, q.is_production, count(*), min(q.ready_at)
            FROM martlet.queue q JOIN martlet.app a ON a.number = q.app GROUP BY 1, 2
            """
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: row.text(at: 0), environment: PushEnvironment(isProduction: row.flag(at: 1)))
                return Backlog(lane: lane, count: Int(row.integer(at: 2)), oldest: row.optionalInteger(at: 3))
            }
        }
        count = countedBacklog.reduce(0) { $0 + $1.count }
        let time = ContinuousClock.now - start
        nextCount = time > .milliseconds(100) ? ContinuousClock.now + time * 20 : ContinuousClock.now
    }

    package func unregisteredTokens(of app: String, after cursor: Int64, limit: Int) async throws(OutboxError)
        -> [UnregisteredToken]
    {
        let number = try await number(of: app)
        return try await inquire(
            .watching,
            """
            SELECT cursor, token, is_production, topic, since, learnt_at, reason FROM martlet.dead_token
            WHERE app = $1 AND cursor > $2 ORDER BY cursor LIMIT $3
            """,
            [.integer(number), .integer(cursor), .integer(Int64(limit))]
        ) { $0.all.compactMap { UnregisteredToken($0) } }
    }

    package func markRegistered(_ token: DeviceToken, of app: String) async throws(OutboxError) -> Bool {
        let number = try await number(of: app)
        return try await inquire(
            .watching,
            "DELETE FROM martlet.dead_token WHERE app = $1 AND token = $2 RETURNING 1",
            [.integer(number), .text(token.hex)]
        ) { $0.count > 0 }
    }

    package func deadLetters(of app: String, limit: Int) async throws(OutboxError) -> [DeadLetter] {
        try await deadLetters(of: app, "ORDER BY o.ended_at DESC LIMIT $2", .integer(Int64(limit)))
    }

    package func deadLetter(_ id: APNsID, of app: String) async throws(OutboxError) -> DeadLetter? {
        try await deadLetters(of: app, "AND o.apns_id = $2", .identifier(id)).first
    }

    private func deadLetters(
        of app: String,
        _ condition: String,
        _ parameter: Parameter
    ) async throws(OutboxError) -> [DeadLetter] {
        let number = try await number(of: app)
        return try await inquire(
            .maintaining,
            """
            SELECT p.number, 0, o.attempts, o.unknown_tries, p.apns_id, p.fingerprint IS NOT NULL, p.token, p.channel,
                p.bundle, p.push_type, p.topic, p.priority, p.expiration, p.collapse_id, p.trace, p.order_key,
                p.expires_at, p.accepted_at, p.payload, o.is_production, o.state, o.status, o.reason, o.unique_id,
                o.unregistered_at, o.attempts, o.unknown_tries, o.ended_at
            FROM martlet.outcome o JOIN martlet.push p ON p.apns_id = o.apns_id AND p.app = o.app
            WHERE o.app = $1 AND o.state = 'dead' \(condition)
            """,
            [.integer(number), parameter]
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: app, environment: PushEnvironment(isProduction: row.flag(at: 19)))
                let claimed = ClaimedPush(row, lane: lane)
                return DeadLetter(
                    push: claimed.push,
                    acceptedAt: claimed.acceptedAt,
                    outcome: Outcome(row, from: 20),
                    endedAt: row.integer(at: 27)
                )
            }
        }
    }

    package func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int {
        let number = try await number(of: app)
        let names = ids.map { $0.map(\.bytes) }
        let question = "SELECT martlet.requeue($1, \(names == nil ? "NULL" : "$3"), $2)"
        let parameters: [Parameter] = [.integer(number), .integer(now)] + (names.map { [.identifiers($0)] } ?? [])
        let moved = try await inquire(.maintaining, question, parameters) { Int($0.first?.integer(at: 0) ?? 0) }
        count += moved
        return moved
    }

    package func cursor(of reader: String) async throws(OutboxError) -> Int64 {
        try await inquire(.watching, "SELECT cursor FROM martlet.reader WHERE name = $1", [.text(reader)]) {
            $0.first?.integer(at: 0) ?? 0
        }
    }

    package func setCursor(_ cursor: Int64, of reader: String) async throws(OutboxError) {
        try await inquire(
            .watching,
            "INSERT INTO martlet.reader VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor",
            [.text(reader), .integer(cursor)]
        ) { _ in }
    }
}
