import { defineQuery, z } from './query.ts'
import { VISIBLE_ON_CHAIN } from './visible.ts'

/**
 * Of each day in [{from}, {to}) the {largest} vaults of an asset by total assets, as of their first sample of the day;
 * the {corrupted} ones take no place.
 * Rows without an APY are left out: a vault's very first sample has no window behind it.
 */
export const benchmarkDays = defineQuery({
  name: 'benchmark_days',
  sql: `SELECT toUnixTimestamp(toDateTime(day, 'UTC')) AS day, vault, toUnixTimestamp(at) AS at, toString(assets) AS total_assets,
      apys[1] AS apy_1d, apys[2] AS apy_7d, apys[3] AS apy_30d
    FROM (
      SELECT day, vault, argMin((timestamp, assumeNotNull(total_assets),
          [assumeNotNull(coalesce(apy_1d, apy_1h)), assumeNotNull(coalesce(apy_7d, apy_1d, apy_1h)), assumeNotNull(coalesce(apy_30d, apy_7d, apy_1d, apy_1h))]), position) AS row,
        row.1 AS at, row.2 AS assets, row.3 AS apys
      FROM vault_daily
      WHERE ${VISIBLE_ON_CHAIN}
        AND day >= toDate(toDateTime({from:UInt32}, 'UTC')) AND day < toDate(toDateTime({to:UInt32}, 'UTC'))
        AND vault IN (SELECT vault FROM vault WHERE ${VISIBLE_ON_CHAIN} AND asset = {asset:String})
        AND vault NOT IN {corrupted:Array(String)}
        AND total_assets IS NOT NULL AND share_price IS NOT NULL AND coalesce(apy_1d, apy_1h) IS NOT NULL
      GROUP BY day, vault
    )
    ORDER BY day, assets DESC, vault LIMIT {largest:UInt8} BY day`,
  row: z.object({
    day: z.number(),
    vault: z.string(),
    at: z.number(),
    total_assets: z.string(),
    apy_1d: z.number(),
    apy_7d: z.number(),
    apy_30d: z.number(),
  }),
})
