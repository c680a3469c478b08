/// The tables and functions of an outbox in PostgreSQL, all in the schema `martlet`.
///
/// The rules that hold for every writer are implemented once, in the database: relays, and back ends that enqueue in
/// transactions of their own, call the same functions. Each call is a transaction at READ COMMITTED, where each
/// statement sees what other transactions have committed before it.
///
/// A push has a row in `push`, with its payload, which never changes, and a narrow row in `queue`, which changes when
/// it is claimed and when it is postponed. When it ends, both are deleted and a row is inserted into `outcome`; a dead
/// letter keeps its row in `push`.
enum Schema {
    /// The scripts, each of which upgrades from the version of its index to the next; scripts that were released are
    /// never changed, only added to.
    static let migrations = [
        tables + identities + enqueueing + accepting + lines + claiming + settling + housekeeping + nodes + adopting,
        lanes,
    ]

    /// The settings that make the statements of a function use indexes, with plans that are made once in each session.
    ///
    /// A queue that was empty when a plan was made may hold millions of rows when it is used. Planning each claim
    /// again, as PostgreSQL would for a long queue, takes half as long as the claim.
    static let byIndexes = """
        SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
        SET enable_hashjoin = off SET enable_mergejoin = off
        """

    static let tables = """
        CREATE SCHEMA martlet;
        CREATE TABLE martlet.version (number integer NOT NULL);
        INSERT INTO martlet.version VALUES (0);

        CREATE TABLE martlet.app (
            number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text COLLATE "C" NOT NULL UNIQUE
        );

        CREATE SEQUENCE martlet.push_number;

        CREATE TABLE martlet.push (
            number bigint PRIMARY KEY,
            app bigint NOT NULL,
            is_production boolean NOT NULL,
            apns_id uuid NOT NULL,
            -- Tells a push that is handed in again from another; null where the caller gave no identifier.
            fingerprint bytea,
            token text COLLATE "C", channel text, bundle text,
            push_type text, topic text, priority text, expiration text, collapse_id text, trace text,
            order_key text COLLATE "C",
            expires_at bigint,
            accepted_at bigint NOT NULL,
            payload bytea NOT NULL,
            UNIQUE (apns_id, app)
        );

        -- What waits or is on its way. "line" tells how a push stands that keeps its order: -1 waits for its time,
        -- 0 not in line yet, 1 first, 2 behind others. "ready_at" is null while it is behind others. "node" has
        -- claimed it.
        CREATE TABLE martlet.queue (
            number bigint PRIMARY KEY,
            app bigint NOT NULL,
            is_production boolean NOT NULL,
            urgency smallint NOT NULL,
            line smallint NOT NULL DEFAULT 0,
            node integer,
            ready_at bigint,
            expires_at bigint,
            attempts integer NOT NULL DEFAULT 0,
            unknown_tries integer NOT NULL DEFAULT 0,
            order_key text COLLATE "C"
        ) WITH (
            fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
            autovacuum_vacuum_cost_delay = 0
        );
        CREATE INDEX queue_ready ON martlet.queue (app, is_production, urgency, ready_at, number)
            WHERE node IS NULL AND ready_at IS NOT NULL AND (order_key IS NULL OR line = 1);
        CREATE INDEX queue_arriving ON martlet.queue (app, is_production, ready_at, number)
            WHERE node IS NULL AND line <= 0 AND order_key IS NOT NULL;
        CREATE UNIQUE INDEX queue_first ON martlet.queue (app, is_production, order_key) WHERE line = 1;
        CREATE INDEX queue_line ON martlet.queue (app, is_production, order_key, number)
            WHERE order_key IS NOT NULL AND line IN (0, 2);
        CREATE INDEX queue_expiry ON martlet.queue (expires_at) WHERE node IS NULL AND expires_at IS NOT NULL;

        -- By the day of the end, so that what is old is dropped and not deleted.
        CREATE TABLE martlet.outcome (
            apns_id uuid NOT NULL,
            app bigint NOT NULL,
            is_production boolean NOT NULL,
            state text NOT NULL,
            status integer, reason text, unique_id text, unregistered_at bigint,
            attempts integer NOT NULL, unknown_tries integer NOT NULL,
            fingerprint bytea,
            accepted_at bigint NOT NULL,
            ended_at bigint NOT NULL
        ) PARTITION BY RANGE (ended_at);
        CREATE INDEX outcome_identity ON martlet.outcome (apns_id, app);
        CREATE INDEX outcome_dead ON martlet.outcome (app, ended_at) WHERE state = 'dead';
        CREATE TABLE martlet.outcome_other PARTITION OF martlet.outcome DEFAULT;

        CREATE SEQUENCE martlet.dead_token_cursor;
        CREATE TABLE martlet.dead_token (
            app bigint NOT NULL,
            token text COLLATE "C" NOT NULL,
            cursor bigint NOT NULL UNIQUE,
            since bigint,
            learnt_at bigint NOT NULL,
            reason text NOT NULL,
            PRIMARY KEY (app, token)
        );

        CREATE TABLE martlet.reader (name text PRIMARY KEY, cursor bigint NOT NULL);

        -- The relays that are there. What one has claimed is its own until its lease ends.
        CREATE TABLE martlet.node (
            number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL,
            version text NOT NULL,
            started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            lease_until timestamptz NOT NULL,
            -- When it last renewed its lease after a gap, which may have been the database's and every node's.
            steady_since timestamptz NOT NULL DEFAULT '-infinity',
            is_idle boolean NOT NULL DEFAULT false,
            is_to_drain boolean NOT NULL DEFAULT false,
            facts text NOT NULL DEFAULT '{}'
        );

        CREATE TABLE martlet.provider_token (
            team_id text, key_id text,
            token text NOT NULL,
            issued_at bigint NOT NULL,
            PRIMARY KEY (team_id, key_id)
        );

        """

