import type { NetworkId } from '../db/networks.ts'
import { findNetwork, networkOfChain } from '../db/networks.ts'
import { usdOf } from './amounts.ts'
import type { AssetInfo } from './catalogue/assets.ts'
import { keyOf } from './catalogue/catalogue.ts'
import { unservedNetworks } from './catalogue/filter.ts'
import type { EndpointContext } from './endpoint.ts'
import { DependencyDownError } from './errors.ts'
import { nativeCoin } from './native-coins.ts'
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
 * What a wallet holds, uninvested, of the assets of all vaults: the shares of a known vault are a position and not idle.
 * `coins`: the chains' own coins as well. `always`: symbols or addresses (lower-case) of assets that are there also with nothing, whatever they are.
 * Throws DependencyDownError where no chain answered.
 */
export async function readIdleAssets(
  wallet: string,
  filter: AssetFilter,
  context: EndpointContext,
  { always = new Set(), coins = false }: { always?: ReadonlySet<string>; coins?: boolean } = {},
): Promise<{ idle: IdleAsset[]; unreachable: string[]; blocks: ReadonlyMap<number, bigint> }> {
  const { catalogue, touch } = context
  const passes = compileAssetFilter(filter)
  const isAlways = ({ symbol, address }: AssetInfo) => always.has(symbol.toLowerCase()) || always.has(address)
  const assets = catalogue
    .assetList()
    .filter(
      asset =>
        catalogue.chain(asset.chainId) !== undefined &&
        passes(asset) &&
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
  if (assets.length > 0 && blocks.size === 0) {
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
  return { idle, unreachable: [...unreachable, ...unservedNetworks(filter, catalogue)].sort(), blocks }
}

function compileAssetFilter(filter: AssetFilter): (asset: AssetInfo) => boolean {
  const chains = (names: string[] | undefined) =>
    names && new Set(names.map(name => findNetwork(name)?.chainId))
  const words = (names: string[] | undefined) => names && new Set(names.map(name => name.toLowerCase()))
  const onChains = chains(filter.allowedNetworks)
  const notOnChains = onChains ? undefined : chains(filter.disallowedNetworks)
  const symbols = words(filter.allowedAssets)
  const notSymbols = symbols ? undefined : words(filter.disallowedAssets)
  return ({ chainId, symbol }) =>
    (!onChains || onChains.has(chainId)) &&
    !notOnChains?.has(chainId) &&
    (!symbols || symbols.has(symbol.toLowerCase())) &&
    !notSymbols?.has(symbol.toLowerCase())
}
