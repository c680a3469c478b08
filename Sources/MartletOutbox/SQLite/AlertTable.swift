// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The requests whose alerts the users of an outbox get on each day.
final class AlertTable {
    private let countRequest: Statement

    /// Prepares the statement that pushes with a limit need.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        countRequest = try database.connection.prepare(
            """
            INSERT INTO alert_day (app, user_id, day, requests) VALUES (?1, ?2, ?3, json_array(?4))
            ON CONFLICT (app, user_id, day) DO UPDATE
                SET requests = iif(instr(requests, ?4), requests, json_insert(requests, '$[#]', ?4))
                WHERE instr(requests, ?4) OR json_array_length(requests) < ?5
            RETURNING 1
            """
        )
    }

    /// Counts the request of a push to a user, once for all pushes of the request; returns false if it exceeds the
    /// limit.
    func count(
        _ push: OutboxPush,
        _ app: Int64,
        _ user: String,
        _ limit: AlertLimit,
        at now: Int64
    ) throws(SQLiteError) -> Bool {
        let day = push.day(acceptedAt: now)
        try countRequest.bind(app, user, day, limit.request.description, Int64(limit.perDay))
        defer { countRequest.reset() }
        return try countRequest.step()
    }
}
