import type { Catalogue } from '../catalogue/catalogue.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { MovedError, NotFoundError } from '../http/errors.ts'
import { network, text } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { ask } from '../moment/query.ts'
import { aaveMarkets, settingKey } from '../protocols/aave-v3/lending.ts'
import { cometMarkets } from '../protocols/compound-v3/lending.ts'
import { evkMarkets } from '../protocols/euler-v2/lending.ts'
import { morphoMarket } from '../protocols/morpho-blue/lending.ts'
import type { LendingAsset, LendingMarket } from './market.ts'
import { oraclePriceOf } from './oracle-price.ts'
import * as queries from './queries.ts'
import { withStanding } from './standing.ts'

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'touch'>

/** Markets by chain of each catalogue, read once per moment however many requests ask. */
const books = new WeakMap<Catalogue, Map<number, Promise<LendingMarket[]>>>()

/** All lending markets of a chain as of the catalogue's moment, interest included up to its last block. */
export function lendingMarkets(context: Asking, chainId: number): Promise<LendingMarket[]> {
  const { catalogue } = context
  if (!catalogue.chain(chainId, 'lending')) return Promise.resolve([])
  context.touch(chainId)
  const book = books.get(catalogue) ?? new Map<number, Promise<LendingMarket[]>>()
  books.set(catalogue, book)
  let markets = book.get(chainId)
  if (!markets) {
    markets = readMarkets(context, chainId)
    book.set(chainId, markets)
    markets.catch(() => book.delete(chainId))
  }
  return markets
}

const rowsOf = new WeakMap<Catalogue, Map<number, Promise<queries.MorphoRow[]>>>()

/** Every Morpho market of a chain as it was last stored, also those of which an asset is not described. */
export function morphoRows(
  { catalogue, deps }: Pick<Asking, 'deps' | 'catalogue'>,
  chain: number,
): Promise<queries.MorphoRow[]> {
  const known = rowsOf.get(catalogue) ?? new Map<number, Promise<queries.MorphoRow[]>>()
  rowsOf.set(catalogue, known)
  let rows = known.get(chain)
  if (!rows) {
    rows = ask(deps.clickhouse, queries.morphoMarkets, {
      chain,
      p: catalogue.chain(chain, 'lending')?.position ?? 0,
    })
    known.set(chain, rows)
    rows.catch(() => known.delete(chain))
  }
  return rows
}

async function readMarkets(context: Asking, chain: number): Promise<LendingMarket[]> {
  const { catalogue } = context
  const { clickhouse } = context.deps
  const { position = 0, blockTime = 0 } = catalogue.chain(chain, 'lending') ?? {}
  const pinned = { chain, p: position }
  const [evk, comets, morpho, rows, totals, settings, samples] = await Promise.all([
    evkMarkets(clickhouse, catalogue, chain),
    cometMarkets(clickhouse, catalogue, chain),
    morphoRows(context, chain),
    ask(clickhouse, queries.aaveReserves, pinned),
    ask(clickhouse, queries.aaveTotals, pinned),
    ask(clickhouse, queries.aaveSettings, pinned),
    ask(clickhouse, queries.sampledPrices, pinned),
  ])
  const assets = new Set(rows.map(({ asset }) => asset))
  const sources = new Map<string, Set<string>>()
  for (const { market, key, value } of settings) {
    if (key !== 'oracle' || !assets.has(market)) continue
    sources.set(market, (sources.get(market) ?? new Set()).add(value))
  }
  const sampled = new Map(samples.map(of => [`${of.contract} ${of.asset}`, of]))
  const pools = new Set(rows.map(({ pool }) => pool))
  const asked = samples.flatMap(({ contract, oracle }) => (pools.has(contract) ? [oracle] : []))
  const feeds = [...new Set([...asked, ...[...sources.values()].flatMap(of => [...of])])]
  const answers = new Map(
    (feeds.length > 0 ? await ask(clickhouse, queries.feedAnswers, { ...pinned, feeds }) : []).map(of => [
      of.feed,
      of,
    ]),
  )
  const figures = {
    rows,
    totals: new Map(totals.map(({ token, scaled }) => [token, BigInt(scaled)])),
    revisions: new Map(totals.map(({ token, revision }) => [token, revision])),
    settings: new Map(
      settings.map(({ source, market, key, value }) => [settingKey(source, market, key), value]),
    ),
    priceOf: (pool: string, asset: string) => {
      const sample = sampled.get(`${pool} ${asset}`)
      // Never asked: what the oracles of the chain were told to ask, where they agree.
      const [only, ...others] = sources.get(asset) ?? []
      return oraclePriceOf(sample, answers, sample?.oracle ?? (others.length > 0 ? undefined : only))
    },
  }
  return withStanding(
    [
      ...aaveMarkets(catalogue, chain, figures, blockTime),
      ...comets,
      ...evk,
      ...morpho.flatMap(row => morphoMarket(catalogue, chain, row, blockTime) ?? []),
    ],
    catalogue,
    chain,
  )
}

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
  context: Asking,
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
