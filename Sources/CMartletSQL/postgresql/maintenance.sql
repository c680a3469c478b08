-- SPDX-License-Identifier: Apache-2.0

-- The functions that create partitions in advance and delete old outcomes.

-- Creates the partition of outcomes for the day of a time, unless it exists.
CREATE FUNCTION martlet.prepare_day(p_time bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    day bigint := p_time / 86400000;
    name text := 'outcome_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD');
BEGIN
    IF to_regclass('martlet.' || name) IS NOT NULL THEN RETURN; END IF;
    -- A long read of the table must not block other transactions behind this statement.
    PERFORM set_config('lock_timeout', '200ms', true);
    EXECUTE format(
        'CREATE TABLE martlet.%I PARTITION OF martlet.outcome FOR VALUES FROM (%s) TO (%s)',
        name, day * 86400000, (day + 1) * 86400000
    );
EXCEPTION WHEN lock_not_available OR duplicate_table OR check_violation THEN
    NULL;
END $$;

-- Deletes outcomes that ended before a time, and their dead letters: up to a number of rows, and whole partitions.
CREATE FUNCTION martlet.forget(p_before bigint, p_limit bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    partition record;
    deleted bigint;
BEGIN
    WITH old AS (
        SELECT o.apns_id, o.app FROM martlet.outcome_other o WHERE o.ended_at < p_before LIMIT p_limit
    ), letters AS (
        DELETE FROM martlet.push p USING old WHERE p.apns_id = old.apns_id AND p.app = old.app
    )
    DELETE FROM martlet.outcome_other o USING old WHERE o.apns_id = old.apns_id AND o.app = old.app;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    FOR partition IN
        SELECT c.oid::regclass AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'martlet.outcome'::regclass AND c.relname ~ '^outcome_[0-9]{8}$'
            AND martlet.milliseconds(to_timestamp(right(c.relname, 8), 'YYYYMMDD') + interval '1 day')
                <= p_before
    LOOP
        PERFORM set_config('lock_timeout', '200ms', true);
        EXECUTE format(
            'DELETE FROM martlet.push p USING %s o WHERE o.state = ''dead'' AND p.apns_id = o.apns_id'
            ' AND p.app = o.app', partition.name
        );
        EXECUTE format('DROP TABLE %s', partition.name);
    END LOOP;
    RETURN deleted;
EXCEPTION WHEN lock_not_available THEN
    RETURN 0;
END $$;
