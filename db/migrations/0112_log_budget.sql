-- Logs of contracts that anybody may have made, by day of the chain (since 1970). left_out_from: the block from which on that
-- day they are left out, since there were too many; left_out_to: the last such block, where a later day has begun.
CREATE TABLE log_budget (
  stream int NOT NULL REFERENCES stream (id),
  contract text NOT NULL,
  day bigint NOT NULL,
  logs bigint NOT NULL,
  left_out_from bigint,
  left_out_to bigint,
  PRIMARY KEY (stream, contract, day)
);

-- A contract may lack several ranges: what it logged before it was discovered, and what was left out on some days.
ALTER TABLE older_logs DROP CONSTRAINT older_logs_pkey, ADD PRIMARY KEY (stream, kind, contract, to_block);
-- Unix seconds of the chain's time before which no more of it is fetched: it has had its share of the day.
ALTER TABLE older_logs ADD not_before bigint NOT NULL DEFAULT 0;

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON log_budget TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
