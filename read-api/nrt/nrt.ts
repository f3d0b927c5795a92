import { type Address, parseAbi } from 'viem'
import { type View, type Views, view } from '../chain/view.ts'
import { toWhole } from '../http/amounts.ts'
import { erc4626Abi } from '../transactions/abis.ts'
import type { VaultTransactions } from '../transactions/family.ts'

/** @see AggregatorV3Interface.sol of Chainlink */
const feedAbi = parseAbi([
  'function decimals() view returns (uint8)',
  'function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)',
])

/** How the asset's price in USD is made from what stands on this chain; see PricePlan of the catalogue. */
export interface PriceSource {
  constant: number
  feed?: Address
  /** The most seconds that the feed's report may be old. */
  greatestAge?: number
  /** Vaults whose shares the asset is, outermost first. */
  vaults: readonly { vault: Address; decimals: number; assetDecimals: number }[]
}

export interface NrtInputs {
  vault: { assetDecimals: number }
  figures: VaultTransactions['figures']
  /** Undefined where the price cannot be read on this chain. */
  price: PriceSource | undefined
  /** The catalogue's price, for that case. */
  knownPrice: number | undefined
}

/** Amounts in base units; `sharePrice` in whole assets per whole share; a price in USD per whole asset. */
export interface NrtFigures {
  totalSupply: string | undefined
  totalAssets: string | undefined
  sharePrice: number | undefined
  underlyingAssetPrice: number | undefined
}

/** Everything that has to be read, for one block. */
export function nrtViews({ figures, price }: NrtInputs): Views {
  const views: Record<string, View<unknown>> = {}
  for (const [name, one] of Object.entries(figures.views)) views[`figure ${name}`] = one
  return { ...views, ...priceViews(price) }
}

/** What has to be read for a price. */
export function priceViews(price: PriceSource | undefined): Views {
  const views: Record<string, View<unknown>> = {}
  if (price?.feed) {
    views['feed decimals'] = view(feedAbi, price.feed, 'decimals', [])
    views['feed round'] = view(feedAbi, price.feed, 'latestRoundData', [])
  }
  for (const [n, { vault, decimals }] of (price?.vaults ?? []).entries()) {
    views[`inner ${n}`] = view(erc4626Abi, vault, 'convertToAssets', [10n ** BigInt(decimals)])
  }
  return views
}

/** The figures, from the answers to `nrtViews`. What a contract does not answer is undefined. `now`: time of the block, unix seconds. */
export function nrtFigures(inputs: NrtInputs, answers: Record<string, unknown>, now: number): NrtFigures {
  const own = Object.fromEntries(
    Object.keys(inputs.figures.views).map(name => [name, answers[`figure ${name}`]]),
  )
  const { totalSupply, totalAssets, assetsOfWholeShare } = inputs.figures.of(own)
  return {
    totalSupply: totalSupply?.toString(),
    totalAssets: totalAssets?.toString(),
    sharePrice:
      assetsOfWholeShare === undefined ? undefined : toWhole(assetsOfWholeShare, inputs.vault.assetDecimals),
    underlyingAssetPrice: inputs.price ? priceOf(inputs.price, answers, now) : inputs.knownPrice,
  }
}

/**
 * A price from the answers to `priceViews`; undefined where a part of it does not answer, or the feed has not reported for
 * too long. `now`: time of the block, unix seconds.
 */
export function priceOf(
  source: PriceSource,
  answers: Record<string, unknown>,
  now: number,
): number | undefined {
  let price = source.constant
  if (source.feed) {
    const decimals = answers['feed decimals']
    const round = answers['feed round'] as readonly bigint[] | undefined
    const answer = round?.[1]
    const updatedAt = Number(round?.[3] ?? 0n)
    if (source.greatestAge !== undefined && now - updatedAt > source.greatestAge) return undefined
    // A feed that answers nothing, or nothing positive, is broken: the price is unknown, not zero.
    if (typeof decimals !== 'number' || answer === undefined || answer <= 0n) return undefined
    price *= toWhole(answer, decimals)
  }
  for (const [n, { assetDecimals }] of source.vaults.entries()) {
    const assets = answers[`inner ${n}`]
    if (typeof assets !== 'bigint') return undefined
    price *= toWhole(assets, assetDecimals)
  }
  return price
}
