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

-- What vaults that pay rewards out themselves (Synthetix' StakingRewards and what was made after it) said after each
-- RewardAdded: a token, how much of it per second, until when. The next row of a (vault, reward) replaces it.
CREATE TABLE IF NOT EXISTS reward_stream (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault String COMMENT 'address of the vault whose holders are paid, lower case',
  reward String COMMENT 'address of the token that is paid out, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  name String COMMENT 'name of the token, as it says itself',
  symbol String COMMENT 'symbol of the token, as it says itself',
  decimals UInt8 COMMENT 'decimals of the token',
  rate UInt256 COMMENT 'base units of the token per second, to all holders together',
  ends_at UInt32 COMMENT 'end of what is paid, unix seconds'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, reward, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per vault, token and change of what is paid (RewardAdded of the vault, AssetConfigUpdated of Aave); `(chain_id, vault, reward, timestamp, position)`. The next row of a
(vault, reward) replaces the one before.';

CREATE VIEW IF NOT EXISTS internal.reward_stream_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, fields.reward AS reward, timestamp, position, block_number,
  fields.name AS name, fields.symbol AS symbol, fields.decimals AS decimals,
  toUInt256(fields.ratePerSecond) AS rate, fields.endsAt AS ends_at
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(reward String, name String, symbol String, decimals UInt8, ratePerSecond String, endsAt UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'RewardStreamSampled'
);

-- Rewards that a distributor was given for the holders of a vault, by epoch (Euler's reward streams). Rows add up.
CREATE TABLE IF NOT EXISTS reward_period (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault String COMMENT 'address of the vault whose holders are paid, lower case',
  reward String COMMENT 'address of the token that is paid out, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  name String COMMENT 'name of the token, as it says itself',
  symbol String COMMENT 'symbol of the token, as it says itself',
  decimals UInt8 COMMENT 'decimals of the token',
  amount UInt256 COMMENT 'base units of the token, to all holders together, evenly from `starts_at` to `ends_at`',
  starts_at UInt32 COMMENT 'begin of the epoch, unix seconds',
  ends_at UInt32 COMMENT 'end of the epoch, unix seconds'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, reward, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per vault, token and epoch of a registration with Euler''s reward streams; `(chain_id, vault, reward, timestamp, position)`. Rows of one epoch add up.';

CREATE VIEW IF NOT EXISTS internal.reward_period_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, fields.reward AS reward, timestamp, position, block_number,
  fields.name AS name, fields.symbol AS symbol, fields.decimals AS decimals,
  toUInt256(fields.amount) AS amount, fields.startsAt AS starts_at, fields.endsAt AS ends_at
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(reward String, name String, symbol String, decimals UInt8, amount String, startsAt UInt32, endsAt UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'RewardPeriodFunded'
);
