-- Each chain's processor keeps its cursor and the blocks that may still be replaced in a schema of its own, processor_<chain>,
-- as @subsquid/typeorm-store has it. register_stream makes it, as the owner: a processor's own role may make no schema.
DO $$ BEGIN
  IF NOT has_database_privilege(current_database(), 'CREATE') THEN
    RAISE insufficient_privilege USING MESSAGE =
      format('no CREATE on database %I, in which each chain has a schema for the state of its processor', current_database());
  END IF;
END $$;

CREATE OR REPLACE FUNCTION register_stream(stream_id int, stream_name text, stream_kind text) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition text := format('event_log_%s', replace(stream_id::text, '-', 'm'));
  state text := format('processor_%s', replace(stream_id::text, '-', 'm'));
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('vaultlog register_stream'));
  INSERT INTO stream (id, name, kind) VALUES (stream_id, stream_name, stream_kind) ON CONFLICT (id) DO NOTHING;
  IF to_regclass(partition) IS NULL THEN
    EXECUTE format('CREATE TABLE %I PARTITION OF event_log FOR VALUES IN (%s)', partition, stream_id);
    EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', partition);
  END IF;
  IF stream_kind <> 'registry' AND to_regnamespace(state) IS NULL THEN
    EXECUTE format('CREATE SCHEMA %I', state);
    EXECUTE format('CREATE TABLE %I.status (id int PRIMARY KEY, height int NOT NULL, hash text DEFAULT ''0x'', nonce int DEFAULT 0)', state);
    EXECUTE format('INSERT INTO %I.status (id, height) VALUES (0, -1)', state);
    EXECUTE format('CREATE TABLE %I.hot_block (height int PRIMARY KEY, hash text NOT NULL)', state);
    -- Stays empty: events are appended and retracted, and no row of them is ever put back.
    EXECUTE format('CREATE TABLE %1$I.hot_change_log (block_height int NOT NULL REFERENCES %1$I.hot_block ON DELETE CASCADE,
      index int NOT NULL, change jsonb NOT NULL, PRIMARY KEY (block_height, index))', state);
  END IF;
  IF stream_kind <> 'registry' AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_processor')
     AND NOT has_schema_privilege('vaultlog_processor', state, 'USAGE') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO vaultlog_processor', state);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO vaultlog_processor', state);
  END IF;
END $$;
