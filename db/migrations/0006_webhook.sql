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
