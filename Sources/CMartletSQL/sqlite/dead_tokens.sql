-- SPDX-License-Identifier: Apache-2.0

-- Apple's 410 concerns a token in one environment and for one topic. Older rows have neither and are deleted: the next
-- 410 adds the token again. Cursors continue after the existing ones.
ALTER TABLE dead_token RENAME TO earlier_dead_token;
CREATE TABLE dead_token (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT, app INTEGER NOT NULL, token TEXT NOT NULL, environment TEXT NOT NULL,
    topic TEXT NOT NULL, since INTEGER, learnt_at INTEGER NOT NULL, reason TEXT NOT NULL
);
INSERT INTO sqlite_sequence SELECT 'dead_token', seq FROM sqlite_sequence WHERE name = 'earlier_dead_token';
DROP TABLE earlier_dead_token;
-- Without environment and topic, which would make it larger: a token has few rows.
CREATE INDEX dead_token_token ON dead_token (app, token);
