-- Falls of the share price within a UTC day, running: one row per sample with a price. Days combine: of two stretches
-- A then B the drawdown is the largest of A's, B's and 1 - B.min_price / A.max_price.
CREATE TABLE IF NOT EXISTS drawdown (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  day Date COMMENT 'UTC day',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  max_price Float64 COMMENT 'assets per whole share, highest of the day so far' CODEC(ZSTD(1)),
  min_price Float64 COMMENT 'lowest of the day so far' CODEC(ZSTD(1)),
  max_drawdown Float64 COMMENT 'fraction, largest fall from a peak within the day so far' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, day, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per sample with a price, running within the UTC day; `(chain_id, vault, day, position)`.';

CREATE VIEW IF NOT EXISTS internal.drawdown_rows AS
WITH
  prior AS (
    SELECT vault, day, 1 AS is_there, argMax((max_price, min_price, max_drawdown), position) AS so_far
    FROM drawdown
    WHERE chain_id = toUInt32({stream:Int32})
      AND position <= {from:UInt64}
      AND (vault, day) IN (
        SELECT contract, toDate(timestamp) FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY vault, day
  ),
  peaks AS (
    SELECT
      samples.vault AS vault, samples.day AS day, samples.position AS position, samples.block_number AS block_number,
      samples.timestamp AS timestamp, samples.price AS price, prior.so_far AS so_far, prior.is_there AS is_there,
      greatest(so_far.1, max(samples.price) OVER running) AS peak
    FROM (
      SELECT vault, toDate(timestamp) AS day, position, block_number, timestamp, assumeNotNull(share_price) AS price
      FROM internal.state_sample(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
      WHERE share_price IS NOT NULL
    ) AS samples LEFT JOIN prior ON samples.vault = prior.vault AND samples.day = prior.day
    WINDOW running AS (PARTITION BY vault, day ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id,
  vault,
  day,
  position,
  block_number,
  timestamp,
  peak AS max_price,
  if(is_there = 1, least(so_far.2, min(price) OVER running), min(price) OVER running) AS min_price,
  greatest(so_far.3, max(if(peak > 0, 1 - price / peak, 0)) OVER running) AS max_drawdown
FROM peaks
WINDOW running AS (PARTITION BY vault, day ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);
