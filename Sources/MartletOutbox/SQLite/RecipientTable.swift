// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The users who get pushes, with the tokens of their installations and the requests with alerts on each day.
final class RecipientTable {
    private let findOwner: Statement
    private let countRequest: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        findOwner = try database.connection.prepare(
            """
            SELECT 1 FROM installation_token t CROSS JOIN installation i
            WHERE t.token = ? AND i.number = t.installation AND i.app = ? AND i.user_id = ?
            """
        )
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

    /// Returns whether an installation of a user has the token of a push.
    ///
    /// The installations were read in another transaction, and the user may have been removed since.
    func hasToken(_ push: OutboxPush, _ app: Int64, _ user: String) throws(SQLiteError) -> Bool {
        try findOwner.bind(push.destination.columns.token, app, user)
        defer { findOwner.reset() }
        return try findOwner.step()
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
