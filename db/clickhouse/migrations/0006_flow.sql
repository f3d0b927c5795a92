-- Deposits into and redemptions from vaults, by owner of the shares.
CREATE TABLE IF NOT EXISTS flow (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  account String COMMENT 'owner of the shares, address in lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, redeem',
  assets UInt256 COMMENT 'asset base units; of an aToken what its balance rose or fell by, which since v3.5 is up to two units less than what was supplied, or more than what was withdrawn' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'share base units' CODEC(ZSTD(1)),
  sender String COMMENT 'who called the vault, address in lower case' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per deposit or redemption; `(chain_id, vault, account, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.flow_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  contract AS vault,
  fields.owner AS account,
  timestamp,
  position,
  block_number,
  if(type = 'Deposited', 'deposit', 'redeem') AS kind,
  toUInt256(fields.assets) AS assets,
  toUInt256(fields.shares) AS shares,
  fields.sender AS sender,
  tx_hash,
  log_index
FROM (
  SELECT stream, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(owner String, sender String, assets String, shares String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('Deposited', 'Redeemed')
);

-- Flows of a vault's UTC day, running: one row per flow with the day's figures after it, so that the day as of any
-- position is its last visible row.
CREATE TABLE IF NOT EXISTS daily_flow (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  day Date COMMENT 'UTC day',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  account String COMMENT 'owner of the shares in this flow, address in lower case' CODEC(ZSTD(1)),
  kind LowCardinality(String) COMMENT 'of this flow: deposit, redeem',
  total_deposits UInt256 COMMENT 'deposited on the day so far: asset base units' CODEC(ZSTD(1)),
  total_redemptions UInt256 COMMENT 'redeemed on the day so far: asset base units' CODEC(ZSTD(1)),
  deposit_count UInt32 COMMENT 'deposits of the day so far, their number' CODEC(ZSTD(1)),
  redemption_count UInt32 COMMENT 'redemptions of the day so far, their number' CODEC(ZSTD(1)),
  unique_depositors UInt32 COMMENT 'different owners who deposited on the day so far' CODEC(ZSTD(1)),
  unique_redeemers UInt32 COMMENT 'different owners who redeemed on the day so far' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, day, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per flow with the day''s figures after it; `(chain_id, vault, day, position)`.';

-- Sums run over the arrays of each day: half the time of window functions, which sort everything again. An account is
-- new on a day where it is the first of its kind among those seen before and those of the batch.
CREATE VIEW IF NOT EXISTS internal.daily_flow_rows AS
WITH
  flows AS (
    SELECT vault, day, arraySort(groupArray((position, block_number, timestamp, fields.owner, is_deposit, toUInt256(fields.assets)))) AS list
    FROM (
      SELECT contract AS vault, toDate(timestamp) AS day, position, block_number, timestamp,
        JSONExtract(data, 'Tuple(owner String, assets String)') AS fields, type = 'Deposited' AS is_deposit
      FROM event
      WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('Deposited', 'Redeemed')
    )
    GROUP BY vault, day
  ),
  before AS (
    SELECT vault, day, groupUniqArray((account, kind = 'deposit')) AS seen,
      argMax((total_deposits, total_redemptions, deposit_count, redemption_count, unique_depositors, unique_redeemers), position) AS so_far
    FROM daily_flow
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (vault, day) IN (
        SELECT contract, toDate(timestamp) FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('Deposited', 'Redeemed'))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY vault, day
  )
SELECT toUInt32({stream:Int32}) AS chain_id, vault, day, flow.1 AS position, flow.2 AS block_number, flow.3 AS timestamp,
  flow.4 AS account, if(flow.5, 'deposit', 'redeem') AS kind, total_deposits, total_redemptions, deposit_count, redemption_count,
  unique_depositors, unique_redeemers
FROM (
  SELECT flows.vault AS vault, flows.day AS day, flows.list AS list, before.so_far AS so_far,
    arraySlice(arrayEnumerateUniq(arrayConcat(before.seen, arrayMap(each -> (each.4, each.5), list))), length(before.seen) + 1) AS nth,
    arrayMap(sum -> so_far.1 + sum, arrayCumSum(arrayMap(each -> if(each.5, each.6, toUInt256(0)), list))) AS deposits,
    arrayMap(sum -> so_far.2 + sum, arrayCumSum(arrayMap(each -> if(each.5, toUInt256(0), each.6), list))) AS redemptions,
    arrayMap(sum -> toUInt32(so_far.3 + sum), arrayCumSum(arrayMap(each -> each.5, list))) AS deposit_counts,
    arrayMap(sum -> toUInt32(so_far.4 + sum), arrayCumSum(arrayMap(each -> NOT each.5, list))) AS redemption_counts,
    arrayMap(sum -> toUInt32(so_far.5 + sum), arrayCumSum(arrayMap((each, n) -> each.5 AND n = 1, list, nth))) AS depositors,
    arrayMap(sum -> toUInt32(so_far.6 + sum), arrayCumSum(arrayMap((each, n) -> NOT each.5 AND n = 1, list, nth))) AS redeemers
  FROM flows LEFT JOIN before ON flows.vault = before.vault AND flows.day = before.day
)
ARRAY JOIN list AS flow, deposits AS total_deposits, redemptions AS total_redemptions, deposit_counts AS deposit_count,
  redemption_counts AS redemption_count, depositors AS unique_depositors, redeemers AS unique_redeemers;

-- The head of daily_flow: each day's figures as they are now, the last write wins. It knows of retractions, like holder.
-- A year of a vault is 365 rows here, however many flows it had.
CREATE TABLE IF NOT EXISTS daily_flow_head (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  day Date COMMENT 'UTC day',
  position UInt64 COMMENT 'of the last flow, or of the retraction that took some back, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of the block of that flow, or of the last one taken back' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  total_deposits UInt256 COMMENT 'deposited on the day: asset base units' CODEC(ZSTD(1)),
  total_redemptions UInt256 COMMENT 'redeemed on the day: asset base units' CODEC(ZSTD(1)),
  deposit_count UInt32 COMMENT 'deposits of the day, their number' CODEC(ZSTD(1)),
  redemption_count UInt32 COMMENT 'redemptions of the day, their number' CODEC(ZSTD(1)),
  unique_depositors UInt32 COMMENT 'different owners who deposited on the day' CODEC(ZSTD(1)),
  unique_redeemers UInt32 COMMENT 'different owners who redeemed on the day' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree(position)
PARTITION BY chain_id
ORDER BY (chain_id, vault, day)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per vault and UTC day with a flow, as it is now; read with FINAL. A day whose flows were all retracted has
zeros.';

-- What is left of the days of which retractions took flows back; a flow of the batch after the retraction wins.
CREATE VIEW IF NOT EXISTS internal.daily_flow_head_taken_back_rows AS
WITH
  gone AS (
    SELECT vault, day, max((retracted.retracted_by, daily_flow.position, block_number, timestamp)) AS last
    FROM daily_flow INNER JOIN (
      SELECT position, retracted_by FROM retracted
      WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64}) AS retracted
    ON daily_flow.position = retracted.position
    WHERE chain_id = toUInt32({stream:Int32})
      AND daily_flow.position IN (
        SELECT position FROM retracted
        WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64})
    GROUP BY vault, day
  ),
  kept AS (
    SELECT vault, day,
      argMax((total_deposits, total_redemptions, deposit_count, redemption_count, unique_depositors, unique_redeemers), position) AS so_far
    FROM daily_flow
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (vault, day) IN (SELECT vault, day FROM gone)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY vault, day
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id,
  gone.vault AS vault,
  gone.day AS day,
  gone.last.1 AS position,
  gone.last.3 AS block_number,
  gone.last.4 AS timestamp,
  kept.so_far.1 AS total_deposits,
  kept.so_far.2 AS total_redemptions,
  kept.so_far.3 AS deposit_count,
  kept.so_far.4 AS redemption_count,
  kept.so_far.5 AS unique_depositors,
  kept.so_far.6 AS unique_redeemers
FROM gone LEFT JOIN kept ON gone.vault = kept.vault AND gone.day = kept.day;

CREATE VIEW IF NOT EXISTS internal.daily_flow_head_rows AS
SELECT chain_id, vault, day, position, block_number, timestamp, total_deposits, total_redemptions, deposit_count,
  redemption_count, unique_depositors, unique_redeemers
FROM daily_flow
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64};
