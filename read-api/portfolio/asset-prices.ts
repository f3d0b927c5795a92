import { groupBy } from '../../db/group-by.ts'
import { inLanes } from '../../db/process/lanes.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { pricesAt } from '../vaults/price-history.ts'
import { LANES } from './stake.ts'

interface Asset {
  chainId: number
  address: string
}

/** USD of one whole asset; undefined where it is not known. */
export type PriceAt = (at: number) => number | undefined

/** Prices of the assets of many positions at the moments (unix seconds) that these ask of: read once for each asset. */
export async function readAssetPrices(
  positions: readonly { asset: Asset; times: readonly number[] }[],
  context: EndpointContext,
): Promise<(asset: Asset) => PriceAt> {
  const byAsset = groupBy(positions, ({ asset }) => keyOf(asset.chainId, asset.address))
  const read = await inLanes(LANES, [...byAsset], async ([key, of]) => {
    const times = [...new Set(of.flatMap(position => position.times))].sort((a, b) => a - b)
    const prices = of[0] ? await pricesAt(of[0].asset, times, context) : []
    return [key, new Map(times.map((time, i) => [time, prices[i]]))] as const
  })
  const books = new Map(read)
  return ({ chainId, address }) => {
    const book = books.get(keyOf(chainId, address))
    return at => book?.get(at)
  }
}
