import {
  accrueComet,
  type CometRateModel,
  type CometTotals,
  cometAccount,
  cometAmounts,
  cometBalances,
  cometRate,
  cometUtilization,
  FACTOR_SCALE,
} from '../../../abi/compound-v3/math.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingPosition } from '../../lending/family.ts'
import { fractionOfWad, type LendingAsset, positionId, quotient, yearlyOfWad } from '../../lending/market.ts'
import { oraclePriceOf } from '../../lending/oracle-price.ts'
import { feedAnswers, sampledPrices } from '../../lending/queries.ts'
import { askKept } from '../../moment/kept.ts'
import { ask } from '../../moment/query.ts'
import type { CometLendingMarket } from './market.ts'
import * as queries from './queries.ts'

/** Bits of pauseFlags. @see CometCore.sol */
const WITHDRAW_PAUSED = 4
const NO_RISK = { maxLtv: 0, liquidationThreshold: 0, liquidationPenalty: 0 }

type RateColumns = Pick<
  queries.CometRow,
  Extract<keyof queries.CometRow, `supply_${string}_wad` | `borrow_${string}_wad`>
>
type TotalColumns = Pick<
  queries.CometRow,
  'supply_index' | 'borrow_index' | 'supply_principal' | 'borrow_principal' | 'updated_at'
>

function ratesOf(row: RateColumns): { supply: CometRateModel; borrow: CometRateModel } {
  const model = (side: 'supply' | 'borrow') => ({
    kink: BigInt(row[`${side}_kink_wad`]),
    base: BigInt(row[`${side}_rate_base_wad`]),
    slopeLow: BigInt(row[`${side}_rate_slope_low_wad`]),
    slopeHigh: BigInt(row[`${side}_rate_slope_high_wad`]),
  })
  return { supply: model('supply'), borrow: model('borrow') }
}

const totalsOf = (row: TotalColumns): CometTotals => ({
  supplyIndex: BigInt(row.supply_index),
  borrowIndex: BigInt(row.borrow_index),
  supplyPrincipal: BigInt(row.supply_principal),
  borrowPrincipal: BigInt(row.borrow_principal),
  updatedAt: row.updated_at,
})

/** Totals as sampled and the rates per second that hold from there on. */
export function cometPoint(row: RateColumns & TotalColumns) {
  const totals = totalsOf(row)
  const rates = ratesOf(row)
  const utilization = cometUtilization(totals)
  return {
    totals,
    rates,
    supplyRate: cometRate(rates.supply, utilization),
    borrowRate: cometRate(rates.borrow, utilization),
  }
}

/** The Comets of a chain as of the catalogue's moment; those whose base asset is not described yet are left out. */
export async function cometMarkets(reading: Reading, chain: number): Promise<CometLendingMarket[]> {
  const { catalogue } = reading
  const [rows, assets, sampled] = await Promise.all([
    askKept(reading, queries.cometMarketRows, chain, 'lending'),
    askKept(reading, queries.cometAssets, chain, 'lending'),
    askKept(reading, sampledPrices, chain, 'lending'),
  ])
  if (rows.length === 0) return []
  const feeds = [...new Set([...rows.map(row => row.base_oracle), ...assets.map(row => row.oracle)])]
  const answers = new Map(
    (await askKept(reading, feedAnswers, chain, 'lending', { feeds })).map(row => [row.feed, row]),
  )
  const samples = new Map(sampled.map(row => [`${row.market} ${row.asset}`, row]))
  const priceOf = (comet: string, asset: string, oracle: string): bigint | undefined => {
    return oraclePriceOf(samples.get(`${comet} ${asset}`), answers, oracle)
  }
  const at = catalogue.chain(chain, 'lending')?.blockTime ?? 0
  return rows.flatMap(row => {
    const own = assets.filter(({ comet }) => comet === row.comet)
    return cometMarket(catalogue, chain, row, own, priceOf, at) ?? []
  })
}

