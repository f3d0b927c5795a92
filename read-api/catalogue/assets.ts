import type { NetworkId } from '../../db/networks.ts'
import type { Facts } from '../../db/registry/kinds.ts'
import { checksum, decimalString } from '../http/amounts.ts'
import { assetGroup } from './asset-group.ts'
import type { PricePlan } from './prices.ts'

/** An asset of at least one vault or lending market, at one moment. */
export interface AssetInfo {
  /** `<chain>:<address>` */
  readonly key: string
  readonly chainId: number
  readonly address: string
  readonly decimals: number
  readonly symbol: string
  /** A lending market names it. */
  readonly isLent: boolean
  /** The registry says something of it. */
  readonly isCurated: boolean
  readonly plan: PricePlan | undefined
  /** USD of one whole unit; undefined where it is not known. */
  readonly price: number | undefined
  readonly wire: AssetWire
}

export interface AssetWire {
  address: string
  assetCaip: string
  name: string
  symbol: string
  decimals: number
  assetLogo?: string
  assetPriceInUsd?: string
  assetGroup: string
}

export interface AssetMetadata {
  readonly chainId: number
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly isLent?: boolean
}

export function deriveAsset(
  network: NetworkId,
  metadata: AssetMetadata,
  facts: Facts<'asset'>,
  plan: PricePlan | undefined,
  price: number | undefined,
): AssetInfo {
  const { chainId, address, symbol, decimals } = metadata
  const key = `${chainId}:${address}`
  return {
    key,
    chainId,
    address,
    decimals,
    symbol,
    isLent: metadata.isLent ?? false,
    isCurated: Object.keys(facts).length > 0,
    plan,
    price,
    wire: assetWire(network, metadata, facts, price),
  }
}

/** The Asset of the wire at a given price. */
export function assetWire(
  network: NetworkId,
  { address, name, symbol, decimals }: AssetMetadata,
  facts: Facts<'asset'>,
  price: number | undefined,
): AssetWire {
  return {
    address: checksum(address),
    assetCaip: `${network.networkCaip}/erc20:${checksum(address)}`,
    name,
    symbol,
    decimals,
    ...(facts.logo ? { assetLogo: facts.logo } : {}),
    ...(price === undefined ? {} : { assetPriceInUsd: decimalString(price) }),
    assetGroup: facts.group ?? assetGroup(symbol),
  }
}

/** The same asset at the price of another moment. */
export function assetAt(asset: AssetInfo, price: number | undefined): AssetWire {
  const { assetPriceInUsd, ...rest } = asset.wire
  return price === undefined ? rest : { ...rest, assetPriceInUsd: decimalString(price) }
}
