-- Share price, assets and supply of vaults by the hour: the FIRST sample of each, so that a row never changes, with
-- the APYs of the windows that end at it.
--   t0: the last row at or before timestamp - window; the vault's first row where it is younger than the window.
--   Supply never changed since t0: (P1 / P0) ^ (year / (t1 - t0)) - 1.
--   Else growth factors of consecutive rows, each brought to one hour, are averaged with weight
--   (smaller total_assets of the two) * (seconds between them), and the mean is compounded over 8760 hours.
-- growth and growth_weight are those sums since the vault's first row, as integers: a window is a difference of two
-- rows, exact whatever the order in which rows were added up. Rows without a share price take no part: NULL.
CREATE TABLE IF NOT EXISTS vault_hourly (
  chain_id UInt32,
  vault LowCardinality(String),
  hour DateTime('UTC') COMMENT 'start of the bucket' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'of the sample' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'asset base units' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'share base units' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'asset base units per whole share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share' CODEC(ZSTD(1)),
  apy_1h Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  apy_1d Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  apy_7d Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  apy_30d Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  opens_day UInt8 COMMENT '1: also the first sample of its UTC day',
  growth Nullable(Int256) COMMENT 'sum of weight * (hourly growth factor - 1) * 1e18 since the first row' CODEC(ZSTD(1)),
  growth_weight Nullable(UInt256) COMMENT 'sum of weights: asset base units * seconds' CODEC(ZSTD(1)),
  supply_changes Nullable(UInt32) COMMENT 'how often the supply differed from the row before, or was unknown' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, hour, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456;

-- The day's first sample is its hour's first too: daily rows are those hourly ones, once more and close together, so
-- that a year of days is not read from among its hours.
CREATE TABLE IF NOT EXISTS vault_daily (
  chain_id UInt32,
  vault LowCardinality(String),
  day Date,
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'of the sample' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'asset base units' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'share base units' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'asset base units per whole share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share' CODEC(ZSTD(1)),
  apy_1h Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  apy_1d Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  apy_7d Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1)),
  apy_30d Nullable(Float64) COMMENT 'fraction per year' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, day, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456;

CREATE VIEW IF NOT EXISTS vault_daily_rows AS
SELECT chain_id, vault, toDate(hour) AS day, position, block_number, timestamp, total_assets, total_supply,
  share_price_raw, share_price, apy_1h, apy_1d, apy_7d, apy_30d
FROM vault_hourly
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64} AND opens_day = 1;

