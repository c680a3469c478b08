-- SPDX-License-Identifier: Apache-2.0

-- The functions that import rows of another outbox; rows that exist already are left unchanged.

-- Imports no push that has ended in this database: a migration that was interrupted imports its last batch again, and
-- relays may have sent that batch meanwhile.

CREATE FUNCTION martlet.adopt_pushes(
    p_apps bigint[], p_are_production boolean[], p_urgencies bigint[], p_ids uuid[], p_fingerprints bytea[],
    p_tokens text[], p_channels text[], p_bundle_ids text[], p_push_types text[], p_topics text[],
    p_priorities text[], p_expirations text[], p_collapse_ids text[], p_trace_parents text[], p_order_keys text[],
    p_expires_at bigint[], p_accepted_at bigint[], p_ready_at bigint[], p_lines bigint[],
    p_attempts bigint[], p_unknown_tries bigint[], p_checksums bigint[], p_payloads bytea[], p_users text[],
    p_are_to_users boolean[], p_histories text[], p_jobs bigint[], p_installations bigint[]
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    numbers bigint[] := ARRAY(
        SELECT nextval('martlet.push_number') FROM generate_series(1, cardinality(p_ids))
    );
BEGIN
    INSERT INTO martlet.push (
        number, app, is_production, apns_id, fingerprint, token, channel, bundle_id, push_type, topic,
        priority, expiration, collapse_id, trace_parent, order_key, expires_at, accepted_at, checksum, payload, user_id,
        is_to_user, job, installation
    )
    SELECT * FROM unnest(
        numbers, p_apps, p_are_production, p_ids, p_fingerprints, p_tokens, p_channels, p_bundle_ids,
        p_push_types, p_topics, p_priorities, p_expirations, p_collapse_ids, p_trace_parents, p_order_keys,
        p_expires_at, p_accepted_at, p_checksums, p_payloads, p_users, p_are_to_users, p_jobs, p_installations
    ) ON CONFLICT DO NOTHING;
    -- After the insertion, because that waits for transactions that end these pushes. A dead letter, which is not in
    -- the queue, keeps its row in addition to its outcome.
    DELETE FROM martlet.push p
    USING unnest(numbers, p_lines) AS g (number, line), martlet.outcome o
    WHERE p.number = g.number AND o.apns_id = p.apns_id AND o.app = p.app
        AND (g.line IS NOT NULL OR o.state <> 'dead');
    INSERT INTO martlet.queue (
        number, app, is_production, urgency, line, ready_at, expires_at, attempts, unknown_tries, order_key, history
    )
    SELECT g.* FROM unnest(
        numbers, p_apps, p_are_production, p_urgencies, p_lines, p_ready_at, p_expires_at, p_attempts,
        p_unknown_tries, p_order_keys, p_histories
    ) AS g (
        number, app, is_production, urgency, line, ready_at, expires_at, attempts, unknown_tries, order_key, history
    ) JOIN martlet.push USING (number) WHERE g.line IS NOT NULL;
END $$;

CREATE FUNCTION martlet.adopt_outcomes(
    p_ids uuid[], p_apps bigint[], p_are_production boolean[], p_states text[], p_statuses bigint[],
    p_reasons text[], p_unique_ids text[], p_unregistered_at bigint[], p_attempts bigint[],
    p_unknown_tries bigint[], p_fingerprints bytea[], p_accepted_at bigint[], p_ended_at bigint[], p_histories text[],
    p_jobs bigint[], p_installations bigint[]
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO martlet.outcome
    SELECT g.* FROM unnest(
        p_ids, p_apps, p_are_production, p_states, p_statuses, p_reasons, p_unique_ids, p_unregistered_at,
        p_attempts, p_unknown_tries, p_fingerprints, p_accepted_at, p_ended_at, p_histories, p_jobs, p_installations
    ) AS g (
        apns_id, app, is_production, state, status, reason, unique_id, unregistered_at, attempts,
        unknown_tries, fingerprint, accepted_at, ended_at, history, job, installation
    ) WHERE NOT EXISTS (SELECT FROM martlet.known(g.app, g.apns_id))
$$;

-- Cursors are unchanged in a database without unregistered tokens; otherwise they follow the existing ones.
CREATE FUNCTION martlet.adopt_unregistered_tokens(
    p_apps bigint[], p_tokens text[], p_are_production boolean[], p_topics text[], p_cursors bigint[],
    p_unregistered_at bigint[], p_reported_at bigint[], p_reasons text[], p_readers text[], p_reader_cursors bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    behind bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(1298232181);
    SELECT coalesce(max(t.cursor), 0) INTO behind FROM martlet.unregistered_token t;
    INSERT INTO martlet.unregistered_token (
        app, token, is_production, topic, cursor, unregistered_at, reported_at, reason
    )
    SELECT g.app, g.token, g.is_production, g.topic, g.cursor + behind, g.unregistered_at, g.reported_at, g.reason
    FROM unnest(
        p_apps, p_tokens, p_are_production, p_topics, p_cursors, p_unregistered_at, p_reported_at, p_reasons
    ) AS g (app, token, is_production, topic, cursor, unregistered_at, reported_at, reason)
    WHERE NOT EXISTS (
        SELECT FROM martlet.unregistered_token t
        WHERE t.app = g.app AND t.token = g.token AND t.is_production = g.is_production AND t.topic = g.topic
    );
    PERFORM setval('martlet.unregistered_token_cursor', greatest(max(t.cursor), 1)) FROM martlet.unregistered_token t
    HAVING max(t.cursor) > 0;
    INSERT INTO martlet.reader
    SELECT g.name, g.cursor + behind FROM unnest(p_readers, p_reader_cursors) AS g (name, cursor)
    ON CONFLICT DO NOTHING;
END $$;

-- Adds a job that is not being expanded, with the outcomes of its pushes, and returns its number; returns null if
-- another job has the identifier. The database counts the outcomes of pushes that are moved afterwards. An end that was
-- reported before the move has the position 0, which is before all others, so that it is not reported again.
CREATE FUNCTION martlet.adopt_job(
    p_app bigint, p_id uuid, p_caller text, p_fingerprint bytea, p_request bytea, p_audience text, p_created_at bigint,
    p_not_before bigint, p_expires_at bigint, p_state text, p_expanded_at bigint, p_stored bigint, p_left_out text,
    p_changed_at bigint, p_end_cursor bigint, p_states text[], p_counts bigint[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    adopted bigint;
BEGIN
    INSERT INTO martlet.job (
        app, id, caller, fingerprint, request, audience, created_at, not_before, expires_at, high_mark, state,
        expanded_at, stored, left_out, end_cursor
    ) VALUES (
        p_app, p_id, p_caller, p_fingerprint, p_request, p_audience, p_created_at, p_not_before, p_expires_at, 0,
        p_state, p_expanded_at, p_stored, p_left_out::jsonb, p_end_cursor
    ) ON CONFLICT DO NOTHING RETURNING number INTO adopted;
    IF adopted IS NULL THEN
        -- An earlier move that was interrupted has added it.
        RETURN (
            SELECT j.number FROM martlet.job j
            WHERE j.id = p_id AND j.app = p_app AND j.fingerprint = p_fingerprint AND j.created_at = p_created_at
        );
    END IF;
    INSERT INTO martlet.job_outcome (job, state, count, changed_at)
    SELECT adopted, u.state, u.count, p_changed_at FROM unnest(p_states, p_counts) AS u (state, count);
    RETURN adopted;
END $$;
