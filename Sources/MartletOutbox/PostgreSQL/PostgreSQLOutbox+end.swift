// SPDX-License-Identifier: Apache-2.0

package import MartletCore
internal import MartletPostgreSQL

/// Ending of pushes without sending them, and their statuses.
extension PostgreSQLOutbox {
    package func status(of id: APNsID, of app: String) async throws(OutboxError) -> PushStatus? {
        let number = try await apps.number(of: app)
        return try await connections.query(
            .watching,
            """
            SELECT k.*, CASE WHEN NOT k.is_claimed THEN (
                SELECT q.ready_at FROM martlet.push p JOIN martlet.queue q USING (number)
                WHERE p.apns_id = $2 AND p.app = $1
            ) END, s.surface, s.installation FROM martlet.known($1, $2) k
            LEFT JOIN LATERAL (
                SELECT f.id AS surface, i.id AS installation FROM martlet.surface_session c
                JOIN martlet.surface f ON f.number = c.surface
                JOIN martlet.installation i ON i.number = c.installation
                WHERE c.number = k.session LIMIT 1
            ) s ON true
            """,
            [.integer(number), .identifier(id)]
        ) { rows in
            guard let row = rows.first, var status = PushStatus(row, from: 0, app: app) else { return nil }
            status.dueAt = row.optionalInteger(at: 15)
            guard let surface = row.optionalText(at: 16),
                let installation = row.optionalBytes(at: 17).flatMap({ InstallationID(bytes: $0) })
            else { return status }
            status.surface = SessionPlace(app: app, surface: surface, installation: installation)
            return status
        }
    }

    package func cancel(_ id: APNsID, of app: String, at now: Int64) async throws(OutboxError) -> PushStatus? {
        let number = try await apps.number(of: app)
        try await connections.query(
            .watching,
            "SELECT martlet.cancel($1, $2, $3)",
            [.integer(number), .identifier(id), .integer(now)]
        ) { _ in }
        return try await status(of: id, of: app)
    }

    package func expire(at now: Int64, limit: Int) async throws(OutboxError) -> [PushStatus] {
        let ended = try await connections.query(
            .maintaining,
            "SELECT * FROM martlet.expire($1, $2)",
            [.integer(now), .integer(Int64(limit))]
        ) { rows in
            rows.all.compactMap { row in
                let lane = Lane(app: "", environment: row.environment(at: 2))
                let status = PushStatus(row, from: 3, endedAs: .expired, in: lane, at: now)
                return status.map { (status: $0, app: row.integer(at: 1)) }
            }
        }
        backlogCount.pushes -= ended.count
        var statuses: [PushStatus] = []
        for (status, app) in ended {
            statuses.append(status)
            statuses[statuses.count - 1].lane.app = try await apps.name(of: app)
        }
        return statuses
    }

    package func forgetOutcomes(before time: Int64, limit: Int) async throws(OutboxError) -> Int {
        try await connections.query(
            .maintaining,
            "SELECT martlet.forget($1, $2)",
            [.integer(time), .integer(Int64(limit))]
        ) {
            Int($0.first?.integer(at: 0) ?? 0)
        }
    }

    package func backlog() async throws(OutboxError) -> [Backlog] {
        try await connections.checkOpen()
        guard backlogCount.isDue else { return backlogCount.lanes }
        do throws(PostgreSQLError) {
            try await countPushes()
        } catch {
            throw OutboxError(error)
        }
        return backlogCount.lanes
    }

