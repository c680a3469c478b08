-- SPDX-License-Identifier: Apache-2.0

-- The functions for back ends in any language, which enqueue a push, or a request about a surface, in a transaction of
-- their own.

CREATE FUNCTION martlet.milliseconds(p_time timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT floor(extract(epoch FROM p_time) * 1000)::bigint
$$;

-- Returns the key of the pushes that are sent in order: channel, activity or collapse identifier; null for none.
CREATE FUNCTION martlet.order_key(
    p_token text, p_channel text, p_bundle_id text, p_push_type text, p_collapse_id text
) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_channel IS NOT NULL THEN 'channel ' || p_bundle_id || ' ' || p_channel
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
    trace_parent text DEFAULT NULL,
    supersede boolean DEFAULT false
) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = martlet, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    push_id uuid := coalesce(id, gen_random_uuid());
    body bytea := convert_to(payload::text, 'UTF8');
    limit_bytes integer := CASE WHEN push_type = 'voip' OR channel IS NOT NULL THEN 5120 ELSE 4096 END;
    expiration text := CASE
        WHEN expires_at IS NOT NULL THEN ceil(extract(epoch FROM expires_at))::bigint::text
    END;
    line_key text := martlet.order_key(lower(token), channel, topic, push_type, collapse_id);
    now_ms bigint := martlet.milliseconds(clock_timestamp());
    other record;
BEGIN
    IF environment NOT IN ('production', 'development') THEN
        RAISE EXCEPTION 'environment must be production or development, not %', environment
            USING ERRCODE = '22023';
    END IF;
    -- A relay registers its apps when it starts. No relay would send the push of another app.
    IF NOT EXISTS (SELECT FROM martlet.app a WHERE a.name = app) THEN
        RAISE EXCEPTION 'no relay serves the app %', app
            USING ERRCODE = '22023', HINT = 'Name an app of the configuration of a relay that has started.';
    END IF;
    IF (token IS NULL) = (channel IS NULL) THEN
        RAISE EXCEPTION 'exactly one of token and channel is required' USING ERRCODE = '22023';
    END IF;
    IF token IS NOT NULL AND (token !~ '^([0-9a-fA-F]{2})+$' OR length(token) > 400) THEN
        RAISE EXCEPTION 'token must consist of hexadecimal digits, as the app received it' USING ERRCODE = '22023';
    END IF;
    IF priority NOT IN (1, 5, 10) THEN
        RAISE EXCEPTION 'priority must be 10, 5 or 1, not %', priority USING ERRCODE = '22023';
    END IF;
    IF json_typeof(payload) <> 'object' THEN
        RAISE EXCEPTION 'payload must be a JSON object' USING ERRCODE = '22023';
    END IF;
    IF octet_length(body) > limit_bytes THEN
        RAISE EXCEPTION 'payload has % bytes; the maximum is %', octet_length(body), limit_bytes
            USING ERRCODE = '22023';
    END IF;
    IF octet_length(collapse_id) > 64 THEN
        RAISE EXCEPTION 'collapse_id has % bytes; the maximum is 64', octet_length(collapse_id)
            USING ERRCODE = '22023';
    END IF;
    IF supersede AND line_key IS NULL THEN
        RAISE EXCEPTION 'supersede needs collapse_id, unless the push is for a channel or a Live Activity'
            USING ERRCODE = '22023';
    END IF;
    -- Waits for the transaction that seals the outbox. This one has no key to seal the push.
    LOCK TABLE martlet.push IN ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM martlet.sealed_key) THEN
        RAISE EXCEPTION 'the outbox is sealed, and the database has no key to seal a push'
            USING ERRCODE = '55000', HINT = 'Send the push to a relay, over HTTP.';
    END IF;
    SELECT * INTO other FROM martlet.accept(
        ARRAY[now_ms], ARRAY[martlet.app_number(app)], ARRAY[environment = 'production'],
        ARRAY[martlet.urgency(priority::text, NULL)]::bigint[], ARRAY[push_id],
        ARRAY[CASE WHEN id IS NOT NULL THEN martlet.fingerprint(environment = 'production', lower(token),
            channel, CASE WHEN channel IS NOT NULL THEN topic END, push_type,
            CASE WHEN channel IS NULL THEN topic END, priority::text, expiration, collapse_id, body) END],
        ARRAY[lower(token)], ARRAY[channel],
        ARRAY[CASE WHEN channel IS NOT NULL THEN topic END], ARRAY[push_type],
        ARRAY[CASE WHEN channel IS NULL THEN topic END], ARRAY[priority::text], ARRAY[expiration],
        ARRAY[collapse_id], ARRAY[trace_parent],
        ARRAY[line_key],
        ARRAY[martlet.milliseconds(not_before)], ARRAY[martlet.milliseconds(expires_at)],
        ARRAY[martlet.checksum(app, environment = 'production', push_id, lower(token), channel,
            CASE WHEN channel IS NOT NULL THEN topic END, push_type, CASE WHEN channel IS NULL THEN topic END,
            priority::text, expiration, collapse_id, trace_parent, line_key, martlet.milliseconds(expires_at),
            body)],
        ARRAY[body], p_waits => true
    );
    IF FOUND AND other.is_same IS FALSE THEN
        RAISE EXCEPTION 'another push of the app has the id %', push_id USING ERRCODE = '23505';
    END IF;
    IF FOUND AND other.token_cursor IS NOT NULL AND other.is_same IS NULL THEN
        RETURN NULL;
    END IF;
    IF supersede AND other.place IS NULL THEN
        INSERT INTO martlet.superseding (number)
        SELECT p.number FROM martlet.push p JOIN martlet.app a ON a.number = p.app
        WHERE p.apns_id = push_id AND a.name = app;
    END IF;
    -- Only when a node is idle: a notification at each commit would slow down concurrent writers.
    IF EXISTS (SELECT FROM martlet.node n WHERE n.is_idle) THEN
        PERFORM pg_notify('martlet', '');
    END IF;
    RETURN push_id;
