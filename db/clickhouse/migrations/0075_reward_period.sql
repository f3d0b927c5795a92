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
