-- SPDX-License-Identifier: Apache-2.0

-- The functions that store pushes and return a row for each push that was not stored.
--
-- A stored push that supersedes others ends them after it is queued. Each of them has a row, too, with the place of the
-- new push. Only superseding transactions lock the rows that count superseded pushes of jobs, so that these do not
-- deadlock with settlements although they hold locks of installations.
--
-- Concurrent transactions conflict only on the identifier, through its unique index. The later one reads the
-- stored push after the earlier one has committed. After the insertion the outcomes are searched for the
-- identifier, because the other push may have ended meanwhile. A back end may keep its transaction open for long, so
-- relays do not wait for it: a push with an identifier that it has stored is contested, and not stored.
--
-- Each push has its own time of acceptance, because relays store the pushes of several commits in one call.
--
-- A push to a user is stored only while an installation of the user has its token, because the installations were read
-- in another transaction. They are locked until the commit: the removal of the user waits, and then finds the push.
--
-- A push with a limit of alerts is stored only if its request is one of the first of its user on the day on which it is
-- due. Pushes that have ended without an attempt, and those that the new one replaces before an attempt, do not count.
-- They are searched for only when the limit is reached, so that ends of pushes need not change the counts. The rows of
-- users and days are locked after all others and in their order, so that concurrent transactions do not deadlock, and
-- wait for each other only until the commit.
--
-- The identifiers of pushes of a job or of a session follow from others. Like pushes with a fingerprint, they are not
-- stored while an outcome has their identifier; the returned row does not describe the other push.

-- Inserts rows into `push`, except those of unregistered tokens, and returns the numbers of those that are stored; null
-- for none. Inserts a part of the pushes, which are in the order of apps and numbers, by the places of its ends.
CREATE FUNCTION martlet.insert_pushes(
    p_first bigint, p_last bigint, p_numbers bigint[], p_times bigint[], p_apps bigint[], p_are_production boolean[],
    p_ids uuid[], p_fingerprints bytea[], p_tokens text[], p_channels text[], p_bundle_ids text[],
    p_push_types text[], p_topics text[], p_priorities text[], p_expirations text[], p_collapse_ids text[],
    p_trace_parents text[], p_order_keys text[], p_expires_at bigint[], p_checksums bigint[], p_payloads bytea[],
    p_users text[], p_sessions bigint[], p_job bigint, p_installations bigint[]
) RETURNS bigint[] LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    stored bigint[];
BEGIN
    WITH fresh AS (
        INSERT INTO martlet.push (
            number, app, is_production, apns_id, fingerprint, token, channel, bundle_id, push_type, topic,
            priority, expiration, collapse_id, trace_parent, order_key, expires_at, accepted_at, checksum,
            payload, user_id, is_to_user, job, installation, session
        )
        SELECT g.number, g.app, g.is_production, g.apns_id, g.fingerprint, g.token, g.channel, g.bundle_id,
            g.push_type, g.topic, g.priority, g.expiration, g.collapse_id, g.trace_parent, g.order_key,
            g.expires_at, g.accepted_at, g.checksum, g.payload, coalesce(g.user_id, (
                SELECT i.user_id FROM martlet.installation_token t JOIN martlet.installation i
                    ON i.number = t.installation
                WHERE t.token = g.token AND i.app = g.app LIMIT 1
            )), g.user_id IS NOT NULL, p_job, g.installation, g.session
        FROM unnest(
            p_numbers, p_apps, p_are_production, p_ids, p_fingerprints, p_tokens, p_channels, p_bundle_ids,
            p_push_types, p_topics, p_priorities, p_expirations, p_collapse_ids, p_trace_parents, p_order_keys,
            p_expires_at, p_times, p_checksums, p_payloads, p_users, p_installations, p_sessions
        ) AS g (
            number, app, is_production, apns_id, fingerprint, token, channel, bundle_id, push_type, topic,
            priority, expiration, collapse_id, trace_parent, order_key, expires_at, accepted_at, checksum, payload,
            user_id, installation, session
        )
        WHERE (g.app, g.number) >= (p_apps[p_first], p_numbers[p_first])
            AND (g.app, g.number) <= (p_apps[p_last], p_numbers[p_last]) AND NOT EXISTS (
            SELECT FROM martlet.unregistered_token t
            WHERE t.app = g.app AND t.token = g.token AND t.is_production = g.is_production
                AND t.topic = coalesce(g.topic, '')
        )
        -- Sorted, because concurrent transactions that insert the same pushes in different orders would deadlock.
        ORDER BY g.apns_id, g.number
        ON CONFLICT DO NOTHING RETURNING number
    )
    SELECT array_agg(fresh.number) INTO stored FROM fresh;
    RETURN stored;
