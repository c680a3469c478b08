-- SPDX-License-Identifier: Apache-2.0

-- The tables of installations and tickets. The functions of settle.sql, which remove unregistered tokens, are replaced
-- afterwards.

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
    bundle text NOT NULL,
    secret_hash bytea NOT NULL UNIQUE,
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

-- Installations as the relay reads them, with their tokens and tags as lines.
CREATE VIEW martlet.installation_content AS
    SELECT i.*,
        (
            SELECT string_agg(concat_ws(E'\t', t.kind, t.name, t.token, t.registered_at::text), E'\n')
            FROM martlet.installation_token t WHERE t.installation = i.number
        ) AS tokens,
        (SELECT string_agg(g.tag, E'\n') FROM martlet.installation_tag g WHERE g.installation = i.number) AS tags
    FROM martlet.installation i;
