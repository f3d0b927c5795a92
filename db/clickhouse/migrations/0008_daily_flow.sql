-- Flows of a vault's UTC day, running: one row per flow with the day's figures after it, so that the day as of any
-- position is its last visible row.
CREATE TABLE IF NOT EXISTS daily_flow (
  chain_id UInt32,
  vault LowCardinality(String),
  day Date,
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  account String COMMENT 'owner of this flow' CODEC(ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, redeem',
  total_deposits UInt256 COMMENT 'asset base units, in the day so far' CODEC(ZSTD(1)),
  total_redemptions UInt256 COMMENT 'asset base units, in the day so far' CODEC(ZSTD(1)),
  deposit_count UInt32 CODEC(ZSTD(1)),
  redemption_count UInt32 CODEC(ZSTD(1)),
  unique_depositors UInt32 CODEC(ZSTD(1)),
  unique_redeemers UInt32 CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, day, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS daily_flow_rows AS
WITH
  flows AS (
    SELECT
      contract AS vault, toDate(timestamp) AS day, position, block_number, timestamp,
      JSONExtract(data, 'Tuple(owner String, assets String)') AS fields,
      fields.owner AS account,
      type = 'Deposited' AS is_deposit,
      toUInt256(fields.assets) AS assets
    FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
      AND type IN ('Deposited', 'Redeemed')
  ),
  prior AS (
    SELECT * FROM daily_flow
    WHERE chain_id = toUInt32({stream:Int32})
      AND position <= {from:UInt64}
      AND (vault, day) IN (
        SELECT contract, toDate(timestamp) FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
          AND type IN ('Deposited', 'Redeemed'))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
  ),
  days AS (
    SELECT vault, day,
      argMax((total_deposits, total_redemptions, deposit_count, redemption_count, unique_depositors, unique_redeemers), position) AS so_far
    FROM prior GROUP BY vault, day
  ),
  firsts AS (
    SELECT *,
      (vault, day, account, if(is_deposit, 'deposit', 'redeem')) NOT IN (SELECT vault, day, account, kind FROM prior)
        AND row_number() OVER (PARTITION BY vault, day, is_deposit, account ORDER BY position) = 1 AS is_new
    FROM flows
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id,
  firsts.vault AS vault,
  firsts.day AS day,
  firsts.position AS position,
  firsts.block_number AS block_number,
  firsts.timestamp AS timestamp,
  firsts.account AS account,
  if(firsts.is_deposit, 'deposit', 'redeem') AS kind,
  days.so_far.1 + sumIf(firsts.assets, firsts.is_deposit) OVER running AS total_deposits,
  days.so_far.2 + sumIf(firsts.assets, NOT firsts.is_deposit) OVER running AS total_redemptions,
  toUInt32(days.so_far.3 + countIf(firsts.is_deposit) OVER running) AS deposit_count,
  toUInt32(days.so_far.4 + countIf(NOT firsts.is_deposit) OVER running) AS redemption_count,
  toUInt32(days.so_far.5 + countIf(firsts.is_deposit AND firsts.is_new) OVER running) AS unique_depositors,
  toUInt32(days.so_far.6 + countIf(NOT firsts.is_deposit AND firsts.is_new) OVER running) AS unique_redeemers
FROM firsts LEFT JOIN days ON firsts.vault = days.vault AND firsts.day = days.day
WINDOW running AS (PARTITION BY firsts.vault, firsts.day ORDER BY firsts.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);