    /// Counts the waiting pushes.
    func countPushes() async throws(PostgreSQLError) {
        let start = ContinuousClock.now
        let lanes = try await connections.run(
            .maintaining,
            """
            SELECT a.name, q.is_production, count(*), min(q.ready_at), count(p.number), min(p.accepted_at),
                count(*) FILTER (WHERE q.ready_at IS NULL)
            FROM martlet.queue q JOIN martlet.app a ON a.number = q.app
                LEFT JOIN martlet.push p ON q.attempts > 0 AND p.number = q.number
            GROUP BY 1, 2
            """
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: row.text(at: 0), environment: row.environment(at: 1))
                return Backlog(
                    lane: lane,
                    count: Int(row.integer(at: 2)),
                    oldest: row.optionalInteger(at: 3),
                    retrying: Int(row.integer(at: 4)),
                    oldestRetry: row.optionalInteger(at: 5),
                    blocked: Int(row.integer(at: 6))
                )
            }
        }
        backlogCount.update(lanes, after: ContinuousClock.now - start)
    }

    package func requeueDeadLetters(_ ids: [APNsID]?, of app: String, at now: Int64) async throws(OutboxError) -> Int {
        let number = try await apps.number(of: app)
        let names = ids.map { $0.map(\.bytes) }
        let question = "SELECT martlet.requeue($1, \(names == nil ? "NULL" : "$3"), $2)"
        let parameters: [Parameter] = [.integer(number), .integer(now)] + (names.map { [.identifiers($0)] } ?? [])
        let moved = try await connections.query(.maintaining, question, parameters) {
            Int($0.first?.integer(at: 0) ?? 0)
        }
        backlogCount.pushes += moved
        return moved
    }

    package func erasePushes(
        _ selection: PushSelection,
        of app: String,
        before cursor: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> ErasedPushes {
        let number = try await apps.number(of: app)
        let end: Int64 = cursor ?? .max
        let numbers = try await connections.query(
            .maintaining,
            """
            SELECT p.number FROM martlet.push p WHERE \(selection.databaseCondition) AND p.number < $3
            ORDER BY p.number DESC LIMIT $4
            """,
            [.integer(number), .text(selection.value), .integer(end), .integer(Int64(limit))]
        ) { rows in rows.all.map { $0.integer(at: 0) } }
        var erased = ErasedPushes()
        guard !numbers.isEmpty else { return erased }
        if numbers.count == limit { erased.next = numbers.last }
        erased.deadLetters = try await connections.query(
            .maintaining,
            """
            WITH letter AS (
                DELETE FROM martlet.push p USING martlet.outcome o
                WHERE p.number = ANY ($1) AND o.apns_id = p.apns_id AND o.app = p.app AND o.state = 'dead'
                RETURNING p.apns_id, p.app
            )
            DELETE FROM martlet.outcome o USING letter WHERE o.apns_id = letter.apns_id AND o.app = letter.app
            RETURNING 1
            """,
            [.integers(numbers)]
        ) { $0.count }
        erased.cancelled = try await connections.cancelUnclaimed(numbers, of: app, at: now)
        // Those that are left are claimed. Without a user, none of them is claimed again to be sent. Their rows in
        // `queue` are locked first, in the order of settlements, which would deadlock otherwise.
        try await connections.query(
            .maintaining,
            """
            WITH locked AS MATERIALIZED (
                SELECT q.number FROM martlet.queue q WHERE q.number = ANY ($1) ORDER BY q.number FOR UPDATE
            )
            UPDATE martlet.push p SET user_id = '' FROM locked
            WHERE p.number = ANY ($1) AND p.number = locked.number AND NOT p.is_to_user
            """,
            [.integers(numbers)]
        ) { _ in }
        backlogCount.pushes -= erased.cancelled.count
        return erased
    }

    package func purge(
        _ lane: Lane,
        upTo last: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> PurgedPushes {
        let number = try await apps.number(of: lane.app)
        let bound: Int64
        if let last {
            bound = last
        } else {
            bound = try await connections.query(.watching, "SELECT last_value FROM martlet.push_number") {
                $0.first?.integer(at: 0) ?? 0
            }
        }
        let pushes = try await connections.query(
            .maintaining,
            "SELECT * FROM martlet.purge($1, $2, $3, $4, $5)",
            [
                .integer(number), .flag(lane.environment.isProduction), .integer(bound), .integer(now),
                .integer(Int64(limit)),
            ]
        ) { rows in
            rows.all.compactMap { PushStatus($0, from: 1, endedAs: .cancelled, in: lane, at: now) }
        }
        backlogCount.pushes -= pushes.count
        return PurgedPushes(pushes: pushes, last: bound)
    }
}

extension DatabaseConnections {
    /// Cancels those of some pushes of an app that no node has claimed.
    func cancelUnclaimed(_ numbers: [Int64], of app: String, at now: Int64) async throws(OutboxError) -> [PushStatus] {
        try await query(
            .maintaining,
            "SELECT * FROM martlet.cancel_unclaimed($1, $2)",
            [.integers(numbers), .integer(now)]
        ) { rows in
            rows.all.compactMap { row in
                let lane = Lane(app: app, environment: row.environment(at: 1))
                return PushStatus(row, from: 2, endedAs: .cancelled, in: lane, at: now)
            }
        }
    }
}
