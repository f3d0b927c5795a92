-- Logs of contracts from long before they were discovered, as far as they are not stored: those above `cursor`, up to `to_block`.
CREATE TABLE older_logs (
  stream int NOT NULL REFERENCES stream (id),
  kind text NOT NULL,
  contract text NOT NULL,
  cursor bigint NOT NULL,
  to_block bigint NOT NULL,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (stream, kind, contract)
);

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON older_logs TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
