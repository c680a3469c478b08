// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The users who get pushes, with the tokens of their installations and the pushes with alerts on each day.
final class RecipientTable {
    private let findOwner: Statement
    private let countPush: Statement
    private let findCounted: Statement
    private let findUntried: Statement
    private let removeCounted: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        findOwner = try database.connection.prepare(
            """
            SELECT 1 FROM installation_token t CROSS JOIN installation i
            WHERE t.token = ? AND i.number = t.installation AND i.app = ? AND i.user_id = ?
            """
        )
        countPush = try database.connection.prepare(
            """
            INSERT INTO alert_day (app, user_id, day, pushes) VALUES (?1, ?2, ?3, json_object(?4, ?5))
            ON CONFLICT (app, user_id, day) DO UPDATE SET pushes = json_patch(pushes, excluded.pushes)
                WHERE (
                    SELECT max(value = ?5) OR count(DISTINCT value) < ?6 FROM json_each(alert_day.pushes)
                )
            RETURNING 1
            """
        )
        findCounted = try database.connection.prepare(
            "SELECT key, value FROM alert_day, json_each(pushes) WHERE app = ? AND user_id = ? AND day = ?"
        )
        findUntried = try database.connection.prepare(
            """
            SELECT 1 FROM outcome WHERE apns_id = ? AND app = ? AND state IN ('cancelled', 'expired', 'superseded')
                AND attempts = 0 AND unknown_tries = 0
            """
        )
        removeCounted = try database.connection.prepare(
            """
            UPDATE alert_day SET pushes = json_remove(pushes, '$."' || ?4 || '"')
            WHERE app = ?1 AND user_id = ?2 AND day = ?3
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

    /// Counts a push to a user, whose request counts once for all of its pushes; returns false if it exceeds the limit.
    ///
    /// Pushes that have ended without an attempt are searched for only when the limit is reached, so that their ends
    /// need not change the counts.
    ///
    /// - Parameters:
    ///   - push: The push.
    ///   - app: The number of its app.
    ///   - user: The user.
    ///   - limit: The limit.
    ///   - older: The pushes that end if this one is counted.
    ///   - now: The time of acceptance.
    /// - Returns: Whether the push is counted; otherwise nothing has changed.
    /// - Throws: ``SQLiteError``.
    func count(
        _ push: OutboxPush,
        _ app: Int64,
        _ user: String,
        _ limit: AlertLimit,
        replacing older: [EndingPush],
        at now: Int64
    ) throws(SQLiteError) -> Bool {
        let day = push.day(acceptedAt: now)
        if try add(push.id, app, user, day, limit) { return true }
        var untried: [String] = []
        var requests: Set<String> = []
        try findCounted.bind(app, user, day)
        for counted in try findCounted.all({ (push: $0.text(at: 0), request: $0.text(at: 1)) }) {
            if try isUntried(counted.push, app, older) {
                untried.append(counted.push)
            } else {
                requests.insert(counted.request)
            }
        }
        guard requests.count < limit.perDay else { return false }
        for id in untried { try removeCounted.run(with: app, user, day, id) }
        return try add(push.id, app, user, day, limit)
    }

    private func add(
        _ id: APNsID,
        _ app: Int64,
        _ user: String,
        _ day: Int64,
        _ limit: AlertLimit
    ) throws(SQLiteError) -> Bool {
        try countPush.bind(app, user, day, id.description, limit.request.description, Int64(limit.perDay))
        defer { countPush.reset() }
        return try countPush.step()
    }

    /// Returns whether a push has ended without an attempt, or ends so now.
    private func isUntried(_ id: String, _ app: Int64, _ older: [EndingPush]) throws(SQLiteError) -> Bool {
        if let outcome = older.first(where: { $0.status.id.description == id })?.status.outcome {
            return outcome.attempts == 0 && outcome.unknownTries == 0
        }
        try findUntried.bind((try? APNsID(id))?.bytes, app)
        defer { findUntried.reset() }
        return try findUntried.step()
    }
}
