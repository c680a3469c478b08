-- SPDX-License-Identifier: Apache-2.0

-- The tables: `push` with what never changes, `queue` with what changes until a push ends, and `outcome` afterwards.

CREATE SCHEMA martlet;
-- The version of the tables and functions.
CREATE TABLE martlet.version (number integer NOT NULL);
INSERT INTO martlet.version VALUES ({version});

CREATE TABLE martlet.app (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    -- The number of surfaces that are not withdrawn.
    surfaces bigint NOT NULL DEFAULT 0
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
    token text COLLATE "C", channel text, bundle_id text,
    push_type text, topic text, priority text, expiration text, collapse_id text, trace_parent text,
    order_key text COLLATE "C",
    expires_at bigint,
    accepted_at bigint NOT NULL,
    -- The value of `martlet.checksum`, which relays compare before they send the push; null when it is not known.
    checksum bigint,
    payload bytea NOT NULL,
    -- The user that the push was sent to, or whose installation had the token when the push was accepted. The token may
    -- belong to another user since.
    user_id text COLLATE "C",
    -- Whether the push was sent to the user. It is sent on only while an installation of the user has the token.
    is_to_user boolean NOT NULL DEFAULT false,
    -- The number of the job that the push belongs to; null for one that was sent singly. The job may be deleted before
    -- its dead letters.
    job bigint,
    -- The number of the installation that the push of a job is for. A job has one push for each. After a move from a
    -- file it is the number there, so only a number up to the `high_mark` of the job names an installation.
    installation bigint,
    -- The number of the session of a surface that the push belongs to; null for a push that a caller sent. The session
    -- may be removed before the push ends.
    session bigint,
    UNIQUE (apns_id, app)
);
CREATE INDEX push_user ON martlet.push (user_id, number) WHERE user_id IS NOT NULL;
-- By the last byte of the token, which is random: insertions change 256 pages, not a different one each.
CREATE INDEX push_token ON martlet.push (right(token, 2), number) WHERE token IS NOT NULL;
CREATE INDEX push_job ON martlet.push (job, installation) WHERE job IS NOT NULL;

-- The pushes that have not ended. `node` is the relay that has claimed the push; null when none has. `claim` is the
-- relay's number of the last claim: a result is stored only for the claim that it belongs to. `ready_at` is the time
-- from which on it may be sent; null while it waits behind another push. `line` is its position among the pushes with
-- the same order key: -1 scheduled for later, 0 not lined up yet, 1 first, 2 behind others.
CREATE TABLE martlet.queue (
    number bigint PRIMARY KEY,
    app bigint NOT NULL,
    is_production boolean NOT NULL,
    urgency smallint NOT NULL,
    line smallint NOT NULL DEFAULT 0,
    node integer,
    claim bigint,
    ready_at bigint,
    -- Compared before the push is sent; null without a due time.
    ready_check bigint GENERATED ALWAYS AS (~ready_at) STORED,
    expires_at bigint,
    attempts integer NOT NULL DEFAULT 0,
    unknown_tries integer NOT NULL DEFAULT 0,
    order_key text COLLATE "C",
    -- The failed attempts, as a JSON array; null for a push without any.
    history text
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
CREATE INDEX queue_scheduled ON martlet.queue (app, is_production, order_key, number)
    WHERE order_key IS NOT NULL AND line < 0;
CREATE INDEX queue_expiry ON martlet.queue (expires_at) WHERE node IS NULL AND expires_at IS NOT NULL;

-- The numbers of pushes that back ends have enqueued and that replace others at the commit, which deletes their rows.
-- The transaction keeps the deletion from reading rows that others have deleted. The trigger of the table also inserts
-- the opposite of a number, and 0.
CREATE TABLE martlet.superseding (
    transaction xid8 DEFAULT pg_current_xact_id(),
    number bigint,
    PRIMARY KEY (transaction, number)
);

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
    ended_at bigint NOT NULL,
    history text,
    -- The numbers of the job, the installation and the session, as in `push`; they may be deleted before the outcome.
    job bigint, installation bigint, session bigint
) PARTITION BY RANGE (ended_at);
CREATE INDEX outcome_identity ON martlet.outcome (apns_id, app);
CREATE INDEX outcome_dead ON martlet.outcome (app, ended_at) WHERE state = 'dead';
-- For the list of a job's pushes. The user is that of the installation, so that an erasure changes no outcome.
CREATE INDEX outcome_job ON martlet.outcome (job, state, installation) WHERE job IS NOT NULL;
CREATE TABLE martlet.outcome_other PARTITION OF martlet.outcome DEFAULT;

