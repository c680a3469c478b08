extension Schema {
    /// The function that stores pushes and returns a row for each push that was not stored.
    ///
    /// Concurrent transactions conflict only on the identifier, through its unique index. The later one reads the
    /// stored push after the earlier one has committed. After the insertion the outcomes are searched for the
    /// identifier, because the other push may have ended meanwhile.
    static let accepting = """
        CREATE FUNCTION martlet.accept(
            p_now bigint, p_apps bigint[], p_are_production boolean[], p_urgencies bigint[], p_ids uuid[],
            p_fingerprints bytea[], p_tokens text[], p_channels text[], p_bundles text[], p_push_types text[],
            p_topics text[], p_priorities text[], p_expirations text[], p_collapse_ids text[], p_traces text[],
            p_order_keys text[], p_not_before bigint[], p_expires_at bigint[], p_payloads bytea[]
        ) RETURNS TABLE (
            place bigint, is_same boolean, apns_id uuid, is_production boolean, accepted_at bigint,
            is_claimed boolean, ended_at bigint, state text, status integer, reason text, unique_id text,
            unregistered_at bigint, attempts integer, unknown_tries integer,
            dead_cursor bigint, dead_since bigint, dead_learnt_at bigint, dead_reason text
        ) LANGUAGE plpgsql
        \(byIndexes) AS $$
        #variable_conflict use_column
        DECLARE
            numbers bigint[] := ARRAY(
                SELECT nextval('martlet.push_number') FROM generate_series(1, cardinality(p_ids))
            );
            kept bigint[];
        BEGIN
            WITH fresh AS (
                INSERT INTO martlet.push (
                    number, app, is_production, apns_id, fingerprint, token, channel, bundle, push_type, topic,
                    priority, expiration, collapse_id, trace, order_key, expires_at, accepted_at, payload
                )
                SELECT g.number, g.app, g.is_production, g.apns_id, g.fingerprint, g.token, g.channel, g.bundle,
                    g.push_type, g.topic, g.priority, g.expiration, g.collapse_id, g.trace, g.order_key,
                    g.expires_at, p_now, g.payload
                FROM unnest(
                    numbers, p_apps, p_are_production, p_ids, p_fingerprints, p_tokens, p_channels, p_bundles,
                    p_push_types, p_topics, p_priorities, p_expirations, p_collapse_ids, p_traces, p_order_keys,
                    p_expires_at, p_payloads
                ) AS g (
                    number, app, is_production, apns_id, fingerprint, token, channel, bundle, push_type, topic,
                    priority, expiration, collapse_id, trace, order_key, expires_at, payload
                )
                WHERE NOT EXISTS (
                    SELECT FROM martlet.dead_token d WHERE d.app = g.app AND d.token = g.token
                )
                -- In one order, so that two who hand in the same pushes do not wait for one another.
                ORDER BY g.apns_id, g.number
                ON CONFLICT DO NOTHING RETURNING number
            )
            SELECT array_agg(fresh.number) INTO kept FROM fresh;
            IF cardinality(array_remove(p_fingerprints, NULL)) > 0 THEN
                WITH gone AS (
                    DELETE FROM martlet.push p USING martlet.outcome o
                    WHERE p.number = ANY (kept) AND p.fingerprint IS NOT NULL
                        AND o.apns_id = p.apns_id AND o.app = p.app
                    RETURNING p.number
                )
                SELECT array_agg(k) INTO kept FROM unnest(kept) k WHERE k NOT IN (SELECT gone.number FROM gone);
            END IF;
            INSERT INTO martlet.queue (number, app, is_production, urgency, line, ready_at, expires_at, order_key)
            SELECT g.number, g.app, g.is_production, g.urgency, CASE WHEN g.not_before > p_now THEN -1 ELSE 0 END,
                greatest(g.not_before, p_now), g.expires_at, g.order_key
            FROM unnest(numbers, p_apps, p_are_production, p_urgencies, p_not_before, p_expires_at, p_order_keys)
                AS g (number, app, is_production, urgency, not_before, expires_at, order_key)
            WHERE g.number = ANY (kept);
            IF cardinality(kept) = cardinality(numbers) THEN RETURN; END IF;
            RETURN QUERY
            SELECT g.place, k.fingerprint = g.fingerprint, k.apns_id, k.is_production, k.accepted_at, k.is_claimed,
                k.ended_at, k.state, k.status, k.reason, k.unique_id, k.unregistered_at, k.attempts, k.unknown_tries,
                d.cursor, d.since, d.learnt_at, d.reason
            FROM unnest(numbers, p_apps, p_ids, p_tokens, p_fingerprints) WITH ORDINALITY
                AS g (number, app, apns_id, token, fingerprint, place)
            LEFT JOIN LATERAL martlet.known(g.app, g.apns_id) k ON g.fingerprint IS NOT NULL
            LEFT JOIN martlet.dead_token d ON d.app = g.app AND d.token = g.token
            WHERE kept IS NULL OR NOT g.number = ANY (kept);
        END $$;

        """

    /// The functions for back ends in any language, which enqueue a push in a transaction of their own.
    static let enqueueing = """
        CREATE FUNCTION martlet.milliseconds(p_time timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
            SELECT floor(extract(epoch FROM p_time) * 1000)::bigint
        $$;

        -- What makes a push wait for others: its channel, its activity or its collapse identifier.
        CREATE FUNCTION martlet.order_key(
            p_token text, p_channel text, p_bundle text, p_push_type text, p_collapse_id text
        ) RETURNS text LANGUAGE sql IMMUTABLE AS $$
            SELECT CASE
                WHEN p_channel IS NOT NULL THEN 'channel ' || p_bundle || ' ' || p_channel
                WHEN p_push_type = 'liveactivity' THEN 'activity ' || p_token
                WHEN p_collapse_id IS NOT NULL THEN 'collapse ' || p_token || ' ' || p_collapse_id
            END
        $$;

        CREATE FUNCTION martlet.enqueue(
            app text,
            payload json,
            topic text,
            token text DEFAULT NULL,
            channel text DEFAULT NULL,
            push_type text DEFAULT 'alert',
            priority integer DEFAULT 10,
            environment text DEFAULT 'production',
            id uuid DEFAULT NULL,
            collapse_id text DEFAULT NULL,
            not_before timestamptz DEFAULT NULL,
            expires_at timestamptz DEFAULT NULL,
            trace_parent text DEFAULT NULL
        ) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = martlet, pg_temp AS $$
        #variable_conflict use_variable
        DECLARE
            push_id uuid := coalesce(id, gen_random_uuid());
            body bytea := convert_to(payload::text, 'UTF8');
            limit_bytes integer := CASE WHEN push_type = 'voip' OR channel IS NOT NULL THEN 5120 ELSE 4096 END;
            expiration text := CASE
                WHEN expires_at IS NOT NULL THEN ceil(extract(epoch FROM expires_at))::bigint::text
            END;
            now_ms bigint := martlet.milliseconds(clock_timestamp());
            other record;
        BEGIN
            IF environment NOT IN ('production', 'development') THEN
                RAISE EXCEPTION 'environment must be production or development, not %', environment
                    USING ERRCODE = '22023';
            END IF;
            -- A relay registers its apps when it starts; without one the push would stay in the queue for ever.
            IF NOT EXISTS (SELECT FROM martlet.app a WHERE a.name = app) THEN
                RAISE EXCEPTION 'no relay serves the app %', app
                    USING ERRCODE = '22023', HINT = 'Name an app of the configuration of a relay that has started.';
            END IF;
            IF (token IS NULL) = (channel IS NULL) THEN
                RAISE EXCEPTION 'one of token and channel must be given' USING ERRCODE = '22023';
            END IF;
            IF token IS NOT NULL AND (token !~ '^([0-9a-fA-F]{2})+$' OR length(token) > 400) THEN
                RAISE EXCEPTION 'token must be hexadecimal digits, as the app got it' USING ERRCODE = '22023';
            END IF;
            IF priority NOT IN (1, 5, 10) THEN
                RAISE EXCEPTION 'priority must be 10, 5 or 1, not %', priority USING ERRCODE = '22023';
            END IF;
            IF json_typeof(payload) <> 'object' THEN
                RAISE EXCEPTION 'payload must be a JSON object' USING ERRCODE = '22023';
            END IF;
            IF octet_length(body) > limit_bytes THEN
                RAISE EXCEPTION 'payload has % bytes, and may have %', octet_length(body), limit_bytes
                    USING ERRCODE = '22023';
            END IF;
            IF octet_length(collapse_id) > 64 THEN
                RAISE EXCEPTION 'collapse_id has % bytes, and may have 64', octet_length(collapse_id)
                    USING ERRCODE = '22023';
            END IF;
            SELECT * INTO other FROM martlet.accept(
                now_ms, ARRAY[martlet.app_number(app)], ARRAY[environment = 'production'],
                ARRAY[CASE priority WHEN 10 THEN 0 WHEN 5 THEN 1 ELSE 2 END]::bigint[], ARRAY[push_id],
                ARRAY[CASE WHEN id IS NOT NULL THEN martlet.fingerprint(environment = 'production', lower(token),
                    channel, CASE WHEN channel IS NOT NULL THEN topic END, push_type,
                    CASE WHEN channel IS NULL THEN topic END, priority::text, expiration, collapse_id, body) END],
                ARRAY[lower(token)], ARRAY[channel],
                ARRAY[CASE WHEN channel IS NOT NULL THEN topic END], ARRAY[push_type],
                ARRAY[CASE WHEN channel IS NULL THEN topic END], ARRAY[priority::text], ARRAY[expiration],
                ARRAY[collapse_id], ARRAY[trace_parent],
                ARRAY[martlet.order_key(lower(token), channel, topic, push_type, collapse_id)],
                ARRAY[martlet.milliseconds(not_before)], ARRAY[martlet.milliseconds(expires_at)], ARRAY[body]
            );
            IF FOUND AND other.is_same IS FALSE THEN
                RAISE EXCEPTION 'another push of the app has the id %', push_id USING ERRCODE = '23505';
            END IF;
            IF FOUND AND other.dead_cursor IS NOT NULL AND other.is_same IS NULL THEN
                RETURN NULL;
            END IF;
            -- Only where everybody rests: words at each commit would hold busy writers up.
            IF EXISTS (SELECT FROM martlet.node n WHERE n.is_idle) THEN
                PERFORM pg_notify('martlet', '');
            END IF;
            RETURN push_id;
        END $$;
        COMMENT ON FUNCTION martlet.enqueue IS
            'Keeps a push for the relays to send, as part of the caller''s transaction; returns its apns-id, or null '
            'when Apple has called the token dead. Called again with the same id and the same push it does nothing.';

        """
}
