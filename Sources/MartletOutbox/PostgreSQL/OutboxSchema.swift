// SPDX-License-Identifier: Apache-2.0

internal import CMartletSQL
internal import MartletPostgreSQL
internal import MartletTransport

/// The tables and functions of an outbox in PostgreSQL, all in the schema `martlet`.
///
/// The rules that hold for every writer are implemented once, in the database: relays, and back ends that enqueue in
/// transactions of their own, call the same functions. Each call is a transaction at READ COMMITTED, where each
/// statement sees what other transactions have committed before it.
///
/// A push has a row in `push`, with its payload, which never changes, and a narrow row in `queue`, which changes when
/// it is claimed and when it is postponed. When it ends, both are deleted and a row is inserted into `outcome`; a dead
/// letter keeps its row in `push`.
///
/// The scripts are the files of `Sources/CMartletSQL/postgresql`.
package enum OutboxSchema {
    /// The scripts, each of which upgrades from the version of its index to the next.
    ///
    /// Released scripts of tables are never changed, only added to. A change of functions changes their script, which a
    /// later version then runs again.
    static let migrations = [
        [
            unsafe script(martlet_sql_postgresql_tables()), unsafe script(martlet_sql_postgresql_identities()),
            unsafe script(martlet_sql_postgresql_enqueue()), unsafe script(martlet_sql_postgresql_accept()),
            unsafe script(martlet_sql_postgresql_order_keys()), unsafe script(martlet_sql_postgresql_claim()),
            unsafe script(martlet_sql_postgresql_settle()), unsafe script(martlet_sql_postgresql_maintenance()),
            unsafe script(martlet_sql_postgresql_nodes()), unsafe script(martlet_sql_postgresql_import()),
        ].joined(),
        unsafe script(martlet_sql_postgresql_lanes()),
        [
            unsafe script(martlet_sql_postgresql_dead_tokens()), unsafe script(martlet_sql_postgresql_accept()),
            unsafe script(martlet_sql_postgresql_order_keys()),
            unsafe script(martlet_sql_postgresql_settle()), unsafe script(martlet_sql_postgresql_import()),
        ].joined(),
        [
            unsafe script(martlet_sql_postgresql_installations()),
            unsafe script(martlet_sql_postgresql_enrollments()), unsafe script(martlet_sql_postgresql_settle()),
        ].joined(),
    ]

    /// The SQLSTATE of a claim by a node that is not registered and must register again; `{missing_node}` in scripts.
    static let missingNode = "MN001"

    /// The settings that make the statements of a function use indexes, with plans that are made once in each session;
    /// `{index_settings}` in scripts.
    ///
    /// A queue that was empty when a plan was made may hold millions of rows when it is used. Planning each claim
    /// again, as PostgreSQL would for a long queue, takes half as long as the claim.
    private static let indexSettings = """
        SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
        SET enable_hashjoin = off SET enable_mergejoin = off
        """

    /// Returns an embedded script with its placeholders replaced.
    private static func script(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text).replacing("{index_settings}", with: indexSettings)
            .replacing("{missing_node}", with: missingNode)
    }

    // MARK: Migration

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
                try await runMigrations(address)
            }
        } catch {
            throw OutboxError(error, "the tables cannot be made in PostgreSQL")
        }
    }

    @concurrent
    private static func runMigrations(_ address: String) async throws(PostgreSQLError) {
        let session = try Session(address, name: "martlet migrate")
        for (version, script) in migrations.enumerated() {
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