-- A 410 of Apple concerns a token in one environment and for one topic.
CREATE SEQUENCE martlet.unregistered_token_cursor;
CREATE TABLE martlet.unregistered_token (
    app bigint NOT NULL,
    token text COLLATE "C" NOT NULL,
    is_production boolean NOT NULL,
    topic text COLLATE "C" NOT NULL,
    cursor bigint NOT NULL UNIQUE,
    unregistered_at bigint,
    reported_at bigint NOT NULL,
    reason text NOT NULL
);
-- Without environment and topic, which would make it larger: a token has few rows.
CREATE INDEX unregistered_token_token ON martlet.unregistered_token (app, token);

-- The lanes that operators have paused.
CREATE TABLE martlet.lane_pause (
    app bigint NOT NULL,
    is_production boolean NOT NULL,
    since bigint NOT NULL,
    caller text NOT NULL,
    PRIMARY KEY (app, is_production)
);

-- The data key that encrypts tokens, payloads, the requests of jobs and surfaces, and the states of sessions, itself
-- encrypted with the operator's key of this number; no row for an outbox that is not sealed.
CREATE TABLE martlet.sealed_key (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    id bytea NOT NULL,
    number bigint NOT NULL,
    bytes bytea NOT NULL,
    -- Whether all rows are sealed: an outbox may be sealed after its first push.
    is_complete boolean NOT NULL DEFAULT false
);

-- The positions of webhooks in the feed of unregistered tokens.
CREATE TABLE martlet.reader (name text PRIMARY KEY, cursor bigint NOT NULL);

-- The problems of each relay in the last hour as a JSON array, which its status shows after a restart.
CREATE TABLE martlet.relay_history (
    relay text PRIMARY KEY,
    stored_at bigint NOT NULL,
    problems text NOT NULL
);

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
    published_data text NOT NULL DEFAULT '{}'
);

CREATE TABLE martlet.provider_token (
    team_id text, key_id text,
    token text NOT NULL,
    issued_at bigint NOT NULL,
    PRIMARY KEY (team_id, key_id)
);

CREATE TABLE martlet.ticket (
    hash bytea PRIMARY KEY,
    app bigint NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    tags text NOT NULL,
    is_single_use boolean NOT NULL,
    expires_at bigint NOT NULL
);
CREATE INDEX ticket_expiry ON martlet.ticket (expires_at);
CREATE INDEX ticket_user ON martlet.ticket (app, user_id);

CREATE TABLE martlet.installation (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app bigint NOT NULL,
    id uuid NOT NULL UNIQUE,
    user_id text COLLATE "C" NOT NULL,
    is_production boolean NOT NULL,
    bundle_id text NOT NULL,
    -- Null for an installation that a back end has imported, and whose app has not enrolled.
    secret_hash bytea UNIQUE,
    locale text, time_zone text, app_version text, system_version text, model text,
    alerts boolean, live_activities boolean, frequent_updates boolean,
    created_at bigint NOT NULL, changed_at bigint NOT NULL, seen_at bigint NOT NULL,
    revision bigint NOT NULL DEFAULT 1
);
CREATE INDEX installation_app ON martlet.installation (app, number);
CREATE INDEX installation_user ON martlet.installation (app, user_id, number);

CREATE TABLE martlet.installation_token (
    installation bigint NOT NULL REFERENCES martlet.installation ON DELETE CASCADE,
    kind text NOT NULL,
    name text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL,
    registered_at bigint NOT NULL,
    -- A number of the sequence of pushes: those with greater numbers were accepted after the registration. Times would
    -- not show that, because the clocks of relays differ and can be corrected. Null for an installation that was moved
    -- from a file.
    last_push bigint,
    PRIMARY KEY (installation, kind, name)
);
CREATE INDEX installation_token_token ON martlet.installation_token (token);

CREATE TABLE martlet.installation_tag (
    app bigint NOT NULL,
    tag text COLLATE "C" NOT NULL,
    installation bigint NOT NULL REFERENCES martlet.installation ON DELETE CASCADE,
    PRIMARY KEY (app, tag, installation)
);
CREATE INDEX installation_tag_installation ON martlet.installation_tag (installation);

