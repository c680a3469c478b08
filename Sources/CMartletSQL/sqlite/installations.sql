-- SPDX-License-Identifier: Apache-2.0

CREATE TABLE ticket (
    hash BLOB PRIMARY KEY, app INTEGER NOT NULL, user_id TEXT NOT NULL, tags TEXT NOT NULL,
    is_single_use INTEGER NOT NULL, expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX ticket_expiry ON ticket (expires_at);
CREATE INDEX ticket_user ON ticket (app, user_id);
-- Numbers are not used again, because they are the cursors of lists.
CREATE TABLE installation (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, id BLOB NOT NULL UNIQUE, user_id TEXT NOT NULL,
    environment TEXT NOT NULL, bundle TEXT NOT NULL, secret_hash BLOB NOT NULL UNIQUE,
    locale TEXT, time_zone TEXT, app_version TEXT, system_version TEXT, model TEXT,
    alerts INTEGER, live_activities INTEGER, frequent_updates INTEGER,
    created_at INTEGER NOT NULL, changed_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, revision INTEGER NOT NULL
);
CREATE INDEX installation_app ON installation (app, number);
CREATE INDEX installation_user ON installation (app, user_id, number);
CREATE TABLE installation_token (
    installation INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, token TEXT NOT NULL,
    registered_at INTEGER NOT NULL, PRIMARY KEY (installation, kind, name)
) WITHOUT ROWID;
CREATE INDEX installation_token_token ON installation_token (token);
CREATE TABLE installation_tag (
    app INTEGER NOT NULL, tag TEXT NOT NULL, installation INTEGER NOT NULL, PRIMARY KEY (app, tag, installation)
) WITHOUT ROWID;
CREATE INDEX installation_tag_installation ON installation_tag (installation);
-- No row of these two is without its installation.
CREATE TRIGGER installation_removal AFTER DELETE ON installation BEGIN
    DELETE FROM installation_token WHERE installation = old.number;
    DELETE FROM installation_tag WHERE installation = old.number;
END;