END $$;

-- Stores pushes. Unless `p_waits` is set, those whose identifiers open transactions of others have stored are
-- contested. The first attempt, with all pushes, waits for such a transaction as long as a commit may take. After it,
-- parts of the pushes are inserted almost without waiting, at first by app, and a part that does not succeed is halved.
-- The number of halvings is limited in each app: after it, all pushes of a part are contested.
CREATE FUNCTION martlet.accept(
    p_times bigint[], p_apps bigint[], p_are_production boolean[], p_urgencies bigint[], p_ids uuid[],
    p_fingerprints bytea[], p_tokens text[], p_channels text[], p_bundle_ids text[], p_push_types text[],
    p_topics text[], p_priorities text[], p_expirations text[], p_collapse_ids text[], p_trace_parents text[],
    p_order_keys text[], p_not_before bigint[], p_expires_at bigint[], p_checksums bigint[],
    p_payloads bytea[], p_users text[] DEFAULT NULL, p_requests text[] DEFAULT NULL,
    p_alert_limits bigint[] DEFAULT NULL, p_supersede boolean[] DEFAULT NULL, p_sessions bigint[] DEFAULT NULL,
    p_job bigint DEFAULT NULL, p_installations bigint[] DEFAULT NULL, p_waits boolean DEFAULT false
) RETURNS TABLE (
    place bigint, is_same boolean, apns_id uuid, is_production boolean, accepted_at bigint,
    is_claimed boolean, ended_at bigint, state text, status integer, reason text, unique_id text,
    unregistered_at bigint, attempts integer, unknown_tries integer, history text,
    token_cursor bigint, token_unregistered_at bigint, token_reported_at bigint, token_reason text,
    has_former_user boolean, is_limited boolean, is_superseded boolean, is_contested boolean
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    numbers bigint[] := ARRAY(
        SELECT nextval('martlet.push_number') FROM generate_series(1, cardinality(p_ids))
    );
    has_given_ids boolean := p_job IS NOT NULL OR cardinality(array_remove(p_fingerprints, NULL)) > 0
        OR cardinality(array_remove(p_sessions, NULL)) > 0;
    -- The places of the pushes by app. `part_ends` has the ends of the part that is inserted next, which begins at
    -- `first`, and of those after it, the last one first.
    places bigint[] := ARRAY(
        SELECT u.place FROM unnest(p_apps) WITH ORDINALITY AS u (app, place) ORDER BY u.app, u.place
    );
    part_ends integer[] := ARRAY[cardinality(p_ids)];
    first integer := 1;
    last integer;
    halvings integer := 50;
    earlier_lock_time text := current_setting('lock_timeout');
    lock_time text := '250ms';
    contested bigint[];
    stored bigint[];
    installations bigint[];
    former bigint[];
    alert record;
    limited bigint[];
    superseded_at bigint;
    superseding_keys text[];
    older bigint[];
BEGIN
    IF p_waits OR NOT has_given_ids THEN
        stored := martlet.insert_pushes(
            places[1], places[cardinality(places)], numbers, p_times, p_apps, p_are_production, p_ids, p_fingerprints,
            p_tokens, p_channels, p_bundle_ids, p_push_types, p_topics, p_priorities, p_expirations, p_collapse_ids,
            p_trace_parents, p_order_keys, p_expires_at, p_checksums, p_payloads, p_users, p_sessions, p_job,
            p_installations
        );
    ELSE
        -- With the usual limit of time, because a lock of the table contests no identifier.
        LOCK TABLE martlet.push IN ROW EXCLUSIVE MODE;
        WHILE part_ends <> '{}' LOOP
            last := part_ends[cardinality(part_ends)];
            BEGIN
                PERFORM set_config('lock_timeout', lock_time, true);
                stored := stored || martlet.insert_pushes(
                    places[first], places[last], numbers, p_times, p_apps, p_are_production, p_ids, p_fingerprints,
                    p_tokens, p_channels, p_bundle_ids, p_push_types, p_topics, p_priorities, p_expirations,
                    p_collapse_ids, p_trace_parents, p_order_keys, p_expires_at, p_checksums, p_payloads, p_users,
                    p_sessions, p_job, p_installations
                );
                PERFORM set_config('lock_timeout', earlier_lock_time, true);
            EXCEPTION WHEN lock_not_available THEN
                lock_time := '1ms';
                IF p_apps[places[first]] <> p_apps[places[last]] THEN
                    part_ends := part_ends || (
                        SELECT max(k) FROM generate_series(first, last) k
                        WHERE p_apps[places[k]] = p_apps[places[first]]
                    );
                    CONTINUE;
                END IF;
                IF first < last AND halvings > 0 THEN
                    halvings := halvings - 1;
                    part_ends := part_ends || (first + last) / 2;
                    CONTINUE;
                END IF;
                contested := contested || ARRAY(SELECT numbers[k] FROM unnest(places[first:last]) k);
            END;
            part_ends := trim_array(part_ends, 1);
            first := last + 1;
            IF p_apps[places[first]] <> p_apps[places[last]] THEN halvings := 50; END IF;
        END LOOP;
    END IF;
    IF has_given_ids THEN
        WITH ended AS (
            DELETE FROM martlet.push p USING martlet.outcome o
            WHERE p.number = ANY (stored)
                AND (p.fingerprint IS NOT NULL OR p_job IS NOT NULL OR p.session IS NOT NULL) AND o.apns_id = p.apns_id
                AND o.app = p.app
            RETURNING p.number
        )
        SELECT array_agg(k) INTO stored FROM unnest(stored) k WHERE k NOT IN (SELECT ended.number FROM ended);
    END IF;
    IF true = ANY (p_supersede) THEN
        superseding_keys := ARRAY(
            SELECT CASE WHEN g.supersedes THEN g.order_key END
            FROM unnest(p_order_keys, p_supersede) WITH ORDINALITY AS g (order_key, supersedes, place) ORDER BY g.place
        );
    END IF;
    IF cardinality(array_remove(p_users, NULL)) > 0 THEN
        -- Pushes first, because a settlement, too, locks pushes before installations.
        IF superseding_keys IS NOT NULL THEN
            older := martlet.lock_older(p_apps, p_are_production, superseding_keys, numbers);
        END IF;
        SELECT array_agg(locked.number) INTO installations FROM (
            SELECT i.number FROM martlet.installation i WHERE i.number IN (
                SELECT t.installation FROM unnest(p_tokens, p_users) AS u (token, user_id)
                JOIN martlet.installation_token t ON t.token = u.token WHERE u.user_id IS NOT NULL
            ) ORDER BY i.number FOR KEY SHARE
        ) locked;
        -- The conditions are nested for the same reason as in martlet.claim.
        WITH gone AS (
            DELETE FROM martlet.push p WHERE p.number = ANY (stored) AND p.is_to_user AND NOT coalesce((
                SELECT bool_or((
                    SELECT i.app = p.app AND i.user_id = p.user_id FROM martlet.installation i
                    WHERE i.number = o.installation
                )) FROM martlet.installation_token o WHERE o.token = p.token AND o.installation = ANY (installations)
            ), false)
            RETURNING p.number
        )
        SELECT array_agg(gone.number) INTO former FROM gone;
        IF former IS NOT NULL THEN
            SELECT array_agg(k) INTO stored FROM unnest(stored) k WHERE NOT k = ANY (former);
        END IF;
    END IF;
    IF cardinality(array_remove(p_alert_limits, NULL)) > 0 THEN
        FOR alert IN
            SELECT g.app, g.user_id, greatest(g.not_before, g.accepted_at) / 86400000 AS day, g.request, g.alert_limit,
                array_agg(g.number) AS numbers, array_agg(g.is_production) AS are_production,
                array_agg(g.superseding_key) AS keys, jsonb_object_agg(g.apns_id::text, g.request) AS pushes
            FROM unnest(
                numbers, p_apps, p_are_production, p_ids, p_users, p_times, p_not_before, p_requests, p_alert_limits,
                superseding_keys
            ) AS g (
                number, app, is_production, apns_id, user_id, accepted_at, not_before, request, alert_limit,
                superseding_key
            )
            WHERE g.alert_limit IS NOT NULL AND g.number = ANY (stored)
            GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, min(g.number)
        LOOP
            INSERT INTO martlet.alert_day AS d (app, user_id, day, pushes)
            VALUES (alert.app, alert.user_id, alert.day, alert.pushes)
            ON CONFLICT (app, user_id, day) DO UPDATE SET pushes = d.pushes || excluded.pushes
            WHERE (
                SELECT bool_or(c.value = alert.request) OR count(DISTINCT c.value) < alert.alert_limit
                FROM jsonb_each_text(d.pushes) AS c
            );
            CONTINUE WHEN FOUND;
            -- The row is locked now. Aggregates of one row each, because a condition with EXISTS may be planned as one
            -- of all outcomes.
            UPDATE martlet.alert_day d SET pushes = kept.pushes || alert.pushes
            FROM (
                SELECT coalesce(jsonb_object_agg(c.key, c.value), '{}') AS pushes, count(DISTINCT c.value) AS requests
                FROM martlet.alert_day a CROSS JOIN LATERAL jsonb_each_text(a.pushes) AS c
                WHERE a.app = alert.app AND a.user_id = alert.user_id AND a.day = alert.day AND NOT coalesce((
                    SELECT bool_or(
                        o.state IN ('cancelled', 'expired', 'superseded') AND o.attempts = 0 AND o.unknown_tries = 0
                    )
                    FROM martlet.outcome o WHERE o.apns_id = c.key::uuid AND o.app = alert.app
                ), (
                    SELECT bool_or(
                        p.number = ANY (older || stored) AND coalesce(q.attempts + q.unknown_tries, 0) = 0
                    )
                    FROM unnest(alert.numbers, alert.are_production, alert.keys) AS g (newer, is_production, order_key)
                    JOIN martlet.push p ON p.number < g.newer AND p.is_production = g.is_production
                        AND p.order_key = g.order_key
                    LEFT JOIN martlet.queue q USING (number)
                    WHERE p.apns_id = c.key::uuid AND p.app = alert.app
                ), false)
            ) kept
            WHERE d.app = alert.app AND d.user_id = alert.user_id AND d.day = alert.day
                AND kept.requests < alert.alert_limit;
            IF NOT FOUND THEN limited := limited || alert.numbers; END IF;
        END LOOP;
        IF limited IS NOT NULL THEN
            DELETE FROM martlet.push p WHERE p.number = ANY (limited);
            SELECT array_agg(k) INTO stored FROM unnest(stored) k WHERE NOT k = ANY (limited);
        END IF;
    END IF;
    INSERT INTO martlet.queue (number, app, is_production, urgency, line, ready_at, expires_at, order_key)
    SELECT g.number, g.app, g.is_production, g.urgency, CASE WHEN g.not_before > g.accepted_at THEN -1 ELSE 0 END,
        greatest(g.not_before, g.accepted_at), g.expires_at, g.order_key
    FROM unnest(numbers, p_apps, p_are_production, p_urgencies, p_times, p_not_before, p_expires_at, p_order_keys)
        AS g (number, app, is_production, urgency, accepted_at, not_before, expires_at, order_key)
    WHERE g.number = ANY (stored);
    IF superseding_keys IS NOT NULL THEN
        superseded_at := (SELECT max(t) FROM unnest(p_times) AS t);
        superseding_keys := ARRAY(
            SELECT CASE WHEN g.number = ANY (stored) THEN g.order_key END
            FROM unnest(numbers, superseding_keys) WITH ORDINALITY AS g (number, order_key, place) ORDER BY g.place
        );
        RETURN QUERY
        SELECT s.place, NULL::boolean, s.apns_id, s.is_production, s.accepted_at, false, superseded_at,
            'superseded'::text, NULL::integer, NULL::text, NULL::text, NULL::bigint, s.attempts, s.unknown_tries,
            NULL::text, NULL::bigint, NULL::bigint, NULL::bigint, NULL::text, false, false, true, false
        FROM martlet.supersede(superseded_at, p_apps, p_are_production, superseding_keys, numbers) s
        ORDER BY s.number DESC;
    END IF;
    IF cardinality(stored) = cardinality(numbers) THEN RETURN; END IF;
    RETURN QUERY
    SELECT g.place, k.fingerprint = g.fingerprint, k.apns_id, k.is_production, k.accepted_at, k.is_claimed,
        k.ended_at, k.state, k.status, k.reason, k.unique_id, k.unregistered_at, k.attempts, k.unknown_tries,
        k.history, t.cursor, t.unregistered_at, t.reported_at, t.reason, coalesce(g.number = ANY (former), false),
        coalesce(g.number = ANY (limited), false), false, coalesce(g.number = ANY (contested), false)
    FROM unnest(numbers, p_apps, p_are_production, p_ids, p_tokens, p_topics, p_fingerprints) WITH ORDINALITY
        AS g (number, app, is_production, apns_id, token, topic, fingerprint, place)
    LEFT JOIN LATERAL martlet.known(g.app, g.apns_id) k ON g.fingerprint IS NOT NULL
    LEFT JOIN martlet.unregistered_token t ON t.app = g.app AND t.token = g.token
        AND t.is_production = g.is_production AND t.topic = coalesce(g.topic, '')
    WHERE stored IS NULL OR NOT g.number = ANY (stored);
END $$;
