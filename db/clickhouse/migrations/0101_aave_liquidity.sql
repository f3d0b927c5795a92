-- What reserves of Aave could pay out at the ends of blocks in which they changed.
CREATE TABLE IF NOT EXISTS aave_liquidity (
  chain_id UInt32,
  pool LowCardinality(String),
  asset LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  available UInt256 COMMENT 'asset base units' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, pool, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS aave_liquidity_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS pool, JSONExtractString(data, 'market') AS asset, timestamp, position,
  block_number, toUInt256OrZero(JSONExtractString(data, 'available')) AS available
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'ReserveLiquiditySampled';
