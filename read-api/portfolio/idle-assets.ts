import type { NetworkId } from '../../db/networks.ts'
import { networkOfChain } from '../../db/networks.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import type { Shown } from '../catalogue/catalogue.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { assetNames, networkFilter } from '../catalogue/filter.ts'
import { nativeCoin } from '../chain/native-coins.ts'
import { usdOf } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { DependencyDownError } from '../http/errors.ts'
import { readWallet } from './wallet-balances.ts'

/** All chains are asked at once; what has not answered by then is named as unreachable. */
const DEADLINE_MS = 5_000

/** An asset that vaults take, in a wallet. */
export interface IdleAsset {
  asset: AssetInfo
  network: NetworkId
  /** Base units. */
  balance: bigint
  balanceUsd: number | undefined
}

export interface AssetFilter {
  allowedNetworks?: string[]
  disallowedNetworks?: string[]
  allowedAssets?: string[]
  disallowedAssets?: string[]
}

/**
 * What a wallet holds, uninvested, of the assets of vaults that are shown: those that have a price or that a listed vault
 * takes, all of them where unlisted vaults are shown. The shares of a known vault are a position and not idle.
 * `coins`: the chains' own coins as well. `always`: symbols, addresses or CAIP-19 identifiers of assets that are there also
 * with nothing, whatever they are and whichever assets the filter names.
 * Throws DependencyDownError where no chain answered.
 */
export async function readIdleAssets(
  wallet: string,
  filter: AssetFilter,
  context: EndpointContext,
  { always = [], coins = false }: { always?: readonly string[]; coins?: boolean } = {},
): Promise<{ idle: IdleAsset[]; unreachable: string[]; blocks: ReadonlyMap<number, bigint> }> {
  const { catalogue, shown, touch } = context
  const passes = compileAssetFilter(filter, shown)
  const { allowedNetworks, disallowedNetworks } = filter
  const isWhere = compileAssetFilter({ allowedNetworks, disallowedNetworks }, shown)
  const isAlways = assetNames(always, shown)
  const assets = shown
    .assets()
    .filter(
      asset =>
        (shown.withUnlisted || shown.isTrusted(asset)) &&
        catalogue.chain(asset.chainId) !== undefined &&
        (isAlways(asset) ? isWhere(asset) : passes(asset)) &&
        (isAlways(asset) || catalogue.find(asset.chainId, asset.address) === undefined),
    )
  if (coins) {
    for (const chainId of catalogue.moment.chains.keys()) {
      const coin = nativeCoin(catalogue, chainId, context.deps.onChain.wrappedNativeOf)
      if (coin && passes(coin)) assets.push(coin)
    }
  }
  touch(...assets.map(({ chainId }) => chainId))
  const { balances, unreachable, blocks } = await readWallet(wallet, assets, context, DEADLINE_MS)
  if (unreachable.length > 0 && blocks.size === 0) {
    throw new DependencyDownError(
      unreachable.length === 1
        ? `The chain ${unreachable[0]}`
        : `Each of the chains ${unreachable.join(', ')}`,
    )
  }
  const idle = assets.flatMap(asset => {
    const network = networkOfChain(asset.chainId)
    const balance = balances.get(keyOf(asset.chainId, asset.address))
    if (!network || balance === undefined || (balance === 0n && !isAlways(asset))) return []
    return [{ asset, network, balance, balanceUsd: usdOf(balance, asset.decimals, asset.price) }]
  })
  return { idle, unreachable, blocks }
}

function compileAssetFilter(filter: AssetFilter, shown: Shown): (asset: AssetInfo) => boolean {
  const isOnChain = networkFilter(filter)
  const isAllowed = filter.allowedAssets && assetNames(filter.allowedAssets, shown)
  const isDisallowed =
    !isAllowed && filter.disallowedAssets ? assetNames(filter.disallowedAssets, shown) : undefined
  return asset => isOnChain(asset.chainId) && (!isAllowed || isAllowed(asset)) && !isDisallowed?.(asset)
}
