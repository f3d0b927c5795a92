-- What samples of a batch say, the share price as a number among it. NULL: the contract did not answer; a share price is
-- NULL too where there is no share to speak of. A vault rounds to a unit, so of little enough that one unit moves the price
-- by more than 0.01 % the price says how the rounding fell, and nothing of what a share earned: fewer than 10,000 units of
-- the share, if these are less than a whole one; or of the asset, where the shares are no more than that by their own decimals
-- either (many shares of nothing are a loss, whose price is told).
CREATE VIEW IF NOT EXISTS internal.state_sample AS
WITH JSONExtract(data, 'Tuple(totalAssets Nullable(String), totalSupply Nullable(String), sharePrice Nullable(String),
  finePrice Nullable(String), fineDigits UInt8, maxDeposit Nullable(String), idleAssets Nullable(String),
  borrowedAssets Nullable(String), decimals UInt8, assetDecimals UInt8)') AS fields
SELECT
  contract AS vault,
  timestamp,
  position,
  block_number,
  toUInt256OrNull(fields.totalAssets) AS total_assets,
  toUInt256OrNull(fields.totalSupply) AS total_supply,
  toUInt256OrNull(fields.sharePrice) AS share_price_raw,
  toUInt256OrNull(fields.finePrice) AS fine_price,
  fields.fineDigits AS fine_digits,
  ifNull(total_assets < 10000, 0) AS is_hollow,
  ifNull(toFloat64(total_supply) < least(10000., pow(10., fields.decimals)), 0) OR (is_hollow
    AND ifNull(toFloat64(total_supply) < pow(10., 4 + fields.decimals - fields.assetDecimals), 0)) AS is_empty,
  if(is_empty, NULL, if(fine_price IS NULL, toFloat64(share_price_raw) / pow(10., fields.assetDecimals),
    toFloat64(fine_price) / pow(10., fields.assetDecimals + fine_digits))) AS share_price,
  toUInt256OrNull(fields.maxDeposit) AS max_deposit,
  toUInt256OrNull(fields.idleAssets) AS idle_assets,
  toUInt256OrNull(fields.borrowedAssets) AS borrowed_assets,
  fields.decimals AS decimals,
  fields.assetDecimals AS asset_decimals
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled';

