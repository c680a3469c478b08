// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL

/// The sessions that a clock which was set back would delay.
extension PostgreSQLSurfaces {
    func recallSessions(dueAfter time: Int64, at now: Int64, limit: Int) async throws(OutboxError) -> Int {
        // By app, as the index is. A session that another transaction changes gets another time by that.
        try await outbox.connections.query(
            .maintaining,
            """
            WITH recalled AS (
                UPDATE martlet.surface_session s SET due_at = $1 WHERE s.number = ANY (ARRAY(
                    SELECT late.number FROM martlet.app a CROSS JOIN LATERAL (
                        SELECT o.number FROM martlet.surface_session o WHERE o.app = a.number AND o.due_at > $2
                        ORDER BY o.due_at LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
                    ) late LIMIT $3
                )) RETURNING s.number
            ) SELECT count(*) FROM recalled
            """,
            [.integer(now), .integer(time), .integer(Int64(limit))]
        ) { rows in Int(rows.first?.integer(at: 0) ?? 0) }
    }
}
