-- SPDX-License-Identifier: Apache-2.0

-- The users of pushes, and the installations that were moved from a file. The functions of accept.sql,
-- enrollments.sql, settle.sql and import.sql are replaced afterwards.

-- The user whose installation had the token when the push was accepted. The token may belong to another user since.
ALTER TABLE martlet.push ADD COLUMN user_id text COLLATE "C";
-- By the end of the identifier, for the same reason as `push_token`.
CREATE INDEX push_user ON martlet.push (right(user_id, 2), number) WHERE user_id IS NOT NULL;
DROP FUNCTION martlet.adopt_pushes;

-- Returns the pushes of a user that have not ended, and the dead letters. A push to a token that no installation had is
-- a push of the user whose installation has the token now.
CREATE FUNCTION martlet.pushes_of_user(p_app bigint, p_user text) RETURNS TABLE (number bigint) LANGUAGE sql STABLE
{index_settings} AS $$
    SELECT p.number FROM martlet.push p
    WHERE right(p.user_id, 2) = right(p_user, 2) AND p.user_id = p_user AND p.app = p_app
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
INSERT INTO martlet.moved_installation SELECT i.id FROM martlet.installation i;
