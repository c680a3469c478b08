-- SPDX-License-Identifier: Apache-2.0

-- The functions that change installations and tickets, and that cancel pushes.

-- Locks everything that a report of tokens touches: the tokens, then the installations that have them and those of
-- p_numbers. Every transaction that changes installations locks in this order before its first change, because
-- concurrent transactions would deadlock otherwise: a ticket, tokens, installations by number. A row of
-- `installation_token` is changed only while its installation is locked.
CREATE FUNCTION martlet.lock_installations(p_app bigint, p_tokens text[], p_numbers bigint[])
RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    -- Held until the commit, so that two installations that register a token at the same time do not both keep it, and
    -- no other installation takes one of the tokens after the statement below.
    PERFORM pg_advisory_xact_lock(hashtextextended(k.token, p_app))
    FROM (SELECT DISTINCT u.token FROM unnest(p_tokens) AS u (token) ORDER BY u.token) k;
    PERFORM 1 FROM martlet.installation i
    WHERE i.app = p_app AND i.number IN (
        SELECT k.number FROM unnest(p_numbers) AS k (number)
        UNION
        SELECT t.installation FROM unnest(p_tokens) AS u (token)
        JOIN martlet.installation_token t ON t.token = u.token
    )
    ORDER BY i.number FOR UPDATE;
END $$;

