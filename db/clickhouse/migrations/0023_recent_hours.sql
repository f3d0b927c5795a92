-- As in 0004, where it is said what the rows are; but of a vault's history no more is read than a batch needs, which is 32 days of it. All
-- of it was, and a batch took longer the older the vaults became.

-- Rows from the 32 days before a batch, of the vaults that the batch samples.
CREATE VIEW IF NOT EXISTS internal.vault_hourly_before AS
SELECT * FROM vault_hourly
WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
  AND hour >= (
    SELECT toDateTime(greatest(toInt64(toUnixTimestamp(min(timestamp))) - 32 * 86400, 0), 'UTC') FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
  AND vault IN (
    SELECT contract FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
  AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64});

-- All rows from before a batch, of those vaults that it samples and that did not answer in the 32 days before it.
CREATE VIEW IF NOT EXISTS internal.vault_hourly_long_before AS
SELECT * FROM vault_hourly
WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
  AND hour < (
    SELECT toDateTime(greatest(toInt64(toUnixTimestamp(min(timestamp))) - 32 * 86400, 0), 'UTC') FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled')
  AND vault IN (
    SELECT contract FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled'
      AND contract NOT IN (
        SELECT vault FROM internal.vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
        WHERE growth IS NOT NULL))
  AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64});

CREATE VIEW IF NOT EXISTS internal.vault_hour_before AS
WITH
  [(2592000, 129600), (604800, 30240), (86400, 4320), (3600, 1800)] AS windows,
  (SELECT (toInt64(toUnixTimestamp(min(timestamp))), toInt64(toUnixTimestamp(max(timestamp)))) FROM event
   WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled') AS batch,
  toInt64(toUnixTimestamp(timestamp)) AS at
SELECT vault, kept.2 AS hour, kept.1 AS position, 0 AS block_number, kept.3 AS timestamp, 0 AS is_new,
  kept.4 AS total_assets, kept.5 AS total_supply, NULL AS share_price_raw, kept.6 AS share_price, kind,
  ifNull(kept.7, 0) AS growth, toInt256(ifNull(kept.8, 0)) AS growth_weight, toInt64(ifNull(kept.9, 0)) AS supply_changes
FROM (
  SELECT vault,
    multiIf(growth IS NULL, 0, ifNull(share_price > 0, 0) AND ifNull(total_assets >= 10000, 1), 2, 1) AS kind,
    if(kind = 2 AND arrayExists(w -> at >= batch.1 - w.1 - w.2 AND at <= batch.2 - w.1 + w.2, windows), at, -1) AS stretch,
    max((position, hour, timestamp, total_assets, total_supply, share_price, growth, growth_weight, supply_changes)) AS kept
  FROM (
    SELECT * FROM internal.vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    UNION ALL
    SELECT * FROM internal.vault_hourly_long_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
  )
  GROUP BY vault, kind, stretch
);
