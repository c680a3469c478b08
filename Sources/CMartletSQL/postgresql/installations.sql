-- SPDX-License-Identifier: Apache-2.0

-- The functions that change installations and tickets.
--
-- `i.app + 0` keeps a plan that was made while the tables were small from reading all installations of the app.

-- Locks everything that a report of tokens touches: the tokens, then the installations that have them and those of
-- p_numbers and p_ids, with their sessions. Every transaction that changes installations locks in this order before its
-- first change, because concurrent transactions would deadlock otherwise: a ticket, tokens, installations by number,
-- sessions by number. A row of `installation_token` is changed only while its installation is locked.
-- martlet.record_installation_changes may be called afterwards.
CREATE FUNCTION martlet.lock_installations(
    p_app bigint, p_tokens text[], p_numbers bigint[], p_ids uuid[] DEFAULT '{}'
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    installations bigint[];
BEGIN
    -- Held until the commit, so that two installations that register a token at the same time do not both keep it, and
    -- no other installation takes one of the tokens after the statement below.
    PERFORM pg_advisory_xact_lock(hashtextextended(k.token, p_app))
    FROM (SELECT DISTINCT u.token FROM unnest(p_tokens) AS u (token) ORDER BY u.token) k;
    installations := ARRAY(
        SELECT i.number FROM martlet.installation i
        WHERE i.number = ANY (ARRAY(
            SELECT k.number FROM unnest(p_numbers) AS k (number)
            UNION
            SELECT t.installation FROM unnest(p_tokens) AS u (token)
            JOIN martlet.installation_token t ON t.token = u.token
            UNION
            SELECT o.number FROM unnest(p_ids) AS u (id) JOIN martlet.installation o ON o.id = u.id
        )) AND i.app + 0 = p_app
        ORDER BY i.number FOR UPDATE
    );
    PERFORM martlet.lock_sessions(ARRAY(
        SELECT s.number FROM martlet.surface_session s WHERE s.installation = ANY (installations)
    ));
    PERFORM martlet.share_surfaces(ARRAY[p_app]);
END $$;

-- Removes those of some installations that were imported and have no token left: no app has a secret to report another
-- token. The caller has locked them.
CREATE FUNCTION martlet.remove_emptied_imports(p_numbers bigint[]) RETURNS void LANGUAGE sql
{index_settings} AS $$
    DELETE FROM martlet.installation i
    WHERE i.number = ANY (p_numbers) AND i.secret_hash IS NULL
        AND NOT EXISTS (SELECT FROM martlet.installation_token t WHERE t.installation = i.number)
$$;

-- Replaces the Live Activities of some installations, each by those of a JSON array of arrays with the columns.
CREATE FUNCTION martlet.set_activities(p_numbers bigint[], p_activities text[]) RETURNS void LANGUAGE sql
{index_settings} AS $$
    DELETE FROM martlet.installation_activity a WHERE a.installation = ANY (p_numbers);
    INSERT INTO martlet.installation_activity (installation, id, surface, started_at, started_by, ended_by, ended_at)
    SELECT u.number, e.value ->> 0, e.value ->> 1, (e.value ->> 2)::bigint, e.value ->> 3, e.value ->> 4,
        (e.value ->> 5)::bigint
    FROM unnest(p_numbers, p_activities) AS u (number, activities)
        CROSS JOIN json_array_elements(u.activities::json) AS e (value)
$$;

-- Stores the tokens of an installation, and its activities and tags unless they are null. A token that is reported
-- leaves the other installations of the app: the locks order the reports, because the clocks of relays differ and can
-- be set back. An installation that is moved from a file has only its times to compare, and takes no token that was
-- registered later; one whose app has enrolled comes before one that was imported. The caller has called
-- lock_installations, and knows whether something else of the installation has changed.
CREATE FUNCTION martlet.set_installation_parts(
    p_number bigint, p_app bigint, p_kinds text[], p_names text[], p_tokens text[], p_times bigint[],
    p_activities text, p_tags text[], p_is_reported boolean, p_is_changed boolean
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    is_imported boolean := (SELECT i.secret_hash IS NULL FROM martlet.installation i WHERE i.number = p_number);
    is_changed boolean := p_is_changed OR p_activities IS NOT NULL OR p_tags IS NOT NULL OR EXISTS (
        SELECT FROM unnest(p_kinds, p_names, p_tokens) AS u (kind, name, token) WHERE NOT EXISTS (
            SELECT FROM martlet.installation_token t
            WHERE t.installation = p_number AND t.kind = u.kind AND t.name = u.name AND t.token = u.token
        )
    );
    others bigint[] := '{}';
BEGIN
    IF cardinality(p_tokens) > 0 THEN
        WITH taken AS (
            DELETE FROM martlet.installation_token t
            USING unnest(p_tokens, p_times) AS u (token, at), martlet.installation i
            WHERE t.token = u.token AND t.installation <> p_number AND i.number = t.installation AND i.app + 0 = p_app
                AND (p_is_reported OR CASE
                    WHEN is_imported = (i.secret_hash IS NULL) THEN t.registered_at <= u.at ELSE NOT is_imported
                END)
            RETURNING t.installation
        )
        SELECT coalesce(array_agg(taken.installation), '{}') INTO others FROM taken;
        IF others <> '{}' THEN PERFORM martlet.remove_emptied_imports(others); END IF;
        INSERT INTO martlet.installation_token (installation, kind, name, token, registered_at, last_push)
        SELECT p_number, u.kind, u.name, u.token, u.at,
            CASE WHEN p_is_reported THEN nextval('martlet.push_number') END
        FROM unnest(p_kinds, p_names, p_tokens, p_times) AS u (kind, name, token, at)
        WHERE NOT EXISTS (
            SELECT FROM martlet.installation_token t JOIN martlet.installation i ON i.number = t.installation
            WHERE t.token = u.token AND t.installation <> p_number AND i.app + 0 = p_app
        )
        ON CONFLICT (installation, kind, name)
        DO UPDATE SET token = excluded.token, registered_at = excluded.registered_at, last_push = excluded.last_push;
    END IF;
    IF p_activities IS NOT NULL THEN PERFORM martlet.set_activities(ARRAY[p_number], ARRAY[p_activities]); END IF;
    IF p_tags IS NOT NULL THEN
        DELETE FROM martlet.installation_tag g WHERE g.installation = p_number;
        INSERT INTO martlet.installation_tag (app, tag, installation)
        SELECT p_app, u.tag, p_number FROM unnest(p_tags) AS u (tag);
    END IF;
    IF is_changed THEN others := others || p_number; END IF;
    IF others <> '{}' THEN PERFORM martlet.record_installation_changes(others); END IF;
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
    p_activities text, p_tags text[], p_limit bigint
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
        added, p_app, p_kinds, p_names, p_tokens, p_times, p_activities, p_tags, p_ticket IS NOT NULL, true
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
    p_kinds text[], p_names text[], p_tokens text[], p_times bigint[], p_activities text, p_tags text[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    is_changed boolean;
BEGIN
    PERFORM martlet.lock_installations(p_app, p_tokens, ARRAY[p_number]);
    SELECT (
        i.is_production, i.bundle_id, i.locale, i.time_zone, i.app_version, i.system_version, i.model, i.alerts,
        i.live_activities, i.frequent_updates
    ) IS DISTINCT FROM (
        p_is_production, p_bundle_id, p_attributes[1], p_attributes[2], p_attributes[3], p_attributes[4],
        p_attributes[5], p_permissions[1] <> 0, p_permissions[2] <> 0, p_permissions[3] <> 0
    ) INTO is_changed FROM martlet.installation i WHERE i.number = p_number;
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
    PERFORM martlet.set_installation_parts(
        p_number, p_app, p_kinds, p_names, p_tokens, p_times, p_activities, p_tags, true, is_changed OR FOUND
    );
    RETURN true;
END $$;

-- Stores a page of installations without secrets, which a back end imports, and returns the result of each. All are
-- decided before one of them is stored. p_lines has the number of the installation of each token, from 1: an
-- installation has at least one token, and no other of the page has one of its tokens or its identifier. p_tags has the
-- tags of each installation in ascending order, with the separator U+001F, and p_activities its Live Activities in
-- ascending order, as martlet.set_activities reads them. OFFSET 0 keeps PostgreSQL from evaluating an expression of a
-- subquery several times.
CREATE FUNCTION martlet.import_installations(
    p_app bigint, p_limit bigint, p_now bigint, p_ids uuid[], p_users text[], p_are_production boolean[],
    p_bundle_ids text[], p_locales text[], p_time_zones text[], p_app_versions text[], p_system_versions text[],
    p_models text[], p_alerts bigint[], p_live_activities bigint[], p_frequent_updates bigint[], p_tags text[],
    p_activities text[], p_lines bigint[], p_kinds text[], p_names text[], p_tokens text[]
) RETURNS SETOF text LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    -- For each token: whether an enrolled app has it; and whether that is not so and it is not unregistered either.
    are_known boolean[];
    are_free boolean[];
    -- For each installation: whether an enrolled app has one of its tokens; and its free tokens as text.
    have_known boolean[];
    contents text[];
    results text[];
    numbers bigint[];
    others bigint[];
BEGIN
    PERFORM martlet.lock_installations(p_app, p_tokens, '{}', p_ids);
    -- Settlements hold this lock exclusively while they record unregistered tokens: either they see these
    -- registrations, or this sees their records. After it, the transaction waits for no lock that a settlement holds.
    PERFORM pg_advisory_xact_lock_shared(1298232181);
    SELECT array_agg(k.is_known ORDER BY k.place), array_agg(NOT k.is_known AND NOT k.is_unregistered ORDER BY k.place)
    INTO are_known, are_free FROM (
        SELECT u.place, EXISTS (
                SELECT FROM martlet.installation_token t JOIN martlet.installation i ON i.number = t.installation
                WHERE t.token = u.token AND i.app + 0 = p_app AND i.secret_hash IS NOT NULL
            ) AS is_known, EXISTS (
                SELECT FROM martlet.unregistered_token d
                WHERE d.app = p_app AND d.token = u.token AND d.is_production = p_are_production[u.line]
            ) AS is_unregistered
        FROM unnest(p_lines, p_tokens) WITH ORDINALITY AS u (line, token, place) OFFSET 0
    ) k;
    SELECT array_agg(k.has_known ORDER BY k.line), array_agg(k.content ORDER BY k.line) INTO have_known, contents
    FROM (
        SELECT u.line, bool_or(u.is_known) AS has_known,
            string_agg(
                concat_ws(chr(31), u.kind, u.name, u.token), chr(30) ORDER BY u.kind COLLATE "C", u.name COLLATE "C"
            ) FILTER (WHERE u.is_free) AS content
        FROM unnest(p_lines, p_kinds, p_names, p_tokens, are_known, are_free)
            AS u (line, kind, name, token, is_known, is_free)
        GROUP BY u.line
    ) k;
    SELECT array_agg(k.result ORDER BY k.line) INTO results FROM (
        SELECT d.line, CASE
            WHEN d.result IS NOT NULL THEN d.result
            -- The numbers of installations before the page, which does not make room by moving others.
            WHEN d.is_new AND d.others + row_number() OVER (
                PARTITION BY d.user_id, d.is_new, d.result IS NULL ORDER BY d.line
            ) > p_limit THEN 'user-is-full'
            WHEN d.is_stored THEN 'changed' ELSE 'added'
        END AS result
        FROM (
            SELECT r.line, r.user_id, i.number IS NOT NULL AS is_stored,
                i.user_id IS DISTINCT FROM r.user_id AS is_new, (
                    SELECT count(*) FROM martlet.installation o WHERE o.app = p_app AND o.user_id = r.user_id
                ) AS others,
                CASE
                    WHEN i.app <> p_app THEN 'identifier-is-taken'
                    WHEN i.secret_hash IS NOT NULL OR r.content IS NULL AND r.has_known THEN 'known'
                    WHEN r.content IS NULL THEN 'unregistered'
                    WHEN (
                        i.user_id, i.is_production, i.bundle_id, i.locale, i.time_zone, i.app_version,
                        i.system_version, i.model, i.alerts, i.live_activities, i.frequent_updates
                    ) IS NOT DISTINCT FROM (
                        r.user_id, r.is_production, r.bundle_id, r.locale, r.time_zone, r.app_version,
                        r.system_version, r.model, r.alerts <> 0, r.live_activities <> 0, r.frequent_updates <> 0
                    ) AND r.content = (
                        SELECT string_agg(
                            concat_ws(chr(31), t.kind, t.name, t.token), chr(30)
                            ORDER BY t.kind COLLATE "C", t.name COLLATE "C"
                        ) FROM martlet.installation_token t WHERE t.installation = i.number
                    ) AND r.tags = coalesce((
                        SELECT string_agg(g.tag, chr(31) ORDER BY g.tag)
                        FROM martlet.installation_tag g WHERE g.installation = i.number
                    ), '') AND r.activities::jsonb = coalesce((
                        SELECT jsonb_agg(
                            jsonb_build_array(a.id, a.surface, a.started_at, a.started_by, a.ended_by, a.ended_at)
                            ORDER BY a.id
                        ) FROM martlet.installation_activity a WHERE a.installation = i.number
                    ), '[]') THEN 'unchanged'
                END AS result
            FROM unnest(
                p_ids, p_users, p_are_production, p_bundle_ids, p_locales, p_time_zones, p_app_versions,
                p_system_versions, p_models, p_alerts, p_live_activities, p_frequent_updates, p_tags, p_activities,
                have_known, contents
            ) WITH ORDINALITY AS r (
                id, user_id, is_production, bundle_id, locale, time_zone, app_version, system_version, model, alerts,
                live_activities, frequent_updates, tags, activities, has_known, content, line
            ) LEFT JOIN martlet.installation i ON i.id = r.id OFFSET 0
        ) d
    ) k;
    WITH taken AS (
        DELETE FROM martlet.installation_token t
        USING unnest(p_lines, p_tokens, are_free) AS u (line, token, is_free), martlet.installation i
        WHERE u.is_free AND results[u.line] IN ('added', 'changed') AND t.token = u.token
            AND i.number = t.installation AND i.app + 0 = p_app AND i.id <> p_ids[u.line]
        RETURNING t.installation
    )
    SELECT array_agg(taken.installation) INTO others FROM taken;
    INSERT INTO martlet.installation AS i (
        app, id, user_id, is_production, bundle_id, locale, time_zone, app_version, system_version, model, alerts,
        live_activities, frequent_updates, created_at, changed_at, seen_at
    )
    SELECT p_app, r.id, r.user_id, r.is_production, r.bundle_id, r.locale, r.time_zone, r.app_version,
        r.system_version, r.model, r.alerts <> 0, r.live_activities <> 0, r.frequent_updates <> 0, p_now, p_now, p_now
    FROM unnest(
        p_ids, p_users, p_are_production, p_bundle_ids, p_locales, p_time_zones, p_app_versions, p_system_versions,
        p_models, p_alerts, p_live_activities, p_frequent_updates, results
    ) WITH ORDINALITY AS r (
        id, user_id, is_production, bundle_id, locale, time_zone, app_version, system_version, model, alerts,
        live_activities, frequent_updates, result, line
    )
    WHERE r.result IN ('added', 'changed') ORDER BY r.line
    ON CONFLICT (id) DO UPDATE SET
        user_id = excluded.user_id, is_production = excluded.is_production, bundle_id = excluded.bundle_id,
        locale = excluded.locale, time_zone = excluded.time_zone, app_version = excluded.app_version,
        system_version = excluded.system_version, model = excluded.model, alerts = excluded.alerts,
        live_activities = excluded.live_activities, frequent_updates = excluded.frequent_updates,
        changed_at = excluded.changed_at, revision = i.revision + 1
    WHERE i.app = p_app AND i.secret_hash IS NULL;
    -- Null, so that the page fails, for an installation whose identifier another app has taken meanwhile.
    SELECT array_agg(i.number ORDER BY r.line) INTO numbers FROM unnest(p_ids) WITH ORDINALITY AS r (id, line)
    LEFT JOIN martlet.installation i ON i.id = r.id AND i.app + 0 = p_app AND i.secret_hash IS NULL;
    DELETE FROM martlet.installation_token t USING unnest(numbers, contents, results) AS r (number, content, result)
    WHERE r.result = 'changed' AND t.installation = r.number AND strpos(
        concat(chr(30), r.content, chr(30)),
        concat(chr(30), concat_ws(chr(31), t.kind, t.name, t.token), chr(30))
    ) = 0;
    INSERT INTO martlet.installation_token (installation, kind, name, token, registered_at, last_push)
    SELECT numbers[u.line], u.kind, u.name, u.token, p_now, nextval('martlet.push_number')
    FROM unnest(p_lines, p_kinds, p_names, p_tokens, are_free) AS u (line, kind, name, token, is_free)
    WHERE u.is_free AND results[u.line] IN ('added', 'changed')
    -- Only tokens that are unchanged.
    ON CONFLICT (installation, kind, name) DO NOTHING;
    DELETE FROM martlet.installation_tag g USING unnest(numbers, results) AS r (number, result)
    WHERE r.result = 'changed' AND g.installation = r.number;
    INSERT INTO martlet.installation_tag (app, tag, installation)
    SELECT p_app, g.tag, r.number FROM unnest(numbers, p_tags, results) AS r (number, tags, result)
        CROSS JOIN unnest(string_to_array(r.tags, chr(31))) AS g (tag)
    WHERE r.result IN ('added', 'changed');
    PERFORM martlet.set_activities(array_agg(r.number), array_agg(r.activities))
    FROM unnest(numbers, p_activities, results) AS r (number, activities, result)
    WHERE r.result IN ('added', 'changed');
    IF others IS NOT NULL THEN PERFORM martlet.remove_emptied_imports(others); END IF;
    PERFORM martlet.record_installation_changes(others || ARRAY(
        SELECT r.number FROM unnest(numbers, results) AS r (number, result) WHERE r.result IN ('added', 'changed')
    ));
    RETURN QUERY SELECT unnest(results);
END $$;

-- Removes an installation; returns whether it existed.
CREATE FUNCTION martlet.remove_installation(p_app bigint, p_id uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM martlet.lock_installations(p_app, '{}', '{}', ARRAY[p_id]);
    DELETE FROM martlet.installation i WHERE i.id = p_id AND i.app = p_app;
    RETURN FOUND;
END $$;

-- Removes the installations, tickets and counted alerts of a user, and returns the number of installations.
CREATE FUNCTION martlet.remove_user(p_app bigint, p_user text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    removed bigint;
BEGIN
    -- First, because the deletion waits for enrollments in progress, whose installations are then found.
    DELETE FROM martlet.ticket t WHERE t.app = p_app AND t.user_id = p_user;
    PERFORM martlet.lock_installations(p_app, '{}', ARRAY(
        SELECT i.number FROM martlet.installation i WHERE i.app = p_app AND i.user_id = p_user
    ));
    DELETE FROM martlet.installation i WHERE i.app = p_app AND i.user_id = p_user;
    GET DIAGNOSTICS removed = ROW_COUNT;
    -- Last: a transaction that counts an alert of the user holds an installation until its commit.
    DELETE FROM martlet.alert_day d WHERE d.app = p_app AND d.user_id = p_user;
    RETURN removed;
END $$;
