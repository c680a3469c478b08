-- SPDX-License-Identifier: Apache-2.0

-- The functions that assign due pushes to nodes, and that find due pushes.

-- Claims due pushes of a lane for a node, the earliest first, and returns them. The node numbers its claims.
CREATE FUNCTION martlet.claim(
    p_node bigint, p_claim bigint, p_app bigint, p_is_production boolean, p_urgency bigint, p_from bigint,
    p_now bigint, p_limit bigint
) RETURNS TABLE (
    number bigint, ready_at bigint, attempts integer, unknown_tries integer, apns_id uuid, has_callers_id boolean,
    token text, channel text, bundle_id text, push_type text, topic text, priority text, expiration text,
    collapse_id text, trace_parent text, order_key text, expires_at bigint, accepted_at bigint, payload bytea,
    checksum bigint, has_changed_time boolean, history text, user_id text, has_former_user boolean,
    job bigint, session bigint
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM martlet.node n WHERE n.number = p_node) THEN
        RAISE EXCEPTION 'node % is not registered', p_node USING ERRCODE = '{missing_node}';
    END IF;
    PERFORM martlet.line_up(p_app, p_is_production, p_from, p_now);
    RETURN QUERY
    WITH due AS MATERIALIZED (
        SELECT q.number FROM martlet.queue q
        WHERE q.app = p_app AND q.is_production = p_is_production AND q.urgency = p_urgency
            AND q.ready_at BETWEEN p_from AND p_now AND q.node IS NULL
            AND (q.order_key IS NULL OR q.line = 1)
        ORDER BY q.ready_at, q.number LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), own AS MATERIALIZED (
        -- Locked until the commit, so that the node is not deleted before its claim is visible and can be released.
        -- Only when there is something to claim, because a row lock makes the transaction write.
        SELECT n.number FROM martlet.node n
        WHERE n.number = p_node AND EXISTS (SELECT FROM due) FOR KEY SHARE
    ), taken AS (
        UPDATE martlet.queue q SET node = own.number, claim = p_claim FROM own, due WHERE q.number = due.number
        RETURNING q.number, q.ready_at, q.attempts, q.unknown_tries, q.history,
            q.ready_check IS DISTINCT FROM ~q.ready_at AS has_changed_time
    )
    SELECT t.number, t.ready_at, t.attempts, t.unknown_tries, p.apns_id, p.fingerprint IS NOT NULL, p.token,
        p.channel, p.bundle_id, p.push_type, p.topic, p.priority, p.expiration, p.collapse_id, p.trace_parent,
        p.order_key, p.expires_at, p.accepted_at, p.payload, p.checksum, t.has_changed_time,
        t.history, CASE WHEN p.is_to_user THEN p.user_id END,
        -- The user of a push to a token is empty after the user's erasure.
        -- Aggregates and conditions of one row each, because a join may be planned as one of all tokens or all
        -- installations of the app.
        p.user_id IS NOT NULL AND NOT coalesce((
            SELECT bool_or((
                SELECT CASE WHEN i.app = p.app THEN i.user_id = p.user_id END FROM martlet.installation i
                WHERE i.number = o.installation
            )) FROM martlet.installation_token o WHERE o.token = p.token
        ), NOT p.is_to_user AND p.user_id <> ''), p.job, p.session
    FROM taken t JOIN martlet.push p USING (number) ORDER BY t.ready_at, t.number;
END $$;

-- Returns the time at which the next unclaimed push of a lane is due; null when there is none.
CREATE FUNCTION martlet.next_due(p_app bigint, p_is_production boolean, p_urgency bigint, p_now bigint)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT least(
        (
            SELECT q.ready_at FROM martlet.queue q
            WHERE q.app = p_app AND q.is_production = p_is_production AND q.urgency = p_urgency
                AND q.ready_at > p_now AND q.node IS NULL AND (q.order_key IS NULL OR q.line = 1)
            ORDER BY q.ready_at LIMIT 1
        ),
        (
            SELECT q.ready_at FROM martlet.queue q
            WHERE q.app = p_app AND q.is_production = p_is_production AND q.ready_at > p_now
                AND q.node IS NULL AND q.line <= 0 AND q.order_key IS NOT NULL
            ORDER BY q.ready_at LIMIT 1
        )
    )
$$;

-- Returns the positions, in the parameters, of the lanes that have due pushes.
CREATE FUNCTION martlet.arrived(
    p_apps bigint[], p_are_production boolean[], p_urgencies bigint[], p_from bigint[], p_now bigint
) RETURNS TABLE (place bigint) LANGUAGE sql STABLE AS $$
    SELECT s.place
    FROM unnest(p_apps, p_are_production, p_urgencies, p_from) WITH ORDINALITY
        AS s (app, is_production, urgency, from_time, place)
    WHERE EXISTS (
        SELECT FROM martlet.queue q
        WHERE q.app = s.app AND q.is_production = s.is_production AND q.urgency = s.urgency
            AND q.ready_at BETWEEN s.from_time AND p_now AND q.node IS NULL
            AND (q.order_key IS NULL OR q.line = 1)
    ) OR EXISTS (
        SELECT FROM martlet.queue q
        WHERE q.app = s.app AND q.is_production = s.is_production AND q.ready_at BETWEEN s.from_time AND p_now
            AND q.node IS NULL AND q.line <= 0 AND q.order_key IS NOT NULL
    )
$$;
