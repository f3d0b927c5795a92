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
