-- Rewards that distributors paid out. None of their logs names the vault or market that earned them.
CREATE TABLE IF NOT EXISTS reward_claim (
  account String COMMENT 'whose reward, address in lower case' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by its id',
  token LowCardinality(String) COMMENT 'what was paid, address in lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  source LowCardinality(String) COMMENT 'merkl, morpho-urd, aave-v3, compound-v3, staked-token',
  distributor LowCardinality(String) COMMENT 'address of the contract that paid, lower case',
  receiver Nullable(String) COMMENT 'who was paid; NULL: the log does not say' CODEC(ZSTD(1)),
  amount UInt256 COMMENT 'token base units; 0: nothing was left to claim' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (account, chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per reward paid out; `(account, chain_id, token, timestamp, position)`. No distributor''s log says which
vault or market earned it; a staked token pays its own holders (distributor is the vault).';

CREATE VIEW IF NOT EXISTS internal.reward_claim_rows AS
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