-- Samples of the batch that begin another hour than that of their vault's row before: without any there are no new rows.
CREATE VIEW IF NOT EXISTS vault_hourly_due AS
SELECT contract AS vault, toStartOfHour(timestamp) AS hour
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled'
  AND (vault, hour) NOT IN (
    SELECT vault, argMax(hour, position)
    FROM vault_hourly
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND vault IN (
        SELECT contract FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY vault);

-- One pass over two inputs: the batch's first samples of hours, and of the rows before the batch those that its
-- windows can begin at. For a window W these lie in (oldest - W, newest - W], where oldest and newest are the ends of the
-- batch; of the gaps between such stretches the first and the last row are enough.
CREATE VIEW IF NOT EXISTS vault_hourly_rows AS
WITH
  [2592000, 604800, 86400, 3600] AS windows,
  (SELECT (toInt64(toUnixTimestamp(min(timestamp))), toInt64(toUnixTimestamp(max(timestamp)))) FROM event
   WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled') AS batch,
  batch.1 AS oldest,
  batch.2 AS newest,
  toDateTime(greatest(oldest - 45 * 86400, 0), 'UTC') AS far,
  toDateTime(greatest(oldest - 30 * 86400, 0), 'UTC') AS near,
  sampled AS (
    SELECT vault, hour, first.1 AS position, first.2 AS block_number, first.3 AS timestamp, 1 AS is_new,
      JSONExtract(first.4, 'Tuple(totalAssets Nullable(String), totalSupply Nullable(String), sharePrice Nullable(String), assetDecimals UInt8)') AS fields,
      toUInt256OrNull(fields.totalAssets) AS total_assets,
      toUInt256OrNull(fields.totalSupply) AS total_supply,
      toUInt256OrNull(fields.sharePrice) AS share_price_raw,
      toFloat64(share_price_raw) / pow(10., fields.assetDecimals) AS share_price,
      ifNull(share_price_raw > 0, 0) AS is_priced,
      toInt256(0) AS growth, toInt256(0) AS growth_weight, toInt64(0) AS supply_changes
    FROM (
      SELECT contract AS vault, toStartOfHour(timestamp) AS hour, min((position, block_number, timestamp, data)) AS first
      FROM event
      WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled'
      GROUP BY vault, hour
    )
  ),
  prior AS (
    SELECT vault, is_priced,
      arrayJoin(arrayDistinct([
        min((position, hour, timestamp, total_assets, total_supply, share_price_raw, growth, growth_weight, supply_changes)),
        max((position, hour, timestamp, total_assets, total_supply, share_price_raw, growth, growth_weight, supply_changes))])) AS kept
    FROM (
      SELECT vault, position, hour, timestamp, total_assets, total_supply, share_price_raw, growth, growth_weight, supply_changes,
        growth IS NOT NULL AS is_priced,
        toInt64(toUnixTimestamp(timestamp)) AS at,
        if(is_priced AND arrayExists(w -> at > oldest - w AND at <= newest - w, windows),
          at, -toInt64(arrayCount(w -> at > newest - w, windows))) AS stretch
      FROM vault_hourly
      WHERE chain_id = toUInt32({stream:Int32})
        AND position <= {from:UInt64}
        AND vault IN (
          SELECT contract FROM event
          WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
        -- Older rows only of vaults that would have none to begin the longest window at.
        AND (hour >= far OR vault NOT IN (
          SELECT vault FROM vault_hourly
          WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND hour >= far AND timestamp <= near AND growth IS NOT NULL
            AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})))
        AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    )
    GROUP BY vault, is_priced, stretch
  ),
  lined_up AS (
    SELECT *, lagInFrame(position) OVER one_by_one AS before, lagInFrame(hour) OVER one_by_one AS hour_before
    FROM (
      SELECT vault, hour, position, block_number, timestamp, is_new, total_assets, total_supply, share_price_raw, share_price,
        is_priced, growth, growth_weight, supply_changes
      FROM sampled
      UNION ALL
      SELECT vault, kept.2, kept.1, 0, kept.3, 0, kept.4, kept.5, kept.6, NULL,
        is_priced, ifNull(kept.7, 0), toInt256(ifNull(kept.8, 0)), toInt64(ifNull(kept.9, 0))
      FROM prior
    )
    WINDOW one_by_one AS (PARTITION BY vault ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  ),
  -- What each row adds to the sums: a new one by its link to the row before, an old one by the difference of the two.
  linked AS (
    SELECT *,
      is_new AND (before = 0 OR toDate(hour) != toDate(hour_before)) AS opens_day,
      is_new AND is_priced AND lagInFrame(position) OVER by_price > 0 AS is_link,
      if(is_link, dateDiff('second', lagInFrame(timestamp) OVER by_price, timestamp), 1) AS seconds,
      if(is_link, toFloat64(ifNull(share_price_raw, 0)) / toFloat64(ifNull(lagInFrame(share_price_raw) OVER by_price, 1)), 1.) AS ratio,
      -- least() passes over NULL: the sum makes it unknown. Capped so that no product leaves 256 bits.
      toInt256(ifNull(least(total_assets, lagInFrame(total_assets) OVER by_price, bitShiftLeft(toUInt256(1), 130))
        + 0 * (total_assets + lagInFrame(total_assets) OVER by_price), 0)) * seconds AS weight,
      multiIf(is_link, weight * toInt256(round(least(pow(ratio, 3600. / seconds) - 1, 65535.) * 1e18)),
        is_new, 0, growth - lagInFrame(growth) OVER by_price) AS more_growth,
      multiIf(is_link, weight, is_new, 0, growth_weight - lagInFrame(growth_weight) OVER by_price) AS more_weight,
      multiIf(is_link, ifNull(total_supply != lagInFrame(total_supply) OVER by_price, 1), is_new, 0,
        supply_changes - lagInFrame(supply_changes) OVER by_price) AS more_changes
    FROM lined_up
    WHERE NOT (is_new AND before > 0 AND hour = hour_before)
    WINDOW by_price AS (PARTITION BY vault, is_priced ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  ),
  summed AS (
    SELECT * EXCEPT (growth, growth_weight, supply_changes),
      toInt64(toUnixTimestamp(timestamp)) AS at,
      sum(more_growth) OVER by_price AS growth,
      sum(more_weight) OVER by_price AS growth_weight,
      sum(more_changes) OVER by_price AS supply_changes,
      (at, toFloat64(ifNull(share_price_raw, 0)), growth, growth_weight, supply_changes) AS point
    FROM linked
    WINDOW by_price AS (PARTITION BY vault, is_priced ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  ),
  windowed AS (
    SELECT *,
      first_value(point) OVER (PARTITION BY vault, is_priced ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS first,
      arrayMap(begin -> if(begin.1 = 0, first, begin), [
        last_value(point) OVER (PARTITION BY vault, is_priced ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND 3600 PRECEDING),
        last_value(point) OVER (PARTITION BY vault, is_priced ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND 86400 PRECEDING),
        last_value(point) OVER (PARTITION BY vault, is_priced ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND 604800 PRECEDING),
        last_value(point) OVER (PARTITION BY vault, is_priced ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND 2592000 PRECEDING)]) AS begins
    FROM summed
  ),
  yields AS (
    SELECT *,
      arrayMap(apy -> if(isFinite(apy), apy, NULL), arrayMap(begin -> multiIf(
        NOT is_priced OR at <= begin.1, NULL,
        supply_changes = begin.5, pow(point.2 / begin.2, 31536000. / (at - begin.1)) - 1,
        growth_weight = begin.4, NULL,
        pow(1 + toFloat64(growth - begin.3) / toFloat64(growth_weight - begin.4) / 1e18, 8760) - 1), begins)) AS apys
    FROM windowed
    WHERE is_new
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id,
  vault,
  hour,
  position,
  block_number,
  timestamp,
  total_assets,
  total_supply,
  share_price_raw,
  share_price,
  apys[1] AS apy_1h,
  apys[2] AS apy_1d,
  apys[3] AS apy_7d,
  apys[4] AS apy_30d,
  opens_day,
  if(is_priced, growth, NULL) AS growth,
  if(is_priced, toUInt256(growth_weight), NULL) AS growth_weight,
  if(is_priced, toUInt32(supply_changes), NULL) AS supply_changes
FROM yields;
