-- Who may ask the API. A key itself is never stored: only its SHA-256. The code is public: it marks calldata with the
-- key a transaction was prepared for, so it may be known to anybody.
CREATE TABLE api_plan (
  name text PRIMARY KEY,
  credits_per_month bigint NOT NULL CHECK (credits_per_month >= 0),
  requests_per_minute int NOT NULL CHECK (requests_per_minute > 0)
);

INSERT INTO api_plan (name, credits_per_month, requests_per_minute) VALUES
  ('free', 10000, 60),
  ('standard', 1000000, 600),
  ('unlimited', 9007199254740991, 1000000);

CREATE TABLE api_key (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  code text NOT NULL UNIQUE CHECK (code ~ '^[a-z0-9_]{1,32}$'),
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  plan text NOT NULL REFERENCES api_plan (name),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz,
  -- May see the operator's pages (/ops), which show what goes on in the whole installation.
  admin boolean NOT NULL DEFAULT false
);

-- Credits used per key and calendar month (UTC).
CREATE TABLE api_usage (
  key_id bigint NOT NULL REFERENCES api_key (id),
  month date NOT NULL,
  credits bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, month)
);

-- Requests of the running minute, in the shape that rate-limiter-flexible writes. Unlogged: after a crash of the
-- server a minute begins anew, and no request waits for the disk.
CREATE UNLOGGED TABLE rate_limit (
  key varchar(255) PRIMARY KEY,
  points integer NOT NULL DEFAULT 0,
  expire bigint
);

-- Books charges in the order given and says of each whether it fitted into the month of its key. One call books what
-- many requests cost: one lock and one row version per key. The places of a key must stand together and keys must
-- ascend, so that two callers never wait for each other.
CREATE FUNCTION charge_credits(p_month date, p_keys bigint[], p_credits bigint[], p_limits bigint[])
RETURNS TABLE (accepted boolean, used bigint)
LANGUAGE plpgsql AS $$
DECLARE
  place int := 1;
  places int := cardinality(p_keys);
  current_key bigint;
  spent bigint;
  taken int;
BEGIN
  -- Not waiting for the disk: a crash of the server may forget the charges of its last moments, in favour of the caller.
  PERFORM set_config('synchronous_commit', 'off', true);
  WHILE place <= places LOOP
    current_key := p_keys[place];
    SELECT u.credits INTO spent FROM api_usage u WHERE u.key_id = current_key AND u.month = p_month FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO api_usage (key_id, month) VALUES (current_key, p_month) ON CONFLICT (key_id, month) DO NOTHING;
      SELECT u.credits INTO spent FROM api_usage u WHERE u.key_id = current_key AND u.month = p_month FOR UPDATE;
    END IF;
    taken := 0;
    WHILE place <= places AND p_keys[place] = current_key LOOP
      accepted := spent + p_credits[place] <= p_limits[place];
      IF accepted THEN
        spent := spent + p_credits[place];
        taken := taken + 1;
      END IF;
      used := spent;
      RETURN NEXT;
      place := place + 1;
    END LOOP;
    IF taken > 0 THEN
      UPDATE api_usage u SET credits = spent, requests = u.requests + taken
      WHERE u.key_id = current_key AND u.month = p_month;
    END IF;
  END LOOP;
END
$$;

-- Payments for single requests (x402): each is good for one answer, whichever process it is sent to. `answer` waits for a
-- caller who went away after it had paid.
CREATE TABLE payment_taken (
  id text PRIMARY KEY,
  expires_at timestamptz NOT NULL,
  request text,
  answer text,
  headers jsonb
);
CREATE INDEX payment_taken_expires_at ON payment_taken (expires_at);

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
