-- What the last `vaultlog verify` found, by table and stream: for metrics and the operator's page.
CREATE TABLE verification (
  table_name text NOT NULL,
  stream text NOT NULL,
  is_equal boolean NOT NULL,
  checked_at timestamptz NOT NULL,
  PRIMARY KEY (table_name, stream)
);

-- The operator's page shows open letters by reason; there may be many that were dealt with.
CREATE INDEX dead_letter_open ON dead_letter (stream, stage) WHERE resolved_at IS NULL;

-- May see the operator's pages (/ops), which show what goes on in the whole installation.
ALTER TABLE api_key ADD COLUMN admin boolean NOT NULL DEFAULT false;
