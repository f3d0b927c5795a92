-- Rewards that a distributor was given for the holders of a vault, by epoch (Euler's reward streams). Rows add up.
CREATE TABLE IF NOT EXISTS reward_period (
  chain_id UInt32,
  vault String,
  reward String COMMENT 'token that is paid out',
  timestamp DateTime('UTC'),
  position UInt64,
  block_number UInt64,
  name String COMMENT 'of the token',
  symbol String,
  decimals UInt8,
  amount UInt256 COMMENT 'base units, to all holders together, evenly from starts_at to ends_at',
  starts_at UInt32 COMMENT 'unix seconds',
  ends_at UInt32 COMMENT 'unix seconds'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, reward, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS reward_period_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, fields.reward AS reward, timestamp, position, block_number,
  fields.name AS name, fields.symbol AS symbol, fields.decimals AS decimals,
  toUInt256(fields.amount) AS amount, fields.startsAt AS starts_at, fields.endsAt AS ends_at
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(reward String, name String, symbol String, decimals UInt8, amount String, startsAt UInt32, endsAt UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'RewardPeriodFunded'
);