END $$;

-- Ends the pushes that those of a transaction replace. It runs at the commit, because relays wait for the locks of
-- these pushes, and a back end may keep its transaction open for long.
--
-- The first call of a transaction does it for all of its pushes at once, because transactions that lock the pushes of
-- one key after those of another would deadlock.
--
-- A back end can make triggers run at once (`SET CONSTRAINTS`) and keep its transaction open. Then the trigger of an
-- inserted row with the number 0 removes the row before the insertion returns, and the pushes are left to the commit.
-- Their rows are replaced by rows with the opposite numbers, so that the triggers of the old rows find none.
CREATE FUNCTION martlet.supersede_at_commit() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = martlet, pg_temp
{index_settings} AS $$
DECLARE
    apps bigint[];
    are_production boolean[];
    order_keys text[];
    numbers bigint[];
BEGIN
    IF NEW.number = 0 THEN
        DELETE FROM martlet.superseding s WHERE s.transaction = NEW.transaction AND s.number = 0;
        RETURN NULL;
    END IF;
    IF NOT EXISTS (
        SELECT FROM martlet.superseding s WHERE s.transaction = NEW.transaction AND s.number = NEW.number
    ) THEN RETURN NULL; END IF;
    INSERT INTO martlet.superseding (number) VALUES (0);
    IF NOT EXISTS (SELECT FROM martlet.superseding s WHERE s.transaction = NEW.transaction AND s.number = 0) THEN
        SET CONSTRAINTS martlet.superseding DEFERRED;
        WITH newer AS (
            DELETE FROM martlet.superseding s WHERE s.transaction = NEW.transaction RETURNING s.number
        )
        INSERT INTO martlet.superseding (number) SELECT -newer.number FROM newer;
        RETURN NULL;
    END IF;
    WITH newer AS (
        DELETE FROM martlet.superseding s WHERE s.transaction = NEW.transaction RETURNING abs(s.number) AS number
    )
    SELECT array_agg(p.app ORDER BY p.number), array_agg(p.is_production ORDER BY p.number),
        array_agg(p.order_key ORDER BY p.number), array_agg(p.number ORDER BY p.number)
    INTO apps, are_production, order_keys, numbers FROM newer JOIN martlet.push p USING (number);
    PERFORM FROM martlet.supersede(
        martlet.milliseconds(clock_timestamp()), apps, are_production, order_keys, numbers
    );
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER superseding AFTER INSERT ON martlet.superseding
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION martlet.supersede_at_commit();

