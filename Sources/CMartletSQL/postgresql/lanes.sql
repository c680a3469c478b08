-- SPDX-License-Identifier: Apache-2.0

-- The table of paused lanes, the function that purges a lane, and the index for searches by device token.

CREATE TABLE martlet.lane_pause (
    app bigint NOT NULL,
    is_production boolean NOT NULL,
    since bigint NOT NULL,
    caller text NOT NULL,
    PRIMARY KEY (app, is_production)
);

-- By the last byte of the token, which is random: insertions change 256 pages, not a different one each.
CREATE INDEX push_token ON martlet.push (right(token, 2), number) WHERE token IS NOT NULL;

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
