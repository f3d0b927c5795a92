-- Rewards that distributors paid out. None of their logs names the vault or market that earned them.
CREATE TABLE IF NOT EXISTS reward_claim (
  account String CODEC(ZSTD(1)),
  chain_id UInt32,
  token LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  source LowCardinality(String) COMMENT 'merkl, morpho-urd, aave-v3, compound-v3',
  distributor LowCardinality(String),
  receiver Nullable(String) COMMENT 'NULL: the log does not say' CODEC(ZSTD(1)),
  amount UInt256 COMMENT 'token base units' CODEC(ZSTD(1)),
  tx_hash String CODEC(ZSTD(1)),
  log_index UInt32
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (account, chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS reward_claim_rows AS
SELECT
  fields.account AS account,
  toUInt32(stream) AS chain_id,
  fields.token AS token,
  timestamp,
  position,
  block_number,
  fields.source AS source,
  contract AS distributor,
  fields.receiver AS receiver,
  toUInt256(fields.amount) AS amount,
  tx_hash,
  log_index
FROM (
  SELECT stream, contract, timestamp, position, block_number, tx_hash, log_index,
    JSONExtract(data, 'Tuple(account String, token String, source String, receiver Nullable(String), amount String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'RewardClaimed'
);