-- Every sample of a vault's state, as read from the chain at the end of a block. NULL: the contract did not answer.
CREATE TABLE IF NOT EXISTS vault_sample (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, share base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'what the contract says of one whole share, whether or not there are shares: asset base units' CODEC(ZSTD(1)),
  fine_price Nullable(UInt256) COMMENT 'what it says of 10^fine_digits whole shares, where that is the same price with more digits: asset base units' CODEC(ZSTD(1)),
  fine_digits UInt8 COMMENT 'how many more digits than the asset `fine_price` has; 0: none' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: unknown, or no share' CODEC(ZSTD(1)),
  max_deposit Nullable(UInt256) COMMENT 'maxDeposit of an account that holds nothing, asset base units' CODEC(ZSTD(1)),
  idle_assets Nullable(UInt256) COMMENT 'what the vault itself holds of its asset, asset base units' CODEC(ZSTD(1)),
  borrowed_assets Nullable(UInt256) COMMENT 'lent out with interest, where the vault says so (Euler''s totalBorrows), asset base units' CODEC(ZSTD(1)),
  decimals UInt8 COMMENT 'decimals of the share',
  asset_decimals UInt8 COMMENT 'decimals of the underlying'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per sample; `(chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.vault_sample_rows AS
SELECT toUInt32({stream:Int32}) AS chain_id, vault, timestamp, position, block_number, total_assets, total_supply,
  share_price_raw, fine_price, fine_digits, share_price, max_deposit, idle_assets, borrowed_assets, decimals, asset_decimals
FROM internal.state_sample(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64});

-- Share price, assets and supply of vaults by the hour: the FIRST sample of each, so that a row never changes, with
-- the APYs of the windows that end at it.
--   t0: the row with a price nearest to timestamp - window, at most half an hour or a twentieth of the window away, whichever
--   is more: without one the window has no value. What a number does not hold is no value either.
--   Supply never changed since t0: (P1 / P0) ^ (year / (t1 - t0)) - 1.
--   Else growth factors of consecutive rows, each brought to one hour, are averaged with weight
--   (smaller total_assets of the two) * (seconds between them), and the mean is compounded over 8760 hours.
-- growth and growth_weight are those sums since the vault's first row, as integers: a window is a difference of two
-- rows, exact whatever the order in which rows were added up. Rows that the vault did not answer take no part: NULL. A row
-- without shares, or with next to no assets, begins and ends no window and its links weigh nothing.
CREATE TABLE IF NOT EXISTS vault_hourly (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  hour DateTime('UTC') COMMENT 'start of the hour, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the sample''s block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, share base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'what the contract says of one whole share, whether or not there are shares: asset base units' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: unknown, or no share' CODEC(ZSTD(1)),
  apy_1h Nullable(Float64) COMMENT 'APY over the last hour, fraction per year (0.05 is 5 %); NULL: unknown' CODEC(ZSTD(1)),
  apy_1d Nullable(Float64) COMMENT 'APY over the last day, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_7d Nullable(Float64) COMMENT 'APY over the last 7 days, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_30d Nullable(Float64) COMMENT 'APY over the last 30 days, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  opens_day UInt8 COMMENT '1: also the first sample of its UTC day',
  growth Nullable(Int256) COMMENT 'running sum of weight × (hourly growth factor − 1) × 1e18' CODEC(ZSTD(1)),
  growth_weight Nullable(UInt256) COMMENT 'running sum of weights, asset base units × seconds' CODEC(ZSTD(1)),
  supply_changes Nullable(UInt32) COMMENT 'running count of rows whose supply differs from the row before' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, hour, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per vault and hour, its first sample; `(chain_id, vault, hour, position)`.';

-- Rows from before a batch, of the vaults that the batch samples.
CREATE VIEW IF NOT EXISTS internal.vault_hourly_before AS
SELECT * FROM vault_hourly
WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
  AND vault IN (
    SELECT contract FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
  AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64});

-- Samples of the batch that begin another hour than that of their vault's row before: without any there are no new rows.
CREATE VIEW IF NOT EXISTS internal.vault_hourly_due AS
SELECT contract AS vault, toStartOfHour(timestamp) AS hour
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled'
  AND (vault, hour) NOT IN (
    SELECT vault, argMax(hour, position)
    FROM internal.vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY vault);

-- The batch's first samples of hours, in the shape of vault_hour_before. Kinds of rows: 0 the vault did not answer, 1 there is no
-- price or no growth to speak of, 2 there is.
CREATE VIEW IF NOT EXISTS internal.vault_hour_sampled AS
SELECT vault, hour, first.1 AS position, first.2 AS block_number, first.3 AS timestamp, 1 AS is_new,
  first.4 AS total_assets, first.5 AS total_supply, first.6 AS share_price_raw, first.7 AS share_price,
  multiIf(share_price_raw IS NULL, 0, ifNull(share_price > 0, 0) AND NOT first.8, 2, 1) AS kind,
  toInt256(0) AS growth, toInt256(0) AS growth_weight, toInt64(0) AS supply_changes
FROM (
  SELECT vault, toStartOfHour(timestamp) AS hour,
    min((position, block_number, timestamp, total_assets, total_supply, share_price_raw, share_price, is_hollow)) AS first
  FROM internal.state_sample(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
  GROUP BY vault, hour
);

-- Of the rows before the batch those that its windows can begin at, and the last of each kind, which the first links join.
-- For a window W with leeway L the former lie in [oldest - W - L, newest - W + L], where oldest and newest are the ends of
-- the batch. Older rows are read only of vaults that would have none to link to.
CREATE VIEW IF NOT EXISTS internal.vault_hour_before AS
WITH
  [(2592000, 129600), (604800, 30240), (86400, 4320), (3600, 1800)] AS windows,
  (SELECT (toInt64(toUnixTimestamp(min(timestamp))), toInt64(toUnixTimestamp(max(timestamp)))) FROM event
   WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled') AS batch,
  toDateTime(greatest(batch.1 - 32 * 86400, 0), 'UTC') AS far,
  toInt64(toUnixTimestamp(timestamp)) AS at
SELECT vault, kept.2 AS hour, kept.1 AS position, 0 AS block_number, kept.3 AS timestamp, 0 AS is_new,
  kept.4 AS total_assets, kept.5 AS total_supply, NULL AS share_price_raw, kept.6 AS share_price, kind,
  ifNull(kept.7, 0) AS growth, toInt256(ifNull(kept.8, 0)) AS growth_weight, toInt64(ifNull(kept.9, 0)) AS supply_changes
FROM (
  SELECT vault,
    multiIf(growth IS NULL, 0, ifNull(share_price > 0, 0) AND ifNull(total_assets >= 10000, 1), 2, 1) AS kind,
    if(kind = 2 AND arrayExists(w -> at >= batch.1 - w.1 - w.2 AND at <= batch.2 - w.1 + w.2, windows), at, -1) AS stretch,
    max((position, hour, timestamp, total_assets, total_supply, share_price, growth, growth_weight, supply_changes)) AS kept
  FROM internal.vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
  WHERE hour >= far OR vault NOT IN (
    SELECT vault FROM internal.vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    WHERE hour >= far AND growth IS NOT NULL)
  GROUP BY vault, kind, stretch
);

-- Both in the order of the stream, without new ones of an hour that has a row; `told_…` is of the last row of which the vault had
-- answered.
CREATE VIEW IF NOT EXISTS internal.vault_hour_series AS
SELECT *,
  is_new AND (before = 0 OR toDate(hour) != toDate(hour_before)) AS opens_day,
  lagInFrame(position) OVER by_told AS told_position,
  lagInFrame(kind) OVER by_told AS told_kind,
  lagInFrame(timestamp) OVER by_told AS told_timestamp,
  lagInFrame(share_price) OVER by_told AS told_share_price,
  lagInFrame(total_assets) OVER by_told AS told_assets,
  lagInFrame(total_supply) OVER by_told AS told_supply,
  lagInFrame(growth) OVER by_told AS told_growth,
  lagInFrame(growth_weight) OVER by_told AS told_weight,
  lagInFrame(supply_changes) OVER by_told AS told_changes
FROM (
  SELECT *, kind > 0 AS is_told, lagInFrame(position) OVER one_by_one AS before, lagInFrame(hour) OVER one_by_one AS hour_before
  FROM (
    SELECT * FROM internal.vault_hour_sampled(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    UNION ALL
    SELECT * FROM internal.vault_hour_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
  )
  WINDOW one_by_one AS (PARTITION BY vault ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE NOT (is_new AND before > 0 AND hour = hour_before)
WINDOW by_told AS (PARTITION BY vault, is_told ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- The sums up to each row. What a row adds to them: a new one by its link to the row before, an old one by the difference of the two.
CREATE VIEW IF NOT EXISTS internal.vault_hour_sums AS
WITH
  is_new AND is_told AND told_position > 0 AS is_link,
  is_link AND kind = 2 AND told_kind = 2 AS is_priced_link,
  if(is_priced_link, dateDiff('second', told_timestamp, timestamp), 1) AS seconds,
  if(is_priced_link, ifNull(share_price / told_share_price, 1.), 1.) AS ratio,
  -- least() passes over NULL: the sum makes it unknown. Capped so that no product leaves 256 bits.
  if(is_priced_link, toInt256(ifNull(least(total_assets, told_assets, bitShiftLeft(toUInt256(1), 130)) + 0 * (total_assets + told_assets), 0))
    * seconds, 0) AS weight
SELECT * EXCEPT (growth, growth_weight, supply_changes),
  toInt64(toUnixTimestamp(timestamp)) AS at,
  sum(if(is_new, weight * toInt256(round(least(pow(ratio, 3600. / seconds) - 1, 65535.) * 1e18)), hours.growth - told_growth))
    OVER by_told AS growth,
  sum(if(is_new, weight, hours.growth_weight - told_weight)) OVER by_told AS growth_weight,
  sum(multiIf(is_link, ifNull(total_supply != told_supply, 1), is_new, 0, hours.supply_changes - told_changes)) OVER by_told AS supply_changes,
  (at, ifNull(share_price, 0.), growth, growth_weight, supply_changes) AS point
FROM internal.vault_hour_series(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}) AS hours
WINDOW by_told AS (PARTITION BY vault, is_told ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- begins: of each window the last point at or before its beginning, or the first after it if that is nearer, as far as the leeway
-- goes; (0, …) is none.
CREATE VIEW IF NOT EXISTS internal.vault_hourly_rows AS
SELECT toUInt32({stream:Int32}) AS chain_id, vault, hour, position, block_number, timestamp, total_assets, total_supply, share_price_raw,
  share_price, apys[1] AS apy_1h, apys[2] AS apy_1d, apys[3] AS apy_7d, apys[4] AS apy_30d, opens_day,
  if(is_told, growth, NULL) AS growth,
  if(is_told, toUInt256(growth_weight), NULL) AS growth_weight,
  if(is_told, toUInt32(supply_changes), NULL) AS supply_changes
FROM (
  SELECT *,
    arrayMap(apy -> if(isFinite(apy), apy, NULL), arrayMap(begin -> multiIf(
      kind != 2 OR begin.1 = 0, NULL,
      supply_changes = begin.5, pow(point.2 / begin.2, 31536000. / (at - begin.1)) - 1,
      growth_weight = begin.4, NULL,
      pow(1 + toFloat64(growth - begin.3) / toFloat64(growth_weight - begin.4) / 1e18, 8760) - 1), begins)) AS apys
  FROM (
    SELECT *,
      arrayMap((earlier, later, w) ->
        if(later.1 = 0 OR (earlier.1 > 0 AND at - w - earlier.1 <= later.1 - (at - w)), earlier, later),
        [last_value(point) OVER (by_kind RANGE BETWEEN 5400 PRECEDING AND 3600 PRECEDING),
          last_value(point) OVER (by_kind RANGE BETWEEN 90720 PRECEDING AND 86400 PRECEDING),
          last_value(point) OVER (by_kind RANGE BETWEEN 635040 PRECEDING AND 604800 PRECEDING),
          last_value(point) OVER (by_kind RANGE BETWEEN 2721600 PRECEDING AND 2592000 PRECEDING)],
        [first_value(point) OVER (by_kind RANGE BETWEEN 3599 PRECEDING AND 1800 PRECEDING),
          first_value(point) OVER (by_kind RANGE BETWEEN 86399 PRECEDING AND 82080 PRECEDING),
          first_value(point) OVER (by_kind RANGE BETWEEN 604799 PRECEDING AND 574560 PRECEDING),
          first_value(point) OVER (by_kind RANGE BETWEEN 2591999 PRECEDING AND 2462400 PRECEDING)],
        [3600, 86400, 604800, 2592000]) AS begins
    FROM internal.vault_hour_sums(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    WINDOW by_kind AS (PARTITION BY vault, kind ORDER BY at)
  )
  WHERE is_new
);

-- The day's first sample is its hour's first too: daily rows are those hourly ones, once more and close together, so
-- that a year of days is not read from among its hours.
CREATE TABLE IF NOT EXISTS vault_daily (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  day Date COMMENT 'UTC day',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the sample''s block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, share base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'what the contract says of one whole share, whether or not there are shares: asset base units' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: unknown, or no share' CODEC(ZSTD(1)),
  apy_1h Nullable(Float64) COMMENT 'APY over the last hour, fraction per year (0.05 is 5 %); NULL: unknown' CODEC(ZSTD(1)),
  apy_1d Nullable(Float64) COMMENT 'APY over the last day, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_7d Nullable(Float64) COMMENT 'APY over the last 7 days, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_30d Nullable(Float64) COMMENT 'APY over the last 30 days, fraction per year; NULL: unknown' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, day, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per vault and UTC day: the rows of vault_hourly that open a day; retracted ones included.';

CREATE VIEW IF NOT EXISTS internal.vault_daily_rows AS
SELECT chain_id, vault, toDate(hour) AS day, position, block_number, timestamp, total_assets, total_supply,
  share_price_raw, share_price, apy_1h, apy_1d, apy_7d, apy_30d
FROM vault_hourly
WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64} AND opens_day = 1;

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
