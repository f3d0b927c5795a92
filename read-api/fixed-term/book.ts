import { DAY, WEEK } from '../../db/units.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { perMoment } from '../catalogue/per-moment.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { NotFoundError } from '../http/errors.ts'
import { address, network } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { fixedTermFamilies } from '../load-protocols.ts'
import { askKept } from '../moment/kept.ts'
import { ask } from '../moment/query.ts'
import { type FixedTermMarket, type FixedTermState, rescaled } from './market.ts'
import { earlierRates, type FixedTermRow, fixedTermMarkets } from './queries.ts'

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'touch'>

/**
 * All fixed-term markets of a chain as of the catalogue's moment, by address; without those that an
 * operator ignores, or whose asset is not described.
 */
export function fixedTermMarketsOf(context: Asking, chainId: number): Promise<FixedTermMarket[]> {
  const { catalogue } = context
  if (!catalogue.chain(chainId, 'fixed-term')) return Promise.resolve([])
  context.touch(chainId)
  return readMarkets(context, chainId)
}

/** Sampled hourly: an older sample than this before the week began is of another time. */
const TOLERANCE = DAY

const readMarkets = perMoment(async (context: Asking, chain: number): Promise<FixedTermMarket[]> => {
  const { deps, catalogue } = context
  const { position = 0, blockTime = 0 } = catalogue.chain(chain, 'fixed-term') ?? {}
  const pinned = { chain, p: position }
  const until = Math.max(0, blockTime - WEEK)
  const [rows, earlier] = await Promise.all([
    askKept(context, fixedTermMarkets, chain, 'fixed-term'),
    ask(deps.clickhouse, earlierRates, { ...pinned, since: Math.max(0, until - TOLERANCE), until }),
  ])
  const before = new Map(earlier.map(row => [row.market, BigInt(row.rate)]))
  return rows.flatMap(row => marketOf(catalogue, chain, row, before.get(row.market), blockTime) ?? [])
})

function marketOf(
  catalogue: Catalogue,
  chainId: number,
  row: FixedTermRow,
  weekAgo: bigint | undefined,
  at: number,
): FixedTermMarket | undefined {
  const info = catalogue.asset(chainId, row.asset)
  const family = fixedTermFamilies.find(({ protocol }) => protocol === row.protocol)
  const isIgnored = [row.market, row.sy].some(contract => catalogue.facts.isIgnored(chainId, contract))
  if (!info || !family || isIgnored) return undefined
  const state = row.sampled_at === null ? undefined : stateOf(row)
  const figures = state && family.figures(state, row.expiry, at)
  const inAsset = (amount: bigint | undefined) =>
    amount === undefined ? undefined : rescaled(amount, row.decimals, info.decimals)
  return {
    chainId,
    address: row.market,
    protocol: row.protocol,
    pt: { address: row.pt, name: row.name, symbol: row.symbol, decimals: row.decimals },
    sy: row.sy,
    yt: row.yt,
    yieldToken: row.yield_token,
    expiry: row.expiry,
    info,
    standing: standingOf(catalogue, chainId, row),
    apy: figures?.apy,
    liquidity: inAsset(figures?.liquidity),
    tvl: inAsset(figures?.tvl),
    underlyingApy: yearlyGrowth(weekAgo, state?.exchangeRate),
    hasEnded: at >= row.expiry,
    isStateKnown: state !== undefined,
  }
}

/** A state as it is stored. */
export function stateOf(
  row: Pick<
    FixedTermRow,
    'total_pt' | 'total_sy' | 'total_lp' | 'ln_rate' | 'pt_supply' | 'exchange_rate' | 'py_index'
  >,
): FixedTermState {
  const maybe = (text: string | null) => (text === null ? undefined : BigInt(text))
  return {
    totalPt: BigInt(row.total_pt),
    totalSy: BigInt(row.total_sy),
    totalLp: BigInt(row.total_lp),
    lnRate: BigInt(row.ln_rate),
    ptSupply: maybe(row.pt_supply),
    exchangeRate: maybe(row.exchange_rate),
    pyIndex: maybe(row.py_index),
  }
}

/** What growth over a week comes to in a year. */
function yearlyGrowth(from: bigint | undefined, to: bigint | undefined): number | undefined {
  if (!from || to === undefined) return undefined
  const growth = (Number(to) / Number(from)) ** (365 / 7) - 1
  return Number.isFinite(growth) ? growth : undefined
}

/**
 * Who vouches for a market: the registry, for it (`listed`) or for the wrapped token whose word its figures are (`made`: by a
 * factory of audited code). `found` is everything else that the factories made, for anybody.
 */
function standingOf({ facts }: Catalogue, chainId: number, { market, sy }: FixedTermRow): Standing {
  if (facts.market(chainId, market).listed) return 'listed'
  return facts.contract(chainId, sy).wrapper ? 'made' : 'found'
}

export const fixedTermPath = {
  network: network(),
  vaultId: address('The market: vaultId of the list.'),
}

/** The market that a path names. */
export async function findFixedTermMarket(
  params: { network: { name: string; chainId: number }; vaultId: string },
  context: Asking,
): Promise<FixedTermMarket> {
  const markets = await fixedTermMarketsOf(context, params.network.chainId)
  const market = markets.find(of => of.address === params.vaultId)
  if (!market)
    throw new NotFoundError(
      `There is no fixed-term market ${params.vaultId} on ${params.network.name}. GET /beta/fixed-term/ lists those that run; the PT of one is not its vaultId.`,
    )
  return market
}

export const fixedTermParams = z.object(fixedTermPath)
