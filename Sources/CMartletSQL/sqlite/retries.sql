-- SPDX-License-Identifier: Apache-2.0

-- For the number and age of pushes that wait for another attempt. A partial index, so other pushes do not pay for it.
CREATE INDEX IF NOT EXISTS push_retry ON push (app, environment, accepted_at) WHERE attempts > 0 AND ready_at IS NOT NULL;
