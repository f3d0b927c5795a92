import type { ClickHouseClient } from '@clickhouse/client'
import { accrueEvk, type EvkVault, liquidationLtv, owedAssets, owedLater } from '../../db/lending/evk-math.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import * as queries from '../queries/evk.ts'
import { ask } from '../queries/query.ts'
import { type EvkLendingMarket, type LendingAsset, ratio, SECONDS_PER_YEAR } from './market.ts'
import type { LendingPosition } from './positions.ts'

/** Initialize.sol of euler-vault-kit: hundredths of a percent, until GovSetInterestFee says otherwise. */
const DEFAULT_FEE_BPS = 1_000n
/** ConversionHelpers.sol: added to assets and shares when one is converted into the other. */
export const VIRTUAL_DEPOSIT = 1_000_000n
/** Caps of this size are none (AmountCap.sol). */
const NO_CAP = 2n ** 256n - 1n

/** A rate per second in ray, compounded over a year. */
export const yearlyOfSecondRay = (perSecond: bigint) =>
  Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(perSecond) / 1e27))

/** What shares of a vault are worth in its asset, rounded down. */
export const assetsOfShares = (shares: bigint, { cash, owed, totalShares }: EvkVault) =>
  (shares * (cash + owedAssets(owed) + VIRTUAL_DEPOSIT)) / (totalShares + VIRTUAL_DEPOSIT)

/**
 * One market for each pair of a vault that lends and one whose shares secure; those of which a vault is not described
 * yet, and those that were cleared, are left out.
 */
export async function evkMarkets(
  clickhouse: ClickHouseClient,
  catalogue: Catalogue,
  chain: number,
): Promise<EvkLendingMarket[]> {
  const { position = 0, blockTime = 0 } = catalogue.chain(chain) ?? {}
  const pinned = { chain, p: position }
  const [ltvs, rows] = await Promise.all([
    ask(clickhouse, queries.evkLtvs, pinned),
    ask(clickhouse, queries.evkVaults, pinned),
  ])
  if (ltvs.length === 0) return []
  const vaults = new Map(rows.map(row => [row.vault, row]))
  return ltvs.flatMap(ltv => evkMarket(catalogue, chain, ltv, vaults, blockTime) ?? [])
}

function stateOf(row: queries.EvkVaultRow, feeBps: bigint, at: number): EvkVault {
  const stored: EvkVault = {
    accumulator: BigInt(row.accumulator),
    interestRate: BigInt(row.interest_rate),
    owed: BigInt(row.owed),
    cash: BigInt(row.cash),
    totalShares: BigInt(row.total_shares),
    accumulatedFees: BigInt(row.accumulated_fees),
    updatedAt: row.updated_at,
  }
  return accrueEvk(stored, feeBps, at)
}

