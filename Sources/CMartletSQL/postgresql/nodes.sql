-- SPDX-License-Identifier: Apache-2.0

-- The functions that register nodes, renew their leases and delete expired nodes.

-- Releases the pushes of a node's claims except for some claims, and returns their number.
CREATE FUNCTION martlet.release(p_node bigint, p_but bigint[], p_may_have_been_sent boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    released bigint;
BEGIN
    UPDATE martlet.queue q
    SET node = NULL, unknown_tries = q.unknown_tries + CASE WHEN p_may_have_been_sent THEN 1 ELSE 0 END
    WHERE q.node = p_node AND NOT q.claim = ANY (p_but);
    GET DIAGNOSTICS released = ROW_COUNT;
    RETURN released;
END $$;

-- Deletes nodes whose lease has expired, and releases the claims of all nodes that do not exist; returns the number of
-- released pushes. It reads the whole queue.
CREATE FUNCTION martlet.delete_expired_nodes() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    missing integer;
    released bigint := 0;
BEGIN
    -- Skips a node that a claim in progress has locked; the next call deletes it.
    DELETE FROM martlet.node n WHERE n.number IN (
        SELECT d.number FROM martlet.node d WHERE d.lease_until < clock_timestamp() FOR UPDATE SKIP LOCKED
    );
    -- The missing nodes are found first: a single statement would not see a node that registers while it runs, and
    -- would release the claims of that node.
    FOR missing IN
        SELECT DISTINCT q.node FROM martlet.queue q
        WHERE q.node IS NOT NULL AND NOT EXISTS (SELECT FROM martlet.node n WHERE n.number = q.node)
    LOOP
        released := released + martlet.release(missing, '{}', true);
    END LOOP;
    RETURN released;
END $$;

-- Registers a node and returns its number. A node without keys is refused by a sealed outbox: it would send pushes to
-- sealed tokens.
CREATE FUNCTION martlet.register(p_name text, p_version text, p_lease_seconds bigint, p_has_keys boolean)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    registered integer;
BEGIN
    PERFORM martlet.delete_expired_nodes();
    PERFORM martlet.prepare_day(martlet.milliseconds(clock_timestamp()));
    INSERT INTO martlet.node (name, version, lease_until)
    VALUES (p_name, p_version, clock_timestamp() + make_interval(secs => p_lease_seconds))
    RETURNING number INTO registered;
    -- After the insertion, which waits for the transaction that seals the outbox.
    IF NOT p_has_keys AND EXISTS (SELECT FROM martlet.sealed_key) THEN
        RAISE EXCEPTION 'the outbox is sealed with the key %: set sealing-keys to the file with that key',
            (SELECT k.number FROM martlet.sealed_key k) USING ERRCODE = '55000';
    END IF;
    RETURN registered;
END $$;

-- Handles the heartbeat of a node: renews its lease, publishes its data, and releases the claims of expired nodes.
CREATE FUNCTION martlet.beat(p_node bigint, p_lease_seconds bigint, p_is_idle boolean, p_published_data text)
RETURNS TABLE (is_registered boolean, is_to_drain boolean, nodes bigint, is_leader boolean, released_pushes bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    own record;
    released bigint := 0;
BEGIN
    UPDATE martlet.node n
    SET lease_until = clock_timestamp() + make_interval(secs => p_lease_seconds), is_idle = p_is_idle,
        published_data = p_published_data,
        -- A lease is renewed after a third of its time: with less than a third left, a renewal was missed.
        steady_since = CASE
            WHEN n.lease_until < clock_timestamp() + make_interval(secs => p_lease_seconds / 3.0)
            THEN clock_timestamp() ELSE n.steady_since
        END
    WHERE n.number = p_node RETURNING n.* INTO own;
    -- After an outage of the database no node could renew its lease: the others have the time of a lease to do so.
    IF own.steady_since <= clock_timestamp() - make_interval(secs => p_lease_seconds)
        AND EXISTS (SELECT FROM martlet.node n WHERE n.lease_until < clock_timestamp())
    THEN
        released := martlet.delete_expired_nodes();
    END IF;
    PERFORM martlet.prepare_day(martlet.milliseconds(clock_timestamp() + interval '1 day'));
    RETURN QUERY
    SELECT own.number IS NOT NULL, coalesce(own.is_to_drain, false), count(*), min(n.number) = p_node, released
    FROM martlet.node n;
END $$;

-- Deletes a node that stops, and releases its claims.
CREATE FUNCTION martlet.leave(p_node bigint, p_may_have_sent boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- First, because the deletion waits for claims in progress to commit.
    DELETE FROM martlet.node n WHERE n.number = p_node;
    PERFORM martlet.release(p_node, '{}', p_may_have_sent);
END $$;
