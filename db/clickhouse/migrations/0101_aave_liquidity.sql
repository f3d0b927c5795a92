-- What reserves of Aave could pay out at the ends of blocks in which they changed.
CREATE TABLE IF NOT EXISTS aave_liquidity (
  chain_id UInt32 COMMENT 'chain, by its id',
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  asset LowCardinality(String) COMMENT 'address of the reserve''s asset, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  available UInt256 COMMENT 'asset base units' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, pool, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What reserves of Aave could pay out, to lenders or borrowers, at the ends of blocks in which they changed: what the pool keeps of what came and went (v3.1 and later), before that what the aToken held. Not totals of supply less debt: interest that the treasury is yet to be given, deficits and rounding lie between. Ordered by (chain_id, pool, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.aave_liquidity_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS pool, JSONExtractString(data, 'market') AS asset, timestamp, position,
  block_number, toUInt256OrZero(JSONExtractString(data, 'available')) AS available
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'ReserveLiquiditySampled';
