-- What a vault and its mint were at a slot, read when that was the newest: no node tells of the past. Hours in which nobody asked have no row.
CREATE TABLE IF NOT EXISTS svm_vault_sample (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  reason LowCardinality(String) COMMENT 'hourly, activity, discovery',
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: not read' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, by their mint, share base units; NULL: not read' CODEC(ZSTD(1)),
  price_assets Nullable(UInt256) COMMENT 'asset base units that price_shares are worth; NULL: there is no share' CODEC(ZSTD(1)),
  price_shares Nullable(UInt256) COMMENT 'share base units; NULL: there is no share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: there is no share' CODEC(ZSTD(1)),
  idle_assets Nullable(UInt256) COMMENT 'what withdrawals can be paid of at once, asset base units; NULL: not read' CODEC(ZSTD(1)),
  epoch Nullable(UInt64) COMMENT 'epoch of the slot; NULL: not read',
  updated_epoch Nullable(UInt64) COMMENT 'epoch in which the vault was last brought up to date; NULL: it does not say'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per sample; `(chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_vault_sample_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number, fields.reason AS reason,
  toUInt256OrNull(fields.totalAssets) AS total_assets, toUInt256OrNull(fields.totalSupply) AS total_supply,
  toUInt256OrNull(fields.priceAssets) AS price_assets, toUInt256OrNull(fields.priceShares) AS price_shares,
  if(price_shares = 0, NULL, toFloat64(price_assets) / toFloat64(price_shares) * pow(10., toInt32(fields.decimals) - fields.assetDecimals)) AS share_price,
  toUInt256OrNull(fields.idleAssets) AS idle_assets, fields.epoch AS epoch, fields.updatedEpoch AS updated_epoch
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(reason String, totalAssets Nullable(String), totalSupply Nullable(String), priceAssets Nullable(String), priceShares Nullable(String),
      idleAssets Nullable(String), decimals UInt8, assetDecimals UInt8, epoch Nullable(UInt64), updatedEpoch Nullable(UInt64))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultSampled'
);

-- The first sample of each hour, with the APYs of the windows that end at it: (P1 / P0) ^ (year / (t1 - t0)) - 1, where t0 is the
-- row with a price nearest to a window ago, at most half an hour or a twentieth of the window away, whichever is more.
CREATE TABLE IF NOT EXISTS svm_vault_hourly (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  hour DateTime('UTC') COMMENT 'start of the hour, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the sample''s slot, UTC' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: not read' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, by their mint, share base units; NULL: not read' CODEC(ZSTD(1)),
  price_assets Nullable(UInt256) COMMENT 'asset base units that price_shares are worth; NULL: there is no share' CODEC(ZSTD(1)),
  price_shares Nullable(UInt256) COMMENT 'share base units; NULL: there is no share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: there is no share' CODEC(ZSTD(1)),
  apy_1h Nullable(Float64) COMMENT 'APY over the last hour, fraction per year (0.05 is 5 %); NULL: unknown' CODEC(ZSTD(1)),
  apy_1d Nullable(Float64) COMMENT 'APY over the last day, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_7d Nullable(Float64) COMMENT 'APY over the last 7 days, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_30d Nullable(Float64) COMMENT 'APY over the last 30 days, fraction per year; NULL: unknown' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, hour, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per vault and hour, its first sample; `(chain_id, vault, hour, position)`. The price of a stake pool moves once an epoch, some two days: between, the APY of an hour and of a day is 0.';

-- Rows from the 32 days before a batch, of the vaults that the batch samples.
CREATE VIEW IF NOT EXISTS internal.svm_vault_hourly_before AS
SELECT vault, hour, position, timestamp, share_price
FROM svm_vault_hourly FINAL
WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
  AND hour >= (
    SELECT toDateTime(greatest(toInt64(toUnixTimestamp(min(timestamp))) - 32 * 86400, 0), 'UTC') FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultSampled')
  AND vault IN (
    SELECT contract FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultSampled')
  AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64});

-- begins: where the windows begin that end at a row; (0, …) is none.
CREATE VIEW IF NOT EXISTS internal.svm_vault_hourly_rows AS
SELECT toUInt32({stream:Int32}) AS chain_id, vault, hour, position, block_number, timestamp, told.1 AS total_assets, told.2 AS total_supply,
  told.3 AS price_assets, told.4 AS price_shares, price AS share_price, apys[1] AS apy_1h, apys[2] AS apy_1d, apys[3] AS apy_7d, apys[4] AS apy_30d
FROM (
  SELECT *, arrayMap(apy -> if(isFinite(apy), apy, NULL), arrayMap(begin ->
    if(NOT is_priced OR begin.1 = 0, NULL, pow(point.2 / begin.2, 31536000. / (at - begin.1)) - 1), begins)) AS apys
  FROM (
    SELECT *, told.5 AS price, ifNull(price > 0, 0) AS is_priced, toInt64(toUnixTimestamp(timestamp)) AS at, (at, ifNull(price, 0.)) AS point,
      arrayMap((earlier, later, w) ->
        if(later.1 = 0 OR (earlier.1 > 0 AND at - w - earlier.1 <= later.1 - (at - w)), earlier, later),
        [last_value(point) OVER (by_price RANGE BETWEEN 5400 PRECEDING AND 3600 PRECEDING),
          last_value(point) OVER (by_price RANGE BETWEEN 90720 PRECEDING AND 86400 PRECEDING),
          last_value(point) OVER (by_price RANGE BETWEEN 635040 PRECEDING AND 604800 PRECEDING),
          last_value(point) OVER (by_price RANGE BETWEEN 2721600 PRECEDING AND 2592000 PRECEDING)],
        [first_value(point) OVER (by_price RANGE BETWEEN 3599 PRECEDING AND 1800 PRECEDING),
          first_value(point) OVER (by_price RANGE BETWEEN 86399 PRECEDING AND 82080 PRECEDING),
          first_value(point) OVER (by_price RANGE BETWEEN 604799 PRECEDING AND 574560 PRECEDING),
          first_value(point) OVER (by_price RANGE BETWEEN 2591999 PRECEDING AND 2462400 PRECEDING)],
        [3600, 86400, 604800, 2592000]) AS begins
    FROM (
      SELECT vault, hour, first.1 AS position, first.2 AS block_number, first.3 AS timestamp, 1 AS is_new, first.4 AS told
      FROM (
        SELECT vault, toStartOfHour(timestamp) AS hour,
          min((position, block_number, timestamp, (total_assets, total_supply, price_assets, price_shares, share_price))) AS first
        FROM svm_vault_sample
        WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64}
        GROUP BY vault, hour
      )
      WHERE (vault, hour) NOT IN (
        SELECT vault, hour FROM internal.svm_vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      UNION ALL
      SELECT vault, hour, position, 0, timestamp, 0, (NULL, NULL, NULL, NULL, share_price)
      FROM internal.svm_vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    )
    WINDOW by_price AS (PARTITION BY vault, is_priced ORDER BY at)
  )
  WHERE is_new
);
