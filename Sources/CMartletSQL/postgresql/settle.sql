-- SPDX-License-Identifier: Apache-2.0

-- The functions that store the outcomes of pushes.
--
-- A transaction must lock the rows of pushes in `queue` before it ends them. The end of a push of a session adds a line
-- to the results of the session.

-- Adds to the outcomes of jobs; negative numbers are those of pushes that are sent again.
CREATE FUNCTION martlet.count_outcomes(p_jobs bigint[], p_states text[], p_counts bigint[], p_now bigint)
RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
BEGIN
    -- In one order, because concurrent transactions would deadlock otherwise. A transaction that waits here holds no
    -- lock of an installation, unless it supersedes pushes (martlet.accept).
    PERFORM 1 FROM unnest(p_jobs, p_states) AS u (job, state) JOIN martlet.job_outcome o USING (job, state)
    ORDER BY o.job, o.state FOR UPDATE OF o;
    UPDATE martlet.job_outcome o SET count = o.count + u.count, changed_at = greatest(o.changed_at, p_now)
    FROM unnest(p_jobs, p_states, p_counts) AS u (job, state, count) WHERE o.job = u.job AND o.state = u.state;
END $$;

-- Ends pushes: stores their outcomes and unregistered tokens, and makes the pushes behind them ready.
CREATE FUNCTION martlet.finish(
    p_now bigint, p_numbers bigint[], p_states text[], p_statuses bigint[], p_reasons text[],
    p_unique_ids text[], p_unregistered_at bigint[], p_attempts bigint[], p_unknown_tries bigint[],
    p_histories text[], p_are_unregistered boolean[]
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    apps bigint[];
    are_production boolean[];
    order_keys text[];
    has_jobs boolean;
    jobs bigint[];
    job_states text[];
    job_counts bigint[];
    sessions bigint[];
    results text[];
    -- The installations that have unregistered tokens, and those that lose one.
    installations bigint[];
    changed bigint[];
    unregistered_apps bigint[];
    unregistered_tokens text[];
    unregistered_are_production boolean[];
    unregistered_topics text[];
    unregistered_times bigint[];
    -- A registration with a greater number is newer than the push. One that was moved from a file has no number, and
    -- is compared by its time.
    unregistered_numbers bigint[];
    unregistered_accepted_at bigint[];
    unregistered_reasons text[];
BEGIN
    INSERT INTO martlet.outcome (
        apns_id, app, is_production, state, status, reason, unique_id, unregistered_at, attempts,
        unknown_tries, fingerprint, accepted_at, ended_at, history, job, installation, session
    )
    SELECT p.apns_id, p.app, p.is_production, g.state, g.status, g.reason, g.unique_id, g.unregistered_at,
        greatest(g.attempts, q.attempts), greatest(g.unknown_tries, q.unknown_tries), p.fingerprint,
        p.accepted_at, p_now, coalesce(g.history, q.history), p.job, p.installation, p.session
    FROM unnest(
        p_numbers, p_states, p_statuses, p_reasons, p_unique_ids, p_unregistered_at, p_attempts,
        p_unknown_tries, p_histories
    ) AS g (number, state, status, reason, unique_id, unregistered_at, attempts, unknown_tries, history)
    JOIN martlet.queue q USING (number) JOIN martlet.push p USING (number);
    IF true = ANY (p_are_unregistered) THEN
        SELECT array_agg(p.app), array_agg(p.token), array_agg(p.is_production),
            array_agg(coalesce(p.topic, '')), array_agg(g.unregistered_at),
            array_agg(p.number), array_agg(p.accepted_at), array_agg(g.reason)
        INTO unregistered_apps, unregistered_tokens, unregistered_are_production, unregistered_topics,
            unregistered_times, unregistered_numbers, unregistered_accepted_at, unregistered_reasons
        FROM unnest(p_numbers, p_unregistered_at, p_reasons, p_are_unregistered)
            AS g (number, unregistered_at, reason, is_unregistered)
        JOIN martlet.push p USING (number) WHERE g.is_unregistered AND p.token IS NOT NULL;
    END IF;
    WITH ended AS (
        DELETE FROM martlet.queue WHERE number = ANY (p_numbers)
        RETURNING app, is_production, order_key, line, urgency
    )
    SELECT array_agg(ended.app) FILTER (WHERE ended.line = 1),
        array_agg(ended.is_production) FILTER (WHERE ended.line = 1),
        array_agg(ended.order_key) FILTER (WHERE ended.line = 1),
        -- The urgency of the pushes of jobs. Without one, nothing more is read.
        bool_or(ended.urgency = 3)
    INTO apps, are_production, order_keys, has_jobs FROM ended;
    IF has_jobs THEN
        SELECT array_agg(c.job), array_agg(c.state), array_agg(c.count) INTO jobs, job_states, job_counts FROM (
            SELECT p.job, g.state, count(*) AS count
            FROM unnest(p_numbers, p_states) AS g (number, state) JOIN martlet.push p USING (number)
            WHERE p.job IS NOT NULL GROUP BY p.job, g.state
        ) c;
    END IF;
    WITH ended AS (
        DELETE FROM martlet.push p
        USING unnest(p_numbers, p_states, p_statuses) WITH ORDINALITY AS g (number, state, status, place)
        WHERE p.number = g.number AND g.state <> 'dead'
        RETURNING g.place, p.session, p.apns_id, g.state, g.status
    )
    SELECT array_agg(e.session ORDER BY e.place),
        array_agg(concat_ws(' ', e.apns_id, e.state, coalesce(e.status::text, '-'), p_now) ORDER BY e.place)
    INTO sessions, results FROM (
        SELECT * FROM ended
        UNION ALL
        SELECT g.place, p.session, p.apns_id, g.state, g.status
        FROM unnest(p_numbers, p_states, p_statuses) WITH ORDINALITY AS g (number, state, status, place)
        JOIN martlet.push p USING (number) WHERE g.state = 'dead'
    ) e WHERE e.session IS NOT NULL;
    IF apps IS NOT NULL THEN PERFORM martlet.advance_lines(apps, are_production, order_keys, p_now); END IF;
    IF jobs IS NOT NULL THEN PERFORM martlet.count_outcomes(jobs, job_states, job_counts, p_now); END IF;
    IF unregistered_apps IS NOT NULL THEN
        -- In the order of martlet.lock_installations, because reports would deadlock otherwise.
        SELECT array_agg(locked.number) INTO installations FROM (
            SELECT i.number FROM martlet.installation i WHERE i.number IN (
                SELECT t.installation FROM unnest(unregistered_tokens) AS u (token)
                JOIN martlet.installation_token t ON t.token = u.token
            ) ORDER BY i.number FOR UPDATE
        ) locked;
    END IF;
    IF sessions IS NOT NULL OR installations IS NOT NULL THEN
        PERFORM martlet.lock_sessions(sessions || ARRAY(
            SELECT s.number FROM martlet.surface_session s WHERE s.installation = ANY (installations)
        ));
    END IF;
    IF sessions IS NOT NULL THEN PERFORM martlet.add_session_results(sessions, results, p_now); END IF;
    IF unregistered_apps IS NOT NULL THEN
        PERFORM martlet.share_surfaces(unregistered_apps);
        -- `i.app + 0` keeps a plan that was made while the tables were small from reading all installations of the app.
        WITH removed AS (
            DELETE FROM martlet.installation_token t
            USING unnest(
                unregistered_apps, unregistered_tokens, unregistered_are_production, unregistered_numbers,
                unregistered_accepted_at
            ) AS u (app, token, is_production, number, accepted_at), martlet.installation i
            WHERE t.token = u.token AND coalesce(t.last_push < u.number, t.registered_at <= u.accepted_at)
                AND i.number = t.installation AND i.app + 0 = u.app AND i.is_production = u.is_production
            RETURNING t.installation
        )
        SELECT array_agg(removed.installation) INTO changed FROM removed;
        IF changed IS NOT NULL THEN PERFORM martlet.record_installation_changes(changed); END IF;
        -- Held until the commit, so that cursors become visible in ascending order and no row is added twice. Taken
        -- last, so that the transaction waits for no other lock while it holds this one.
        PERFORM pg_advisory_xact_lock(1298232181);
        DELETE FROM martlet.unregistered_token t
        USING unnest(unregistered_apps, unregistered_tokens, unregistered_are_production, unregistered_topics)
            AS u (app, token, is_production, topic)
        WHERE t.app = u.app AND t.token = u.token AND t.is_production = u.is_production AND t.topic = u.topic;
        INSERT INTO martlet.unregistered_token (
            app, token, is_production, topic, cursor, unregistered_at, reported_at, reason
        )
        SELECT d.app, d.token, d.is_production, d.topic, nextval('martlet.unregistered_token_cursor'),
            d.unregistered_at, p_now, coalesce(d.reason, '')
        FROM (
            SELECT DISTINCT ON (u.app, u.token, u.is_production, u.topic) u.*
            FROM unnest(
                unregistered_apps, unregistered_tokens, unregistered_are_production, unregistered_topics,
                unregistered_times, unregistered_numbers, unregistered_accepted_at, unregistered_reasons
            ) AS u (app, token, is_production, topic, unregistered_at, number, accepted_at, reason)
        ) d
        WHERE NOT EXISTS (
            SELECT FROM martlet.installation_token t JOIN martlet.installation i ON i.number = t.installation
            WHERE t.token = d.token AND NOT coalesce(t.last_push < d.number, t.registered_at <= d.accepted_at)
                AND i.app = d.app AND i.is_production = d.is_production
        );
    END IF;
END $$;

-- Stores the results of a node's claims: outcomes, and the times of further attempts. Ignores pushes that the node has
-- lost to another one, and results of earlier claims, which a node stores again when it did not get the answer.
CREATE FUNCTION martlet.settle(
    p_now bigint, p_node bigint, p_numbers bigint[], p_claims bigint[], p_states text[], p_statuses bigint[],
    p_reasons text[], p_unique_ids text[], p_unregistered_at bigint[], p_until bigint[], p_attempts bigint[],
    p_unknown_tries bigint[], p_histories text[], p_are_unregistered boolean[]
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    -- The places, in the parameters, of the results of current claims. A push may have a result of an earlier one, too.
    own bigint[];
BEGIN
    SELECT array_agg(locked.place) INTO own FROM (
        SELECT g.place FROM unnest(p_numbers, p_claims) WITH ORDINALITY AS g (number, claim, place)
        JOIN martlet.queue q USING (number) WHERE q.node = p_node AND q.claim = g.claim
        ORDER BY q.number FOR UPDATE OF q
    ) locked;
    IF own IS NULL THEN RETURN; END IF;
    UPDATE martlet.queue q
    SET node = NULL, ready_at = g.until, attempts = g.attempts, unknown_tries = g.unknown_tries,
        history = coalesce(g.history, q.history)
    FROM unnest(p_numbers, p_states, p_until, p_attempts, p_unknown_tries, p_histories) WITH ORDINALITY
        AS g (number, state, until, attempts, unknown_tries, history, place)
    WHERE q.number = g.number AND g.state IS NULL AND g.place = ANY (own);
    PERFORM martlet.finish(
        p_now, array_agg(g.number), array_agg(g.state), array_agg(g.status), array_agg(g.reason),
        array_agg(g.unique_id), array_agg(g.unregistered_at), array_agg(g.attempts),
        array_agg(g.unknown_tries), array_agg(g.history), array_agg(g.is_unregistered)
    )
    FROM unnest(
        p_numbers, p_states, p_statuses, p_reasons, p_unique_ids, p_unregistered_at, p_attempts,
        p_unknown_tries, p_histories, p_are_unregistered
    ) WITH ORDINALITY AS g (
        number, state, status, reason, unique_id, unregistered_at, attempts, unknown_tries, history, is_unregistered,
        place
    )
    WHERE g.state IS NOT NULL AND g.place = ANY (own)
    HAVING count(*) > 0;
END $$;

-- Ends pushes that no node has claimed, all with the same outcome.
CREATE FUNCTION martlet.finish_alike(p_now bigint, p_numbers bigint[], p_state text)
RETURNS void LANGUAGE sql AS $$
    SELECT martlet.finish(
        p_now, p_numbers, array_fill(p_state, ARRAY[cardinality(p_numbers)]), '{}', '{}', '{}', '{}',
        array_fill(0::bigint, ARRAY[cardinality(p_numbers)]),
        array_fill(0::bigint, ARRAY[cardinality(p_numbers)]), '{}', '{}'
    )
$$;

-- Locks the pushes that newer ones replace, and returns their numbers: those with the order keys of the newer ones and
-- lower numbers that no node has claimed. A newer one without an order key replaces none.
--
-- It first waits for locks without holding any, because a transaction that has locked one of these pushes may wait for
-- another one of them. After the attempts it waits as others do.
CREATE FUNCTION martlet.lock_older(
    p_apps bigint[], p_are_production boolean[], p_order_keys text[], p_numbers bigint[]
) RETURNS bigint[] LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    candidates bigint[];
    older bigint[];
BEGIN
    FOR attempt IN 1..20 LOOP
        SELECT array_agg(found.number) INTO candidates
        FROM (
            SELECT g.app, g.is_production, g.order_key, max(g.number) AS number
            FROM unnest(p_apps, p_are_production, p_order_keys, p_numbers) AS g (app, is_production, order_key, number)
            WHERE g.order_key IS NOT NULL GROUP BY 1, 2, 3
        ) k CROSS JOIN LATERAL martlet.pushes_of_key(k.app, k.is_production, k.order_key) found
        WHERE found.number < k.number;
        IF candidates IS NULL THEN RETURN NULL; END IF;
        BEGIN
            SELECT array_agg(locked.number) INTO older FROM (
                SELECT q.number FROM martlet.queue q
                WHERE q.number = ANY (candidates) AND q.node IS NULL FOR UPDATE NOWAIT
            ) locked;
            RETURN older;
        EXCEPTION WHEN lock_not_available THEN
            PERFORM pg_sleep(0.005);
        END;
    END LOOP;
    SELECT array_agg(locked.number) INTO older FROM (
        SELECT q.number FROM martlet.queue q
        WHERE q.number = ANY (candidates) AND q.node IS NULL ORDER BY q.number FOR UPDATE
    ) locked;
    RETURN older;
END $$;

-- Ends the pushes that newer ones replace. Returns each with the position, in the parameters, of the first newer one.
-- The numbers ascend.
CREATE FUNCTION martlet.supersede(
    p_now bigint, p_apps bigint[], p_are_production boolean[], p_order_keys text[], p_numbers bigint[]
) RETURNS TABLE (
    place bigint, number bigint, apns_id uuid, is_production boolean, accepted_at bigint, attempts integer,
    unknown_tries integer
) LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    older bigint[] := martlet.lock_older(p_apps, p_are_production, p_order_keys, p_numbers);
BEGIN
    IF older IS NULL THEN RETURN; END IF;
    -- A window, because without hash joins a join would compare each older push with all newer ones.
    RETURN QUERY
    SELECT line.newer, line.number, p.apns_id, p.is_production, p.accepted_at, line.attempts, line.unknown_tries
    FROM (
        SELECT u.*, min(u.place) OVER (
            PARTITION BY u.app, u.is_production, u.order_key ORDER BY u.number DESC, u.place NULLS FIRST
            ROWS UNBOUNDED PRECEDING
        ) AS newer
        FROM (
            SELECT q.number, q.app, q.is_production, q.order_key, q.attempts, q.unknown_tries, NULL::bigint AS place
            FROM martlet.queue q WHERE q.number = ANY (older)
            UNION ALL
            SELECT g.number, g.app, g.is_production, g.order_key, NULL, NULL, g.place
            FROM unnest(p_numbers, p_apps, p_are_production, p_order_keys) WITH ORDINALITY
                AS g (number, app, is_production, order_key, place)
            WHERE g.order_key IS NOT NULL
        ) u
    ) line JOIN martlet.push p USING (number) WHERE line.place IS NULL;
    PERFORM martlet.finish_alike(p_now, older, 'superseded');
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

-- Cancels a push that no node has claimed.
CREATE FUNCTION martlet.cancel(p_app bigint, p_id uuid, p_now bigint) RETURNS void LANGUAGE sql AS $$
    SELECT FROM martlet.cancel_unclaimed(
        ARRAY(SELECT p.number FROM martlet.push p WHERE p.apns_id = p_id AND p.app = p_app), p_now
    )
$$;

-- Ends expired pushes that no node has claimed, and returns them. A push whose expiry differs from that in the queue is
-- damaged, and stays until a claim compares its checksum.
CREATE FUNCTION martlet.expire(p_now bigint, p_limit bigint) RETURNS TABLE (
    apns_id uuid, app bigint, is_production boolean, accepted_at bigint, attempts integer,
    unknown_tries integer
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    numbers bigint[];
BEGIN
    SELECT array_agg(due.number) INTO numbers FROM (
        SELECT q.number FROM martlet.queue q
        WHERE q.expires_at <= p_now AND q.node IS NULL
            AND q.expires_at = (SELECT p.expires_at FROM martlet.push p WHERE p.number = q.number)
        ORDER BY q.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) due;
    IF numbers IS NULL THEN RETURN; END IF;
    RETURN QUERY
    SELECT p.apns_id, p.app, p.is_production, p.accepted_at, q.attempts, q.unknown_tries
    FROM martlet.queue q JOIN martlet.push p USING (number) WHERE q.number = ANY (numbers)
    ORDER BY q.expires_at;
    PERFORM martlet.finish_alike(p_now, numbers, 'expired');
END $$;

-- Queues dead letters that are not damaged again, all of an app if no identifiers are given, and returns their number.
CREATE FUNCTION martlet.requeue(p_app bigint, p_ids uuid[], p_now bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    moved bigint;
    jobs bigint[];
    job_counts bigint[];
BEGIN
    WITH ended AS (
        DELETE FROM martlet.outcome o
        WHERE o.app = p_app AND o.state = 'dead' AND o.reason IS DISTINCT FROM 'Damaged'
            AND (p_ids IS NULL OR o.apns_id = ANY (p_ids))
        RETURNING o.apns_id, o.unknown_tries
    ), letter AS (
        SELECT p.number, p.app, p.is_production, martlet.urgency(p.priority, p.job) AS urgency, p.expires_at,
            p.order_key, p.job, ended.unknown_tries
        FROM ended JOIN martlet.push p ON p.apns_id = ended.apns_id AND p.app = p_app
    ), queued AS (
        INSERT INTO martlet.queue (
            number, app, is_production, urgency, ready_at, expires_at, order_key, unknown_tries
        )
        SELECT l.number, l.app, l.is_production, l.urgency, p_now, l.expires_at, l.order_key, l.unknown_tries
        FROM letter l
    ), counted AS (
        SELECT letter.job, count(*) AS count FROM letter GROUP BY letter.job
    )
    SELECT coalesce(sum(c.count), 0), array_agg(c.job) FILTER (WHERE c.job IS NOT NULL),
        array_agg(-c.count) FILTER (WHERE c.job IS NOT NULL)
    INTO moved, jobs, job_counts FROM counted c;
    IF jobs IS NOT NULL THEN
        PERFORM martlet.count_outcomes(jobs, array_fill('dead'::text, ARRAY[cardinality(jobs)]), job_counts, p_now);
    END IF;
    RETURN moved;
END $$;

-- Cancels pushes of a lane that no node has claimed, up to a number.
CREATE FUNCTION martlet.purge(
    p_app bigint, p_is_production boolean, p_last bigint, p_now bigint, p_limit bigint
) RETURNS TABLE (apns_id uuid, accepted_at bigint, attempts integer, unknown_tries integer)
LANGUAGE plpgsql
{index_settings} AS $$
#variable_conflict use_column
DECLARE
    numbers bigint[];
    more bigint[];
BEGIN
    SELECT array_agg(found.number) INTO numbers FROM (
        SELECT q.number FROM martlet.queue q
        WHERE q.app = p_app AND q.is_production = p_is_production AND q.ready_at IS NOT NULL
            AND q.number <= p_last AND q.node IS NULL AND (q.order_key IS NULL OR q.line = 1)
        LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) found;
    numbers := coalesce(numbers, '{}');
    IF cardinality(numbers) < p_limit THEN
        SELECT array_agg(found.number) INTO more FROM (
            SELECT q.number FROM martlet.queue q
            WHERE q.app = p_app AND q.is_production = p_is_production AND q.number <= p_last
                AND q.node IS NULL AND q.line <= 0 AND q.order_key IS NOT NULL
            LIMIT p_limit - cardinality(numbers) FOR UPDATE SKIP LOCKED
        ) found;
        numbers := numbers || coalesce(more, '{}');
    END IF;
    -- Pushes behind others: last, because a step that ends the first one of a line makes the next one ready.
    IF cardinality(numbers) < p_limit THEN
        SELECT array_agg(found.number) INTO more FROM (
            SELECT q.number FROM martlet.queue q
            WHERE q.app = p_app AND q.is_production = p_is_production AND q.number <= p_last
                AND q.node IS NULL AND q.line = 2
            LIMIT p_limit - cardinality(numbers) FOR UPDATE SKIP LOCKED
        ) found;
        numbers := numbers || coalesce(more, '{}');
    END IF;
    IF numbers = '{}' THEN RETURN; END IF;
    RETURN QUERY
    SELECT p.apns_id, p.accepted_at, q.attempts, q.unknown_tries
    FROM martlet.queue q JOIN martlet.push p USING (number) WHERE q.number = ANY (numbers);
    PERFORM martlet.finish_alike(p_now, numbers, 'cancelled');
END $$;