-- Stores the tokens of an installation, and its tags unless they are null. A token that is reported leaves the other
-- installations of the app: the locks order the reports, because the clocks of relays differ and can be set back. An
-- installation that is moved from a file has only its times to compare, and takes no token that was registered later.
-- The caller has called lock_installations.
CREATE FUNCTION martlet.set_installation_parts(
    p_number bigint, p_app bigint, p_kinds text[], p_names text[], p_tokens text[], p_times bigint[], p_tags text[],
    p_is_reported boolean
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    IF cardinality(p_tokens) > 0 THEN
        DELETE FROM martlet.installation_token t
        USING unnest(p_tokens, p_times) AS u (token, at), martlet.installation i
        WHERE t.token = u.token AND t.installation <> p_number AND (p_is_reported OR t.registered_at <= u.at)
            AND i.number = t.installation AND i.app = p_app;
        INSERT INTO martlet.installation_token (installation, kind, name, token, registered_at, last_push)
        SELECT p_number, u.kind, u.name, u.token, u.at,
            CASE WHEN p_is_reported THEN nextval('martlet.push_number') END
        FROM unnest(p_kinds, p_names, p_tokens, p_times) AS u (kind, name, token, at)
        WHERE NOT EXISTS (
            SELECT FROM martlet.installation_token t JOIN martlet.installation i ON i.number = t.installation
            WHERE t.token = u.token AND t.installation <> p_number AND i.app = p_app
        )
        ON CONFLICT (installation, kind, name)
        DO UPDATE SET token = excluded.token, registered_at = excluded.registered_at, last_push = excluded.last_push;
    END IF;
    IF p_tags IS NOT NULL THEN
        DELETE FROM martlet.installation_tag g WHERE g.installation = p_number;
        INSERT INTO martlet.installation_tag (app, tag, installation)
        SELECT p_app, u.tag, p_number FROM unnest(p_tags) AS u (tag);
    END IF;
    IF p_is_reported AND cardinality(p_tokens) > 0 THEN
        -- Settlements hold this lock exclusively while they record unregistered tokens: either they see this
        -- registration, or this sees their record. Taken last, so that the transaction waits for no other lock while it
        -- holds this one.
        PERFORM pg_advisory_xact_lock_shared(1298232181);
        DELETE FROM martlet.unregistered_token t WHERE t.app = p_app AND t.token = ANY (p_tokens);
    END IF;
END $$;

-- Stores an installation, and uses its ticket; returns false if the ticket is not valid. Without a ticket, the
-- installation is moved from a file: it is not stored if it is already there, or was moved before and removed since.
CREATE FUNCTION martlet.enroll(
    p_ticket bytea, p_now bigint, p_app bigint, p_id uuid, p_user text, p_is_production boolean, p_bundle_id text,
    p_secret bytea, p_replaced bytea, p_attributes text[], p_permissions bigint[], p_created_at bigint,
    p_changed_at bigint, p_seen_at bigint, p_kinds text[], p_names text[], p_tokens text[], p_times bigint[],
    p_tags text[], p_limit bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    is_single_use boolean;
    -- The installations that the new one may replace.
    others bigint[] := '{}';
    added bigint;
BEGIN
    IF p_ticket IS NOT NULL THEN
        -- Waits for another enrollment with the ticket, and then does not find a ticket that was used.
        SELECT t.is_single_use INTO is_single_use FROM martlet.ticket t
        WHERE t.hash = p_ticket AND t.app = p_app AND t.user_id = p_user AND t.expires_at > p_now FOR UPDATE;
        IF NOT FOUND THEN RETURN false; END IF;
        IF is_single_use THEN DELETE FROM martlet.ticket t WHERE t.hash = p_ticket; END IF;
        others := ARRAY(
            SELECT o.number FROM martlet.installation o WHERE o.app = p_app AND o.user_id = p_user
            UNION ALL SELECT o.number FROM martlet.installation o WHERE o.secret_hash = p_replaced
        );
    ELSE
        INSERT INTO martlet.moved_installation (id) VALUES (p_id) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN RETURN true; END IF;
    END IF;
    PERFORM martlet.lock_installations(p_app, p_tokens, others);
    IF p_ticket IS NOT NULL THEN
        DELETE FROM martlet.installation i WHERE i.secret_hash = p_replaced AND i.app = p_app;
    END IF;
    INSERT INTO martlet.installation (
        app, id, user_id, is_production, bundle_id, secret_hash, locale, time_zone, app_version, system_version, model,
        alerts, live_activities, frequent_updates, created_at, changed_at, seen_at
    ) VALUES (
        p_app, p_id, p_user, p_is_production, p_bundle_id, p_secret, p_attributes[1], p_attributes[2], p_attributes[3],
        p_attributes[4], p_attributes[5], p_permissions[1] <> 0, p_permissions[2] <> 0, p_permissions[3] <> 0,
        p_created_at, p_changed_at, p_seen_at
    ) ON CONFLICT (id) DO NOTHING RETURNING number INTO added;
    IF added IS NULL THEN RETURN true; END IF;
    PERFORM martlet.set_installation_parts(
        added, p_app, p_kinds, p_names, p_tokens, p_times, p_tags, p_ticket IS NOT NULL
    );
    -- Only installations that are locked; the next enrollment removes one that was added meanwhile.
    DELETE FROM martlet.installation i WHERE i.number = ANY (others) AND i.number IN (
        SELECT o.number FROM martlet.installation o WHERE o.app = p_app AND o.user_id = p_user AND o.number <> added
        ORDER BY o.seen_at DESC, o.number DESC OFFSET p_limit - 1
    );
    RETURN true;
END $$;

-- Replaces the content of an installation; returns false if it has another revision or does not exist.
CREATE FUNCTION martlet.replace_installation(
    p_number bigint, p_revision bigint, p_app bigint, p_is_production boolean, p_bundle_id text, p_attributes text[],
    p_permissions bigint[], p_changed_at bigint, p_seen_at bigint, p_removed_kinds text[], p_removed_names text[],
    p_kinds text[], p_names text[], p_tokens text[], p_times bigint[], p_tags text[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM martlet.lock_installations(p_app, p_tokens, ARRAY[p_number]);
    UPDATE martlet.installation i
    SET is_production = p_is_production, bundle_id = p_bundle_id, locale = p_attributes[1], time_zone = p_attributes[2],
        app_version = p_attributes[3], system_version = p_attributes[4], model = p_attributes[5],
        alerts = p_permissions[1] <> 0, live_activities = p_permissions[2] <> 0,
        frequent_updates = p_permissions[3] <> 0, changed_at = p_changed_at, seen_at = p_seen_at,
        revision = i.revision + 1
    WHERE i.number = p_number AND i.revision = p_revision;
    IF NOT FOUND THEN RETURN false; END IF;
    DELETE FROM martlet.installation_token t USING unnest(p_removed_kinds, p_removed_names) AS u (kind, name)
    WHERE t.installation = p_number AND t.kind = u.kind AND t.name = u.name;
    PERFORM martlet.set_installation_parts(p_number, p_app, p_kinds, p_names, p_tokens, p_times, p_tags, true);
    RETURN true;
END $$;

-- Removes the installations and tickets of a user, and returns the number of installations.
CREATE FUNCTION martlet.remove_user(p_app bigint, p_user text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    removed bigint;
BEGIN
    -- First, because the deletion waits for enrollments in progress, whose installations are then found.
    DELETE FROM martlet.ticket t WHERE t.app = p_app AND t.user_id = p_user;
    PERFORM 1 FROM martlet.installation i WHERE i.app = p_app AND i.user_id = p_user ORDER BY i.number FOR UPDATE;
    DELETE FROM martlet.installation i WHERE i.app = p_app AND i.user_id = p_user;
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;

-- Cancels those of some pushes that no node has claimed.
CREATE FUNCTION martlet.cancel_unclaimed(p_numbers bigint[], p_now bigint) RETURNS TABLE (
    apns_id uuid, is_production boolean, accepted_at bigint, attempts integer, unknown_tries integer
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    numbers bigint[];
BEGIN
    SELECT array_agg(locked.number) INTO numbers FROM (
        SELECT q.number FROM martlet.queue q
        WHERE q.node IS NULL AND q.number = ANY (p_numbers) ORDER BY q.number FOR UPDATE
    ) locked;
    IF numbers IS NULL THEN RETURN; END IF;
    RETURN QUERY
    SELECT p.apns_id, p.is_production, p.accepted_at, q.attempts, q.unknown_tries
    FROM martlet.queue q JOIN martlet.push p USING (number) WHERE q.number = ANY (numbers);
    PERFORM martlet.finish_alike(p_now, numbers, 'cancelled');
END $$;
