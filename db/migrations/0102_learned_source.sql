-- Contracts that the history of a new source has taught: it goes on with them, from `from_block` on, and where it is
-- complete they come with the blocks, too. Then their rows go: stored events say that they are watched.
ALTER TABLE watched_source ADD learned boolean NOT NULL DEFAULT false;

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    GRANT INSERT, DELETE ON watched_source TO vaultlog_writer;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;
