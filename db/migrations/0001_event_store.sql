-- The event store. Streams are dense: position n+1 is appended by the transaction that saw head = n (invariant 3).
-- Events are never changed or removed (invariant 1): the triggers refuse it for everybody, the owner included,
-- and the role vaultlog_writer, as which processors append, is not even granted the right to try.

CREATE TABLE stream (
  id int PRIMARY KEY,
  name text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('chain', 'registry', 'prices')),
  head bigint NOT NULL DEFAULT 0,
  -- Cursor of a chain: the finalized block up to which everything is stored, and the newest block seen.
  final_height bigint NOT NULL DEFAULT -1,
  final_hash text NOT NULL DEFAULT '0x',
  head_height bigint NOT NULL DEFAULT -1,
  head_hash text NOT NULL DEFAULT '0x',
  head_time bigint NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE event_log (
  stream int NOT NULL REFERENCES stream (id),
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

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'event_log is append-only: % refused. Append a retraction instead.', TG_OP
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER event_log_append_only BEFORE UPDATE OR DELETE ON event_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER event_log_no_truncate BEFORE TRUNCATE ON event_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- As its owner: a processor that signs in as a role of its own may not make tables otherwise.
CREATE FUNCTION register_stream(stream_id int, stream_name text, stream_kind text) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  partition text := format('event_log_%s', replace(stream_id::text, '-', 'm'));
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('vaultlog register_stream'));
  INSERT INTO stream (id, name, kind) VALUES (stream_id, stream_name, stream_kind) ON CONFLICT (id) DO NOTHING;
  IF to_regclass(partition) IS NULL THEN
    EXECUTE format('CREATE TABLE %I PARTITION OF event_log FOR VALUES IN (%s)', partition, stream_id);
    EXECUTE format('CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', partition);
  END IF;
END $$;
REVOKE EXECUTE ON FUNCTION register_stream FROM PUBLIC;

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

-- What could not be understood or applied, kept for the operator (invariant 8).
CREATE TABLE dead_letter (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stage text NOT NULL CHECK (stage IN ('decode', 'inspect', 'sample', 'mirror', 'project', 'registry')),
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

-- Where each projection stands on each stream. applying_to: a batch under way, to be repeated with the same bounds.
-- version: of the code that made the rows; a newer one has to replay before it may go on.
CREATE TABLE checkpoint (
  projection text NOT NULL,
  stream int NOT NULL REFERENCES stream (id),
  version int NOT NULL DEFAULT 1,
  position bigint NOT NULL DEFAULT 0,
  applying_to bigint,
  block_number bigint NOT NULL DEFAULT -1,
  block_time bigint NOT NULL DEFAULT 0,
  -- How often its rows were made anew: who remembers any of them reads them again.
  replays int NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (projection, stream)
);

-- The raw events as GraphQL and people read them.
CREATE VIEW event AS
  SELECT stream || '-' || lpad(position::text, 14, '0') AS id, stream, position, type,
    nullif(protocol, '') AS protocol, block_number, '0x' || encode(block_hash, 'hex') AS block_hash, to_timestamp(block_time) AS block_time,
    '0x' || encode(tx_hash, 'hex') AS transaction_hash, log_index,
    '0x' || encode(contract, 'hex') AS contract, data, recorded_at
  FROM event_log;

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vaultlog_writer') THEN
    CREATE ROLE vaultlog_writer NOLOGIN;
  END IF;
EXCEPTION
  WHEN insufficient_privilege THEN
    RAISE NOTICE 'no right to create the role vaultlog_writer: appends rely on the triggers alone';
  WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
