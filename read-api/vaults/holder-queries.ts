import { defineQuery, rowOf, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN } from '../moment/visible.ts'

/**
 * Holders as of a position. `holder` keeps only the newest balance, which may be newer than the moment asked for:
 * those few are looked up in `balance`, whose rows never change.
 */
const holdersOf = (vaults: string) => `
  WITH
    ahead AS (
      SELECT vault, holder FROM holder FINAL WHERE chain_id = {chain:UInt32} ${vaults} AND position > {p:UInt64})
  SELECT vault, holder, balance, position AS last FROM holder FINAL
  WHERE chain_id = {chain:UInt32} ${vaults} AND position <= {p:UInt64}
  UNION ALL
  SELECT vault, holder, argMax(balance, position) AS balance, max(position) AS last FROM balance
  WHERE ${VISIBLE_ON_CHAIN} ${vaults} AND (vault, holder) IN (SELECT vault, holder FROM ahead)
  GROUP BY vault, holder`

const THESE = 'AND vault IN {vaults:Array(String)}'
const ONE = 'AND vault = {vault:String}'

/** Largest holders that a detailed vault names. */
export const TOP_HOLDERS = 10

const summaryRow = rowOf('holder', ['vault']).extend({
  holders: uint,
  total: z.string(),
  top: z.array(z.tuple([z.string(), z.string()])),
  /** Position of the last movement of its shares. */
  newest: uint,
})
export type HolderSummaryRow = z.output<typeof summaryRow>

const summary = (
  of: string,
) => `SELECT vault, countIf(balance > 0) AS holders, toString(sumIf(balance, balance > 0)) AS total,
    arrayMap(h -> (h.2, toString(-h.1)), groupArraySortedIf(${TOP_HOLDERS})((-balance, holder), balance > 0)) AS top,
    max(last) AS newest
  FROM (${of}) GROUP BY vault`

export const allHolderSummaries = defineQuery({
  name: 'holder_summaries',
  sql: summary(holdersOf('')),
  row: summaryRow,
})

export const theseHolderSummaries = defineQuery({
  name: 'holder_summaries_again',
  sql: summary(holdersOf(THESE)),
  row: summaryRow,
})

/**
 * The heads of holders as they are now, and the highest position that a vault's are of: where that is not beyond the moment
 * asked for, they are those of the moment, for a third of the cost.
 */
const newestOf = (
  vaults: string,
  key: string,
) => `SELECT ${key}, argMax(balance, position) AS balance, max(position) AS last
  FROM holder WHERE chain_id = {chain:UInt32} ${vaults} GROUP BY ${key}`

export const newestHolderSummaries = defineQuery({
  name: 'newest_holder_summaries',
  sql: summary(newestOf(THESE, 'vault, holder')),
  row: summaryRow,
})

const pageRow = rowOf('holder', ['holder', 'balance'])

export const newestHoldersPage = defineQuery({
  name: 'newest_holders_page',
  sql: `SELECT holder, toString(balance) AS balance, newest
    FROM (SELECT holder, balance, max(last) OVER () AS newest FROM (${newestOf(ONE, 'holder')})) AS holders
    WHERE holders.balance > 0
    ORDER BY holders.balance DESC, holder LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
  row: pageRow.extend({ newest: uint }),
})

export const holdersPage = defineQuery({
  name: 'holders_page',
  sql: `SELECT holder, toString(balance) AS balance FROM (${holdersOf(ONE)}) AS holders
    WHERE holders.balance > 0 ORDER BY holders.balance DESC, holder LIMIT {limit:UInt32} OFFSET {offset:UInt64}`,
  row: pageRow,
})
