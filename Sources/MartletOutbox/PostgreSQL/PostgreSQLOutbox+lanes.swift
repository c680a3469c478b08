package import MartletCore
internal import MartletPostgreSQL

/// Pausing and purging of lanes, and searches.
extension PostgreSQLOutbox: OutboxRecords {
    package nonisolated var records: any OutboxRecords { self }

    package func pauses() async throws(OutboxError) -> [LanePause] {
        try await inquire(
            .watching,
            """
            SELECT a.name, p.is_production, p.since, p.caller
            FROM martlet.lane_pause p JOIN martlet.app a ON a.number = p.app
            """
        ) { rows in
            rows.all.map { row in
                let lane = Lane(app: row.text(at: 0), environment: PushEnvironment(isProduction: row.flag(at: 1)))
                return LanePause(lane: lane, since: row.integer(at: 2), caller: row.text(at: 3))
            }
        }
    }

    package func pause(_ lane: Lane, by caller: String, at now: Int64) async throws(OutboxError) -> LanePause {
        let number = try await number(of: lane.app)
        let stored = try await inquire(
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

    package func resume(_ lane: Lane) async throws(OutboxError) -> Bool {
        let number = try await number(of: lane.app)
        return try await inquire(
            .watching,
            "DELETE FROM martlet.lane_pause WHERE app = $1 AND is_production = $2 RETURNING 1",
            [.integer(number), .flag(lane.environment.isProduction)]
        ) { $0.count > 0 }
    }

    package func purge(
        _ lane: Lane,
        upTo last: Int64?,
        limit: Int,
        at now: Int64
    ) async throws(OutboxError) -> PurgedPushes {
        let number = try await number(of: lane.app)
        let bound: Int64
        if let last {
            bound = last
        } else {
            bound = try await inquire(.watching, "SELECT last_value FROM martlet.push_number") {
                $0.first?.integer(at: 0) ?? 0
            }
        }
        let pushes = try await inquire(
            .maintaining,
            "SELECT * FROM martlet.purge($1, $2, $3, $4, $5)",
            [
                .integer(number), .flag(lane.environment.isProduction), .integer(bound), .integer(now),
                .integer(Int64(limit)),
            ]
        ) { rows in
            rows.all.compactMap { row in
                let outcome = Outcome(
                    .cancelled,
                    attempts: Int(row.integer(at: 2)),
                    unknownTries: Int(row.integer(at: 3))
                )
                return APNsID(bytes: row.bytes(at: 0)).map { id in
                    PushStatus(id: id, lane: lane, acceptedAt: row.integer(at: 1), place: .ended(outcome, at: now))
                }
            }
        }
        count -= pushes.count
        return PurgedPushes(pushes: pushes, last: bound)
    }

    package func pushes(
        to token: DeviceToken,
        of app: String,
        after cursor: Int64,
        limit: Int
    ) async throws(OutboxError) -> [FoundPush] {
        let number = try await number(of: app)
        return try await inquire(
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
}
