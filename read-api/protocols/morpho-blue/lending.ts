import { zeroAddress } from 'viem'
import { adaptiveRate } from '../../../abi/morpho-blue/adaptive-curve-math.ts'
import { accrueMorpho, liquidationIncentiveFactor, type MorphoMarket } from '../../../abi/morpho-blue/math.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { fractionOfWad, type LendingAsset, ratio, yearlyOfWad } from '../../lending/market.ts'
import { askKept } from '../../moment/kept.ts'
import type { MorphoLendingMarket } from './market.ts'
import * as queries from './queries.ts'

/** @example morphoAssetId('0xa0b8…', 'loan') → '0xa0b8…-loan' */
export const morphoAssetId = (asset: string, side: 'loan' | 'collateral') => `${asset}-${side}`

type StoredRow = Omit<
  queries.MorphoRow,
  'morpho' | 'market' | 'loan_asset' | 'collateral_asset' | 'oracle' | 'lltv' | 'oracle_price' | 'collateral'
>

/**
 * The rate per second since the last accrual, and the one at `at`: by the adaptive model's own log; of another model what
 * it said after the last act, or, where it was not asked, what the last accrual names.
 */
function rateOf(row: StoredRow, stored: MorphoMarket, at: number): { average?: bigint; end?: bigint } {
  if (row.irm === null) return { average: 0n, end: 0n }
  if (row.rate_at_target !== null)
    return adaptiveRate(stored, BigInt(row.rate_at_target), BigInt(Math.max(0, at - stored.lastUpdate)))
  if (row.borrow_rate === null) return {}
  return { average: BigInt(row.borrow_rate), end: BigInt(row.borrow_rate) }
}

/** A market as it was last stored, its rate per second (undefined before the first accrual), and as it is at `at`. */
export function morphoStateAt(row: StoredRow, at: number) {
  const stored: MorphoMarket = {
    supplyAssets: BigInt(row.supply_assets),
    supplyShares: BigInt(row.supply_shares),
    borrowAssets: BigInt(row.borrow_assets),
    borrowShares: BigInt(row.borrow_shares),
    lastUpdate: row.last_update,
    feeWad: BigInt(row.fee),
  }
  const { average, end } = rateOf(row, stored, at)
  return { stored, rate: end, state: accrueMorpho(stored, average ?? 0n, at).market }
}

/** The markets of a chain as of the catalogue's moment; those with an asset that is not described yet are left out. */
export async function morphoMarkets(reading: Reading, chain: number): Promise<MorphoLendingMarket[]> {
  const { catalogue } = reading
  const at = catalogue.chain(chain, 'lending')?.blockTime ?? 0
  const rows = await morphoRows(reading, chain)
  return rows.flatMap(row => morphoMarket(catalogue, chain, row, at) ?? [])
}

/** Every Morpho market of a chain as it was last stored, also those of which an asset is not described. */
export const morphoRows = (reading: Reading, chain: number) =>
  askKept(reading, queries.morphoMarkets, chain, 'lending')

/** A market at `at`; undefined where one of its assets is not described yet. */
function morphoMarket(
  catalogue: Catalogue,
  chainId: number,
  row: queries.MorphoRow,
  at: number,
): MorphoLendingMarket | undefined {
  const loan = catalogue.asset(chainId, row.loan_asset)
  const collateral = row.collateral_asset ? catalogue.asset(chainId, row.collateral_asset) : undefined
  if (!loan || (row.collateral_asset && !collateral)) return undefined
  const { stored, rate, state } = morphoStateAt(row, at)
  const lltv = BigInt(row.lltv)
  const risk = {
    maxLtv: fractionOfWad(lltv),
    liquidationThreshold: fractionOfWad(lltv),
    liquidationPenalty: fractionOfWad(liquidationIncentiveFactor(lltv) - 10n ** 18n),
  }
  const collateralId = collateral && morphoAssetId(collateral.address, 'collateral')
  const borrowRate = rate === undefined ? undefined : yearlyOfWad(rate)
  const loanAsset: LendingAsset = {
    id: morphoAssetId(loan.address, 'loan'),
    info: loan,
    side: 'loan',
    eventMarket: row.market,
    isCollateralEnabled: false,
    isBorrowEnabled: collateral !== undefined,
    borrowRate,
    supplyRate:
      borrowRate === undefined
        ? undefined
        : borrowRate * ratio(state.borrowAssets, state.supplyAssets) * (1 - fractionOfWad(state.feeWad)),
    supplied: state.supplyAssets,
    borrowed: state.borrowAssets,
    // Interest is not cash: what was stored is what can leave.
    liquidity: stored.supplyAssets - stored.borrowAssets,
    feeRate: fractionOfWad(state.feeWad),
    borrowCap: undefined,
    supplyCap: undefined,
    risk: { maxLtv: 0, liquidationThreshold: 0, liquidationPenalty: 0 },
    pairs: collateralId ? [{ collateralMarketAssetId: collateralId, ...risk }] : undefined,
  }
  const collateralAsset: LendingAsset[] =
    collateral && collateralId
      ? [
          {
            id: collateralId,
            info: collateral,
            side: 'collateral',
            eventMarket: row.market,
            isCollateralEnabled: true,
            isBorrowEnabled: false,
            supplyRate: 0,
            borrowRate: 0,
            supplied: BigInt(row.collateral),
            borrowed: 0n,
            liquidity: BigInt(row.collateral),
            feeRate: 0,
            borrowCap: undefined,
            supplyCap: undefined,
            risk,
            pairs: undefined,
          },
        ]
      : []
  return {
    chainId,
    id: row.market,
    name: collateral ? `${collateral.symbol}/${loan.symbol}` : loan.symbol,
    protocol: 'morpho-blue',
    root: row.morpho,
    assets: [loanAsset, ...collateralAsset],
    state,
    params: {
      loanToken: row.loan_asset,
      collateralToken: row.collateral_asset ?? zeroAddress,
      oracle: row.oracle ?? zeroAddress,
      irm: row.irm ?? zeroAddress,
      lltv,
    },
    oraclePrice: row.oracle_price === null ? undefined : BigInt(row.oracle_price),
  }
}
