import type { ClickHouseClient } from '@clickhouse/client'
import type { Face } from '../../db/faces.ts'
import { lentAssets } from '../lending/queries.ts'
import { inHundreds } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import { type Moment, momentOfFace } from '../moment/snapshot.ts'
import { holdings } from '../portfolio/queries.ts'
import type { FactBook } from './facts.ts'
import type { RawState } from './raw.ts'
import { standingOf, type VaultState } from './vault.ts'

/** What a vault has outside of itself, as others' books say. */
export interface Elsewhere {
  /** Shares of other vaults, base units. */
  readonly shares: readonly (readonly [vault: string, shares: bigint])[]
  /** Of its own asset in lending markets, base units. */
  readonly lent: bigint
}

/**
 * Reads what the found vaults of a chain that moved have elsewhere: what they say of themselves is believed as far as it is
 * seen.
 */
export async function loadBacking(
  clickhouse: ClickHouseClient,
  raw: RawState,
  facts: FactBook,
  chain: number,
  moment: Moment,
): Promise<void> {
  const found = [...raw.moved].flatMap(key => {
    const state = raw.states.get(key)
    const isOurs = state?.chainId === chain && state.sample !== undefined
    return isOurs && standingOf(state, facts.vault(chain, state.address)) === 'found' ? [state] : []
  })
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
        lent: lent.reduce(
          (sum, row) => (row.account === address && row.asset === asset ? sum + BigInt(row.amount) : sum),
          0n,
        ),
      })
    }
  }
}

/**
 * The assets behind a found vault: what it holds itself, shares of vaults that somebody vouches for, and what lies in
 * lending markets. Base units of its asset.
 */
export function backingOf(
  { chainId, address, asset, sample, elsewhere }: VaultState,
  vouchedFor: (chainId: number, vault: string) => VaultState | undefined,
): bigint {
  let sum = (sample?.idleAssets ?? 0n) + (elsewhere?.lent ?? 0n)
  for (const [vault, shares] of elsewhere?.shares ?? []) {
    const held = vouchedFor(chainId, vault)
    // Shares that are its asset lie in the vault itself.
    if (!held || vault === address || held.asset !== asset) continue
    const { totalAssets, totalSupply } = held.sample ?? {}
    if (totalAssets !== undefined && totalSupply) sum += (shares * totalAssets) / totalSupply
  }
  return sum
}
