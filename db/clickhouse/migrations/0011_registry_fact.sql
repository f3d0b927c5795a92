-- Curated facts (feeds of assets, tags, curators, flags, protocol names) with their history: the last row of a
-- (subject, kind) is what holds, unless it says removed.
CREATE TABLE IF NOT EXISTS registry_fact (
  subject String COMMENT 'vault:<chain>:<address>, asset:<chain>:<address>, protocol:<name>, curator:<name>',
  kind LowCardinality(String) COMMENT 'feed, peg, tags, flags …',
  position UInt64 COMMENT 'place in the registry''s stream',
  block_number UInt64 COMMENT 'place in the registry''s stream, which has no blocks',
  timestamp DateTime('UTC') COMMENT 'when it was recorded, UTC',
  value String COMMENT 'JSON; empty when removed',
  removed UInt8 COMMENT '1: does not hold from here on'
) ENGINE = ReplacingMergeTree
ORDER BY (subject, kind, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per statement; `(subject, kind, position)`. What holds is the last of a (subject, kind).';

CREATE VIEW IF NOT EXISTS internal.registry_fact_rows AS
SELECT
  fields.subject AS subject,
  fields.kind AS kind,
  position,
  block_number,
  timestamp,
  fields.value AS value,
  type = 'FactRemoved' AS removed
FROM (
  SELECT position, block_number, timestamp, type,
    JSONExtract(data, 'Tuple(subject String, kind String, value String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('FactRecorded', 'FactRemoved')
);
