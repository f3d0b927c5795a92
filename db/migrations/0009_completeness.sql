-- Ranges of final blocks whose events were compared with the chain's own logs; of a range compared again, the last time.
CREATE TABLE completeness (
  stream int NOT NULL REFERENCES stream (id),
  from_block bigint NOT NULL,
  to_block bigint NOT NULL,
  chain_events bigint NOT NULL,
  chain_checksum text NOT NULL,
  store_events bigint NOT NULL,
  store_checksum text NOT NULL,
  is_equal boolean NOT NULL,
  -- The first few, in words.
  differences jsonb NOT NULL,
  checked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (stream, from_block, to_block)
);

-- Blocks come nearly in the order of positions: a summary per page range finds them, and costs appends next to nothing.
CREATE INDEX event_log_block ON event_log USING brin (block_number) WITH (autosummarize = on);

ALTER TABLE dead_letter DROP CONSTRAINT dead_letter_stage_check;
ALTER TABLE dead_letter ADD CONSTRAINT dead_letter_stage_check
  CHECK (stage IN ('decode', 'inspect', 'sample', 'mirror', 'project', 'registry', 'verify', 'ledger', 'cross_check'));
