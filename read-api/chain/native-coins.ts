import { type Address, getAddress } from 'viem'
import { factsOfChain, networks } from '../../db/networks.ts'
import { COIN_ADDRESS } from '../../db/registry/feeds.ts'
import { assetGroup } from '../catalogue/asset-group.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { decimalString } from '../http/amounts.ts'

/** Stands for a chain's own coin where an address is wanted, in any case. */
export const NATIVE_ADDRESS = COIN_ADDRESS

/** Lower-case symbols of all coins: names in a filter of assets that are no asset of a vault. */
export const COIN_SYMBOLS: ReadonlySet<string> = new Set(
  Object.values(networks).flatMap(({ native: { symbol, slip44 } }) =>
    slip44 === undefined ? [] : [symbol.toLowerCase()],
  ),
)

/**
 * A chain's own coin as an asset, at the price of its wrapped form where that is known, else by what facts say of it. None
 * without a registered coin type.
 */
export function nativeCoin(
  catalogue: Catalogue,
  chainId: number,
  wrappedOf: (network: string) => Address | undefined,
): AssetInfo | undefined {
  const network = factsOfChain(chainId)
  const slip44 = network?.native.slip44
  if (!network || slip44 === undefined) return undefined
  const wrapped = wrappedOf(network.name)
  const price =
    (wrapped && catalogue.asset(chainId, wrapped.toLowerCase())?.price) ?? catalogue.coinPrice(chainId)
  const { symbol, name, decimals } = network.native
  return {
    key: keyOf(chainId, NATIVE_ADDRESS),
    chainId,
    address: NATIVE_ADDRESS,
    decimals,
    symbol,
    plan: undefined,
    isLent: false,
    isCurated: true,
    price,
    wire: {
      address: getAddress(NATIVE_ADDRESS),
      assetCaip: `${network.networkCaip}/slip44:${slip44}`,
      name,
      symbol,
      decimals,
      ...(price === undefined ? {} : { assetPriceInUsd: decimalString(price) }),
      assetGroup: assetGroup(symbol),
    },
  }
}
