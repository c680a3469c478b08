// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The pushes of an outbox by their order keys.
final class LineTable {
    private let database: OutboxDatabase
    private let findInLine: Statement
    private let findFirstInLine: Statement
    private let findOlder: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        self.database = database
        findInLine = try database.connection.prepare(
            """
            SELECT 1 FROM push WHERE app = ? AND environment = ? AND order_key = ? AND is_in_line = 1 AND number <> ?
            LIMIT 1
            """
        )
        findFirstInLine = try database.connection.prepare(
            """
            SELECT number, urgency FROM push
            WHERE app = ? AND environment = ? AND order_key = ? AND is_in_line = 1 ORDER BY number LIMIT 1
            """
        )
        let columns = OutboxDatabase.endingColumns
        let condition = "app = ?1 AND environment = ?2 AND order_key = ?3 AND order_key IS NOT NULL"
        findOlder = try database.connection.prepare(
            """
            SELECT \(columns) FROM push INDEXED BY push_order WHERE \(condition) AND is_in_line = 1
            UNION ALL
            SELECT \(columns) FROM push INDEXED BY push_before_line
            WHERE \(condition) AND is_in_line = 0 AND ready_at IS NOT NULL
            ORDER BY number DESC
            """
        )
    }

    /// Returns whether another push with this order key has to end before a new one can be claimed.
    func hasOthers(_ queue: UrgencyQueue, _ key: String, besides number: Int64) throws(SQLiteError) -> Bool {
        try findInLine.bind(queue.app, queue.environment.rawValue, key, number)
        defer { findInLine.reset() }
        return try findInLine.step()
    }

    /// Returns the number and the urgency of the first push with an order key; nil without one.
    func first(_ queue: UrgencyQueue, _ key: String) throws(SQLiteError) -> (number: Int64, urgency: Urgency)? {
        try findFirstInLine.bind(queue.app, queue.environment.rawValue, key)
        defer { findFirstInLine.reset() }
        guard try findFirstInLine.step() else { return nil }
        return (findFirstInLine.integer(at: 0), Urgency(findFirstInLine, at: 1))
    }

    /// Returns the unclaimed pushes that a new one replaces; none for a push that replaces none.
    ///
    /// The latest come first, because the end of the first push of an order key makes the next one due.
    func superseded(by push: OutboxPush, _ app: Int64, at now: Int64) throws(SQLiteError) -> [EndingPush] {
        guard push.supersedes, let key = push.orderKey else { return [] }
        try findOlder.bind(app, push.lane.environment.rawValue, key)
        defer { findOlder.reset() }
        var older: [EndingPush] = []
        try database.addUnclaimed(findOlder, as: .superseded, to: &older, at: now)
        return older
    }
}
