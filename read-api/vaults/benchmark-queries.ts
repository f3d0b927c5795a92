import { defineQuery, rowOf, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/**
 * Of each day in [{from}, {to}) the {largest} of these vaults by total assets, as of their first sample of the day.
 * An APY is NULL where its window has no value; rows that have none at all are left out.
 */
export const benchmarkDays = defineQuery({
  name: 'benchmark_days',
  sql: `SELECT toUnixTimestamp(toDateTime(day, 'UTC')) AS day, vault, toUnixTimestamp(at) AS at, toString(assets) AS total_assets,
      apy_1d, apy_7d, apy_30d
    FROM (
      SELECT day, vault, argMin((timestamp, assumeNotNull(total_assets),
          vault_daily.apy_1d, vault_daily.apy_7d, vault_daily.apy_30d), position) AS row,
        row.1 AS at, row.2 AS assets, row.3 AS apy_1d, row.4 AS apy_7d, row.5 AS apy_30d
      FROM vault_daily
      WHERE ${VISIBLE_ON_CHAIN}
        AND day >= toDate(toDateTime({from:UInt32}, 'UTC')) AND day < toDate(toDateTime({to:UInt32}, 'UTC'))
        AND vault IN {vaults:Array(String)}
        AND total_assets IS NOT NULL AND share_price IS NOT NULL AND coalesce(vault_daily.apy_1d, vault_daily.apy_7d, vault_daily.apy_30d) IS NOT NULL
      GROUP BY day, vault
    )
    ORDER BY day, assets DESC, vault LIMIT {largest:UInt8} BY day`,
  row: rowOf('vault_daily', ['vault', 'apy_1d', 'apy_7d', 'apy_30d']).extend({
    day: z.number(),
    at: z.number(),
    total_assets: z.string(),
  }),
})
