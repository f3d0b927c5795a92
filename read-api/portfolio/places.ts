import { groupBy } from '../../db/group-by.ts'
import { AMM_HELD } from '../amm/queries.ts'
import { PRINCIPAL_HELD } from '../fixed-term/queries.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { lendingFamilies } from '../load-protocols.ts'
import { unfilledIn } from '../moment/filling.ts'
import { ask, defineQuery, z } from '../moment/query.ts'

/** SQL of the chains on which {accounts} ever had anything, by what it was: of lending by the slug of the protocol. */
const HELD: Readonly<Record<string, string>> = {
  vaults: 'SELECT chain_id FROM account_vault WHERE account IN {accounts:Array(String)}',
  rewards: 'SELECT chain_id FROM reward_claim WHERE account IN {accounts:Array(String)}',
  fixedTerm: PRINCIPAL_HELD,
  amm: AMM_HELD,
  ...Object.fromEntries([...lendingFamilies].map(([slug, { stakes }]) => [slug, stakes.held])),
}

const everHeld = defineQuery({
  name: 'ever_held',
  sql: Object.entries(HELD)
    .map(([what, sql]) => `SELECT DISTINCT '${what}' AS what, chain_id FROM (${sql})`)
    .join(' UNION ALL '),
  row: z.object({ what: z.string(), chain_id: z.number() }),
})

/** A chain on which wallets ever had something. */
export interface Place {
  chain: number
  /** Whether they may have had this there: `vaults`, `rewards`, `fixedTerm`, `amm`, or a protocol of lending by its slug. */
  has(what: string): boolean
  /** The wallets, and accounts that they have in a protocol of lending, by its slug; for `vaults` those of all. */
  accountsIn(what: string): string[]
}

/**
 * Where wallets ever had anything, found by one question about all chains, so that a statement costs what there is in it.
 * It is of no moment: what a statement does not see may be among it.
 */
export async function placesOf(
  wallets: readonly string[],
  wants: (chainId: number) => boolean,
  context: EndpointContext,
): Promise<Place[]> {
  const { deps, catalogue, signal } = context
  const rows = await ask(deps.clickhouse, everHeld, { accounts: [...wallets] }, signal)
  const found = groupBy(rows, ({ chain_id }) => chain_id)
  const places = await Promise.all(
    [...catalogue.moment.chains.keys()].filter(wants).map(async (chain): Promise<Place | undefined> => {
      const held = new Set(found.get(chain)?.map(({ what }) => what))
      // Tables that are being filled do not say what they lack: whoever reads them refuses.
      for (const [what, sql] of Object.entries(HELD))
        if (unfilledIn(deps.clickhouse, sql, chain) !== undefined) held.add(what)
      if (held.size === 0) return undefined
      const isServed = catalogue.chain(chain, 'lending') !== undefined
      const families = [...lendingFamilies].filter(([slug]) => isServed && held.has(slug))
      const more = await Promise.all(
        families.map(async ([slug, { stakes }]) => {
          return { slug, accounts: (await stakes.accounts?.(wallets, chain, context)) ?? [] }
        }),
      )
      return {
        chain,
        has: what => held.has(what),
        accountsIn: what => {
          const of = more.filter(({ slug }) => what === 'vaults' || slug === what)
          return [...new Set([...wallets, ...of.flatMap(({ accounts }) => accounts)])]
        },
      }
    }),
  )
  return places.flatMap(place => place ?? [])
}