-- The Live Activities that apps have reported, whose tokens are those of the kind `activity` with the same name. The
-- times are the phones'. The cause and the time of the end are null while the activity runs.
CREATE TABLE martlet.installation_activity (
    installation bigint NOT NULL REFERENCES martlet.installation ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    surface text COLLATE "C" NOT NULL,
    started_at bigint, started_by text,
    ended_by text, ended_at bigint,
    PRIMARY KEY (installation, id)
);

-- Installations as the relay reads them, with their tokens, tags and activities as JSON arrays; null without one.
CREATE VIEW martlet.installation_content AS
    SELECT i.*,
        (
            SELECT json_agg(json_build_array(t.kind, t.name, t.token, t.registered_at))
            FROM martlet.installation_token t WHERE t.installation = i.number
        ) AS tokens,
        (SELECT json_agg(g.tag) FROM martlet.installation_tag g WHERE g.installation = i.number) AS tags,
        (
            SELECT json_agg(json_build_array(a.id, a.surface, a.started_at, a.started_by, a.ended_by, a.ended_at))
            FROM martlet.installation_activity a WHERE a.installation = i.number
        ) AS activities
    FROM martlet.installation i;

-- The pushes with alerts that a user gets on a day, in an app that limits them: their identifiers, each with that of
-- its request. A request to several phones of the user counts once. Pushes that have ended without an attempt are
-- removed when another request needs their place. The day is the number of days since 1970 in UTC.
CREATE TABLE martlet.alert_day (
    app bigint NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    pushes jsonb NOT NULL,
    PRIMARY KEY (app, user_id, day)
);
CREATE INDEX alert_day_day ON martlet.alert_day (day);

-- The identifiers of installations that were moved from a file. A repeated move moves none of them again, because
-- it may have been removed since.
CREATE TABLE martlet.moved_installation (id uuid PRIMARY KEY);

-- Sends to many installations, which a relay expands into pushes page by page. `cursor` is the number of the last
-- installation that was read, and `high_mark` the greatest number at creation.
CREATE TABLE martlet.job (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app bigint NOT NULL,
    id uuid NOT NULL,
    caller text NOT NULL,
    fingerprint bytea NOT NULL,
    -- The JSON from which the pushes are built.
    request bytea NOT NULL,
    audience text NOT NULL,
    created_at bigint NOT NULL,
    not_before bigint, expires_at bigint,
    high_mark bigint NOT NULL,
    cursor bigint NOT NULL DEFAULT 0,
    -- `expanding`, `expanded` or `cancelled`, with the time when the expansion ended.
    state text NOT NULL DEFAULT 'expanding',
    expanded_at bigint,
    -- The number of stored pushes, and the numbers of installations that were left out, by reason.
    stored bigint NOT NULL DEFAULT 0,
    left_out jsonb NOT NULL DEFAULT '{}',
    -- The position in the order of ends; null until the end is recorded.
    end_cursor bigint,
    UNIQUE (id, app)
);
CREATE INDEX job_app ON martlet.job (app, number);
CREATE INDEX job_active ON martlet.job (number) WHERE state <> 'expanded';
CREATE INDEX job_end ON martlet.job (expanded_at) WHERE expanded_at IS NOT NULL;
CREATE INDEX job_without_end ON martlet.job (number) WHERE expanded_at IS NOT NULL AND end_cursor IS NULL;
CREATE INDEX job_end_cursor ON martlet.job (app, end_cursor) WHERE end_cursor IS NOT NULL;

-- The numbers of the pushes of a job that have ended, a row for each state of an outcome. The rows are inserted with
-- the job, so that the end of a push only updates one, and nothing is counted for a job that was deleted.
CREATE TABLE martlet.job_outcome (
    job bigint NOT NULL REFERENCES martlet.job ON DELETE CASCADE,
    state text NOT NULL,
    count bigint NOT NULL,
    changed_at bigint NOT NULL,
    PRIMARY KEY (job, state)
) WITH (fillfactor = 50);

-- Jobs as the relay reads them, with the outcomes of their pushes as a JSON object.
CREATE VIEW martlet.job_content AS
    SELECT j.*, o.outcomes, o.ended, o.changed_at
    FROM martlet.job j CROSS JOIN LATERAL (
        SELECT json_object_agg(c.state, c.count) AS outcomes, sum(c.count)::bigint AS ended,
            max(c.changed_at) AS changed_at
        FROM martlet.job_outcome c WHERE c.job = j.number
    ) o;

