import type { ClickHouseClient } from '@clickhouse/client'
import type { Face } from '../../db/faces.ts'
import { groupBy } from '../../db/group-by.ts'
import { hasNamedPools } from '../../db/protocols.ts'
import type { Facts } from '../../db/registry/kinds.ts'
import { lentAssets } from '../lending/lent.ts'
import { inHundreds } from '../moment/chunks.ts'
import { ask, defineQuery, type NamedQuery, type z } from '../moment/query.ts'
import { type Moment, momentOfFace } from '../moment/snapshot.ts'
import { holdings } from '../portfolio/queries.ts'
import type { FactBook } from './facts.ts'
import type { RawState } from './raw.ts'
import type { Settings } from './vault-state.ts'
import { standingOf, type VaultState } from './vault-state.ts'

/** When more vaults than this moved, reading of all there are on their chain is cheaper than naming them. */
const MANY = 200

const ofAllVaults = <R extends z.ZodType>(query: NamedQuery<R>): NamedQuery<R> =>
  defineQuery({
    name: `${query.name}_of_vaults`,
    sql: query.sql.replaceAll(
      '{accounts:Array(String)}',
      '(SELECT vault FROM vault WHERE chain_id = {chain:UInt32})',
    ),
    row: query.row,
  })
const holdingsOfVaults = ofAllVaults(holdings)
const lentByVaults = ofAllVaults(lentAssets)

/** Whether what a vault says that it has is believed as it is. */
export const isBelieved = (
  state: Pick<VaultState, 'isMade' | 'protocol'>,
  facts: Facts<'vault'>,
): boolean => {
  const standing = standingOf(state, facts)
  return standing === 'listed' || (standing === 'made' && hasNamedPools(state.protocol))
}

/** Ids of the markets that a vault's curator has given a cap. */
export function marketsWithCaps(settings: Settings = {}): string[] {
  return Object.entries(settings).flatMap(([setting, cap]) => {
    const [, market] = /^cap:[^:]+:(.+)$/.exec(setting) ?? []
    return market && BigInt(cap ?? 0) > 0n ? [market] : []
  })
}

/**
 * Reads what the vaults of a chain that nobody listed and that moved have elsewhere: what they say of themselves is believed as far as it is
 * seen.
 */
export async function loadBacking(
  clickhouse: ClickHouseClient,
  raw: RawState,
  facts: FactBook,
  chain: number,
  moment: Moment,
): Promise<void> {
  const found = [...new Set([...raw.moved, ...raw.unbacked])].flatMap(key => {
    const state = raw.states.get(key)
    const isOurs = state?.chainId === chain && state.sample !== undefined
    return isOurs && !isBelieved(state, facts.vault(chain, state.address)) ? [state] : []
  })
  for (const { address } of found) raw.putElsewhere(chain, address, undefined)
  const at = (face: Face) => ({ chain, p: momentOfFace(moment, chain, face)?.position ?? 0 })
  const isMany = found.length > MANY
  for (const some of isMany ? [found] : inHundreds(found)) {
    const these = isMany ? {} : { accounts: some.map(({ address }) => address) }
    const [shares, lent] = await Promise.all([
      ask(clickhouse, isMany ? holdingsOfVaults : holdings, { ...at('core'), ...these }),
      ask(clickhouse, isMany ? lentByVaults : lentAssets, { ...at('lending'), ...these }),
    ])
    const [sharesOf, lentOf] = [groupBy(shares, row => row.holder), groupBy(lent, row => row.account)]
    for (const { address, asset } of some) {
      raw.putElsewhere(chain, address, {
        shares: (sharesOf.get(address) ?? []).map(row => [row.vault, BigInt(row.balance)]),
        lent: (lentOf.get(address) ?? []).flatMap(row =>
          row.asset === asset ? [[row.market, BigInt(row.amount)] as const] : [],
        ),
      })
    }
  }
}

/**
 * The assets behind a vault that nobody listed: what it holds itself, shares of vaults that are believed, and what lies in
 * lending markets that somebody vouches for. In a market of one's own there is as much as one likes: what is lent there against
 * collateral of one's own goes back to who lent it in the same transaction, and stays in the books. Base units of its asset.
 */
export function backingOf(
  { chainId, address, asset, sample, elsewhere }: VaultState,
  believed: (chainId: number, vault: string) => VaultState | undefined,
  isKnown: (chainId: number, market: string) => boolean,
): bigint {
  let sum = sample?.idleAssets ?? 0n
  for (const [market, amount] of elsewhere?.lent ?? [])
    if (market === '' || isKnown(chainId, market)) sum += amount
  for (const [vault, shares] of elsewhere?.shares ?? []) {
    const held = believed(chainId, vault)
    // Shares that are its asset lie in the vault itself.
    if (!held || vault === address || held.asset !== asset) continue
    const { totalAssets, totalSupply } = held.sample ?? {}
    if (totalAssets !== undefined && totalSupply) sum += (shares * totalAssets) / totalSupply
  }
  return sum
}
