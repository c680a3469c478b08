// SPDX-License-Identifier: Apache-2.0

/// A transaction of a client of PostgreSQL that stays open until ``end()``; for one at a time in a database.
package struct OpenTransaction: Sendable {
    private let server: PostgreSQLServer
    private let database: String
    private let client: Task<String, any Error>

    /// Begins a transaction, and waits until its statements have been executed.
    ///
    /// - Parameters:
    ///   - statements: The statements, each with its semicolon.
    ///   - database: The name of the database.
    ///   - server: The server.
    ///   - isCommitted: Whether the end is a commit; otherwise it is a rollback.
    /// - Throws: The error of `psql`, or that the transaction does not open.
    package init(
        _ statements: String,
        in database: String,
        of server: PostgreSQLServer,
        isCommitted: Bool = false
    ) async throws {
        self.server = server
        self.database = database
        try await server.ask("CREATE TABLE IF NOT EXISTS transaction_end ()", of: database)
        let sql = """
            BEGIN; \(statements)
            DO $$ BEGIN
                FOR attempt IN 1..30000 LOOP
                    EXIT WHEN EXISTS (SELECT FROM public.transaction_end);
                    PERFORM pg_sleep(0.01);
                END LOOP;
            END $$;
            \(isCommitted ? "COMMIT" : "ROLLBACK")
            """
        client = Task { try await server.ask(sql, of: database) }
        try await server.waitForSleep("the transaction is open", of: database)
    }

    /// Ends the transaction, and returns the output of its statements.
    @discardableResult
    package func end() async throws -> String {
        try await server.ask("INSERT INTO public.transaction_end DEFAULT VALUES", of: database)
        let output = try await client.value
        try await server.ask("DELETE FROM public.transaction_end", of: database)
        return output
    }
}
