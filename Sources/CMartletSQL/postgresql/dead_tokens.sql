-- SPDX-License-Identifier: Apache-2.0

-- Apple's 410 concerns a token in one environment and for one topic. Older rows have neither and are deleted: the next
-- 410 adds the token again. The functions of accept.sql, order_keys.sql, settle.sql and import.sql are replaced afterwards.

TRUNCATE martlet.dead_token;
ALTER TABLE martlet.dead_token DROP CONSTRAINT dead_token_pkey,
    ADD COLUMN is_production boolean NOT NULL, ADD COLUMN topic text COLLATE "C" NOT NULL;
-- Without environment and topic, which would make it larger: a token has few rows.
CREATE INDEX dead_token_token ON martlet.dead_token (app, token);
DROP FUNCTION martlet.adopt_dead_tokens;
