import { networkOfChain } from '../../db/networks.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { type LendingAsset, type LendingMarket, ratio } from '../lending/market.ts'
import { amountOf } from '../lending/wire.ts'
import { priceSourceOf } from '../on-chain.ts'
import { priceOf, priceViews } from './nrt.ts'

interface Figures {
  supplyRate: number | undefined
  borrowRate: number | undefined
  supplied: bigint
  borrowed: bigint
  supplyIndex: number
  borrowIndex: number
}

/**
 * An asset of a lending market as its contracts have it now, all of one block, which x-as-of-block names. Where they keep
 * no figures of it: as the index has it, of the index's block.
 */
export async function readMarketNow(market: LendingMarket, asset: LendingAsset, context: EndpointContext) {
  const found = await context.deps.onChain.borrowing.figures(market, asset)
  if (!found) {
    const { blockNumber = 0, blockTime = 0 } = context.catalogue.chain(market.chainId, 'lending') ?? {}
    const figures = { ...asset, supplyIndex: 1, borrowIndex: 1 }
    return pointOf(asset, figures, { number: BigInt(blockNumber), timestamp: blockTime }, asset.info.price)
  }
  context.readAt(market.chainId, found.block.number)
  return pointOf(asset, found, found.block, await priceAt(asset, found.block.number, context))
}

function pointOf(
  { info }: LendingAsset,
  { supplyRate, borrowRate, supplied, borrowed, supplyIndex, borrowIndex }: Figures,
  block: { number: bigint; timestamp: number },
  price: number | undefined,
) {
  const amount = (native: bigint) => amountOf(native, info, price)
  return {
    timestamp: block.timestamp,
    blockNumber: String(block.number),
    supplyRate: supplyRate ?? null,
    borrowRate: borrowRate ?? null,
    utilizationRate: ratio(borrowed, supplied),
    totalSupplied: amount(supplied),
    totalBorrowed: amount(borrowed),
    supplyIndex,
    borrowIndex,
  }
}

/** At that block where the price can be read on the chain, else the catalogue's. */
async function priceAt({ info }: LendingAsset, block: bigint, { deps, catalogue }: EndpointContext) {
  const source = priceSourceOf(catalogue, info)
  const network = networkOfChain(info.chainId)
  if (!source || !network) return info.price
  const read = await deps.onChain.reader.read(network.name, priceViews(source), { block })
  return priceOf(source, read.values, read.block.timestamp)
}
