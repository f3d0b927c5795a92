-- What each processor watches because its code or its configuration says so, not because an event did: contracts of a
-- kind, and ('' as contract) kinds whose logs count anywhere. cursor: how far the history of one that came later is
-- stored; null: all of it is, and its logs come with the blocks.
CREATE TABLE watched_source (
  stream int NOT NULL REFERENCES stream (id),
  kind text NOT NULL,
  contract text NOT NULL,
  from_block bigint NOT NULL,
  cursor bigint,
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Not watched any more; cursor says how far it was.
  removed_at timestamptz,
  PRIMARY KEY (stream, kind, contract)
);

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT SELECT, UPDATE ON watched_source TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
