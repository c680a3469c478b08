-- For the number and the age of pushes that are sent again, which few are; it costs nothing for the others.
CREATE INDEX IF NOT EXISTS push_retry ON push (app, environment, accepted_at) WHERE attempts > 0 AND ready_at IS NOT NULL;
