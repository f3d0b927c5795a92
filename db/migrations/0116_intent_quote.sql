-- Quotes for moving a position between chains: what a provider answered, and what became of it. Each is executed once, whichever
-- process is asked to.
CREATE TABLE intent_quote (
  id text PRIMARY KEY,
  api_key_id integer NOT NULL REFERENCES api_key (id),
  provider text NOT NULL,
  user_address text NOT NULL,
  network text NOT NULL,
  digest text NOT NULL,
  offer json NOT NULL,
  expires_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'quoted' CHECK (state IN ('quoted', 'executing', 'executed')),
  taken_until timestamptz,
  executed_as text,
  CHECK ((state = 'executing') = (taken_until IS NOT NULL)),
  CHECK ((state = 'executed') = (executed_as IS NOT NULL))
);
CREATE INDEX intent_quote_of_key ON intent_quote (api_key_id, provider, expires_at);
CREATE INDEX intent_quote_expires_at ON intent_quote (expires_at);
COMMENT ON TABLE intent_quote IS 'Quotes of providers that move positions between chains, as API keys were given them.';
COMMENT ON COLUMN intent_quote.id IS '128 random bits, base64url: all that a caller is told of it.';
COMMENT ON COLUMN intent_quote.api_key_id IS 'The key that asked, and that alone may have it executed.';
COMMENT ON COLUMN intent_quote.provider IS 'Who made it.';
COMMENT ON COLUMN intent_quote.user_address IS 'Whose signature it wants, lower case.';
COMMENT ON COLUMN intent_quote.network IS 'Name of the network on which the signature is to be valid.';
COMMENT ON COLUMN intent_quote.digest IS 'EIP-712 digest of what is signed.';
COMMENT ON COLUMN intent_quote.offer IS 'What executing it takes: typed data, the whole answer of the provider, its reference. Empty once executed. Not jsonb, which would change the order of what goes back.';
COMMENT ON COLUMN intent_quote.expires_at IS 'Not begun after this.';
COMMENT ON COLUMN intent_quote.state IS 'quoted; executing: written before the provider is called, so that what became of it is not known; executed.';
COMMENT ON COLUMN intent_quote.taken_until IS 'While it is executing: after this somebody else finds out what became of it.';
COMMENT ON COLUMN intent_quote.executed_as IS 'Identifier that the provider gave.';
