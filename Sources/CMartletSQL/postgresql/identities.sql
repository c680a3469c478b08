-- SPDX-License-Identifier: Apache-2.0

-- The functions that identify apps and pushes.

-- Returns the number of an app; adds the app if it is not registered.
CREATE FUNCTION martlet.app_number(p_name text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO martlet.app (name) SELECT p_name
    WHERE NOT EXISTS (SELECT FROM martlet.app WHERE name = p_name) ON CONFLICT DO NOTHING;
    RETURN (SELECT number FROM martlet.app WHERE name = p_name);
END $$;

-- The first 16 bytes of a hash of a push's headers and payload. Headers cannot contain the line breaks that separate
-- them, so different pushes have different input.
CREATE FUNCTION martlet.fingerprint(
    p_is_production boolean, p_token text, p_channel text, p_bundle_id text, p_push_type text, p_topic text,
    p_priority text, p_expiration text, p_collapse_id text, p_payload bytea
) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT substring(sha256(convert_to(concat_ws(E'\n',
        CASE WHEN p_is_production THEN 'production' ELSE 'development' END, coalesce(p_token, ''),
        coalesce(p_channel, ''), coalesce(p_bundle_id, ''), coalesce(p_push_type, ''), coalesce(p_topic, ''),
        coalesce(p_priority, ''), coalesce(p_expiration, ''), coalesce(p_collapse_id, ''), ''), 'UTF8')
        || p_payload) FROM 1 FOR 16)
$$;

-- The first 8 bytes of a hash of lane, destination, headers, expiry, user, identifier and payload, as a number; the user
-- is null for a push that was not sent to a user. Relays calculate the same.
CREATE FUNCTION martlet.checksum(
    p_app text, p_is_production boolean, p_id uuid, p_token text, p_channel text, p_bundle_id text, p_push_type text,
    p_topic text, p_priority text, p_expiration text, p_collapse_id text, p_trace_parent text, p_order_key text,
    p_expires_at bigint, p_payload bytea, p_user text DEFAULT NULL
) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT ('x' || encode(substring(sha256(convert_to(concat_ws(E'\n',
        p_app, CASE WHEN p_is_production THEN 'production' ELSE 'development' END, coalesce(p_token, ''),
        coalesce(p_channel, ''), coalesce(p_bundle_id, ''), coalesce(p_push_type, ''), coalesce(p_topic, ''),
        coalesce(p_priority, ''), coalesce(p_expiration, ''), coalesce(p_collapse_id, ''), coalesce(p_trace_parent, ''),
        coalesce(p_order_key, ''), coalesce(p_expires_at::text, ''), p_user, ''), 'UTF8')
        || uuid_send(p_id) || p_payload) FROM 1 FOR 8), 'hex'))::bit(64)::bigint
$$;

-- The class of a push among those that wait, as Urgency of the relay: its priority, or that of jobs.
CREATE FUNCTION martlet.urgency(p_priority text, p_job bigint) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_job IS NOT NULL THEN 3 WHEN p_priority = '5' THEN 1 WHEN p_priority = '1' THEN 2 ELSE 0 END
$$;

-- Returns the state of a push by its identifier: from the queue, or its outcome after it has ended.
CREATE FUNCTION martlet.known(p_app bigint, p_id uuid) RETURNS TABLE (
    apns_id uuid, is_production boolean, accepted_at bigint, is_claimed boolean, ended_at bigint, state text,
    status integer, reason text, unique_id text, unregistered_at bigint, attempts integer,
    unknown_tries integer, history text, fingerprint bytea, session bigint
) LANGUAGE sql STABLE AS $$
    SELECT p.apns_id, p.is_production, p.accepted_at, q.node IS NOT NULL, NULL::bigint, NULL, NULL::integer,
        NULL, NULL, NULL::bigint, q.attempts, q.unknown_tries, q.history, p.fingerprint, p.session
    FROM martlet.push p JOIN martlet.queue q USING (number) WHERE p.apns_id = p_id AND p.app = p_app
    UNION ALL
    SELECT o.apns_id, o.is_production, o.accepted_at, false, o.ended_at, o.state, o.status, o.reason,
        o.unique_id, o.unregistered_at, o.attempts, o.unknown_tries, o.history, o.fingerprint, o.session
    FROM martlet.outcome o WHERE o.apns_id = p_id AND o.app = p_app
    LIMIT 1
$$;