    /// The functions that identify apps and pushes.
    static let identities = """
        CREATE FUNCTION martlet.app_number(p_name text) RETURNS bigint LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO martlet.app (name) SELECT p_name
            WHERE NOT EXISTS (SELECT FROM martlet.app WHERE name = p_name) ON CONFLICT DO NOTHING;
            RETURN (SELECT number FROM martlet.app WHERE name = p_name);
        END $$;

        -- Half a hash of what a push says. No header has a line break, so that nothing can slip from one to the next.
        CREATE FUNCTION martlet.fingerprint(
            p_is_production boolean, p_token text, p_channel text, p_bundle text, p_push_type text, p_topic text,
            p_priority text, p_expiration text, p_collapse_id text, p_payload bytea
        ) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
            SELECT substring(sha256(convert_to(concat_ws(E'\\n',
                CASE WHEN p_is_production THEN 'production' ELSE 'development' END, coalesce(p_token, ''),
                coalesce(p_channel, ''), coalesce(p_bundle, ''), coalesce(p_push_type, ''), coalesce(p_topic, ''),
                coalesce(p_priority, ''), coalesce(p_expiration, ''), coalesce(p_collapse_id, ''), ''), 'UTF8')
                || p_payload) FROM 1 FOR 16)
        $$;

        -- What is known of pushes by their identifiers: those that wait or are on their way, and those that have ended.
        CREATE FUNCTION martlet.known(p_app bigint, p_id uuid) RETURNS TABLE (
            apns_id uuid, is_production boolean, accepted_at bigint, is_claimed boolean, ended_at bigint, state text,
            status integer, reason text, unique_id text, unregistered_at bigint, attempts integer,
            unknown_tries integer, fingerprint bytea
        ) LANGUAGE sql STABLE AS $$
            SELECT p.apns_id, p.is_production, p.accepted_at, q.node IS NOT NULL, NULL::bigint, NULL, NULL::integer,
                NULL, NULL, NULL::bigint, q.attempts, q.unknown_tries, p.fingerprint
            FROM martlet.push p JOIN martlet.queue q USING (number) WHERE p.apns_id = p_id AND p.app = p_app
            UNION ALL
            SELECT o.apns_id, o.is_production, o.accepted_at, false, o.ended_at, o.state, o.status, o.reason,
                o.unique_id, o.unregistered_at, o.attempts, o.unknown_tries, o.fingerprint
            FROM martlet.outcome o WHERE o.apns_id = p_id AND o.app = p_app
            LIMIT 1
        $$;

        """
}
