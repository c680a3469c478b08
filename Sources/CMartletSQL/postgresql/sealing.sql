-- SPDX-License-Identifier: Apache-2.0

-- The functions that seal an outbox, whose relays encrypt tokens, payloads, the requests of jobs and surfaces, and the
-- states of sessions before they store them. The database has no key that opens them.

-- Stores the data key of an outbox, unless it has one. Relays then seal the rows.
CREATE FUNCTION martlet.add_sealed_key(p_id bytea, p_number bigint, p_bytes bytea) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Waits for transactions that register nodes and store plain values. Those that come later find the key. Relays
    -- seal the surfaces of requests when they carry them out.
    LOCK TABLE martlet.sealed_key, martlet.node, martlet.push, martlet.surface_request IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM martlet.sealed_key) THEN RETURN; END IF;
    -- A relay without keys is refused only when it registers. One with an expired lease may renew it.
    IF (SELECT count(*) FROM martlet.node) > 1 THEN
        RAISE EXCEPTION 'other relays use the database: stop them, and start one relay with sealing-keys first'
            USING ERRCODE = '55006';
    END IF;
    INSERT INTO martlet.sealed_key (id, number, bytes) VALUES (p_id, p_number, p_bytes);
END $$;

-- Replaces the values of pushes by sealed ones.
CREATE FUNCTION martlet.seal_pushes(
    p_numbers bigint[], p_tokens text[], p_order_keys text[], p_payloads bytea[], p_checksums bigint[],
    p_fingerprints bytea[]
) RETURNS void LANGUAGE sql AS $$
    UPDATE martlet.push p SET token = u.token, order_key = u.order_key, payload = u.payload, checksum = u.checksum,
        fingerprint = u.fingerprint
    FROM unnest(p_numbers, p_tokens, p_order_keys, p_payloads, p_checksums, p_fingerprints)
        AS u (number, token, order_key, payload, checksum, fingerprint)
    WHERE p.number = u.number;
    UPDATE martlet.queue q SET order_key = u.order_key FROM unnest(p_numbers, p_order_keys) AS u (number, order_key)
    WHERE q.number = u.number AND q.order_key IS DISTINCT FROM u.order_key;
$$;
