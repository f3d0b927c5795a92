import { checksum } from './amounts.ts'
import type { Vault } from './catalogue/vault.ts'
import type { EndpointContext } from './endpoint.ts'
import type { FoundVault } from './find-vault.ts'
import { balancesAt } from './queries/accounts.ts'
import { ask } from './queries/query.ts'

/** Shares of another vault that a vault holds. */
export interface Holding {
  vault: Vault
  shares: bigint
}

export interface Composition {
  items: {
    name: string
    address: string
    network: string
    assetSymbol: string
    allocation: number
    valueNative: string
    kind: 'deployed'
  }[]
  totalAssetsNative: string
}

/**
 * Where a vault's assets are, as far as its shares of other vaults tell: each holding in base units of the vault's own
 * asset, at the inner vault's total assets per share, and as a fraction of the vault's total assets. Largest first.
 * What lies in markets, or idle, is not projected and left out, so the fractions add up to what is known.
 */
export function composition(vault: Vault, holdings: readonly Holding[]): Composition {
  const total = vault.state.sample?.totalAssets
  const items = holdings.flatMap(({ vault: held, shares }) => {
    const value = worthIn(vault, held, shares)
    if (value === undefined || value === 0n) return []
    return [{ held, value }]
  })
  items.sort((a, b) => (a.value > b.value ? -1 : a.value < b.value ? 1 : 0))
  return {
    items: items.map(({ held, value }) => ({
      name: held.name,
      address: checksum(held.state.address),
      network: held.network.name,
      assetSymbol: held.asset.symbol,
      allocation: total ? Number((value * 10n ** 12n) / total) / 1e12 : 0,
      valueNative: String(value),
      kind: 'deployed',
    })),
    totalAssetsNative: total?.toString() ?? '',
  }
}

/** Shares of `held` in the asset of `vault`; undefined where the one says nothing of the other. */
function worthIn(vault: Vault, held: Vault, shares: bigint): bigint | undefined {
  // A nested vault: the share itself is the asset.
  if (held.state.address === vault.state.asset) return shares
  if (held.state.asset !== vault.state.asset) return undefined
  const { totalAssets, totalSupply } = held.state.sample ?? {}
  if (totalAssets === undefined || !totalSupply) return undefined
  return (shares * totalAssets) / totalSupply
}

/** The same, with holdings as of the chain's moment. */
export async function compositionOf(
  { vault, chain, pinned }: FoundVault,
  { catalogue, deps, signal }: EndpointContext,
): Promise<Composition> {
  const account = vault.state.address
  const { chain: chainId, p } = pinned
  const balances = await ask(
    deps.clickhouse,
    balancesAt,
    { account, as_of: new Map([[chainId, p]]), at: chain.blockTime },
    signal,
  )
  const holdings = balances.flatMap(({ vault: address, balance }) => {
    const known = catalogue.find(chainId, address)
    return known && known !== vault ? [{ vault: known, shares: BigInt(balance) }] : []
  })
  return composition(vault, holdings)
}
