-- As in 0004, where it is said what the columns mean: what a sample says is taken out once and read once. A block's batch was planned
-- for as long again where each column named the expressions of those before it.
CREATE VIEW IF NOT EXISTS internal.state_sample AS
SELECT
  vault, timestamp, position, block_number, total_assets, total_supply, share_price_raw, fine_price, fine_digits, is_hollow, is_empty,
  if(is_empty, NULL, if(fine_price IS NULL, toFloat64(share_price_raw) / pow(10., asset_decimals),
    toFloat64(fine_price) / pow(10., asset_decimals + fine_digits))) AS share_price,
  max_deposit, idle_assets, borrowed_assets, decimals, asset_decimals
FROM (
  SELECT *,
    ifNull(total_assets < 10000, 0) AS is_hollow,
    ifNull(toFloat64(total_supply) < least(10000., pow(10., decimals)), 0) OR (ifNull(total_assets < 10000, 0)
      AND ifNull(toFloat64(total_supply) < pow(10., 4 + decimals - asset_decimals), 0)) AS is_empty
  FROM (
    SELECT vault, timestamp, position, block_number,
      toUInt256OrNull(fields.1) AS total_assets,
      toUInt256OrNull(fields.2) AS total_supply,
      toUInt256OrNull(fields.3) AS share_price_raw,
      toUInt256OrNull(fields.4) AS fine_price,
      fields.5 AS fine_digits,
      toUInt256OrNull(fields.6) AS max_deposit,
      toUInt256OrNull(fields.7) AS idle_assets,
      toUInt256OrNull(fields.8) AS borrowed_assets,
      fields.9 AS decimals,
      fields.10 AS asset_decimals
    FROM (
      SELECT contract AS vault, timestamp, position, block_number,
        JSONExtract(data, 'Tuple(totalAssets Nullable(String), totalSupply Nullable(String), sharePrice Nullable(String),
          finePrice Nullable(String), fineDigits UInt8, maxDeposit Nullable(String), idleAssets Nullable(String),
          borrowedAssets Nullable(String), decimals UInt8, assetDecimals UInt8)') AS fields
      FROM event
      WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled'
    )
  )
);

-- As in 0004: the same sums, each step in a query of its own.
CREATE VIEW IF NOT EXISTS internal.vault_hour_sums AS
SELECT *, (at, ifNull(share_price, 0.), growth, growth_weight, supply_changes) AS point
FROM (
  SELECT * EXCEPT (growth, growth_weight, supply_changes, is_link, is_priced_link, seconds, ratio, weight, more_growth, more_weight, more_changes),
    toInt64(toUnixTimestamp(timestamp)) AS at,
    sum(more_growth) OVER by_told AS growth,
    sum(more_weight) OVER by_told AS growth_weight,
    sum(more_changes) OVER by_told AS supply_changes
  FROM (
    SELECT *,
      if(is_new, weight * toInt256(round(least(pow(ratio, 3600. / seconds) - 1, 65535.) * 1e18)), growth - told_growth) AS more_growth,
      if(is_new, weight, growth_weight - told_weight) AS more_weight,
      multiIf(is_link, ifNull(total_supply != told_supply, 1), is_new, 0, supply_changes - told_changes) AS more_changes
    FROM (
      SELECT *,
        -- least() passes over NULL: the sum makes it unknown. Capped so that no product leaves 256 bits.
        if(is_priced_link, toInt256(ifNull(least(total_assets, told_assets, bitShiftLeft(toUInt256(1), 130)) + 0 * (total_assets + told_assets), 0))
          * seconds, 0) AS weight
      FROM (
        SELECT *,
          if(is_priced_link, dateDiff('second', told_timestamp, timestamp), 1) AS seconds,
          if(is_priced_link, ifNull(share_price / told_share_price, 1.), 1.) AS ratio
        FROM (
          SELECT *,
            is_new AND is_told AND told_position > 0 AS is_link,
            is_new AND is_told AND told_position > 0 AND kind = 2 AND told_kind = 2 AS is_priced_link
          FROM internal.vault_hour_series(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
        )
      )
    )
  )
  WINDOW by_told AS (PARTITION BY vault, is_told ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
);
