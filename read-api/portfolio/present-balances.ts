import { LRUCache } from 'lru-cache'
import { type Catalogue, keyOf } from '../catalogue/catalogue.ts'
import type { FoundVault } from '../catalogue/find-vault.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import type { z } from '../http/zod.ts'
import { ask } from '../moment/query.ts'
import { asOfParameter } from '../moment/snapshot.ts'
import { LAST_SECOND } from '../moment/time-range.ts'
import { balancesAt, newestBalance, newestBalances } from './queries.ts'
import { balanceAfter } from './return-queries.ts'

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'signal'>

/** The head of an account's balance in a vault: what it is after the change at a position, of a time (unix seconds). */
export type Head = z.output<typeof newestBalances.row>

/** Where several writes of a head lie side by side, that of the highest position is the head. */
function newestOf(rows: readonly Head[]): Head[] {
  const heads = new Map<string, Head>()
  for (const row of rows) {
    const key = keyOf(row.chain_id, row.vault)
    if (row.position >= (heads.get(key)?.position ?? 0)) heads.set(key, row)
  }
  return [...heads.values()]
}

/** How many rows are kept of accounts asked about, a few hundred bytes each. */
const MAX_ROWS = 20_000

/** Of accounts asked about since the catalogue moved: as true as they were for as long as it stands. */
const known = new WeakMap<Catalogue, LRUCache<string, Head[]>>()

/** The heads of every vault that an account ever held: at the catalogue's moment, or ahead of it. */
export async function headsOf(account: string, { deps, catalogue, signal }: Asking): Promise<Head[]> {
  const accounts =
    known.get(catalogue) ??
    new LRUCache<string, Head[]>({ maxSize: MAX_ROWS, sizeCalculation: rows => 1 + rows.length })
  known.set(catalogue, accounts)
  const rows =
    accounts.get(account) ?? newestOf(await ask(deps.clickhouse, newestBalances, { account }, signal))
  accounts.set(account, rows)
  return rows
}

/** Whether a head, as after an event of the last second, is of a later position than the catalogue's moment. */
export const isAhead = ({ chain_id, position }: Head, catalogue: Catalogue): boolean =>
  position > (catalogue.chain(chain_id)?.position ?? 0)

/**
 * What an account holds of every vault at the catalogue's moment, share base units, those of zero left out. A head at a
 * position up to the moment's is the balance of the moment; where one is ahead, the history is asked, which takes several
 * times as long.
 */
export async function presentBalances(
  account: string,
  asking: Asking,
): Promise<Pick<Head, 'chain_id' | 'vault' | 'balance'>[]> {
  const { deps, catalogue, signal } = asking
  const heads = await headsOf(account, asking)
  if (heads.some(head => isAhead(head, catalogue))) {
    const asked = { account, at: LAST_SECOND, as_of: asOfParameter(catalogue.moment) }
    return ask(deps.clickhouse, balancesAt, asked, signal)
  }
  return heads.filter(({ balance }) => BigInt(balance) > 0n)
}

/** The same of one vault, zero included. */
export async function presentBalance(
  account: string,
  pinned: FoundVault['pinned'],
  { deps, signal }: Asking,
): Promise<bigint> {
  const [head] = newestOf(await ask(deps.clickhouse, newestBalance, { ...pinned, account }, signal))
  if (!head || head.position <= pinned.p) return BigInt(head?.balance ?? 0)
  const everything = { ...pinned, account, at: LAST_SECOND, until: Number.MAX_SAFE_INTEGER }
  const [row] = await ask(deps.clickhouse, balanceAfter, everything, signal)
  return BigInt(row?.balance ?? 0)
}