-- The states that phones of an audience shall show. `cursor` is the number of the last installation that got the
-- current state; null when all of them have it.
CREATE TABLE martlet.surface (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    caller text NOT NULL,
    -- `users` with a JSON array of them, `installation` with the identifier, or `matching` with the expression.
    audience_kind text NOT NULL,
    audience text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    -- The JSON from which the pushes are built.
    request bytea NOT NULL,
    ends_at bigint,
    created_at bigint NOT NULL, changed_at bigint NOT NULL, withdrawn_at bigint,
    revision bigint NOT NULL DEFAULT 1,
    cursor bigint DEFAULT 0,
    -- The broadcast channel in the request; null for none.
    channel text COLLATE "C",
    UNIQUE (id, app)
);
CREATE INDEX surface_app ON martlet.surface (app, number);
CREATE INDEX surface_installation ON martlet.surface (app, audience) WHERE audience_kind = 'installation';
CREATE INDEX surface_matching ON martlet.surface (app, number)
    WHERE audience_kind = 'matching' AND withdrawn_at IS NULL;
-- By app first, because apps take turns in the work of the relay.
CREATE INDEX surface_unfinished ON martlet.surface (app, changed_at, number) WHERE cursor IS NOT NULL;
CREATE INDEX surface_end ON martlet.surface (ends_at) WHERE ends_at IS NOT NULL AND withdrawn_at IS NULL;
CREATE UNIQUE INDEX surface_channel ON martlet.surface (app, channel)
    WHERE channel IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX surface_withdrawn ON martlet.surface (withdrawn_at) WHERE withdrawn_at IS NOT NULL;

-- The requests of back ends in SQL to store or to withdraw surfaces, until a relay has carried them out or refused
-- them, in the order of their numbers. `request` is the text of the JSON, null to withdraw the surface.
CREATE TABLE martlet.surface_request (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    app bigint NOT NULL,
    id uuid NOT NULL,
    surface text COLLATE "C" NOT NULL,
    caller text NOT NULL,
    request text,
    -- The condition that the surface must meet: it must not exist, or have a revision, which is null for any.
    is_absent boolean NOT NULL, revision bigint,
    created_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX surface_request_app ON martlet.surface_request (app, number);

-- The users of audiences, by whom the surfaces of an installation are found.
CREATE TABLE martlet.surface_user (
    app bigint NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    surface bigint NOT NULL REFERENCES martlet.surface ON DELETE CASCADE,
    PRIMARY KEY (app, user_id, surface)
);
CREATE INDEX surface_user_surface ON martlet.surface_user (surface);

-- Surfaces on installations. `revision` is that of the surface with which the installation was in its audience last, 0
-- once it has left it; `version` the number of changes. Rows are locked in the order of their numbers.
CREATE TABLE martlet.surface_session (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    surface bigint NOT NULL REFERENCES martlet.surface,
    installation bigint NOT NULL REFERENCES martlet.installation ON DELETE CASCADE,
    app bigint NOT NULL,
    revision bigint NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    -- The JSON of the relay's decisions, which the database does not interpret.
    state bytea NOT NULL DEFAULT '',
    -- The results of pushes that have ended since the last step, a line for each: identifier, state, status and time.
    results text NOT NULL DEFAULT '',
    -- The time of the next step, or of the first change since the last one if that was before; null for a session that
    -- waits for a change.
    due_at bigint,
    -- Whether a change of a large surface comes first to this phone, because a push can show it.
    is_reachable boolean NOT NULL DEFAULT true,
    UNIQUE (surface, installation)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX surface_session_due ON martlet.surface_session (app, due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX surface_session_installation ON martlet.surface_session (installation);
-- For the sessions that have left the audience of a surface.
CREATE INDEX surface_session_revision ON martlet.surface_session (surface, revision);

-- The installations that have changed, and may therefore have joined or left audiences. Each has one row, whose number
-- increases with each change.
CREATE TABLE martlet.installation_event (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    installation bigint NOT NULL UNIQUE REFERENCES martlet.installation ON DELETE CASCADE,
    app bigint NOT NULL
);
CREATE INDEX installation_event_app ON martlet.installation_event (app, number);
