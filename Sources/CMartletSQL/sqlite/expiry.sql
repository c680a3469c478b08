-- SPDX-License-Identifier: Apache-2.0

-- Excludes dead letters, which do not expire any more, from the search for expired pushes each second.
DROP INDEX push_expiry;
CREATE INDEX push_expiry ON push (expires_at)
    WHERE expires_at IS NOT NULL AND (ready_at IS NOT NULL OR in_line = 1);
