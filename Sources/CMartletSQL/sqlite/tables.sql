-- SPDX-License-Identifier: Apache-2.0

CREATE TABLE app (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    -- The number of surfaces that are not withdrawn.
    surfaces INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE push (
    number INTEGER PRIMARY KEY, app INTEGER NOT NULL, environment TEXT NOT NULL, urgency INTEGER NOT NULL,
    ready_at INTEGER, is_in_line INTEGER NOT NULL, order_key TEXT, expires_at INTEGER,
    apns_id BLOB NOT NULL, fingerprint BLOB, token TEXT, channel TEXT, bundle_id TEXT,
    push_type TEXT, topic TEXT, priority TEXT, expiration TEXT, collapse_id TEXT, trace_parent TEXT,
    accepted_at INTEGER NOT NULL, attempts INTEGER NOT NULL, unknown_tries INTEGER NOT NULL,
    -- Compared before the push is sent, because SQLite does not notice a changed bit; null if it is not known.
    checksum INTEGER,
    -- The complement of ready_at, for the same reason: each statement that sets one of them sets both.
    ready_check INTEGER,
    -- The failed attempts, as a JSON array; null for a push without any, and for a dead letter, whose outcome has them.
    history TEXT,
    payload BLOB NOT NULL,
    -- The user that the push was sent to, or whose installation had the token when the push was accepted. The token may
    -- belong to another user since.
    user_id TEXT,
    -- Whether the push was sent to the user. It is sent on only while an installation of the user has the token.
    is_to_user INTEGER NOT NULL,
    -- The number of the job that the push belongs to; null for one that was sent singly. The job may be deleted before
    -- its dead letters.
    job INTEGER,
    -- The number of the installation that the push of a job is for. A job has one push for each.
    installation INTEGER,
    -- The number of the session of a surface that the push belongs to; null for one that a caller sent. The session may
    -- be removed before its pushes end.
    session INTEGER
);
CREATE INDEX push_user ON push (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX push_job ON push (job, installation) WHERE job IS NOT NULL;
CREATE UNIQUE INDEX push_identity ON push (apns_id, app);
CREATE INDEX push_ready ON push (app, environment, urgency, ready_at, number) WHERE ready_at IS NOT NULL;
CREATE INDEX push_order ON push (app, environment, order_key, number) WHERE is_in_line = 1;
-- Pushes with an order key that are not in its line yet: scheduled ones, and dead letters that are sent again.
CREATE INDEX push_before_line ON push (app, environment, order_key)
    WHERE is_in_line = 0 AND order_key IS NOT NULL AND ready_at IS NOT NULL;
-- Without dead letters, which do not expire any more.
CREATE INDEX push_expiry ON push (expires_at)
    WHERE expires_at IS NOT NULL AND (ready_at IS NOT NULL OR is_in_line = 1);
-- For the number and age of pushes that wait for another attempt.
CREATE INDEX push_retry ON push (app, environment, accepted_at) WHERE attempts > 0 AND ready_at IS NOT NULL;
-- By the last byte of the token, which is random. An index by whole tokens makes intake three times as slow
-- with a million stored pushes, since each insertion changes another page; this one grows in 256 places.
CREATE INDEX push_token ON push (substr(token, -2)) WHERE token IS NOT NULL;
CREATE TABLE outcome (
    apns_id BLOB NOT NULL, app INTEGER NOT NULL, environment TEXT NOT NULL, state TEXT NOT NULL,
    status INTEGER, reason TEXT, unique_id TEXT, unregistered_at INTEGER,
    attempts INTEGER NOT NULL, unknown_tries INTEGER NOT NULL, fingerprint BLOB,
    accepted_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, history TEXT,
    -- The numbers of the job, the installation and the session, as in `push`; they may be deleted before the outcome.
    job INTEGER, installation INTEGER, session INTEGER,
    PRIMARY KEY (apns_id, app)
) WITHOUT ROWID;
CREATE INDEX outcome_age ON outcome (ended_at);
-- For the list of a job's pushes. The user is that of the installation, so that an erasure changes no outcome.
CREATE INDEX outcome_job ON outcome (job, state, installation) WHERE job IS NOT NULL;
CREATE INDEX outcome_dead ON outcome (app, ended_at) WHERE state = 'dead';
-- A 410 of Apple concerns a token in one environment and for one topic.
CREATE TABLE unregistered_token (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, token TEXT NOT NULL, environment TEXT NOT NULL,
    topic TEXT NOT NULL, unregistered_at INTEGER, reported_at INTEGER NOT NULL, reason TEXT NOT NULL
);
-- Without environment and topic, which would make it larger: a token has few rows.
CREATE INDEX unregistered_token_token ON unregistered_token (app, token);
-- The data key that encrypts tokens, payloads, the requests of jobs and surfaces, and the states of sessions, itself
-- encrypted with the operator's key of this number; no row for an outbox that is not sealed.
CREATE TABLE sealed_key (
    is_only INTEGER PRIMARY KEY CHECK (is_only = 1), id BLOB NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL,
    -- Whether all rows are sealed: an outbox may be sealed after its first push.
    is_complete INTEGER NOT NULL DEFAULT 0
);
-- The positions of webhooks in the feed of unregistered tokens.
CREATE TABLE reader (name TEXT PRIMARY KEY, cursor INTEGER NOT NULL) WITHOUT ROWID;
-- The problems of the relay in the last hour as a JSON array, which its status shows after a restart.
CREATE TABLE relay_history (relay TEXT PRIMARY KEY, stored_at INTEGER NOT NULL, problems TEXT NOT NULL);
-- The times up to which pushes of a queue may have been claimed.
CREATE TABLE claimed (
    app INTEGER, environment TEXT, urgency INTEGER, until INTEGER NOT NULL,
    PRIMARY KEY (app, environment, urgency)
) WITHOUT ROWID;
-- The lanes that operators have paused.
CREATE TABLE lane_pause (
    app INTEGER NOT NULL, environment TEXT NOT NULL, since INTEGER NOT NULL, caller TEXT NOT NULL,
    PRIMARY KEY (app, environment)
) WITHOUT ROWID;
CREATE TABLE ticket (
    hash BLOB PRIMARY KEY, app INTEGER NOT NULL, user_id TEXT NOT NULL, tags TEXT NOT NULL,
    is_single_use INTEGER NOT NULL, expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX ticket_expiry ON ticket (expires_at);
CREATE INDEX ticket_user ON ticket (app, user_id);
-- Numbers are not used again, because they are the cursors of lists. The hash of the secret is null for an installation
-- that a back end has imported, and whose app has not enrolled.
CREATE TABLE installation (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, id BLOB NOT NULL UNIQUE, user_id TEXT NOT NULL,
    environment TEXT NOT NULL, bundle_id TEXT NOT NULL, secret_hash BLOB UNIQUE,
    locale TEXT, time_zone TEXT, app_version TEXT, system_version TEXT, model TEXT,
    alerts INTEGER, live_activities INTEGER, frequent_updates INTEGER,
    created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, revision INTEGER NOT NULL
);
CREATE INDEX installation_app ON installation (app, number);
CREATE INDEX installation_user ON installation (app, user_id, number);
CREATE TABLE installation_token (
    installation INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, token TEXT NOT NULL,
    registered_at INTEGER NOT NULL,
    -- The number of the last push before the registration: those with greater numbers were accepted after it. Times
    -- would not show that, because a clock can be corrected.
    last_push INTEGER NOT NULL,
    PRIMARY KEY (installation, kind, name)
) WITHOUT ROWID;
CREATE INDEX installation_token_token ON installation_token (token);
-- For the greatest number, which no push may have that is accepted after a restart.
CREATE INDEX installation_token_last_push ON installation_token (last_push);
CREATE TABLE installation_tag (
    app INTEGER NOT NULL, tag TEXT NOT NULL, installation INTEGER NOT NULL, PRIMARY KEY (app, tag, installation)
) WITHOUT ROWID;
CREATE INDEX installation_tag_installation ON installation_tag (installation);
-- The Live Activities that apps have reported, whose tokens are those of the kind `activity` with the same name. The
-- times are the phones'. The cause and the time of the end are null while the activity runs.
CREATE TABLE installation_activity (
    installation INTEGER NOT NULL, id TEXT NOT NULL, surface TEXT NOT NULL, started_at INTEGER, started_by TEXT,
    ended_by TEXT, ended_at INTEGER, PRIMARY KEY (installation, id)
) WITHOUT ROWID;
-- No row of these is without its installation.
CREATE TRIGGER installation_removal AFTER DELETE ON installation BEGIN
    DELETE FROM surface_session WHERE installation = old.number;
    DELETE FROM installation_event WHERE installation = old.number;
    DELETE FROM installation_token WHERE installation = old.number;
    DELETE FROM installation_tag WHERE installation = old.number;
    DELETE FROM installation_activity WHERE installation = old.number;
END;
-- The pushes with alerts that a user gets on a day, in an app that limits them: their identifiers, each with that of
-- its request, as a JSON object. A request to several phones of the user counts once. Pushes that have ended without an
-- attempt are removed when another request needs their place. The day is the number of days since 1970 in UTC.
CREATE TABLE alert_day (
    app INTEGER NOT NULL, user_id TEXT NOT NULL, day INTEGER NOT NULL, pushes TEXT NOT NULL,
    PRIMARY KEY (app, user_id, day)
) WITHOUT ROWID;
CREATE INDEX alert_day_day ON alert_day (day);
-- Sends to many installations, which the relay expands into pushes page by page. `cursor` is the number of the last
-- installation that was read, and `high_mark` the greatest number at creation. Numbers are not used again, because
-- dead letters keep that of their job.
CREATE TABLE job (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, id BLOB NOT NULL, caller TEXT NOT NULL,
    fingerprint BLOB NOT NULL, audience TEXT NOT NULL, created_at INTEGER NOT NULL, not_before INTEGER,
    expires_at INTEGER, high_mark INTEGER NOT NULL, cursor INTEGER NOT NULL,
    -- `expanding`, `expanded` or `cancelled`, with the time when the expansion ended.
    state TEXT NOT NULL, expanded_at INTEGER,
    -- The number of stored pushes, and the numbers of installations that were left out, by reason, as a JSON object.
    stored INTEGER NOT NULL, left_out TEXT NOT NULL,
    -- The JSON from which the pushes are built.
    request BLOB NOT NULL,
    -- The position in the order of ends; null until the end is recorded.
    end_cursor INTEGER,
    UNIQUE (id, app)
);
CREATE INDEX job_app ON job (app, number);
CREATE INDEX job_active ON job (number) WHERE state <> 'expanded';
CREATE INDEX job_end ON job (expanded_at) WHERE expanded_at IS NOT NULL;
CREATE INDEX job_without_end ON job (number) WHERE expanded_at IS NOT NULL AND end_cursor IS NULL;
CREATE INDEX job_end_cursor ON job (app, end_cursor) WHERE end_cursor IS NOT NULL;
-- The numbers of the pushes of a job that have ended, a row for each state of an outcome. The rows are inserted with
-- the job, so that the end of a push only updates one, and nothing is counted for a job that was deleted.
CREATE TABLE job_outcome (
    job INTEGER NOT NULL, state TEXT NOT NULL, count INTEGER NOT NULL, changed_at INTEGER NOT NULL,
    PRIMARY KEY (job, state)
) WITHOUT ROWID;
CREATE TRIGGER job_removal AFTER DELETE ON job BEGIN
    DELETE FROM job_outcome WHERE job = old.number;
END;
-- The states that the phones of an audience shall show. `cursor` is the number of the last installation that got the
-- current one; null once all of them have it. Numbers are not used again, because sessions keep that of their surface.
CREATE TABLE surface (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, id TEXT NOT NULL, caller TEXT NOT NULL,
    -- `users` with a JSON array of them, `installation` with its identifier, or `matching` with an expression.
    audience_kind TEXT NOT NULL, audience TEXT NOT NULL,
    -- The JSON from which the pushes are built, with its hash.
    request BLOB NOT NULL, fingerprint BLOB NOT NULL,
    ends_at INTEGER, created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, withdrawn_at INTEGER,
    revision INTEGER NOT NULL, cursor INTEGER,
    -- The broadcast channel in the request; null for none.
    channel TEXT,
    UNIQUE (id, app)
);
CREATE INDEX surface_app ON surface (app, number);
CREATE INDEX surface_audience ON surface (app, withdrawn_at, audience_kind, number);
CREATE INDEX surface_installation ON surface (app, audience) WHERE audience_kind = 'installation';
-- By app first, because apps take turns in the work of the relay.
CREATE INDEX surface_unfinished ON surface (app, changed_at, number) WHERE cursor IS NOT NULL;
CREATE INDEX surface_end ON surface (ends_at, number) WHERE withdrawn_at IS NULL AND ends_at IS NOT NULL;
CREATE UNIQUE INDEX surface_channel ON surface (app, channel) WHERE channel IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX surface_withdrawal ON surface (withdrawn_at, number) WHERE withdrawn_at IS NOT NULL;
-- The users of audiences, for the surfaces of a user.
CREATE TABLE surface_user (
    app INTEGER NOT NULL, user_id TEXT NOT NULL, surface INTEGER NOT NULL, PRIMARY KEY (app, user_id, surface)
) WITHOUT ROWID;
CREATE INDEX surface_user_surface ON surface_user (surface);
CREATE TRIGGER surface_removal AFTER DELETE ON surface BEGIN
    DELETE FROM surface_user WHERE surface = old.number;
    UPDATE app SET surfaces = surfaces - 1 WHERE number = old.app AND old.withdrawn_at IS NULL;
END;
CREATE TRIGGER surface_insertion AFTER INSERT ON surface WHEN new.withdrawn_at IS NULL BEGIN
    UPDATE app SET surfaces = surfaces + 1 WHERE number = new.app;
END;
CREATE TRIGGER surface_update AFTER UPDATE OF withdrawn_at ON surface
    WHEN (old.withdrawn_at IS NULL) <> (new.withdrawn_at IS NULL)
BEGIN
    UPDATE app SET surfaces = surfaces + iif(new.withdrawn_at IS NULL, 1, -1) WHERE number = new.app;
END;
-- What the relay has sent of a surface to an installation, and what it knows of the phone. Each change increases the
-- version, so that a step that was made of another one is not stored. Numbers are not used again, because pushes keep
-- that of their session.
CREATE TABLE surface_session (
    number INTEGER PRIMARY KEY AUTOINCREMENT, surface INTEGER NOT NULL, installation INTEGER NOT NULL,
    app INTEGER NOT NULL,
    -- That of the surface when the installation was in its audience last; 0 once it has left it.
    revision INTEGER NOT NULL,
    version INTEGER NOT NULL,
    -- JSON; empty before the first step.
    state BLOB NOT NULL,
    -- The pushes that have ended since the last step, a line for each; null for none.
    results TEXT,
    -- The time of the next step, or of the first change since the last one if that was before; null to wait for a
    -- change.
    due_at INTEGER,
    -- Whether a change of a large surface comes first to this phone, because a push can show it.
    is_reachable INTEGER NOT NULL DEFAULT 1,
    UNIQUE (surface, installation)
);
CREATE INDEX surface_session_due ON surface_session (app, due_at, number) WHERE due_at IS NOT NULL;
CREATE INDEX surface_session_installation ON surface_session (installation);
CREATE INDEX surface_session_revision ON surface_session (surface, revision);
-- The installations whose audiences may have changed. A change gives the event of an installation a greater number.
CREATE TABLE installation_event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, installation INTEGER NOT NULL UNIQUE, app INTEGER NOT NULL
);
CREATE INDEX installation_event_app ON installation_event (app, number);
-- Inserting an installation here makes its sessions due, at the time of its last change, and records an event while its
-- app has surfaces.
CREATE VIEW installation_change AS SELECT number AS installation FROM installation;
CREATE TRIGGER installation_change_insertion INSTEAD OF INSERT ON installation_change BEGIN
    UPDATE surface_session SET version = version + 1, due_at = (
        SELECT min(changed_at, coalesce(due_at, changed_at)) FROM installation WHERE number = new.installation
    ) WHERE installation = new.installation;
    INSERT OR REPLACE INTO installation_event (installation, app) SELECT number, app FROM installation i
        WHERE number = new.installation AND EXISTS (SELECT 1 FROM surface WHERE app = i.app);
END;
-- The condition of each of these triggers keeps it cheap in an outbox without surfaces.
CREATE TRIGGER installation_insertion AFTER INSERT ON installation WHEN EXISTS (SELECT 1 FROM surface) BEGIN
    INSERT INTO installation_change VALUES (new.number);
END;
CREATE TRIGGER installation_update AFTER UPDATE ON installation
    WHEN EXISTS (SELECT 1 FROM surface) AND (
        old.user_id, old.environment, old.bundle_id, old.locale, old.time_zone, old.app_version, old.system_version,
        old.model, old.alerts, old.live_activities, old.frequent_updates
    ) IS NOT (
        new.user_id, new.environment, new.bundle_id, new.locale, new.time_zone, new.app_version, new.system_version,
        new.model, new.alerts, new.live_activities, new.frequent_updates
    )
BEGIN
    INSERT INTO installation_change VALUES (new.number);
END;
-- Before the insertion, which replaces the token of an earlier report: the same token is no change.
CREATE TRIGGER installation_token_insertion BEFORE INSERT ON installation_token
    WHEN EXISTS (SELECT 1 FROM surface) AND NOT EXISTS (
        SELECT 1 FROM installation_token
        WHERE installation = new.installation AND kind = new.kind AND name = new.name AND token = new.token
    )
BEGIN
    INSERT INTO installation_change VALUES (new.installation);
END;
CREATE TRIGGER installation_token_removal AFTER DELETE ON installation_token WHEN EXISTS (SELECT 1 FROM surface) BEGIN
    INSERT INTO installation_change VALUES (old.installation);
END;
CREATE TRIGGER installation_tag_insertion AFTER INSERT ON installation_tag WHEN EXISTS (SELECT 1 FROM surface) BEGIN
    INSERT INTO installation_change VALUES (new.installation);
END;
CREATE TRIGGER installation_tag_removal AFTER DELETE ON installation_tag WHEN EXISTS (SELECT 1 FROM surface) BEGIN
    INSERT INTO installation_change VALUES (old.installation);
END;
-- The activities of an installation are replaced only by others.
CREATE TRIGGER installation_activity_insertion AFTER INSERT ON installation_activity
    WHEN EXISTS (SELECT 1 FROM surface)
BEGIN
    INSERT INTO installation_change VALUES (new.installation);
END;
CREATE TRIGGER installation_activity_removal AFTER DELETE ON installation_activity
    WHEN EXISTS (SELECT 1 FROM surface)
BEGIN
    INSERT INTO installation_change VALUES (old.installation);
END;
