-- The event store. Streams are dense: position n+1 is appended by the transaction that saw head = n (invariant 3).
-- Events are never changed or removed (invariant 1): the triggers refuse it for everybody, the owner included,
-- and the role vaultlog_writer, as which processors append, is not even granted the right to try.

-- A read model is made of the streams of one kind, so that what is stored of one is in no answer of another.
CREATE TABLE stream (
  id int PRIMARY KEY,
  name text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('evm', 'svm', 'registry')),
  head bigint NOT NULL DEFAULT 0,
  -- Cursor of a chain: the finalized block up to which everything is stored, and the newest block seen.
  final_height bigint NOT NULL DEFAULT -1,
  final_hash text NOT NULL DEFAULT '0x',
  head_height bigint NOT NULL DEFAULT -1,
  head_hash text NOT NULL DEFAULT '0x',
  head_time bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- A chain that is not indexed any more: what is stored stays and is served, and nobody is told that it grows old.
  retired_at timestamptz
);
COMMENT ON COLUMN stream.kind IS 'evm, svm (accounts are 32 bytes) or registry (curated facts)';

-- Whoever waits for events of any stream is told when its transaction is committed, by whoever appended.
CREATE FUNCTION tell_stream_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('vaultlog_stream', NEW.id::text);
  RETURN NULL;
END $$;

CREATE TRIGGER stream_moved AFTER UPDATE ON stream FOR EACH ROW
  WHEN (OLD.head <> NEW.head OR OLD.final_height <> NEW.final_height)
  EXECUTE FUNCTION tell_stream_moved();

-- A stream's events lie in its own partition, which register_stream makes together with the stream's row: an event of an
-- unknown stream has no place to go. Checking it once more for each row (a foreign key) took a third of the time of an append.
CREATE TABLE event_log (
  stream int NOT NULL,
  position bigint NOT NULL CHECK (position > 0),
  type text NOT NULL,
  -- Slug of the protocol that told of it; empty: no protocol did (retractions, the registry's facts).
  protocol text NOT NULL DEFAULT '',
  block_number bigint NOT NULL,
  block_hash bytea NOT NULL,
  block_time bigint NOT NULL,
  tx_hash bytea,
  log_index bigint,
  contract bytea,
  data jsonb NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (stream, position)
) PARTITION BY LIST (stream);

-- Blocks come nearly in the order of positions: a summary per page range finds them, and costs appends next to nothing.
CREATE INDEX event_log_block ON event_log USING brin (block_number) WITH (autosummarize = on);
CREATE INDEX event_log_retractions ON event_log (stream, position) WHERE type = 'BlockRetracted';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'event_log is append-only: % refused. Append a retraction instead.', TG_OP
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER event_log_append_only BEFORE UPDATE OR DELETE ON event_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_log_no_truncate BEFORE TRUNCATE ON event_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Blocks that may still be replaced: bookkeeping of the chain cursor, not history. One row per range of positions that
-- holds events of the block (a vault discovered later adds a range); from_position > to_position: no events.
CREATE TABLE hot_block (
  stream int NOT NULL REFERENCES stream (id),
  height bigint NOT NULL,
  hash text NOT NULL,
  from_position bigint NOT NULL,
  to_position bigint NOT NULL,
  PRIMARY KEY (stream, height, from_position)
);

-- Each chain's processor keeps its cursor and the blocks that may still be replaced in a schema of its own, processor_<chain>,
-- as @subsquid/typeorm-store has it. register_stream makes it, as the owner: a processor's own role may make no schema.
DO $$ BEGIN
  IF NOT has_database_privilege(current_database(), 'CREATE') THEN
    RAISE insufficient_privilege USING MESSAGE =
      format('no CREATE on database %I, in which each chain has a schema for the state of its processor', current_database());
  END IF;
END $$;

CREATE FUNCTION register_stream(stream_id int, stream_name text, stream_kind text) RETURNS void LANGUAGE plpgsql
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
REVOKE EXECUTE ON FUNCTION register_stream FROM PUBLIC;

-- What could not be understood or applied, kept for the operator (invariant 8).
CREATE TABLE dead_letter (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stage text NOT NULL CHECK (stage IN ('decode', 'inspect', 'sample', 'mirror', 'project', 'registry', 'verify', 'ledger', 'cross_check')),
  stream int NOT NULL,
  block_number bigint,
  block_hash text,
  tx_hash text,
  log_index bigint,
  contract text,
  reason text NOT NULL,
  payload jsonb NOT NULL,
  attempts int NOT NULL DEFAULT 1,
  first_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  resolved_at timestamptz
);
CREATE UNIQUE INDEX dead_letter_identity ON dead_letter
  (stage, stream, coalesce(block_hash, ''), coalesce(log_index, -1), coalesce(contract, ''), md5(reason));
-- The operator's page shows open letters by reason; there may be many that were dealt with.
CREATE INDEX dead_letter_open ON dead_letter (stream, stage) WHERE resolved_at IS NULL;

-- The raw events as GraphQL and people read them.
CREATE VIEW event AS
  SELECT stream || '-' || lpad(position::text, 14, '0') AS id, stream, position, type,
    nullif(protocol, '') AS protocol, block_number, '0x' || encode(block_hash, 'hex') AS block_hash, to_timestamp(block_time) AS block_time,
    '0x' || encode(tx_hash, 'hex') AS transaction_hash, log_index,
    '0x' || encode(contract, 'hex') AS contract, data, recorded_at
  FROM event_log;
