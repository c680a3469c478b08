internal import CMartletSQL

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
enum Schema {
    /// The scripts, each of which upgrades from the version of its index to the next; scripts that were released are
    /// never changed, only added to.
    static let migrations = [
        [
            unsafe script(martlet_sql_postgresql_tables()), unsafe script(martlet_sql_postgresql_identities()),
            unsafe script(martlet_sql_postgresql_enqueue()), unsafe script(martlet_sql_postgresql_accept()),
            unsafe script(martlet_sql_postgresql_lines()), unsafe script(martlet_sql_postgresql_claim()),
            unsafe script(martlet_sql_postgresql_settle()), unsafe script(martlet_sql_postgresql_housekeeping()),
            unsafe script(martlet_sql_postgresql_nodes()), unsafe script(martlet_sql_postgresql_adopt()),
        ].joined(),
        unsafe script(martlet_sql_postgresql_lanes()),
        unsafe script(martlet_sql_postgresql_adopt_ended()),
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
}
