import type { Vault } from '../catalogue/vault.ts'
import { ratio } from '../lending/market.ts'
import type { Allocations } from './allocations.ts'

/**
 * Where a vault's assets are, each part as a fraction of its total assets, what lies idle apart. What cannot be told is
 * left out, so the fractions add up to what is known; of a total that is not known nothing is a fraction.
 */
export function composition(vault: Vault, { total, parts }: Allocations) {
  return {
    items: (total === undefined ? [] : parts).map(({ name, address, assetSymbol, value, kind }) => ({
      name,
      address,
      network: vault.network.name,
      assetSymbol,
      allocation: total ? ratio(value, total) : 0,
      valueNative: String(value),
      kind,
    })),
    totalAssetsNative: total?.toString() ?? '',
  }
}

/** Parts may differ from the total by this fraction: they are rounded, and read from different contracts. */
const UNEXPLAINED = 0.01

/**
 * Share of a vault's assets that is lent out: what it says of its own borrowers (Euler: totalBorrows, Compound: totalBorrow; Fraxlend: total
 * assets less cash), else the utilization of each place weighted by what lies there, idle assets counting as not lent
 * out. Null where the places do not explain the total assets, or one of them does not say: a plain vault that lends
 * nothing has no utilization.
 */
export function utilizationRate(vault: Vault, { total, parts }: Allocations): number | null {
  const { sample } = vault.state
  if (sample?.borrowedAssets !== undefined && sample.totalAssets !== undefined)
    return Math.min(1, ratio(sample.borrowedAssets, sample.totalAssets))
  if (!total) return null
  const idle = parts.find(({ kind }) => kind === 'idle')
  if (vault.state.protocol === 'fraxlend' && idle) return Math.max(0, 1 - ratio(idle.value, total))
  if (!parts.some(({ kind }) => kind === 'deployed')) return null
  let explained = 0n
  let lent = 0
  for (const { value, utilization } of parts) {
    if (utilization === undefined) return null
    explained += value
    lent += Number(value) * utilization
  }
  if (Math.abs(ratio(explained, total) - 1) > UNEXPLAINED) return null
  return Math.min(1, lent / Number(explained))
}