function cometMarket(
  catalogue: Catalogue,
  chainId: number,
  row: queries.CometRow,
  assets: readonly queries.CometAssetRow[],
  priceOf: (comet: string, asset: string, oracle: string) => bigint | undefined,
  at: number,
): CometLendingMarket | undefined {
  const info = catalogue.asset(chainId, row.base_asset)
  if (!info) return undefined
  const { totals: stored, rates, supplyRate, borrowRate } = cometPoint(row)
  const totals = accrueComet(stored, rates, at)
  const { supplied, borrowed } = cometAmounts(totals)
  const sampled = cometAmounts(accrueComet(stored, rates, row.sampled_at))
  const cash =
    row.reserves === null ? supplied - borrowed : BigInt(row.reserves) + sampled.supplied - sampled.borrowed
  const [earned, paid] = [supplyRate * supplied, borrowRate * borrowed]
  const collaterals: LendingAsset[] = assets.flatMap(of => {
    const asset = catalogue.asset(chainId, of.asset)
    if (!asset) return []
    const total = BigInt(of.total || '0')
    return {
      id: of.asset,
      info: asset,
      side: 'collateral',
      eventMarket: of.asset,
      isCollateralEnabled: true,
      isBorrowEnabled: false,
      supplyRate: 0,
      borrowRate: 0,
      supplied: total,
      borrowed: 0n,
      liquidity: total,
      feeRate: 0,
      borrowCap: undefined,
      supplyCap: BigInt(of.supply_cap),
      risk: {
        maxLtv: fractionOfWad(BigInt(of.borrow_collateral_factor_wad)),
        liquidationThreshold: fractionOfWad(BigInt(of.liquidate_collateral_factor_wad)),
        liquidationPenalty: fractionOfWad(FACTOR_SCALE - BigInt(of.liquidation_factor_wad)),
      },
      pairs: undefined,
    }
  })
  const base: LendingAsset = {
    id: row.base_asset,
    info,
    side: 'loan',
    eventMarket: row.comet,
    isCollateralEnabled: false,
    isBorrowEnabled: (row.pause_flags & WITHDRAW_PAUSED) === 0,
    supplyRate: yearlyOfWad(supplyRate),
    borrowRate: yearlyOfWad(borrowRate),
    supplied,
    borrowed,
    liquidity: cash > 0n ? cash : 0n,
    // The two rates are curves of their own; what borrowers pay more than lenders get goes to the reserves.
    feeRate: paid > earned ? fractionOfWad(((paid - earned) * FACTOR_SCALE) / paid) : 0,
    borrowCap: undefined,
    supplyCap: undefined,
    risk: NO_RISK,
    pairs: collaterals.map(({ id, risk }) => ({ collateralMarketAssetId: id, ...risk })),
  }
  return {
    chainId,
    id: row.comet,
    name: `Compound v3 ${info.symbol}`,
    protocol: 'compound-v3',
    root: row.comet,
    assets: [base, ...collaterals],
    totals,
    base: {
      asset: row.base_asset,
      scale: BigInt(row.base_scale),
      oraclePrice: priceOf(row.comet, row.base_asset, row.base_oracle),
    },
    collaterals: assets.map(of => ({
      asset: of.asset,
      scale: BigInt(of.scale),
      borrowCollateralFactor: BigInt(of.borrow_collateral_factor_wad),
      liquidateCollateralFactor: BigInt(of.liquidate_collateral_factor_wad),
      oraclePrice: priceOf(row.comet, of.asset, of.oracle),
    })),
  }
}

/** What an account has in a Comet, in the units that it stores. */
interface Held {
  principal: bigint
  collateral: Map<string, bigint>
}

/** What an account has in Comets of one chain. */
export async function cometPositions(
  markets: readonly CometLendingMarket[],
  account: string,
  { deps, catalogue, signal }: Reading,
): Promise<LendingPosition[]> {
  const [{ chainId: chain } = { chainId: 0 }] = markets
  const pinned = { chain, p: catalogue.chain(chain, 'lending')?.position ?? 0, account }
  const [principals, collaterals] = await Promise.all([
    ask(deps.clickhouse, queries.cometPrincipals, pinned, signal),
    ask(deps.clickhouse, queries.cometCollaterals, pinned, signal),
  ])
  const held = new Map<string, Held>(
    principals.map(row => [row.comet, { principal: BigInt(row.principal), collateral: new Map() }]),
  )
  for (const { comet, asset, balance } of collaterals) {
    const of = held.get(comet) ?? { principal: 0n, collateral: new Map<string, bigint>() }
    held.set(comet, of)
    of.collateral.set(asset, BigInt(balance))
  }
  return markets.map(market => positionOf(market, account, held.get(market.id)))
}

function positionOf(
  market: CometLendingMarket,
  account: string,
  { principal, collateral }: Held = { principal: 0n, collateral: new Map() },
): LendingPosition {
  const balances = cometBalances(principal, market.totals)
  const balanceOf = (asset: string) => collateral.get(asset) ?? 0n
  let isPriced = market.base.oraclePrice !== undefined
  const holdings = market.collaterals.flatMap(({ asset, oraclePrice, ...of }) => {
    const balance = balanceOf(asset)
    if (balance === 0n) return []
    isPriced &&= oraclePrice !== undefined
    return [{ ...of, balance, price: oraclePrice ?? 0n }]
  })
  const { oraclePrice: price = 0n, scale } = market.base
  const health = cometAccount(balances.borrowed, { price, scale }, holdings)
  const isKnown = isPriced && health.debt > 0n
  return {
    market,
    user: account,
    account,
    assets: market.assets.map(asset => ({
      asset,
      positionId: positionId(market, account, asset),
      collateralEnabled: asset.side === 'collateral',
      supplied: asset.side === 'loan' ? balances.supplied : balanceOf(asset.id),
      borrowed: asset.side === 'loan' ? balances.borrowed : 0n,
    })),
    ltv: balances.borrowed === 0n ? 0 : isKnown ? quotient(health.debt, health.collateral) : undefined,
    healthFactor: isKnown ? quotient(health.liquidationLimit, health.debt) : undefined,
  }
}
