-- What an alert rule stands on may lie on several streams: where each of them stood is kept for each. An alert that stood open by
-- the columns of before is fired anew.
UPDATE webhook_rule SET state = 'unknown', alert_id = NULL, fired_from = NULL, fired_to = NULL WHERE alert_id IS NOT NULL;
ALTER TABLE webhook_rule DROP COLUMN fired_from, DROP COLUMN fired_to, DROP COLUMN seen_to,
  ADD COLUMN fired jsonb,
  ADD COLUMN seen jsonb NOT NULL DEFAULT '{}',
  ADD CHECK ((alert_id IS NULL) = (fired IS NULL));
COMMENT ON COLUMN webhook_rule.fired IS 'By chain id [from, to]: the alert was fired by events at positions (from, to] there. With one of them taken back, so is it. A chain that did not move by then is not named.';
COMMENT ON COLUMN webhook_rule.seen IS 'By chain id: it was held to the read models as of these positions. Who is behind one of them does not look at it.';

-- Of what waits to be told no more is kept than receivers may want to hear of late.
ALTER TABLE webhook_message ADD COLUMN created_at timestamptz NOT NULL DEFAULT clock_timestamp();
CREATE INDEX webhook_message_age ON webhook_message (created_at);
ALTER TABLE webhook ADD COLUMN alerts_dropped bigint NOT NULL DEFAULT 0;
COMMENT ON TABLE webhook_message IS 'What alert rules have to tell, until it was answered with 2xx, or is dropped for its age or number.';
COMMENT ON COLUMN webhook.alerts_dropped IS 'Messages of alert rules that waited too long, or were too many, and are never sent.';

-- Secrets that were replaced and sign beside the new one for a while, so that a receiver may take that whenever it likes.
CREATE TABLE webhook_old_secret (
  webhook_id text NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  secret text NOT NULL,
  until timestamptz NOT NULL,
  PRIMARY KEY (webhook_id, secret)
);
COMMENT ON TABLE webhook_old_secret IS 'Secrets before webhook.secret that still sign.';
