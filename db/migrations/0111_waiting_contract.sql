-- Contracts that may be vaults and are not looked at yet: more came up in an hour than are looked at in one. The events of
-- the blocks before they are looked at are fetched when they are. looked_at: the block at which they were, kept until it is final.
CREATE TABLE waiting_contract (
  stream int NOT NULL REFERENCES stream (id),
  contract text NOT NULL,
  protocol text NOT NULL,
  -- By a factory that is known.
  is_made boolean NOT NULL,
  -- Of the event that brought it up.
  block bigint NOT NULL,
  log_index bigint NOT NULL,
  looked_at bigint,
  PRIMARY KEY (stream, contract, protocol)
);

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON waiting_contract TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
