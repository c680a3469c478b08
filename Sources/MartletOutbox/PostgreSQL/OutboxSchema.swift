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
    /// The version of the tables and functions; `{version}` in scripts.
    private static let version: Int64 = 1

    /// The script that creates everything, in an order in which functions in SQL follow the functions that they call,
    /// and the rights follow all functions.
    private static let script = [
        unsafe text(martlet_sql_postgresql_tables()), unsafe text(martlet_sql_postgresql_identities()),
        unsafe text(martlet_sql_postgresql_enqueue()), unsafe text(martlet_sql_postgresql_accept()),
        unsafe text(martlet_sql_postgresql_order_keys()), unsafe text(martlet_sql_postgresql_claim()),
        unsafe text(martlet_sql_postgresql_settle()), unsafe text(martlet_sql_postgresql_maintenance()),
        unsafe text(martlet_sql_postgresql_nodes()), unsafe text(martlet_sql_postgresql_import()),
        unsafe text(martlet_sql_postgresql_installations()), unsafe text(martlet_sql_postgresql_jobs()),
        unsafe text(martlet_sql_postgresql_sealing()), unsafe text(martlet_sql_postgresql_surfaces()),
        unsafe text(martlet_sql_postgresql_rights()),
    ].joined()

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
    private static func text(_ script: UnsafePointer<CChar>?) -> String {
        guard let script = unsafe script else { return "" }
        return unsafe String(cString: script).replacing("{index_settings}", with: indexSettings)
            .replacing("{missing_node}", with: missingNode).replacing("{version}", with: "\(version)")
    }

    /// Checks that tables have the version of this program.
    ///
    /// - Parameter found: The version of the tables; nil when the database has none.
    /// - Throws: ``PostgreSQLError`` with what to do.
    static func check(_ found: Int64?) throws(PostgreSQLError) {
        guard found != version else { return }
        throw .wrongTables(
            "the tables of the database have version \(found ?? 0), and this program uses version \(version): use a new"
                + " database, or the version of Martlet that created the tables"
        )
    }

    // MARK: Creation

    /// The maximum time for the script.
    private static let creationTime = Duration.seconds(600)

    /// Creates the tables and functions in a database; does nothing when it has them.
    ///
    /// The user of the connection must be allowed to create a schema. Relays may be running.
    ///
    /// - Parameter address: The address of the database.
    /// - Throws: ``OutboxError`` with PostgreSQL's error, or for tables of another version; nothing has changed then.
    package static func create(in address: String) async throws(OutboxError) {
        let connecting: EventLoop
        do {
            connecting = try EventLoop()
        } catch {
            throw OutboxError(.unavailable, "\(error)")
        }
        defer { connecting.shutdown() }
        do throws(PostgreSQLError) {
            try await withTaskExecutorPreference(LoopTaskExecutor(connecting)) { () async throws(PostgreSQLError) in
                try await runScript(address)
            }
        } catch {
            throw OutboxError(error, "the tables cannot be created in PostgreSQL")
        }
    }

    @concurrent
    private static func runScript(_ address: String) async throws(PostgreSQLError) {
        let session = try Session(address, name: "martlet migrate")
        try session.execute(
            """
            DO $create$
            BEGIN
                -- One at a time.
                PERFORM pg_advisory_xact_lock(1298232182);
                IF to_regclass('martlet.version') IS NULL THEN
                    EXECUTE $script$\(script)$script$;
                END IF;
            END $create$
            """,
            within: creationTime
        )
        let version = try session.query("SELECT number FROM martlet.version", within: creationTime)
        try check(version.first?.integer(at: 0))
    }
}
