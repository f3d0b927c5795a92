-- As in 0004 and 0023: of the rows before a batch only the last of each kind go through its sums. Those that its windows can begin at, of
-- which there are three for each new row in a store of a hundred million events, were sorted with them four times over. They now
-- come along as an array, and are rows of their own once what is new has its sums.

CREATE VIEW IF NOT EXISTS internal.vault_hour_before AS
WITH
  [(2592000, 129600), (604800, 30240), (86400, 4320), (3600, 1800)] AS windows,
  (SELECT (toInt64(toUnixTimestamp(min(timestamp))), toInt64(toUnixTimestamp(max(timestamp)))) FROM event
   WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled') AS batch,
  toInt64(toUnixTimestamp(timestamp)) AS at
SELECT vault, last.2 AS hour, last.1 AS position, 0 AS block_number, last.3 AS timestamp, 0 AS is_new,
  last.4 AS total_assets, last.5 AS total_supply, NULL AS share_price_raw, last.6 AS share_price, kind,
  ifNull(last.7, 0) AS growth, toInt256(ifNull(last.8, 0)) AS growth_weight, toInt64(ifNull(last.9, 0)) AS supply_changes, points
FROM (
  SELECT vault,
    multiIf(growth IS NULL, 0, ifNull(share_price > 0, 0) AND ifNull(total_assets >= 10000, 1), 2, 1) AS kind,
    argMax((position, hour, timestamp, total_assets, total_supply, share_price, growth, growth_weight, supply_changes), position) AS last,
    groupArrayIf(
      (at, ifNull(share_price, 0.), ifNull(growth, 0), toInt256(ifNull(growth_weight, 0)), toInt64(ifNull(supply_changes, 0))),
      kind = 2 AND arrayExists(w -> at >= batch.1 - w.1 - w.2 AND at <= batch.2 - w.1 + w.2, windows)) AS points
  FROM (
    SELECT * FROM internal.vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    UNION ALL
    SELECT * FROM internal.vault_hourly_long_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
  )
  GROUP BY vault, kind
);

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
    SELECT *, [] AS points FROM internal.vault_hour_sampled(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    UNION ALL
    SELECT * FROM internal.vault_hour_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
  )
  WINDOW one_by_one AS (PARTITION BY vault ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
WHERE NOT (is_new AND before > 0 AND hour = hour_before)
WINDOW by_told AS (PARTITION BY vault, is_told ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- What is new with its sums, and the points before it.
CREATE VIEW IF NOT EXISTS internal.vault_hour_sums AS
SELECT * EXCEPT (at, points),
  arrayJoin(if(is_new, [(sums.at, ifNull(share_price, 0.), growth, growth_weight, supply_changes)], points)) AS point, point.1 AS at
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
) AS sums;
