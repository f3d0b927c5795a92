import { defineQuery, rowOf, type z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/**
 * The highest and the lowest share price (above zero) of a vault in the seven days up to its last sample. `{since}`,
 * unix seconds, bounds what is read; a vault without a sample since then has no row.
 */
const rangeRow = rowOf('drawdown', ['vault'], { high: 'max_price', low: 'min_price' })
export type PriceRangeRow = z.output<typeof rangeRow>

const range = (where: string) => `SELECT vault, max(highest) AS high, min(lowest) AS low
  FROM (
    SELECT vault, day, d.1 AS highest, d.2 AS lowest, max(day) OVER (PARTITION BY vault) AS last
    FROM (
      SELECT vault, day, argMax((max_price, min_price), position) AS d
      FROM drawdown
      WHERE ${VISIBLE_ON_CHAIN} AND day >= toDate(toDateTime({since:UInt32}, 'UTC')) ${where}
      GROUP BY vault, day)
  )
  WHERE day > last - 7 AND lowest > 0
  GROUP BY vault`

export const allPriceRanges = defineQuery({ name: 'catalogue_price_range', sql: range(''), row: rangeRow })

export const thesePriceRanges = defineQuery({
  name: 'catalogue_price_range_again',
  sql: range('AND vault IN {vaults:Array(String)}'),
  row: rangeRow,
})