COMMENT ON FUNCTION martlet.enqueue IS
    'Stores a push for the relays to send, as part of the caller''s transaction. Returns its apns-id, or null when '
    'Apple has reported the token as unregistered. A repeated call with the same id and push has no effect.';

-- Adds a request about a surface, without a JSON to withdraw it, and returns the identifier of the request.
CREATE FUNCTION martlet.add_surface_request(
    p_app text, p_surface text, p_request json, p_is_absent boolean, p_revision bigint
) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    request_id uuid := gen_random_uuid();
    app_number bigint := (SELECT a.number FROM martlet.app a WHERE a.name = p_app);
    body text := p_request::text;
    limit_bytes integer := 262144;
BEGIN
    IF app_number IS NULL THEN
        RAISE EXCEPTION 'no relay serves the app %', p_app
            USING ERRCODE = '22023', HINT = 'Name an app of the configuration of a relay that has started.';
    END IF;
    IF (p_surface COLLATE "C" ~ '^[!-~]{1,120}$') IS NOT TRUE THEN
        RAISE EXCEPTION 'id must be 1 to 120 visible ASCII characters' USING ERRCODE = '22023';
    END IF;
    IF json_typeof(p_request) <> 'object' THEN
        RAISE EXCEPTION 'request must be a JSON object' USING ERRCODE = '22023';
    END IF;
    IF octet_length(body) > limit_bytes THEN
        RAISE EXCEPTION 'request has % bytes; the maximum is %', octet_length(body), limit_bytes
            USING ERRCODE = '22023';
    END IF;
    IF p_revision < 1 OR p_is_absent AND p_revision IS NOT NULL THEN
        RAISE EXCEPTION 'revision must be positive, and not be given with is_absent' USING ERRCODE = '22023';
    END IF;
    -- Waits for the transaction that seals the outbox.
    LOCK TABLE martlet.surface_request IN ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM martlet.sealed_key) THEN
        RAISE EXCEPTION 'the outbox is sealed, and the database has no key to seal a surface'
            USING ERRCODE = '55000', HINT = 'Send the surface to a relay, over HTTP.';
    END IF;
    INSERT INTO martlet.surface_request (app, id, surface, caller, request, is_absent, revision, created_at)
    VALUES (
        app_number, request_id, p_surface, 'role ' || session_user, body, coalesce(p_is_absent, false), p_revision,
        martlet.milliseconds(clock_timestamp())
    );
    RETURN request_id;
END $$;

CREATE FUNCTION martlet.enqueue_surface(
    app text,
    id text,
    request json,
    is_absent boolean DEFAULT false,
    revision bigint DEFAULT NULL
) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = martlet, pg_temp AS $$
BEGIN
    IF request IS NULL THEN
        RAISE EXCEPTION 'request must be a JSON object'
            USING ERRCODE = '22023', HINT = 'martlet.enqueue_withdrawal withdraws a surface.';
    END IF;
    RETURN martlet.add_surface_request(app, id, request, is_absent, revision);
END $$;

CREATE FUNCTION martlet.enqueue_withdrawal(app text, id text, revision bigint DEFAULT NULL)
RETURNS uuid LANGUAGE sql SECURITY DEFINER SET search_path = martlet, pg_temp AS $$
    SELECT martlet.add_surface_request(app, id, NULL, false, revision)
$$;

-- Numbers a request again at the commit, so that the later one of two transactions that wait for each other has the
-- greater number, wherever in the transaction it was added.
CREATE FUNCTION martlet.number_surface_request() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = martlet, pg_temp
{index_settings} AS $$
BEGIN
    UPDATE martlet.surface_request r SET number = DEFAULT WHERE r.number = NEW.number;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER numbering AFTER INSERT ON martlet.surface_request
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION martlet.number_surface_request();

COMMENT ON FUNCTION martlet.enqueue_surface IS
    'Stores a surface, as part of the caller''s transaction. A relay checks the request, which has the members of PUT, '
    'after the commit. Returns the identifier of the request, by which GET /v1/pushes/{id} shows that it was refused.';
COMMENT ON FUNCTION martlet.enqueue_withdrawal IS
    'Withdraws a surface, as part of the caller''s transaction. Returns the identifier of the request, by which '
    'GET /v1/pushes/{id} shows that it was refused.';
