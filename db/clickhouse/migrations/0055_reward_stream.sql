-- What vaults that pay rewards out themselves (Synthetix' StakingRewards and what was made after it) said after each
-- RewardAdded: a token, how much of it per second, until when. The next row of a (vault, reward) replaces it.
CREATE TABLE IF NOT EXISTS reward_stream (
  chain_id UInt32,
  vault String,
  reward String COMMENT 'token that is paid out',
  timestamp DateTime('UTC'),
  position UInt64,
  block_number UInt64,
  name String COMMENT 'of the token',
  symbol String,
  decimals UInt8,
  rate UInt256 COMMENT 'base units per second, to all holders together',
  ends_at UInt32 COMMENT 'unix seconds'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, reward, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS reward_stream_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, fields.reward AS reward, timestamp, position, block_number,
  fields.name AS name, fields.symbol AS symbol, fields.decimals AS decimals,
  toUInt256(fields.ratePerSecond) AS rate, fields.endsAt AS ends_at
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(reward String, name String, symbol String, decimals UInt8, ratePerSecond String, endsAt UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'RewardStreamSampled'
);
