import type { ClickHouseClient } from '@clickhouse/client'
import type { Face } from '../../db/faces.ts'
import { hasNamedPools } from '../../db/protocols.ts'
import type { Facts } from '../../db/registry/kinds.ts'
import { lentAssets } from '../lending/lent.ts'
import { inHundreds } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import { type Moment, momentOfFace } from '../moment/snapshot.ts'
import { holdings } from '../portfolio/queries.ts'
import type { FactBook } from './facts.ts'
import type { RawState } from './raw.ts'
import type { Settings } from './vault-state.ts'
import { standingOf, type VaultState } from './vault-state.ts'

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
  for (const some of inHundreds(found)) {
    const accounts = some.map(({ address }) => address)
    const at = (face: Face) => ({ chain, p: momentOfFace(moment, chain, face)?.position ?? 0, accounts })
    const [shares, lent] = await Promise.all([
      ask(clickhouse, holdings, at('core')),
      ask(clickhouse, lentAssets, at('lending')),
    ])
    for (const { address, asset } of some) {
      raw.putElsewhere(chain, address, {
        shares: shares.flatMap(row =>
          row.holder === address ? [[row.vault, BigInt(row.balance)] as const] : [],
        ),
        lent: lent.flatMap(row =>
          row.account === address && row.asset === asset ? [[row.market, BigInt(row.amount)] as const] : [],
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
