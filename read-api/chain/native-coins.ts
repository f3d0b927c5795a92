import { type Address, getAddress } from 'viem'
import type { NetworkName } from '../../db/networks.ts'
import { networkOfChain } from '../../db/networks.ts'
import { assetGroup } from '../catalogue/asset-group.ts'
import type { AssetInfo } from '../catalogue/assets.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { decimalString } from '../http/amounts.ts'

/** Stands for a chain's own coin where an address is wanted, in any case. */
export const NATIVE_ADDRESS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

const DECIMALS = 18
const ether = { symbol: 'ETH', name: 'Ether', slip44: 60 }

/**
 * Coins by network, with their coin type in SLIP-0044 (github.com/satoshilabs/slips, each read in the registry as
 * published in @metamask/slip44 4.4.0; POL goes on where MATIC was). It is that of the coin, also where the registry
 * has one for the chain besides (9005 Avalanche C-Chain, 9006 Binance Smart Chain). Left out: Plasma, whose XPL the
 * registry does not have, and Celo, whose coin is an ERC-20 token with the same balance.
 */
export const coins: Partial<Record<NetworkName, { symbol: string; name: string; slip44: number }>> = {
  mainnet: ether,
  optimism: ether,
  arbitrum: ether,
  base: ether,
  unichain: ether,
  swellchain: ether,
  worldchain: ether,
  ink: ether,
  katana: ether,
  linea: ether,
  'mega-eth': ether,
  robinhood: ether,
  polygon: { symbol: 'POL', name: 'POL', slip44: 966 },
  gnosis: { symbol: 'XDAI', name: 'xDAI', slip44: 700 },
  bsc: { symbol: 'BNB', name: 'BNB', slip44: 714 },
  avalanche: { symbol: 'AVAX', name: 'Avalanche', slip44: 9000 },
  etherlink: { symbol: 'XTZ', name: 'Tez', slip44: 1729 },
  hyperliquid: { symbol: 'HYPE', name: 'HYPE', slip44: 2457 },
  berachain: { symbol: 'BERA', name: 'BERA', slip44: 8008 },
  monad: { symbol: 'MON', name: 'MON', slip44: 268_435_779 },
}

/** Lower-case symbols of all coins: names in a filter of assets that are no asset of a vault. */
export const COIN_SYMBOLS: ReadonlySet<string> = new Set(
  Object.values(coins).map(({ symbol }) => symbol.toLowerCase()),
)

/** A chain's own coin as an asset, at the price of its wrapped form where that is known. */
export function nativeCoin(
  catalogue: Catalogue,
  chainId: number,
  wrappedOf: (network: string) => Address | undefined,
): AssetInfo | undefined {
  const network = networkOfChain(chainId)
  const coin = network && coins[network.name as NetworkName]
  if (!network || !coin) return undefined
  const wrapped = wrappedOf(network.name)
  const price = wrapped && catalogue.asset(chainId, wrapped.toLowerCase())?.price
  const { symbol, name, slip44 } = coin
  return {
    key: keyOf(chainId, NATIVE_ADDRESS),
    chainId,
    address: NATIVE_ADDRESS,
    decimals: DECIMALS,
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
      decimals: DECIMALS,
      ...(price === undefined ? {} : { assetPriceInUsd: decimalString(price) }),
      assetGroup: assetGroup(symbol),
    },
  }
}
