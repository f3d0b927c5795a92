-- Who is told of events by HTTP, and how far. One process delivers a subscription at a time; `generation` says which, and from where.
CREATE TABLE webhook (
  id text PRIMARY KEY,
  number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  api_key_id bigint NOT NULL REFERENCES api_key (id),
  url text NOT NULL,
  secret text NOT NULL,
  filter jsonb NOT NULL,
  mode text NOT NULL CHECK (mode IN ('instant', 'finalized')),
  generation integer NOT NULL DEFAULT 0,
  disabled text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  delivered bigint NOT NULL DEFAULT 0,
  delivered_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  retry_at timestamptz,
  last_error text
);
CREATE INDEX webhook_of_key ON webhook (api_key_id);
COMMENT ON TABLE webhook IS 'Subscriptions of API keys: where messages of the feed are sent.';
COMMENT ON COLUMN webhook.number IS 'Names the advisory lock that the delivering process holds.';
COMMENT ON COLUMN webhook.secret IS 'What messages are signed with (whsec_ and base64): HMAC needs it as it is.';
COMMENT ON COLUMN webhook.filter IS 'networks (chain ids), vaults, wallets, types, as the feed has read them.';
COMMENT ON COLUMN webhook.generation IS 'One more whenever a process takes it over or it begins anew from elsewhere: whoever delivers by an older one moves no cursor.';
COMMENT ON COLUMN webhook.disabled IS 'Why nothing is delivered any more. NULL: it is.';
COMMENT ON COLUMN webhook.delivered IS 'Messages that were answered with 2xx.';
COMMENT ON COLUMN webhook.failures IS 'Attempts in a row that were not; failing_since the first of them.';
COMMENT ON COLUMN webhook.retry_at IS 'Nothing is sent before this.';

CREATE TABLE webhook_cursor (
  webhook_id text NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  chain_id integer NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (webhook_id, chain_id)
);
COMMENT ON TABLE webhook_cursor IS 'Of each chain the position up to which everything was delivered, or was none of its subscription.';

-- Alert rules of webhooks: each fires once when what it watches crosses its threshold. Its state and the messages that tell of a
-- change are written together, by whoever delivers the webhook.
CREATE TABLE webhook_rule (
  webhook_id text NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  number integer NOT NULL,
  rule jsonb NOT NULL,
  state text NOT NULL DEFAULT 'unknown' CHECK (state IN ('unknown', 'clear', 'crossed')),
  value text,
  alert_id text,
  fired_from bigint,
  fired_to bigint,
  seen_to bigint,
  PRIMARY KEY (webhook_id, number),
  CHECK ((alert_id IS NULL) = (fired_to IS NULL) AND (alert_id IS NULL) = (fired_from IS NULL))
);
COMMENT ON TABLE webhook_rule IS 'Alert rules, and how each stands.';
COMMENT ON COLUMN webhook_rule.state IS 'unknown: what it watches is not known; nothing fires and nothing is cleared by that.';
COMMENT ON COLUMN webhook_rule.value IS 'As it was last seen, a decimal; NULL: not known.';
COMMENT ON COLUMN webhook_rule.alert_id IS 'Of the alert that stands open.';
COMMENT ON COLUMN webhook_rule.fired_from IS 'It was fired by events at positions (fired_from, fired_to] of its chain: with one of them taken back, so is it.';
COMMENT ON COLUMN webhook_rule.seen_to IS 'It was held to the read models as of this position of its chain: who is behind that does not look at it.';

CREATE TABLE webhook_message (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id text NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
  id text NOT NULL,
  body text NOT NULL
);
CREATE INDEX webhook_message_of ON webhook_message (webhook_id, number);
COMMENT ON TABLE webhook_message IS 'What alert rules have to tell, until it was answered with 2xx.';
