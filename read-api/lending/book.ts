import { perMoment } from '../catalogue/per-moment.ts'
import type { AnswerReading } from '../catalogue/reading.ts'
import { MovedError, NotFoundError } from '../http/errors.ts'
import { network, text } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { lendingFamilies } from '../load-protocols.ts'
import type { LendingAsset, LendingMarket } from './market.ts'
import { withStanding } from './standing.ts'

/**
 * The lending markets of a chain as of the catalogue's moment, interest included up to its last block: all, or those of one
 * protocol (slug).
 */
export async function lendingMarkets(
  context: AnswerReading,
  chainId: number,
  of?: string,
): Promise<LendingMarket[]> {
  const { catalogue } = context
  if (!catalogue.chain(chainId, 'lending')) return []
  context.touch(chainId)
  const wanted = [...readers].filter(([slug]) => of === undefined || slug === of)
  return (await Promise.all(wanted.map(([, read]) => read(context, chainId)))).flat()
}

const readers = new Map(
  [...lendingFamilies].map(([slug, family]) => [
    slug,
    perMoment(async (context: AnswerReading, chain: number) =>
      withStanding(await family.markets(context, chain), context.catalogue, chain),
    ),
  ]),
)

const marketId = () =>
  text({
    description: 'marketId of the list of markets: an address, or a hash of 32 bytes, in any case.',
    example: '0x87870Bca3F3fD6335C3F4ce8392D69350B4fA4E2',
  }).transform(value => value.toLowerCase())

export const marketPath = { network: network(), marketId: marketId() }
export const marketAssetPath = {
  ...marketPath,
  assetId: text({
    description: 'assetsData[].marketAssetId of the market.',
    example: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  }).transform(value => value.toLowerCase()),
}
export const marketParams = z.object(marketPath)

/** The market that a path names. */
export async function findMarket(
  params: z.output<typeof marketParams>,
  context: AnswerReading,
): Promise<LendingMarket> {
  const markets = await lendingMarkets(context, params.network.chainId)
  const market = markets.find(({ id }) => id === params.marketId)
  if (!market)
    throw new NotFoundError(`There is no lending market ${params.marketId} on ${params.network.name}.`)
  return market
}

/** An asset of a market by its marketAssetId. Its address, as older routes had it, leads there. */
export function findMarketAsset(market: LendingMarket, assetId: string): LendingAsset {
  const asset = market.assets.find(({ id }) => id === assetId)
  if (asset) return asset
  const older = market.assets.find(({ info }) => info.address === assetId)
  if (older) throw new MovedError(older.id)
  throw new NotFoundError(
    `Market ${market.id} has no asset ${assetId}. It has ${market.assets.map(({ id }) => id).join(', ')}.`,
  )
}
