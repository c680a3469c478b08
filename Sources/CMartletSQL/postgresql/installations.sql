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

-- Returns the pushes of a user that have not ended, and the dead letters. A push to a token that no installation had is
-- a push of the user whose installation has the token now.
CREATE FUNCTION martlet.pushes_of_user(p_app bigint, p_user text) RETURNS TABLE (number bigint) LANGUAGE sql STABLE
{index_settings} AS $$
    SELECT p.number FROM martlet.push p
    WHERE p.user_id = p_user AND p.app = p_app
    UNION
    SELECT p.number FROM martlet.installation i JOIN martlet.installation_token t ON t.installation = i.number
    JOIN martlet.push p ON right(p.token, 2) = right(t.token, 2) AND p.token = t.token AND p.app = i.app
    WHERE i.app = p_app AND i.user_id = p_user AND p.user_id IS NULL
$$;

-- Cancels the latest pushes of a user that no node has claimed. The latest, because the end of the first push of a line
-- makes the next one ready.
CREATE FUNCTION martlet.cancel_user(p_app bigint, p_user text, p_now bigint, p_limit bigint) RETURNS TABLE (
    apns_id uuid, is_production boolean, accepted_at bigint, attempts integer, unknown_tries integer
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    numbers bigint[];
BEGIN
    SELECT array_agg(locked.number) INTO numbers FROM (
        SELECT q.number FROM martlet.queue q
        WHERE q.node IS NULL AND q.number IN (
            SELECT w.number FROM martlet.pushes_of_user(p_app, p_user) u JOIN martlet.queue w ON w.number = u.number
            WHERE w.node IS NULL ORDER BY w.number DESC LIMIT p_limit
        )
        ORDER BY q.number FOR UPDATE
    ) locked;
    IF numbers IS NULL THEN RETURN; END IF;
    RETURN QUERY
    SELECT p.apns_id, p.is_production, p.accepted_at, q.attempts, q.unknown_tries
    FROM martlet.queue q JOIN martlet.push p USING (number) WHERE q.number = ANY (numbers);
    PERFORM martlet.finish_alike(p_now, numbers, 'cancelled');
END $$;

-- The identifiers of installations that were moved from a file. A repeated migration moves none of them again, because
-- it may have been removed since.
CREATE TABLE martlet.moved_installation (id uuid PRIMARY KEY);
