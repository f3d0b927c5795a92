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
  revoked_at timestamptz
);

-- Credits used per key and calendar month (UTC).
CREATE TABLE api_usage (
  key_id bigint NOT NULL REFERENCES api_key (id),
  month date NOT NULL,
  credits bigint NOT NULL DEFAULT 0,
  requests bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (key_id, month)
);