function evkMarket(
  catalogue: Catalogue,
  chainId: number,
  ltv: queries.EvkLtvRow,
  rows: ReadonlyMap<string, queries.EvkVaultRow>,
  at: number,
): EvkLendingMarket | undefined {
  const side = (address: string) => {
    const vault = catalogue.find(chainId, address)
    const row = rows.get(address)
    if (!vault || !row) return undefined
    const setting = (name: string) => vault.state.settings?.[name]
    const fee = setting('fee:reserve')
    const feeBps = fee ? BigInt(fee) / 10n ** 14n : DEFAULT_FEE_BPS
    const cap = (kind: string) => {
      const told = setting(`cap:${kind}`)
      return told && BigInt(told) !== NO_CAP ? BigInt(told) : 0n
    }
    return { vault, feeBps, state: stateOf(row, feeBps, at), cap }
  }
  const [lender, collateral] = [side(ltv.vault), side(ltv.collateral)]
  const liquidationBps = liquidationLtv(
    {
      liquidationBps: ltv.liquidation_ltv_bps,
      initialBps: ltv.initial_liquidation_ltv_bps,
      targetAt: ltv.target_at,
      rampSeconds: ltv.ramp_seconds,
    },
    at,
  )
  if (!lender || !collateral || liquidationBps === 0) return undefined
  // What a liquidator gets grows with how far the position is under water; there is no fixed penalty.
  const risk = {
    maxLtv: ltv.borrow_ltv_bps / 10_000,
    liquidationThreshold: liquidationBps / 10_000,
    liquidationPenalty: 0,
  }
  const figures = ({ vault, state, feeBps, cap }: NonNullable<typeof lender>) => {
    const borrowed = owedAssets(state.owed)
    const supplied = state.cash + borrowed
    const borrowRate = yearlyOfSecondRay(state.interestRate)
    const feeRate = Number(feeBps) / 10_000
    return {
      info: vault.asset,
      borrowRate,
      supplyRate: borrowRate * ratio(borrowed, supplied) * (1 - feeRate),
      supplied,
      borrowed,
      liquidity: state.cash,
      feeRate,
      borrowCap: cap('borrow'),
      supplyCap: cap('deposit'),
    }
  }
  const collateralId = `${ltv.collateral}-collateral`
  const assets: LendingAsset[] = [
    {
      ...figures(lender),
      id: `${ltv.vault}-loan`,
      side: 'loan',
      eventMarket: `evk:${ltv.vault}`,
      isCollateralEnabled: false,
      isBorrowEnabled: ltv.borrow_ltv_bps > 0,
      risk: { maxLtv: 0, liquidationThreshold: 0, liquidationPenalty: 0 },
      pairs: [{ collateralMarketAssetId: collateralId, ...risk }],
    },
    {
      ...figures(collateral),
      id: collateralId,
      side: 'collateral',
      eventMarket: `evk:${ltv.collateral}`,
      isCollateralEnabled: true,
      isBorrowEnabled: false,
      risk,
      pairs: undefined,
    },
  ]
  return {
    chainId,
    id: `${ltv.vault}-${ltv.collateral}`,
    name: `${collateral.vault.asset.symbol}/${lender.vault.asset.symbol}`,
    protocol: 'euler-v2',
    root: ltv.vault,
    assets,
    lender: { vault: ltv.vault, state: lender.state },
    collateral: { vault: ltv.collateral, state: collateral.state },
  }
}

export interface EvkHeld {
  debts: Map<string, { owed: bigint; accumulator: bigint }>
  shares: Map<string, bigint>
  /** `<role> <vault>` */
  enabled: Set<string>
}

export async function readEvk(
  clickhouse: ClickHouseClient,
  pinned: { chain: number; p: number; account: string },
  markets: readonly EvkLendingMarket[],
  signal?: AbortSignal,
): Promise<EvkHeld> {
  const vaults = [...new Set(markets.flatMap(({ lender, collateral }) => [lender.vault, collateral.vault]))]
  if (vaults.length === 0) return { debts: new Map(), shares: new Map(), enabled: new Set() }
  const [debts, enabled, shares] = await Promise.all([
    ask(clickhouse, queries.evkDebts, pinned, signal),
    ask(clickhouse, queries.evkEnabled, pinned, signal),
    ask(clickhouse, queries.evkShares, { ...pinned, vaults }, signal),
  ])
  return {
    debts: new Map(
      debts.map(row => [row.vault, { owed: BigInt(row.owed), accumulator: BigInt(row.accumulator) }]),
    ),
    shares: new Map(shares.map(row => [row.vault, BigInt(row.shares)])),
    enabled: new Set(enabled.filter(row => row.enabled === 1).map(({ role, vault }) => `${role} ${vault}`)),
  }
}

/** The same debt stands in every market of the vault that lends; its positionId is one and the same there. */
export function evkPosition(market: EvkLendingMarket, account: string, held: EvkHeld): LendingPosition {
  const { lender, collateral } = market
  const debt = held.debts.get(lender.vault)
  const isController = held.enabled.has(`controller ${lender.vault}`)
  const borrowed =
    debt && isController ? owedAssets(owedLater(debt.owed, debt.accumulator, lender.state.accumulator)) : 0n
  const suppliedIn = ({ vault, state }: typeof lender) => assetsOfShares(held.shares.get(vault) ?? 0n, state)
  return {
    market,
    account,
    assets: market.assets.map(asset => {
      const isLoan = asset.side === 'loan'
      const of = isLoan ? lender : collateral
      return {
        asset,
        positionId: `${market.chainId}:evk:${of.vault}:${account}`,
        collateralEnabled: !isLoan && held.enabled.has(`collateral ${collateral.vault}`),
        supplied: suppliedIn(of),
        borrowed: isLoan ? borrowed : 0n,
      }
    }),
    // The vaults' oracle is not sampled: with a debt neither is known.
    ltv: borrowed === 0n ? 0 : undefined,
    healthFactor: undefined,
  }
}
