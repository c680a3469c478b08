-- SPDX-License-Identifier: Apache-2.0

CREATE TABLE app (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE push (
    number INTEGER PRIMARY KEY, app INTEGER NOT NULL, environment TEXT NOT NULL, urgency INTEGER NOT NULL,
    ready_at INTEGER, in_line INTEGER NOT NULL, order_key TEXT, expires_at INTEGER,
    apns_id BLOB NOT NULL, fingerprint BLOB, token TEXT, channel TEXT, bundle TEXT,
    push_type TEXT, topic TEXT, priority TEXT, expiration TEXT, collapse_id TEXT, trace TEXT,
    accepted_at INTEGER NOT NULL, attempts INTEGER NOT NULL, unknown_tries INTEGER NOT NULL,
    -- Compared before the push is sent, because SQLite does not notice a changed bit; null if it is not known.
    checksum INTEGER,
    -- The complement of ready_at, for the same reason: each statement that sets one of them sets both.
    ready_check INTEGER,
    payload BLOB NOT NULL,
    -- The user whose installation had the token when the push was accepted. The token may belong to another user since.
    user_id TEXT
);
CREATE INDEX push_user ON push (user_id) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX push_identity ON push (apns_id, app);
CREATE INDEX push_ready ON push (app, environment, urgency, ready_at, number) WHERE ready_at IS NOT NULL;
CREATE INDEX push_order ON push (app, environment, order_key, number) WHERE in_line = 1;
CREATE INDEX push_expiry ON push (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE outcome (
    apns_id BLOB NOT NULL, app INTEGER NOT NULL, environment TEXT NOT NULL, state TEXT NOT NULL,
    status INTEGER, reason TEXT, unique_id TEXT, unregistered_at INTEGER,
    attempts INTEGER NOT NULL, unknown_tries INTEGER NOT NULL, fingerprint BLOB,
    accepted_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, PRIMARY KEY (apns_id, app)
) WITHOUT ROWID;
CREATE INDEX outcome_age ON outcome (ended_at);
CREATE INDEX outcome_dead ON outcome (app, ended_at) WHERE state = 'dead';
CREATE TABLE dead_token (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, token TEXT NOT NULL,
    since INTEGER, learnt_at INTEGER NOT NULL, reason TEXT NOT NULL, UNIQUE (app, token)
);
CREATE TABLE reader (name TEXT PRIMARY KEY, cursor INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE given_out (
    app INTEGER, environment TEXT, urgency INTEGER, until INTEGER NOT NULL,
    PRIMARY KEY (app, environment, urgency)
) WITHOUT ROWID;
