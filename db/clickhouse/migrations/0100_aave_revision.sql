-- Versions of the code of Aave pools by their tokens: as first seen, and after each upgrade of a token. From 9 (v3.5) on
-- balances and scaled amounts are rounded in favour of the pool.
CREATE TABLE IF NOT EXISTS aave_revision (
  chain_id UInt32,
  token LowCardinality(String),
  timestamp DateTime('UTC'),
  position UInt64,
  block_number UInt64,
  pool LowCardinality(String),
  revision UInt32
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS aave_revision_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS token, timestamp, position, block_number,
  JSONExtractString(data, 'pool') AS pool, toUInt32(JSONExtractUInt(data, 'revision')) AS revision
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'PoolRevisionSampled';
