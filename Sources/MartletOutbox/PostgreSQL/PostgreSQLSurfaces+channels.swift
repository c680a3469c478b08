// SPDX-License-Identifier: Apache-2.0

internal import MartletPostgreSQL

/// The surfaces with broadcast channels.
extension PostgreSQLSurfaces {
    func surfacesWithChannel(
        of app: String,
        after channel: String,
        limit: Int
    ) async throws(OutboxError) -> [StoredSurface] {
        let number = try await outbox.apps.number(of: app)
        return try await outbox.connections.query(
            .maintaining,
            """
            SELECT \(SurfaceRow.columns) FROM martlet.surface
            WHERE app = $1 AND channel > $2 AND withdrawn_at IS NULL ORDER BY channel LIMIT $3
            """,
            [.integer(number), .text(channel), .integer(Int64(limit))]
        ) { rows in rows.all.map { StoredSurface($0, app: app) } }
    }
}
