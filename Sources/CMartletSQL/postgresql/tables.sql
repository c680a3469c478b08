-- SPDX-License-Identifier: Apache-2.0

-- The tables: `push` with what never changes, `queue` with what changes until a push ends, and `outcome` afterwards.

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
    -- Distinguishes a repeated request from another push with the same identifier; null when the caller gave no
    -- identifier.
    fingerprint bytea,
    token text COLLATE "C", channel text, bundle text,
    push_type text, topic text, priority text, expiration text, collapse_id text, trace text,
    order_key text COLLATE "C",
    expires_at bigint,
    accepted_at bigint NOT NULL,
    -- The value of `martlet.checksum`, which relays compare before they send the push; null when it is not known.
    checksum bigint,
    payload bytea NOT NULL,
    -- The user whose installation had the token when the push was accepted. The token may belong to another user since.
    user_id text COLLATE "C",
    UNIQUE (apns_id, app)
);

CREATE INDEX push_user ON martlet.push (user_id, number) WHERE user_id IS NOT NULL;

-- The pushes that have not ended. `node` is the relay that has claimed the push; null when none has. `ready_at` is the
-- time from which on it may be sent; null while it waits behind another push. `line` is its position among the pushes
-- with the same order key: -1 scheduled for later, 0 not lined up yet, 1 first, 2 behind others.
CREATE TABLE martlet.queue (
    number bigint PRIMARY KEY,
    app bigint NOT NULL,
    is_production boolean NOT NULL,
    urgency smallint NOT NULL,
    line smallint NOT NULL DEFAULT 0,
    node integer,
    ready_at bigint,
    -- Compared before the push is sent; null without a due time.
    ready_check bigint GENERATED ALWAYS AS (~ready_at) STORED,
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

-- Partitioned by the day of the end, because dropping a partition is much cheaper than deleting its rows.
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

-- The running relays. A claim belongs to its node until the lease of the node expires.
CREATE TABLE martlet.node (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL,
    -- The time of the last renewal after a missed one; the cause may have been the database, for all nodes.
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
