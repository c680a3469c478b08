internal import MartletSQLite

/// The prepared statements of an outbox.
final class OutboxStatements {
    /// The columns of a push, in the order in which ``DuePush/init(_:lane:)`` reads them.
    static let pushColumns = """
        number, app, environment, apns_id, token, channel, bundle, push_type, topic, priority, expiration, \
        collapse_id, trace, payload, order_key, expires_at, accepted_at, attempts, unknown_tries, in_line, \
        ready_at, urgency
        """

    /// The columns of an unregistered token, in the order in which ``DeadToken/init(_:)`` reads them.
    static let deadTokenColumns = "cursor, token, environment, topic, since, learnt_at, reason"

    let addApp: Statement
    let insert: Statement
    let findPush: Statement
    let findOutcome: Statement
    let findDeadToken: Statement
    let removeDeadToken: Statement
    let findInLine: Statement
    let firstInLine: Statement
    let claim: Statement
    let bringForward: Statement
    let nextDue: Statement
    let giveOut: Statement
    let queue: Statement
    let place: Statement
    let postpone: Statement
    let end: Statement
    let remove: Statement
    let rest: Statement
    let addDeadToken: Statement
    let oldest: Statement
    let retries: Statement
    let expired: Statement

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        addApp = try connection.prepare("INSERT INTO app (name) VALUES (?)")
        insert = try connection.prepare(
            """
            INSERT INTO push (
                number, app, environment, urgency, ready_at, in_line, order_key, expires_at, apns_id, fingerprint,
                token, channel, bundle, push_type, topic, priority, expiration, collapse_id, trace,
                accepted_at, attempts, unknown_tries, payload
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)
            """
        )
        findPush = try connection.prepare(
            """
            SELECT environment, accepted_at, number, fingerprint FROM push WHERE apns_id = ? AND app = ?
            """
        )
        findOutcome = try connection.prepare(
            """
            SELECT environment, accepted_at, ended_at, state, status, reason, unique_id, unregistered_at, attempts,
                unknown_tries, fingerprint
            FROM outcome WHERE apns_id = ? AND app = ?
            """
        )
        findDeadToken = try connection.prepare(
            """
            SELECT \(OutboxStatements.deadTokenColumns) FROM dead_token
            WHERE app = ? AND token = ? AND environment = ? AND topic = ?
            """
        )
        removeDeadToken = try connection.prepare(
            "DELETE FROM dead_token WHERE app = ? AND token = ? AND environment = ? AND topic = ?"
        )
        findInLine = try connection.prepare(
            """
            SELECT 1 FROM push WHERE app = ? AND environment = ? AND order_key = ? AND in_line = 1 AND number <> ?
            LIMIT 1
            """
        )
        firstInLine = try connection.prepare(
            """
            SELECT number, urgency FROM push
            WHERE app = ? AND environment = ? AND order_key = ? AND in_line = 1 ORDER BY number LIMIT 1
            """
        )
        claim = try connection.prepare(
            """
            SELECT \(OutboxStatements.pushColumns) FROM push
            WHERE app = ? AND environment = ? AND urgency = ? AND (ready_at, number) > (?, ?) AND ready_at <= ?
            ORDER BY ready_at, number
            """
        )
        bringForward = try connection.prepare(
            """
            UPDATE push SET ready_at = ? WHERE number IN (
                SELECT number FROM push
                WHERE app = ? AND environment = ? AND urgency = ? AND ready_at > ? AND ready_at <= ?
                    AND ready_at <= accepted_at AND attempts = 0
                ORDER BY ready_at, number LIMIT ?
            )
            """
        )
        nextDue = try connection.prepare(
            """
            SELECT ready_at FROM push
            WHERE app = ? AND environment = ? AND urgency = ? AND (ready_at, number) > (?, ?) AND ready_at IS NOT NULL
            ORDER BY ready_at, number LIMIT 1
            """
        )
        giveOut = try connection.prepare(
            "INSERT OR REPLACE INTO given_out (app, environment, urgency, until) VALUES (?, ?, ?, ?)"
        )
        queue = try connection.prepare("UPDATE push SET in_line = ?, ready_at = ? WHERE number = ?")
        place = try connection.prepare(
            """
            SELECT app, environment, urgency, order_key, token, topic, in_line = 1 AND ready_at IS NOT NULL
            FROM push WHERE number = ?
            """
        )
        postpone = try connection.prepare(
            "UPDATE push SET ready_at = ?, attempts = ?, unknown_tries = ? WHERE number = ?"
        )
        end = try connection.prepare(
            """
            INSERT INTO outcome SELECT apns_id, app, environment, ?, ?, ?, ?, ?, MAX(?, attempts),
                MAX(?, unknown_tries), fingerprint, accepted_at, ?
            FROM push WHERE number = ?
            """
        )
        remove = try connection.prepare("DELETE FROM push WHERE number = ?")
        rest = try connection.prepare("UPDATE push SET ready_at = NULL, in_line = 0 WHERE number = ?")
        addDeadToken = try connection.prepare(
            """
            INSERT INTO dead_token (app, token, environment, topic, since, learnt_at, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        )
        oldest = try connection.prepare(
            """
            SELECT MIN(ready_at) FROM push
            WHERE app = ? AND environment = ? AND urgency = ? AND ready_at IS NOT NULL
            """
        )
        retries = try connection.prepare(
            """
            SELECT COUNT(*), MIN(accepted_at) FROM push INDEXED BY push_retry
            WHERE app = ? AND environment = ? AND attempts > 0 AND ready_at IS NOT NULL
            """
        )
        expired = try connection.prepare(
            """
            SELECT number, app, environment, urgency, apns_id, accepted_at, attempts, unknown_tries FROM push
            WHERE expires_at <= ? AND (ready_at IS NOT NULL OR in_line = 1) ORDER BY expires_at
            """
        )
    }
}
