-- SPDX-License-Identifier: Apache-2.0

-- The functions that add jobs, expand them into pushes and record their ends.

-- Adds a job; returns false if another job of the app has its identifier.
CREATE FUNCTION martlet.add_job(
    p_app bigint, p_id uuid, p_caller text, p_fingerprint bytea, p_request bytea, p_audience text, p_created_at bigint,
    p_not_before bigint, p_expires_at bigint, p_states text[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    INSERT INTO martlet.job (
        app, id, caller, fingerprint, request, audience, created_at, not_before, expires_at, high_mark
    ) VALUES (
        p_app, p_id, p_caller, p_fingerprint, p_request, p_audience, p_created_at, p_not_before, p_expires_at,
        coalesce((SELECT max(i.number) FROM martlet.installation i WHERE i.app = p_app), 0)
    ) ON CONFLICT DO NOTHING RETURNING number INTO added;
    IF added IS NULL THEN RETURN false; END IF;
    INSERT INTO martlet.job_outcome (job, state, count, changed_at)
    SELECT added, u.state, 0, 0 FROM unnest(p_states) AS u (state);
    RETURN true;
END $$;

-- Stores a page of a job: its pushes, and the numbers of installations that were left out. Returns a row with the
-- numbers of pushes that were not stored by reason, as a JSON object, and a row for each superseded push. Returns
-- nothing, and stores nothing, if the job is not being expanded or has another cursor. The row of the job is locked
-- first, so that its pages and its cancellation are stored one after the other.
CREATE FUNCTION martlet.expand(
    p_job bigint, p_cursor bigint, p_next_cursor bigint, p_is_last boolean, p_now bigint, p_left_out text,
    p_times bigint[], p_apps bigint[], p_are_production boolean[], p_urgencies bigint[], p_ids uuid[],
    p_fingerprints bytea[], p_tokens text[], p_channels text[], p_bundle_ids text[], p_push_types text[],
    p_topics text[], p_priorities text[], p_expirations text[], p_collapse_ids text[], p_trace_parents text[],
    p_order_keys text[], p_not_before bigint[], p_expires_at bigint[], p_checksums bigint[],
    p_payloads bytea[], p_users text[], p_requests text[], p_alert_limits bigint[], p_supersede boolean[],
    p_sessions bigint[], p_installations bigint[]
) RETURNS TABLE (
    apns_id uuid, is_production boolean, accepted_at bigint, attempts integer, unknown_tries integer, refused text
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    counts jsonb := '{}';
    answer record;
BEGIN
    PERFORM 1 FROM martlet.job j
    WHERE j.number = p_job AND j.cursor = p_cursor AND j.state = 'expanding' FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    FOR answer IN
        SELECT a.*, CASE
            WHEN a.token_cursor IS NOT NULL THEN 'unregistered' WHEN a.has_former_user THEN 'moved'
            WHEN a.is_limited THEN 'alert-limit' ELSE 'duplicate'
        END AS cause
        FROM martlet.accept(
            p_times, p_apps, p_are_production, p_urgencies, p_ids, p_fingerprints, p_tokens, p_channels, p_bundle_ids,
            p_push_types, p_topics, p_priorities, p_expirations, p_collapse_ids, p_trace_parents, p_order_keys,
            p_not_before, p_expires_at, p_checksums, p_payloads, p_users, p_requests, p_alert_limits, p_supersede,
            p_sessions, p_job, p_installations
        ) a
    LOOP
        IF answer.is_superseded THEN
            RETURN QUERY SELECT answer.apns_id, answer.is_production, answer.accepted_at, answer.attempts,
                answer.unknown_tries, NULL::text;
        ELSE
            counts := jsonb_set(
                counts, ARRAY[answer.cause], to_jsonb(coalesce((counts ->> answer.cause)::bigint, 0) + 1)
            );
        END IF;
    END LOOP;
    UPDATE martlet.job j
    SET cursor = p_next_cursor, state = CASE WHEN p_is_last THEN 'expanded' ELSE j.state END,
        expanded_at = CASE WHEN p_is_last THEN p_now END,
        stored = j.stored + cardinality(p_ids)
            - (SELECT coalesce(sum(e.value::bigint), 0) FROM jsonb_each_text(counts) e),
        left_out = (
            SELECT coalesce(jsonb_object_agg(c.reason, c.count), '{}') FROM (
                SELECT e.reason, sum(e.count) AS count FROM (
                    SELECT key, value::bigint FROM jsonb_each_text(j.left_out)
                    UNION ALL SELECT key, value::bigint FROM jsonb_each_text(counts)
                    UNION ALL SELECT key, value::bigint FROM jsonb_each_text(p_left_out::jsonb)
                ) e (reason, count) GROUP BY e.reason
            ) c
        )
    WHERE j.number = p_job;
    RETURN QUERY SELECT NULL::uuid, NULL::boolean, NULL::bigint, NULL::integer, NULL::integer, counts::text;
END $$;

-- Gives jobs that have ended their positions in the order of ends, and returns their numbers. The row of the reader is
-- locked until the commit, so that positions become visible in ascending order and no job gets two.
CREATE FUNCTION martlet.record_job_ends(p_limit bigint) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
    ended_jobs bigint[];
    last_cursor bigint;
BEGIN
    SELECT array_agg(e.number ORDER BY e.number) INTO ended_jobs FROM (
        SELECT j.number FROM martlet.job_content j
        WHERE j.expanded_at IS NOT NULL AND j.end_cursor IS NULL AND j.ended >= j.stored
        ORDER BY j.number LIMIT p_limit
    ) e;
    IF ended_jobs IS NULL THEN RETURN; END IF;
    INSERT INTO martlet.reader AS r (name, cursor) VALUES ('job-ends', cardinality(ended_jobs))
    ON CONFLICT (name) DO UPDATE SET cursor = r.cursor + excluded.cursor
    RETURNING r.cursor INTO last_cursor;
    RETURN QUERY
        UPDATE martlet.job j SET end_cursor = last_cursor - cardinality(ended_jobs) + e.place
        FROM unnest(ended_jobs) WITH ORDINALITY AS e (number, place)
        WHERE j.number = e.number AND j.end_cursor IS NULL
        RETURNING j.number;
END $$;
