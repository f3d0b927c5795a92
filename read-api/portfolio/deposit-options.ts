import { isAdvisable } from '../catalogue/advice.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { assetNames, compileFilter, unknownOf, type VaultFilter } from '../catalogue/filter.ts'
import { byIdentity, compareFigures } from '../catalogue/orders.ts'
import type { Vault } from '../catalogue/vault.ts'
import { identityOf, tvlOf } from '../catalogue/wire.ts'
import { usdString } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import type { ApyInterval } from '../vaults/history-queries.ts'
import type { IdleAsset } from './idle-assets.ts'
import { readIdleAssets } from './idle-assets.ts'
import { balanceOf, rateOf } from './positions.ts'
import { reaches } from './select-positions.ts'

export interface OptionsQuery extends VaultFilter {
  apyInterval: ApyInterval
  minUsdAssetValueThreshold?: number
}

/** An asset in a wallet and the vaults that take it, the most advisable first. */
export interface AssetOptions {
  held: IdleAsset
  vaults: Vault[]
}

/**
 * What a wallet could do with what it holds idle, the most valuable asset first. Vaults that are featured go first, then
 * by APY. Vaults with a flag of warning or critical, and those that no registry lists, are left out unless asked for; what
 * isAdvisable refuses is never there.
 */
export async function readOptions(
  wallet: string,
  query: OptionsQuery,
  context: EndpointContext,
  always: readonly string[] = [],
) {
  const { catalogue } = context
  // What an installation shows is one thing, what it sends people's money to another.
  const allowUnlisted = query.allowUnlisted ?? false
  const shown = catalogue.shown(allowUnlisted)
  const { idle, unreachable } = await readIdleAssets(wallet, query, { ...context, shown }, { always })
  const filter = compileFilter(
    { ...query, allowVaultsWithWarnings: query.allowVaultsWithWarnings ?? false },
    shown,
  )
  const isAlways = assetNames(always, shown)
  const threshold = query.minUsdAssetValueThreshold ?? 0
  let leftOut = 0
  const byAsset = new Map<string, AssetOptions>()
  const sorted = idle
    .filter(({ asset, balanceUsd }) => reaches(balanceUsd, threshold) || isAlways(asset))
    .sort((a, b) => compareFigures(a.balanceUsd, b.balanceUsd, 'desc'))
  for (const held of sorted) byAsset.set(keyOf(held.asset.chainId, held.asset.address), { held, vaults: [] })
  for (const vault of catalogue.identity) {
    const of = byAsset.get(keyOf(vault.asset.chainId, vault.asset.address))
    const now = catalogue.chain(vault.state.chainId)?.blockTime ?? 0
    if (!of || !isAdvisable(vault, query.apyInterval, now)) continue
    const figures = { tvlUsd: vault.tvlUsd, apy: vault.totalApy(query.apyInterval) }
    const passes = filter.matches(vault, figures)
    if (passes && (allowUnlisted || vault.standing === 'listed')) of.vaults.push(vault)
    else if (passes || filter.isLeftOut(vault, figures)) leftOut++
  }
  for (const { vaults } of byAsset.values()) vaults.sort(byAdvice(query.apyInterval))
  const unsupportedAssets = [
    ...new Set([...filter.errors.unsupportedAssets, ...unknownOf([always], name => shown.knowsAsset(name))]),
  ]
  return {
    options: [...byAsset.values()],
    leftOut,
    errors: {
      ...filter.errors,
      unsupportedAssets,
      ...(unreachable.length > 0 ? { unreachableNetworks: unreachable } : {}),
    },
  }
}

function byAdvice(interval: ApyInterval) {
  return (a: Vault, b: Vault) =>
    Number(b.isAppFeatured) - Number(a.isAppFeatured) ||
    compareFigures(a.totalApy(interval), b.totalApy(interval), 'desc') ||
    compareFigures(a.tvlUsd, b.tvlUsd, 'desc') ||
    byIdentity(a, b)
}

/** USD a year, if the whole balance were deposited and the APY stayed; undefined where price or APY are not known. */
export function earningsOf({ balanceUsd }: IdleAsset, vault: Vault, interval: ApyInterval) {
  if (balanceUsd === undefined || vault.apy[interval] === undefined) return undefined
  return balanceUsd * rateOf(vault, interval).total
}

/** The AssetBalance of the wire. */
export function assetBalanceOf({ asset, balance }: IdleAsset) {
  return { ...asset.wire, ...balanceOf(balance, asset.decimals, asset.price) }
}

/** The Option of the wire. */
export function optionOf(held: IdleAsset, vault: Vault, interval: ApyInterval) {
  const { asset: _, ...identity } = identityOf(vault)
  const { tags, listed } = vault.facts
  return {
    ...identity,
    protocol: vault.protocol,
    tvl: tvlOf(vault),
    ...(tags ? { tags } : {}),
    apy: rateOf(vault, interval),
    projectedUsdAnnualEarnings: usdString(earningsOf(held, vault, interval)),
    ...(listed?.lendUrl ? { lendUrl: listed.lendUrl } : {}),
    ...(listed?.protocolVaultUrl ? { protocolVaultUrl: listed.protocolVaultUrl } : {}),
  }
}
