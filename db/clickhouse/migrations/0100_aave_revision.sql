-- Versions of the code of Aave pools by their tokens: as first seen, and after each upgrade of a token. From 9 (v3.5) on
-- balances and scaled amounts are rounded in favour of the pool.
CREATE TABLE IF NOT EXISTS aave_revision (
  chain_id UInt32 COMMENT 'chain, by its id',
  token LowCardinality(String) COMMENT 'address of the aToken or debt token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  revision UInt32 COMMENT 'POOL_REVISION of the pool'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Versions of the code of Aave pools, by their tokens: as first seen, and after each upgrade of a token. From 9 (v3.5) on what is supplied is worth scaled × index rounded down and what is owed rounded up; before, both half up. Ordered by (chain_id, token, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.aave_revision_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS token, timestamp, position, block_number,
  JSONExtractString(data, 'pool') AS pool, toUInt32(JSONExtractUInt(data, 'revision')) AS revision
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'PoolRevisionSampled';
