-- Processors append as vaultlog_writer: INSERT and SELECT on events, no UPDATE, DELETE or TRUNCATE.
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    CREATE ROLE vaultlog_writer NOLOGIN;
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN
    RAISE NOTICE 'no right to create the role vaultlog_writer: appends rely on the triggers alone';
  WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO vaultlog_writer', current_schema());
    GRANT SELECT, INSERT ON event_log TO vaultlog_writer;
    GRANT SELECT, UPDATE ON stream TO vaultlog_writer;
    GRANT SELECT, INSERT, DELETE ON hot_block TO vaultlog_writer;
    GRANT SELECT, INSERT, UPDATE ON dead_letter, teaching_event TO vaultlog_writer;
    GRANT SELECT, INSERT, UPDATE, DELETE ON watched_source, older_logs, waiting_contract, log_budget, sampling_round TO vaultlog_writer;
    EXECUTE format('GRANT vaultlog_writer TO %I', current_user);
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'no right to grant to vaultlog_writer: appends rely on the triggers alone';
END $$;

-- GraphQL reads the view of raw events and nothing else, where its operator has made the role.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_graphql') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO vaultlog_graphql', current_schema());
    GRANT SELECT ON event TO vaultlog_graphql;
  END IF;
END $$;
