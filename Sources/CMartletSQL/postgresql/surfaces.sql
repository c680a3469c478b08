-- SPDX-License-Identifier: Apache-2.0

-- The functions that change surfaces and their sessions on installations.
--
-- A transaction locks in this order, because concurrent ones would deadlock otherwise: pushes in `queue`, surfaces,
-- installations, sessions, each by number, and then the row of the app.
--
-- A change of an installation records an event only while its app has surfaces. It shares an advisory lock of the app
-- until its commit, which a transaction takes exclusively before it adds a surface: either the change sees the surface,
-- or the pages of the surface see the change.

-- Returns whether a surface, null for an unknown one, meets a condition: it must be absent or withdrawn, or have a
-- revision, which is null for any.
CREATE FUNCTION martlet.meets(p_stored martlet.surface, p_is_absent boolean, p_revision bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_stored.number IS NULL OR p_stored.withdrawn_at IS NOT NULL
        THEN p_revision IS NULL ELSE NOT p_is_absent AND coalesce(p_stored.revision = p_revision, true)
    END
$$;

-- Stores a surface; returns `changed`, `unchanged`, `refused` or `full` with the stored surface, or `channel-in-use`
-- with the other surface that has the channel.
CREATE FUNCTION martlet.put_surface(
    p_app bigint, p_id text, p_caller text, p_audience_kind text, p_audience text, p_users text[], p_fingerprint bytea,
    p_request bytea, p_ends_at bigint, p_channel text, p_is_absent boolean, p_revision bigint, p_limit bigint,
    p_now bigint
) RETURNS TABLE (result text, surface martlet.surface) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    stored martlet.surface;
    other martlet.surface;
BEGIN
    SELECT s.* INTO stored FROM martlet.surface s WHERE s.id = p_id AND s.app = p_app FOR NO KEY UPDATE;
    IF stored.number IS NULL OR stored.withdrawn_at IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(1298232183, p_app::integer);
        -- Another transaction may have added it before.
        SELECT s.* INTO stored FROM martlet.surface s WHERE s.id = p_id AND s.app = p_app FOR NO KEY UPDATE;
    END IF;
    IF NOT martlet.meets(stored, p_is_absent, p_revision) THEN
        RETURN QUERY SELECT 'refused', stored;
        RETURN;
    END IF;
    IF stored.withdrawn_at IS NULL AND stored.fingerprint = p_fingerprint AND stored.audience_kind = p_audience_kind
        AND stored.audience = p_audience AND stored.ends_at IS NOT DISTINCT FROM p_ends_at
    THEN
        RETURN QUERY SELECT 'unchanged', stored;
        RETURN;
    END IF;
    IF p_channel IS NOT NULL THEN
        -- Until the commit no other transaction stores a surface with the channel.
        PERFORM pg_advisory_xact_lock(1298232184, hashtext(p_app || ' ' || p_channel));
        SELECT s.* INTO other FROM martlet.surface s
        WHERE s.app = p_app AND s.channel = p_channel AND s.withdrawn_at IS NULL AND s.id <> p_id;
        IF FOUND THEN
            RETURN QUERY SELECT 'channel-in-use', other;
            RETURN;
        END IF;
    END IF;
    IF stored.number IS NULL OR stored.withdrawn_at IS NOT NULL THEN
        UPDATE martlet.app a SET surfaces = a.surfaces + 1 WHERE a.number = p_app AND a.surfaces < p_limit;
        IF NOT FOUND THEN
            RETURN QUERY SELECT 'full', stored;
            RETURN;
        END IF;
    END IF;
    INSERT INTO martlet.surface AS s (
        app, id, caller, audience_kind, audience, fingerprint, request, ends_at, channel, created_at, changed_at
    ) VALUES (
        p_app, p_id, p_caller, p_audience_kind, p_audience, p_fingerprint, p_request, p_ends_at, p_channel, p_now,
        p_now
    ) ON CONFLICT (id, app) DO UPDATE SET
        caller = excluded.caller, audience_kind = excluded.audience_kind, audience = excluded.audience,
        fingerprint = excluded.fingerprint, request = excluded.request, ends_at = excluded.ends_at,
        channel = excluded.channel, changed_at = excluded.changed_at, withdrawn_at = NULL,
        revision = s.revision + 1, cursor = 0
    RETURNING s.* INTO stored;
    DELETE FROM martlet.surface_user u WHERE u.surface = stored.number AND NOT u.user_id = ANY (p_users);
    INSERT INTO martlet.surface_user (app, user_id, surface)
    SELECT p_app, u.user_id, stored.number FROM unnest(p_users) AS u (user_id) ON CONFLICT DO NOTHING;
    RETURN QUERY SELECT 'changed', stored;
END $$;

-- Withdraws a surface; returns `changed`, `unchanged` or `refused`, and the stored surface.
CREATE FUNCTION martlet.withdraw_surface(p_app bigint, p_id text, p_is_absent boolean, p_revision bigint, p_now bigint)
RETURNS TABLE (result text, surface martlet.surface) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    stored martlet.surface;
BEGIN
    SELECT s.* INTO stored FROM martlet.surface s WHERE s.id = p_id AND s.app = p_app FOR NO KEY UPDATE;
    IF stored.number IS NULL OR NOT martlet.meets(stored, p_is_absent, p_revision) THEN
        RETURN QUERY SELECT 'refused', stored;
    ELSIF stored.withdrawn_at IS NOT NULL THEN
        RETURN QUERY SELECT 'unchanged', stored;
    ELSE
        PERFORM martlet.withdraw_surfaces(ARRAY[stored.number], p_now);
        RETURN QUERY SELECT 'changed', s FROM martlet.surface s WHERE s.number = stored.number;
    END IF;
END $$;

-- Withdraws surfaces that the caller has locked, and that are not withdrawn.
CREATE FUNCTION martlet.withdraw_surfaces(p_numbers bigint[], p_now bigint) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    UPDATE martlet.surface s SET withdrawn_at = p_now, changed_at = p_now, revision = s.revision + 1, cursor = 0
    WHERE s.number = ANY (p_numbers);
    PERFORM 1 FROM martlet.app a WHERE a.number IN (
        SELECT s.app FROM martlet.surface s WHERE s.number = ANY (p_numbers)
    ) ORDER BY a.number FOR NO KEY UPDATE;
    UPDATE martlet.app a SET surfaces = a.surfaces - e.count FROM (
        SELECT s.app, count(*) AS count FROM martlet.surface s WHERE s.number = ANY (p_numbers) GROUP BY s.app
    ) e WHERE a.number = e.app;
END $$;

-- Carries out requests of back ends with the values of martlet.put_surface, those of an app in the order of their
-- numbers, and removes each whose change is `changed` or `unchanged`. Returns the changes with the places of their
-- requests, from 1: none for a request that was removed before, or that follows a refused one about the same surface,
-- which must be removed first.
CREATE FUNCTION martlet.carry_out_surface_requests(
    p_numbers bigint[], p_audience_kinds text[], p_audiences text[], p_fingerprints bytea[], p_requests bytea[],
    p_ends_at bigint[], p_channels text[], p_limit bigint, p_now bigint
) RETURNS TABLE (place integer, result text, surface martlet.surface) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    asked record;
    change record;
    -- The app and the identifier of each surface with a refused request.
    refused text[] := '{}';
BEGIN
    PERFORM 1 FROM martlet.surface_request r WHERE r.number = ANY (p_numbers) ORDER BY r.number FOR UPDATE;
    -- The locks of all requests first, each kind in its order, as the functions that change one surface take them.
    PERFORM 1 FROM martlet.surface s WHERE s.number = ANY (ARRAY(
        SELECT o.number FROM martlet.surface_request r
        JOIN martlet.surface o ON o.id = r.surface AND o.app = r.app WHERE r.number = ANY (p_numbers)
    )) ORDER BY s.number FOR NO KEY UPDATE;
    PERFORM pg_advisory_xact_lock(1298232183, u.app::integer) FROM (
        SELECT DISTINCT r.app FROM martlet.surface_request r
        WHERE r.number = ANY (p_numbers) AND r.request IS NOT NULL ORDER BY r.app
    ) u;
    FOR asked IN
        SELECT r.*, array_position(p_numbers, r.number) AS place FROM martlet.surface_request r
        WHERE r.number = ANY (p_numbers) ORDER BY r.app, r.number
    LOOP
        CONTINUE WHEN concat_ws(' ', asked.app, asked.surface) = ANY (refused);
        IF asked.request IS NULL THEN
            SELECT * INTO change FROM martlet.withdraw_surface(
                asked.app, asked.surface, asked.is_absent, asked.revision, p_now
            );
        ELSE
            SELECT * INTO change FROM martlet.put_surface(
                asked.app, asked.surface, asked.caller, p_audience_kinds[asked.place], p_audiences[asked.place],
                CASE WHEN p_audience_kinds[asked.place] = 'users'
                    THEN ARRAY(SELECT json_array_elements_text(p_audiences[asked.place]::json)) ELSE '{}' END,
                p_fingerprints[asked.place], p_requests[asked.place], p_ends_at[asked.place], p_channels[asked.place],
                asked.is_absent, asked.revision, p_limit, p_now
            );
        END IF;
        IF change.result IN ('changed', 'unchanged') THEN
            DELETE FROM martlet.surface_request r WHERE r.number = asked.number;
        ELSE
            refused := refused || concat_ws(' ', asked.app, asked.surface);
        END IF;
        RETURN QUERY SELECT asked.place, change.result, change.surface;
    END LOOP;
END $$;

-- Refuses requests of back ends, each of which gets an outcome as a refused push does, and returns their numbers with
-- their times of creation; without those that were removed before.
CREATE FUNCTION martlet.refuse_surface_requests(
    p_numbers bigint[], p_are_production boolean[], p_statuses bigint[], p_reasons text[], p_now bigint
) RETURNS TABLE (number bigint, created_at bigint) LANGUAGE sql
{index_settings} AS $$
    WITH refused AS (
        DELETE FROM martlet.surface_request r
        USING unnest(p_numbers, p_are_production, p_statuses, p_reasons) AS u (number, is_production, status, reason)
        WHERE r.number = u.number RETURNING r.number, r.id, r.app, r.created_at, u.is_production, u.status, u.reason
    ), ended AS (
        INSERT INTO martlet.outcome (
            apns_id, app, is_production, state, status, reason, attempts, unknown_tries, accepted_at, ended_at
        )
        SELECT f.id, f.app, f.is_production, 'refused', f.status, f.reason, 0, 0, f.created_at, p_now FROM refused f
    )
    SELECT f.number, f.created_at FROM refused f
$$;

-- Withdraws surfaces whose end has passed, and deletes those that were withdrawn before a time and have no sessions;
-- returns their number. One that another transaction changes is left to the next call.
CREATE FUNCTION martlet.end_surfaces(p_before bigint, p_now bigint, p_limit bigint)
RETURNS bigint LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    ended bigint[] := ARRAY(
        SELECT s.number FROM martlet.surface s WHERE s.ends_at <= p_now AND s.withdrawn_at IS NULL
        ORDER BY s.ends_at LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    );
    deleted bigint;
BEGIN
    IF ended <> '{}' THEN PERFORM martlet.withdraw_surfaces(ended, p_now); END IF;
    -- A withdrawn surface gets no session: its pages have no installations.
    DELETE FROM martlet.surface s WHERE s.number = ANY (ARRAY(
        SELECT w.number FROM martlet.surface w WHERE w.withdrawn_at < p_before
            AND NOT EXISTS (SELECT FROM martlet.surface_session o WHERE o.surface = w.number)
        ORDER BY w.withdrawn_at LIMIT p_limit - cardinality(ended) FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN cardinality(ended) + deleted;
END $$;

-- Removes a user, and installations of the user, from audiences. A surface whose audience is empty then is withdrawn,
-- and deleted unless an installation has a session of it: then it is left without its request.
CREATE FUNCTION martlet.remove_surface_user(p_app bigint, p_user text, p_installations text[], p_now bigint)
RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    named bigint[] := ARRAY(
        SELECT s.number FROM martlet.surface s WHERE s.number = ANY (ARRAY(
            SELECT u.surface FROM martlet.surface_user u WHERE u.app = p_app AND u.user_id = p_user
            UNION ALL
            SELECT o.number FROM martlet.surface o
            WHERE o.app = p_app AND o.audience = ANY (p_installations) AND o.audience_kind = 'installation'
        )) AND (
            s.audience_kind = 'users' OR s.audience_kind = 'installation' AND s.audience = ANY (p_installations)
        ) ORDER BY s.number FOR NO KEY UPDATE
    );
    emptied bigint[];
    shown bigint[];
BEGIN
    DELETE FROM martlet.surface_user u WHERE u.app = p_app AND u.user_id = p_user AND u.surface = ANY (named);
    WITH changed AS (
        -- The type json keeps the text of each element.
        UPDATE martlet.surface s
        SET audience_kind = 'users', audience = CASE WHEN s.audience_kind = 'users' THEN concat('[', (
            SELECT string_agg(e.value::text, ',' ORDER BY e.place)
            FROM json_array_elements(s.audience::json) WITH ORDINALITY AS e (value, place)
            WHERE e.value #>> '{}' <> p_user
        ), ']') ELSE '[]' END
        WHERE s.number = ANY (named) RETURNING s.number, s.audience, s.withdrawn_at
    )
    SELECT array_agg(c.number), array_agg(c.number) FILTER (WHERE c.withdrawn_at IS NULL)
    INTO emptied, shown FROM changed c WHERE c.audience = '[]';
    IF shown IS NOT NULL THEN PERFORM martlet.withdraw_surfaces(shown, p_now); END IF;
    DELETE FROM martlet.surface s WHERE s.number = ANY (emptied)
        AND NOT EXISTS (SELECT FROM martlet.surface_session o WHERE o.surface = s.number);
    UPDATE martlet.surface s SET request = '', fingerprint = '' WHERE s.number = ANY (emptied);
END $$;

-- Returns rows that wait for the relay, from the first to the last: those of a table with a condition whose `p_time` is
-- not after a limit. The apps take turns, so that many rows of one do not delay another, and the turns of an app go to
-- its oldest row, its newest one, the next oldest one and so on.
--
-- The statement is planned for each call, because an app without such rows may have thousands of them later. It reads
-- at most `p_oldest` and `p_newest` entries of an index for each app, and returns at most `p_oldest + p_newest` rows.
CREATE FUNCTION martlet.waiting_rows(
    p_table text, p_condition text, p_time text, p_until bigint, p_oldest bigint, p_newest bigint
) RETURNS TABLE (waiting bigint, turn bigint, since bigint) LANGUAGE plpgsql
{index_settings} SET jit = off AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        $query$
        SELECT w.number, min(w.turn) AS turn, min(w.since) AS since
        FROM martlet.app a CROSS JOIN LATERAL (
            (
                SELECT r.number, r.%3$I AS since, 2 * row_number() OVER (ORDER BY r.%3$I, r.number) - 1 AS turn
                FROM martlet.%1$I r WHERE r.app = a.number AND %2$s AND r.%3$I <= $1
                ORDER BY r.%3$I, r.number LIMIT $2
            ) UNION ALL (
                SELECT r.number, r.%3$I, 2 * row_number() OVER (ORDER BY r.%3$I DESC, r.number DESC)
                FROM martlet.%1$I r WHERE r.app = a.number AND %2$s AND r.%3$I <= $1
                ORDER BY r.%3$I DESC, r.number DESC LIMIT $3
            )
        ) w GROUP BY w.number ORDER BY turn, since, w.number LIMIT $2 + $3
        $query$, p_table, p_condition, p_time
    ) USING p_until, p_oldest, p_newest;
END $$;

-- Locks sessions in their order.
CREATE FUNCTION martlet.lock_sessions(p_numbers bigint[]) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    PERFORM 1 FROM martlet.surface_session s WHERE s.number = ANY (p_numbers) ORDER BY s.number FOR UPDATE;
END $$;

-- Adds a surface to installations, or a new revision of it; the sessions are due, those that are not reachable after a
-- delay if the surface is a large one. The caller has locked the installations, and the sessions that exist.
CREATE FUNCTION martlet.set_sessions(
    p_surfaces bigint[], p_revisions bigint[], p_installations bigint[], p_now bigint, p_large bigint[], p_delay bigint
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO martlet.surface_session AS s (surface, installation, app, revision, due_at)
    SELECT u.surface, u.installation, (SELECT o.app FROM martlet.surface o WHERE o.number = u.surface), u.revision,
        p_now
    FROM unnest(p_surfaces, p_revisions, p_installations) AS u (surface, revision, installation)
    ON CONFLICT (surface, installation)
    DO UPDATE SET revision = excluded.revision, version = s.version + 1, due_at = least(
        s.due_at, CASE WHEN s.is_reachable OR NOT s.surface = ANY (p_large) THEN p_now ELSE p_now + p_delay END
    )
$$;

-- Stores pages, each of another surface, and returns the places of those whose surface has the revision and the cursor
-- of the page. Each installation has the place of its page, from 1. Large surfaces are those with several pages. After
-- the last page, the sessions of other installations lose their revision, up to 1000 at once: if more are left, the
-- surface keeps a cursor, and an empty page follows.
CREATE FUNCTION martlet.store_surface_pages(
    p_surfaces bigint[], p_revisions bigint[], p_cursors bigint[], p_nexts bigint[],
    p_places bigint[], p_installations bigint[], p_now bigint, p_large bigint[], p_delay bigint
) RETURNS SETOF bigint LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    stored bigint[];
    -- A surface, its revision and an installation for each session.
    surfaces bigint[];
    revisions bigint[];
    members bigint[];
    leaving bigint[];
BEGIN
    SELECT array_agg(locked.place) INTO stored FROM (
        SELECT u.place FROM unnest(p_surfaces, p_revisions, p_cursors)
            WITH ORDINALITY AS u (surface, revision, cursor, place)
        JOIN martlet.surface s ON s.number = u.surface WHERE s.revision = u.revision AND s.cursor = u.cursor
        ORDER BY s.number FOR NO KEY UPDATE OF s
    ) locked;
    IF stored IS NULL THEN RETURN; END IF;
    PERFORM 1 FROM martlet.installation i WHERE i.number = ANY (ARRAY(
        SELECT u.installation FROM unnest(p_places, p_installations) AS u (place, installation)
        WHERE u.place = ANY (stored)
    )) ORDER BY i.number FOR KEY SHARE;
    SELECT coalesce(array_agg(p_surfaces[u.place]), '{}'), coalesce(array_agg(p_revisions[u.place]), '{}'),
        coalesce(array_agg(i.number), '{}') INTO surfaces, revisions, members
    FROM unnest(p_places, p_installations) AS u (place, installation)
    JOIN martlet.installation i ON i.number = u.installation WHERE u.place = ANY (stored);
    -- The surfaces of these events may have been read before these revisions.
    UPDATE martlet.installation_event e SET number = DEFAULT WHERE e.installation = ANY (members);
    leaving := ARRAY(
        SELECT s.number FROM unnest(stored) AS u (place) CROSS JOIN LATERAL (
            SELECT o.number FROM martlet.surface_session o
            WHERE o.surface = p_surfaces[u.place] AND o.revision > 0 AND o.revision < p_revisions[u.place]
            LIMIT 1000 + cardinality(members)
        ) s WHERE p_nexts[u.place] IS NULL
    );
    PERFORM martlet.lock_sessions(leaving || ARRAY(
        SELECT s.number FROM unnest(surfaces, members) AS u (surface, installation)
        JOIN martlet.surface_session s ON s.surface = u.surface AND s.installation = u.installation
    ));
    PERFORM martlet.set_sessions(surfaces, revisions, members, p_now, p_large, p_delay);
    -- Those of members have the new revision by now.
    UPDATE martlet.surface_session s SET revision = 0, version = s.version + 1, due_at = least(s.due_at, p_now)
    WHERE s.number = ANY (leaving) AND s.revision > 0
        AND s.revision < (SELECT u.revision FROM martlet.surface u WHERE u.number = s.surface);
    UPDATE martlet.surface s SET cursor = CASE WHEN u.next IS NULL AND EXISTS (
        SELECT FROM martlet.surface_session o
        WHERE o.surface = s.number AND o.revision > 0 AND o.revision < s.revision
    ) THEN greatest(u.cursor, (
        SELECT max(m.installation) FROM unnest(p_places, p_installations) AS m (place, installation)
        WHERE m.place = u.place
    )) ELSE u.next END
    FROM unnest(p_surfaces, p_cursors, p_nexts) WITH ORDINALITY AS u (surface, cursor, next, place)
    WHERE s.number = u.surface AND u.place = ANY (stored);
    RETURN QUERY SELECT unnest(stored);
END $$;

-- Stores the sessions of installations, and removes their events; leaves out an installation that has a newer event.
-- Each surface has the place of its installation, from 1; those of p_shown are on the phones of installations that may
-- have no session of them.
CREATE FUNCTION martlet.store_installation_sessions(
    p_events bigint[], p_installations bigint[], p_places bigint[], p_surfaces bigint[], p_revisions bigint[],
    p_shown_places bigint[], p_shown bigint[], p_now bigint
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    taken bigint[];
    place bigint;
    surfaces bigint[];
    revisions bigint[];
    members bigint[];
BEGIN
    PERFORM 1 FROM martlet.surface s WHERE s.number = ANY (p_surfaces || p_shown) ORDER BY s.number FOR SHARE;
    PERFORM 1 FROM martlet.installation i WHERE i.number = ANY (p_installations) ORDER BY i.number FOR KEY SHARE;
    WITH removed AS (
        DELETE FROM martlet.installation_event e WHERE e.number = ANY (p_events) RETURNING e.number
    )
    SELECT array_agg(array_position(p_events, removed.number)) INTO taken FROM removed;
    IF taken IS NULL THEN RETURN; END IF;
    PERFORM martlet.lock_sessions(ARRAY(
        SELECT s.number FROM unnest(taken) AS u (place)
        JOIN martlet.surface_session s ON s.installation = p_installations[u.place]
    ));
    FOREACH place IN ARRAY taken LOOP
        surfaces := ARRAY(
            SELECT u.surface FROM unnest(p_places, p_surfaces) AS u (installation, surface) WHERE u.installation = place
        );
        UPDATE martlet.surface_session s SET revision = 0, version = s.version + 1, due_at = least(s.due_at, p_now)
        WHERE s.installation = p_installations[place] AND NOT s.surface = ANY (surfaces)
            AND s.revision = (SELECT o.revision FROM martlet.surface o WHERE o.number = s.surface);
    END LOOP;
    SELECT coalesce(array_agg(s.number), '{}'), coalesce(array_agg(s.revision), '{}'),
        coalesce(array_agg(p_installations[u.place]), '{}') INTO surfaces, revisions, members
    FROM unnest(p_places, p_surfaces, p_revisions) AS u (place, surface, revision)
    JOIN martlet.surface s ON s.number = u.surface WHERE s.revision = u.revision AND u.place = ANY (taken);
    PERFORM martlet.set_sessions(surfaces, revisions, members, p_now, '{}', 0);
    INSERT INTO martlet.surface_session (surface, installation, app, revision, due_at)
    SELECT s.number, p_installations[u.place], s.app, 0, p_now
    FROM unnest(p_shown_places, p_shown) AS u (place, surface) JOIN martlet.surface s ON s.number = u.surface
    WHERE u.place = ANY (taken)
    ON CONFLICT DO NOTHING;
END $$;

-- Shares the advisory locks of apps until the commit.
CREATE FUNCTION martlet.share_surfaces(p_apps bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1298232183, u.app::integer)
    FROM (SELECT DISTINCT k.app FROM unnest(p_apps) AS k (app) ORDER BY k.app) u;
END $$;

-- Records that installations, or their tokens or tags, have changed: their sessions are due at the time of their last
-- change. The caller has locked them and their sessions, and has called martlet.share_surfaces.
CREATE FUNCTION martlet.record_installation_changes(p_installations bigint[]) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    UPDATE martlet.surface_session s SET version = s.version + 1, due_at = least(s.due_at, (
        SELECT i.changed_at FROM martlet.installation i WHERE i.number = s.installation
    )) WHERE s.installation = ANY (p_installations);
    INSERT INTO martlet.installation_event (installation, app)
    SELECT i.number, i.app FROM martlet.installation i
    WHERE i.number = ANY (p_installations)
        AND EXISTS (SELECT FROM martlet.surface s WHERE s.app = i.app)
    ORDER BY i.number
    ON CONFLICT (installation) DO UPDATE SET number = DEFAULT;
END $$;

-- Adds results of pushes to their sessions, which are due then: lines without a line break, in their order. A session
-- with a time of its next step takes accepted pushes ten seconds later (SessionResult.dueAt). The caller has locked the
-- sessions.
CREATE FUNCTION martlet.add_session_results(p_sessions bigint[], p_lines text[], p_now bigint)
RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    UPDATE martlet.surface_session s
    SET results = s.results || u.lines, version = s.version + u.count,
        due_at = CASE WHEN s.due_at IS NULL THEN p_now ELSE least(s.due_at, p_now + u.delay) END
    FROM (
        SELECT g.session, count(*) AS count, string_agg(g.line || E'\n', '' ORDER BY g.place) AS lines,
            CASE WHEN bool_and(split_part(g.line, ' ', 2) = 'delivered') THEN 10000 ELSE 0 END AS delay
        FROM unnest(p_sessions, p_lines) WITH ORDINALITY AS g (session, line, place) GROUP BY g.session
    ) u WHERE s.number = u.session;
END $$;

-- Stores steps of sessions. Returns each push that a step cancels, with its session, and then a row with the numbers of
-- pushes that are stored, and that end because a step cancels or replaces them. If a session has another version, it
-- stores nothing, and returns a row with the number of each such session.
CREATE FUNCTION martlet.store_steps(
    p_now bigint, p_numbers bigint[], p_versions bigint[], p_states bytea[], p_due_at bigint[],
    p_are_reachable boolean[], p_are_finished boolean[], p_cancelled uuid[], p_cancelled_sessions bigint[],
    p_times bigint[], p_apps bigint[], p_are_production boolean[], p_urgencies bigint[], p_ids uuid[],
    p_fingerprints bytea[], p_tokens text[], p_channels text[], p_bundle_ids text[], p_push_types text[],
    p_topics text[], p_priorities text[], p_expirations text[], p_collapse_ids text[], p_trace_parents text[],
    p_order_keys text[], p_not_before bigint[], p_expires_at bigint[], p_checksums bigint[],
    p_payloads bytea[], p_users text[], p_requests text[], p_alert_limits bigint[], p_supersede boolean[],
    p_sessions bigint[]
) RETURNS TABLE (
    apns_id uuid, session bigint, is_production boolean, accepted_at bigint, attempts integer, unknown_tries integer,
    outdated bigint, stored bigint, ended bigint
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    unclaimed bigint[];
    refused_sessions bigint[];
    refused_lines text[];
    superseded bigint := 0;
BEGIN
    -- The pushes behind those that are cancelled, too: the next one of each line changes. Those that martlet.supersede
    -- locks are locked here, because a settlement that changes one of them may wait for a session.
    IF p_cancelled <> '{}' OR true = ANY (p_supersede) THEN
        WITH named AS MATERIALIZED (
            SELECT p.number, min(u.place) AS place
            FROM unnest(p_cancelled, p_cancelled_sessions) WITH ORDINALITY AS u (id, session, place)
            JOIN martlet.push p ON p.apns_id = u.id AND p.session = u.session GROUP BY p.number
        ), locked AS MATERIALIZED (
            SELECT q.number FROM martlet.queue q WHERE q.node IS NULL AND q.number = ANY (ARRAY(
                SELECT named.number FROM named
                UNION
                SELECT behind.number FROM named JOIN martlet.queue o USING (number) JOIN martlet.queue behind
                    ON behind.app = o.app AND behind.is_production = o.is_production
                        AND behind.order_key = o.order_key AND behind.line = 2
                UNION
                SELECT older.number
                FROM unnest(p_apps, p_are_production, p_order_keys, p_supersede)
                    AS k (app, is_production, order_key, supersedes)
                CROSS JOIN LATERAL martlet.pushes_of_key(k.app, k.is_production, k.order_key) older
                WHERE k.supersedes
            )) ORDER BY q.number FOR UPDATE
        )
        SELECT array_agg(number ORDER BY named.place) INTO unclaimed FROM locked JOIN named USING (number);
    END IF;
    -- Those that martlet.accept locks.
    IF p_ids <> '{}' THEN
        PERFORM 1 FROM martlet.installation i WHERE i.number IN (
            SELECT t.installation FROM unnest(p_tokens, p_users) AS u (token, user_id)
            JOIN martlet.installation_token t ON t.token = u.token WHERE u.user_id IS NOT NULL
        ) ORDER BY i.number FOR KEY SHARE;
    END IF;
    PERFORM martlet.lock_sessions(p_numbers);
    RETURN QUERY
    SELECT NULL::uuid, NULL::bigint, NULL::boolean, NULL::bigint, NULL::integer, NULL::integer, u.number, NULL::bigint,
        NULL::bigint
    FROM unnest(p_numbers, p_versions) AS u (number, version)
    WHERE NOT EXISTS (
        SELECT FROM martlet.surface_session s WHERE s.number = u.number AND s.version = u.version
    );
    IF FOUND THEN RETURN; END IF;
    DELETE FROM martlet.surface_session s USING unnest(p_numbers, p_are_finished) AS u (number, is_finished)
    WHERE s.number = u.number AND u.is_finished;
    UPDATE martlet.surface_session s SET state = u.state, results = '', version = s.version + 1, due_at = u.due_at,
        is_reachable = u.is_reachable
    FROM unnest(p_numbers, p_states, p_due_at, p_are_reachable) AS u (number, state, due_at, is_reachable)
    WHERE s.number = u.number;
    IF unclaimed IS NOT NULL THEN
        RETURN QUERY
        SELECT p.apns_id, p.session, p.is_production, p.accepted_at, q.attempts, q.unknown_tries, NULL::bigint,
            NULL::bigint, NULL::bigint
        FROM martlet.queue q JOIN martlet.push p USING (number) WHERE q.number = ANY (unclaimed)
        ORDER BY q.number;
        PERFORM martlet.finish_alike(p_now, unclaimed, 'cancelled');
    END IF;
    IF p_ids <> '{}' THEN
        SELECT array_agg(p_sessions[a.place] ORDER BY a.place) FILTER (WHERE NOT a.is_superseded),
            array_agg(concat_ws(' ', p_ids[a.place], 'cancelled', '-', p_now) ORDER BY a.place)
                FILTER (WHERE NOT a.is_superseded),
            count(*) FILTER (WHERE a.is_superseded)
        INTO refused_sessions, refused_lines, superseded
        FROM martlet.accept(
            p_times, p_apps, p_are_production, p_urgencies, p_ids, p_fingerprints, p_tokens, p_channels, p_bundle_ids,
            p_push_types, p_topics, p_priorities, p_expirations, p_collapse_ids, p_trace_parents, p_order_keys,
            p_not_before, p_expires_at, p_checksums, p_payloads, p_users, p_requests, p_alert_limits, p_supersede,
            p_sessions
        ) a;
    END IF;
    IF refused_sessions IS NOT NULL THEN
        PERFORM martlet.add_session_results(refused_sessions, refused_lines, p_now);
    END IF;
    RETURN QUERY
    SELECT NULL::uuid, NULL::bigint, NULL::boolean, NULL::bigint, NULL::integer, NULL::integer, NULL::bigint,
        cardinality(p_ids) - coalesce(cardinality(refused_sessions), 0)::bigint,
        coalesce(cardinality(unclaimed), 0) + superseded;
END $$;
