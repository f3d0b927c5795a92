import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import { listKeys } from '../db/keys/keys.ts'
import { networkOfChain } from '../db/networks.ts'

export interface OwnerFlow {
  /** The key's name; undefined where no key has that code (anybody may write a code into a suffix). */
  owner: string | undefined
  code: string
  day: string
  network: string
  vault: string
  asset: string
  /** Base units of the asset, exact; and whole units, for people. */
  deposits_raw: string
  redemptions_raw: string
  deposits: number
  redemptions: number
  /** Null: not every flow of the day has a known price. */
  deposits_usd: number | null
  redemptions_usd: number | null
  deposit_count: number
  redemption_count: number
}

/** Daily flows by API key, oldest first, from the view attributed_daily_flows. `from`, `to`: days, both inclusive. */
export async function readOwnerFlows(
  stores: { pool: pg.Pool; clickhouse: ClickHouse },
  range: { from: string; to: string; owner?: string },
): Promise<OwnerFlow[]> {
  const names = new Map((await listKeys(stores.pool)).map(({ code, name }) => [code, name]))
  const rows = await stores.clickhouse.query<Omit<OwnerFlow, 'owner' | 'network'> & { chain_id: number }>(
    'owner flows',
    `SELECT code, toString(day) AS day, chain_id, vault, asset_symbol AS asset,
       toString(deposits_raw) AS deposits_raw, toString(redemptions_raw) AS redemptions_raw, deposits, redemptions, deposits_usd, redemptions_usd,
       toUInt32(deposit_count) AS deposit_count, toUInt32(redemption_count) AS redemption_count
     FROM attributed_daily_flows
     WHERE attributed_daily_flows.day >= toDate({from:String}) AND attributed_daily_flows.day <= toDate({to:String})
     ORDER BY attributed_daily_flows.day, code, chain_id, vault`,
    range,
  )
  return rows
    .map(({ chain_id, ...row }) => ({
      owner: names.get(row.code),
      ...row,
      network: networkOfChain(chain_id)?.name ?? String(chain_id),
    }))
    .filter(({ owner }) => range.owner === undefined || owner === range.owner)
}
