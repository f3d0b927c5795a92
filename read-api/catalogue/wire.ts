import { DAY } from '../../db/units.ts'
import { checksum, usdString } from '../http/amounts.ts'
import { CORRUPTIONS } from './corruption.ts'
import { greatestAge } from './prices.ts'
import { UNVOUCHED, wireFlag } from './score.ts'
import type { Vault } from './vault.ts'
import type { Window } from './vault-state.ts'
import { WINDOWS } from './vault-state.ts'

export interface RateWire {
  base: number
  reward: number
  total: number
}
export type ApyWire = Record<Window, RateWire>

/** A rate that has no value goes out as no growth: the wire wants a number, and the vault's warnings name the window. */
export function rate(base: number | undefined | null, reward = 0): RateWire {
  const known = base ?? 0
  return { base: known, reward, total: known + reward }
}

export function apyOf(vault: Vault): ApyWire {
  return Object.fromEntries(
    WINDOWS.map(window => [window, rate(vault.apy[window], vault.reward[window])]),
  ) as ApyWire
}

export function tvlOf(vault: Vault) {
  return { usd: usdString(vault.tvlUsd), native: vault.totalAssets?.toString() ?? '' }
}

export function identityOf(vault: Vault) {
  return {
    vaultId: vault.vaultId === vault.state.address ? checksum(vault.state.address) : vault.vaultId,
    address: checksum(vault.state.address),
    name: vault.name,
    network: vault.network,
    asset: vault.asset.wire,
    isTransactional: vault.isTransactional,
    isAppFeatured: vault.isAppFeatured,
  }
}

export function lpTokenOf(vault: Vault) {
  const address = checksum(vault.state.address)
  return {
    address,
    tokenCaip: `${vault.network.networkCaip}/erc20:${address}`,
    name: vault.state.name,
    symbol: vault.state.symbol,
    decimals: vault.state.decimals,
  }
}

/** The Detailed of the wire. */
export function detailedOf(vault: Vault) {
  const { state, facts, curator, transactions } = vault
  return {
    ...identityOf(vault),
    protocol: vault.protocol,
    lendUrl: facts.listed?.lendUrl ?? '',
    description: facts.listed?.description ?? '',
    protocolVaultUrl: facts.listed?.protocolVaultUrl ?? '',
    tags: facts.tags ?? [],
    holdersData: {
      totalCount: state.holders?.count ?? 0,
      totalBalance: state.holders?.total ?? '0',
      topHolders: (state.holders?.top ?? []).map(([address, lpTokenBalance]) => ({
        address: checksum(address),
        lpTokenBalance,
      })),
    },
    apy: apyOf(vault),
    tvl: tvlOf(vault),
    lastUpdateTimestamp: state.sample?.at ?? state.seenAt,
    creationData: { deploymentTimestamp: state.deployedAt ?? state.seenAt },
    rewards: [...vault.rewards],
    ...(vault.scoring ? { score: vault.scoring } : {}),
    ...(facts.incentives ? { additionalIncentives: facts.incentives } : {}),
    ...(curator ? { curator } : {}),
    lpToken: lpTokenOf(vault),
    isCorrupted: vault.isCorrupted,
    userEventsIndexed: vault.userEventsIndexed,
    standing: vault.standing,
    ...vault.capacity,
    ...childrenOf(vault),
    ...(transactions ? { transactionalProperties: transactions } : {}),
    ...(vault.fees ? { fees: vault.fees } : {}),
    warnings: warningsOf(vault),
    flags: [...(vault.standing === 'found' ? [wireFlag(UNVOUCHED)] : []), ...vault.flags.map(wireFlag)],
    ...compositeOf(vault),
  }
}

/** What an answer about one vault says where nobody vouches for it. */
export function standingWarning({ standing }: Vault): { warnings?: string[] } {
  return standing === 'found' ? { warnings: [UNVOUCHED.content] } : {}
}

/** What a reader of the figures has to know: which of them are not known. */
function warningsOf(vault: Vault): string[] {
  const warnings: string[] = []
  if (vault.standing === 'found') warnings.push(UNVOUCHED.content)
  if (vault.corruption) warnings.push(CORRUPTIONS[vault.corruption])
  if (vault.isPaused) warnings.push('The vault is paused.')
  if (vault.asset.price === undefined) {
    const { feed } = vault.asset.plan ?? {}
    const days = feed && greatestAge(feed) / DAY
    const why = days ? `, or its feed has not reported for ${Math.round(days * 100) / 100} days` : ''
    warnings.push(`USD values are unknown: there is no price for ${vault.asset.symbol}${why}.`)
  }
  const { sample } = vault.state
  if (sample?.sharePriceRaw !== undefined && sample.sharePrice === undefined) {
    warnings.push('There is no share price: the vault has no shares, or next to none.')
  }
  const unknown = WINDOWS.filter(window => vault.apy[window] === undefined)
  if (unknown.length > 0) {
    warnings.push(
      `The APY of ${unknown.join(', ')} is unknown and not 0: there is no share price near the beginning or at the end of the window, or the figure is beyond all numbers.`,
    )
  }
  for (const symbol of vault.unpricedRewards) {
    warnings.push(`Rewards in ${symbol} are paid, but what they yield is unknown.`)
  }
  return warnings
}

/** The vaults this one's deposits go to: the one whose share is its asset. */
function childrenOf(vault: Vault) {
  const { inner } = vault
  if (!inner) return {}
  const { vaultId, address, asset } = identityOf(inner)
  return { childrenVaults: [{ vaultId, address, asset, lpToken: lpTokenOf(inner) }] }
}

/** Where the asset is itself the share of a known vault: what both earn together. */
export function compositeOf(vault: Vault) {
  const { inner } = vault
  if (!inner) return { apyComposite: undefined }
  const own = apyOf(vault)
  const intrinsicApy = apyOf(inner)
  const totalApy = Object.fromEntries(
    WINDOWS.map(window => {
      const base = (1 + own[window].base) * (1 + intrinsicApy[window].base) - 1
      const total = (1 + own[window].total) * (1 + intrinsicApy[window].total) - 1
      return [window, { base, reward: total - base, total }]
    }),
  ) as ApyWire
  // Two absurd hourly yields together may be more than a number holds, and JSON has no word for that.
  if (
    !WINDOWS.every(
      window => Number.isFinite(totalApy[window].base) && Number.isFinite(totalApy[window].total),
    )
  )
    return { apyComposite: undefined }
  const { vaultId, address } = identityOf(inner)
  return { apyComposite: { totalApy, intrinsicApy, asset: inner.asset.wire, vault: { vaultId, address } } }
}

/** Serialised once per vault and moment, however many lists it is in. */
export function detailedJson(vault: Vault): string {
  vault.json.detailed ??= JSON.stringify(detailedOf(vault))
  return vault.json.detailed
}

export function listedJson(vault: Vault): string {
  vault.json.listed ??= JSON.stringify({ ...identityOf(vault), standing: vault.standing })
  return vault.json.listed
}
