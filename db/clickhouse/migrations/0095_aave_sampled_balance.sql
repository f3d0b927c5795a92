-- Scaled balances of accounts as Aave's tokens said them at the ends of blocks in which they changed, of pools of v3.5 and
-- later: their rounding no log tells, so that aave_balance may be some units off there.
CREATE TABLE IF NOT EXISTS aave_sampled_balance (
  chain_id UInt32,
  account String CODEC(ZSTD(1)),
  token LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  scaled Int256 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

-- The scaled total supply of those tokens at the same times.
CREATE TABLE IF NOT EXISTS aave_sampled_total (
  chain_id UInt32,
  token LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  scaled Int256 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS aave_sampled_balance_rows AS
SELECT toUInt32(stream) AS chain_id, JSONExtractString(data, 'account') AS account, contract AS token, timestamp, position,
  block_number, toInt256OrZero(JSONExtractString(data, 'scaled')) AS scaled
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'ScaledBalanceSampled';

CREATE VIEW IF NOT EXISTS aave_sampled_total_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS token, timestamp, position, block_number,
  toInt256OrZero(JSONExtractString(data, 'total')) AS scaled
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'ScaledBalanceSampled';
