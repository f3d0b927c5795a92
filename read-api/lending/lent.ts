import { lendingFamilies } from '../load-protocols.ts'
import { defineQuery, z } from '../moment/query.ts'

/** What accounts have supplied to the markets of a chain, by asset, as of the last time each market reckoned its interest. */
export const lentAssets = defineQuery({
  name: 'lent_assets',
  sql: `SELECT account, asset, market, toString(sum(amount)) AS amount FROM (
      ${[...lendingFamilies.values()].flatMap(({ lent }) => lent ?? []).join('\n      UNION ALL\n      ')}
    ) GROUP BY account, asset, market`,
  /** `market`: the id, where anybody may open one; empty: a pool that the operator names. */
  row: z.object({ account: z.string(), asset: z.string(), market: z.string(), amount: z.string() }),
})
