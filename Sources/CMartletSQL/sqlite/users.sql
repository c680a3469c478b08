-- SPDX-License-Identifier: Apache-2.0

-- The user whose installation had the token when the push was accepted. The token may belong to another user since.
ALTER TABLE push ADD COLUMN user_id TEXT;
-- By the end of the identifier, for the same reason as `push_token`.
CREATE INDEX push_user ON push (substr(user_id, -2)) WHERE user_id IS NOT NULL;
