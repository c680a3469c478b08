internal import MartletPostgreSQL
internal import MartletTransport

extension PostgreSQLOutbox {
    /// The maximum time for one script.
    private static let migrationTime = Duration.seconds(600)

    /// Creates the tables and functions in a database, or upgrades older ones; does nothing when they are current.
    ///
    /// The user of the connection must be allowed to create a schema. Relays may be running; they wait for a moment.
    ///
    /// - Parameter address: The address of the database.
    /// - Throws: ``OutboxError`` with PostgreSQL's error. A script that fails changes nothing.
    package static func migrate(_ address: String) async throws(OutboxError) {
        let connecting: EventLoop
        do {
            connecting = try EventLoop()
        } catch {
            throw OutboxError(.unavailable, "\(error)")
        }
        defer { connecting.shutdown() }
        do throws(PostgreSQLError) {
            try await withTaskExecutorPreference(LoopTaskExecutor(connecting)) { () async throws(PostgreSQLError) in
                try await bringUpToDate(address)
            }
        } catch {
            throw OutboxError(error, "the tables cannot be made in PostgreSQL")
        }
    }

    @concurrent
    private static func bringUpToDate(_ address: String) async throws(PostgreSQLError) {
        let session = try Session(address, name: "martlet migrate")
        for (version, script) in Schema.migrations.enumerated() {
            try session.execute(
                """
                DO $migrate$
                DECLARE
                    version integer := 0;
                BEGIN
                    -- One at a time.
                    PERFORM pg_advisory_xact_lock(1298232182);
                    IF to_regclass('martlet.version') IS NOT NULL THEN
                        SELECT number INTO version FROM martlet.version;
                    END IF;
                    IF version = \(version) THEN
                        EXECUTE $script$\(script)$script$;
                        UPDATE martlet.version SET number = \(version + 1);
                    END IF;
                END $migrate$
                """,
                within: migrationTime
            )
        }
    }
}
