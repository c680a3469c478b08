-- SPDX-License-Identifier: Apache-2.0

-- The functions that line up due pushes with an order key, each behind the others of its key.
--
-- The order is that of their numbers and not of their times, because relays' clocks differ and a push may be
-- committed after one with a later time. Therefore a push lines up together with all pushes of its key with lower
-- numbers, except scheduled ones.
--
-- A transaction that lines up a push behind a first one locks the row of the first one until it commits, so that
-- the end of the first one comes later and finds its successor. When a first push has ended and another has taken
-- its place at the same moment, the unique index is violated, and the next claim tries again.

CREATE FUNCTION martlet.line_up(p_app bigint, p_is_production boolean, p_from bigint, p_now bigint)
RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    numbers bigint[];
BEGIN
    IF NOT EXISTS (
        SELECT FROM martlet.queue q
        WHERE q.app = p_app AND q.is_production = p_is_production AND q.ready_at BETWEEN p_from AND p_now
            AND q.node IS NULL AND q.line <= 0 AND q.order_key IS NOT NULL
    ) THEN RETURN; END IF;
    -- Only one transaction lines up pushes of a lane at a time; another one returns, and its next claim tries again.
    IF NOT pg_try_advisory_xact_lock(1298232180, hashtext(p_app || ' ' || p_is_production)) THEN
        RETURN;
    END IF;
    WITH arrived AS MATERIALIZED (
        SELECT q.number, q.order_key FROM martlet.queue q
        WHERE q.app = p_app AND q.is_production = p_is_production AND q.ready_at BETWEEN p_from AND p_now
            AND q.node IS NULL AND q.line <= 0 AND q.order_key IS NOT NULL
        ORDER BY q.ready_at, q.number LIMIT 1000
    ), keys AS (
        SELECT arrived.order_key, max(arrived.number) AS last FROM arrived GROUP BY arrived.order_key
    )
    SELECT array_agg(found.number) INTO numbers FROM (
        SELECT arrived.number FROM arrived
        UNION
        SELECT earlier.number FROM keys CROSS JOIN LATERAL (
            SELECT q.number FROM martlet.queue q
            WHERE q.app = p_app AND q.is_production = p_is_production AND q.order_key = keys.order_key
                AND q.line = 0 AND q.number < keys.last
        ) earlier
    ) found;
    WITH due AS MATERIALIZED (
        SELECT q.number, q.order_key, q.line, q.ready_check IS DISTINCT FROM ~q.ready_at AS has_changed_time
        FROM martlet.queue q
        WHERE q.number = ANY (numbers) AND q.node IS NULL AND q.line <= 0 FOR UPDATE SKIP LOCKED
    ), damaged AS (
        -- The last update makes a changed time appear to be right. The checksum then shows that the push is damaged.
        UPDATE martlet.push p SET checksum = ~p.checksum FROM due WHERE p.number = due.number AND due.has_changed_time
    ), first AS MATERIALIZED (
        SELECT q.order_key FROM martlet.queue q
        WHERE q.app = p_app AND q.is_production = p_is_production AND q.line = 1
            AND q.order_key IN (SELECT due.order_key FROM due)
        ORDER BY q.number FOR SHARE
    ), places AS (
        SELECT due.number, first.order_key IS NULL
            AND row_number() OVER its_line = 1 AS is_first
        FROM due LEFT JOIN first USING (order_key)
        WINDOW its_line AS (PARTITION BY due.order_key ORDER BY due.line DESC, due.number)
    )
    UPDATE martlet.queue q
    SET line = CASE WHEN places.is_first THEN 1 ELSE 2 END,
        ready_at = CASE WHEN places.is_first THEN greatest(q.ready_at, p_from) END
    FROM places WHERE q.number = places.number;
EXCEPTION WHEN unique_violation THEN
    NULL;
END $$;

-- Makes the next push of each order key ready after the first one has ended.
CREATE FUNCTION martlet.advance_lines(
    p_apps bigint[], p_are_production boolean[], p_order_keys text[], p_now bigint
) RETURNS void LANGUAGE plpgsql
{index_settings} AS $$
DECLARE
    waiting bigint[];
    moved bigint;
BEGIN
    LOOP
        SELECT array_agg(next.number) INTO waiting
        FROM unnest(p_apps, p_are_production, p_order_keys) AS k (app, is_production, order_key)
        CROSS JOIN LATERAL (
            SELECT q.number FROM martlet.queue q
            WHERE q.app = k.app AND q.is_production = k.is_production AND q.order_key = k.order_key
                AND q.line = 2
            ORDER BY q.number LIMIT 1
        ) next
        WHERE NOT EXISTS (
            SELECT FROM martlet.queue q
            WHERE q.app = k.app AND q.is_production = k.is_production AND q.order_key = k.order_key
                AND q.line = 1
        );
        EXIT WHEN waiting IS NULL;
        UPDATE martlet.queue SET line = 1, ready_at = p_now WHERE number = ANY (waiting) AND line = 2;
        GET DIAGNOSTICS moved = ROW_COUNT;
        -- A push that was cancelled meanwhile is skipped: the next iteration finds the one behind it.
        EXIT WHEN moved = cardinality(waiting);
    END LOOP;
END $$;

-- Returns the pushes with an order key that have not ended.
CREATE FUNCTION martlet.pushes_of_key(p_app bigint, p_is_production boolean, p_order_key text)
RETURNS TABLE (number bigint) LANGUAGE sql STABLE AS $$
    -- One condition for each index.
    SELECT q.number FROM martlet.queue q
    WHERE q.app = p_app AND q.is_production = p_is_production AND q.order_key = p_order_key AND q.line = 1
    UNION ALL
    SELECT q.number FROM martlet.queue q
    WHERE q.app = p_app AND q.is_production = p_is_production AND q.order_key = p_order_key AND q.line IN (0, 2)
    UNION ALL
    SELECT q.number FROM martlet.queue q
    WHERE q.app = p_app AND q.is_production = p_is_production AND q.order_key = p_order_key AND q.line < 0
$$;
