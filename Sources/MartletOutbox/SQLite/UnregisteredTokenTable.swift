// SPDX-License-Identifier: Apache-2.0

internal import MartletCore
internal import MartletSQLite

/// The tokens that Apple has reported as unregistered.
final class UnregisteredTokenTable {
    /// The columns of a token, in the order in which ``UnregisteredToken/init(_:)`` reads them.
    static let columns = "cursor, token, environment, topic, unregistered_at, reported_at, reason"

    private let database: OutboxDatabase
    private let find: Statement
    private let delete: Statement
    private let insert: Statement
    private let deleteRegistration: Statement
    private let findRegistration: Statement

    /// Prepares the statements.
    init(_ database: OutboxDatabase) throws(SQLiteError) {
        self.database = database
        let condition = "WHERE app = ? AND token = ? AND environment = ? AND topic = ?"
        find = try database.connection.prepare(
            "SELECT \(UnregisteredTokenTable.columns) FROM unregistered_token \(condition)"
        )
        delete = try database.connection.prepare("DELETE FROM unregistered_token \(condition)")
        insert = try database.connection.prepare(
            """
            INSERT INTO unregistered_token (app, token, environment, topic, unregistered_at, reported_at, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """
        )
        let registrations = """
            installation_token WHERE token = ? AND EXISTS (
                SELECT 1 FROM installation i
                WHERE i.number = installation_token.installation AND i.app = ? AND i.environment = ?
            )
            """
        deleteRegistration = try database.connection.prepare("DELETE FROM \(registrations) AND last_push < ?")
        findRegistration = try database.connection.prepare("SELECT 1 FROM \(registrations) AND last_push >= ?")
    }

    /// Returns the record that the token of a push is unregistered; nil for a token without one.
    func record(
        of token: DeviceToken,
        _ app: Int64,
        _ push: OutboxPush
    ) throws(SQLiteError) -> UnregisteredToken? {
        guard database.state.hasUnregisteredTokens else { return nil }
        try find.bind(app, token.hex, push.lane.environment.rawValue, push.headers.topic ?? "")
        defer { find.reset() }
        return try find.step() ? UnregisteredToken(find) : nil
    }

    /// Records that a token is unregistered, under a new cursor, and removes it from the installation that has it.
    ///
    /// Does nothing if the app has registered the token after the acceptance of the push, whose number is `push`.
    func add(
        _ token: String,
        _ queue: UrgencyQueue,
        topic: String,
        _ outcome: Outcome,
        push: Int64,
        at now: Int64
    ) throws(SQLiteError) {
        let environment = queue.environment.rawValue
        try deleteRegistration.run(with: token, queue.app, environment, push)
        try findRegistration.bind(token, queue.app, environment, push)
        defer { findRegistration.reset() }
        guard try !findRegistration.step() else { return }
        try delete.run(with: queue.app, token, environment, topic)
        try insert.run(
            with: queue.app,
            token,
            environment,
            topic,
            outcome.unregisteredAt,
            now,
            outcome.reason ?? ""
        )
        database.state.hasUnregisteredTokens = true
    }
}
