import { maxUint256 } from 'viem'
import {
  accrueEvk,
  type EvkVault,
  evkPenalty,
  liquidationLtv,
  owedAssets,
  owedOf,
} from '../../../abi/euler/math.ts'
import type { Catalogue } from '../../catalogue/catalogue.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { Vault } from '../../catalogue/vault.ts'
import { fractionOfWad, type LendingAsset, ratio, SECONDS_PER_YEAR } from '../../lending/market.ts'
import { sampledPrices } from '../../lending/queries.ts'
import { askKept } from '../../moment/kept.ts'
import type { EvkLendingMarket, EvkSecurity } from './market.ts'
import * as queries from './queries.ts'

const UNUSED = {
  total_shares: '0',
  accumulated_fees: '0',
  cash: '0',
  accumulator: `${10n ** 27n}`,
  interest_rate: '0',
  total_borrows: '0',
  owed: '0',
  owed_accumulator: '0',
}

/** A rate per second in ray, compounded over a year. */
export const yearlyOfSecondRay = (perSecond: bigint) =>
  Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(perSecond) / 1e27))

/**
 * Of the interest. Initialize.sol of euler-vault-kit: a tenth, until GovSetInterestFee says otherwise; from there on all that
 * accrues does so at the new fee, since the setter updates the vault first.
 */
export const feeBpsOf = (wad: string | null | undefined) => (wad ? BigInt(wad) / 10n ** 14n : 1_000n)

/**
 * What is owed to a vault, with its fraction: the sum that was read, where it is of the block of the status; what the
 * status itself says is rounded up to whole units.
 */
export const owedTo = (
  status: { accumulator: string; total_borrows: string },
  read: { accumulator: string; owed: string } | undefined,
) => (read?.accumulator === status.accumulator ? BigInt(read.owed) : owedOf(BigInt(status.total_borrows)))

/**
 * One market for each pair of a vault that lends and one whose shares secure; those of which a vault is not described
 * yet are left out, and those that were cleared, unless debts to the vault would stand in none.
 */
export async function evkMarkets(reading: Reading, chain: number): Promise<EvkLendingMarket[]> {
  const { catalogue } = reading
  const blockTime = catalogue.chain(chain, 'lending')?.blockTime ?? 0
  const [ltvs, pauses, rows, samples] = await Promise.all([
    askKept(reading, queries.evkLtvs, chain, 'lending'),
    askKept(reading, queries.evkPauses, chain, 'lending'),
    askKept(reading, queries.evkVaults, chain, 'lending'),
    askKept(reading, sampledPrices, chain, 'lending'),
  ])
  const prices = new Map(
    samples.flatMap(({ contract, asset, price }) =>
      price === null ? [] : [[`${contract} ${asset}`, BigInt(price)]],
    ),
  )
  const oracles = new Map(samples.map(({ contract, oracle }) => [contract, oracle]))
  const paused = new Set(pauses.map(({ vault, key }) => `${vault} ${key}`))
  const told = new Map(rows.map(row => [row.vault, row]))
  const untold = ltvs.flatMap(({ vault, collateral }) => [vault, collateral].filter(of => !told.has(of)))
  // Nobody has acted on a vault that has told nothing of itself and says that it has no shares.
  for (const vault of untold)
    if (catalogue.find(chain, vault)?.state.sample?.totalSupply === 0n)
      told.set(vault, { vault, ...UNUSED, updated_at: blockTime })
  const sides = new Map(
    [...told.values()].map(row => [row.vault, sideOf(catalogue, chain, row, paused, blockTime)]),
  )
  const securities = new Map<string, EvkSecurity[]>()
  for (const ltv of ltvs) {
    const of = securities.get(ltv.vault) ?? []
    securities.set(ltv.vault, of)
    of.push({
      vault: ltv.collateral,
      state: sides.get(ltv.collateral)?.state,
      liquidationBps: liquidationNow(ltv, blockTime),
      oraclePrice: prices.get(`${ltv.vault} ${ltv.collateral}`),
    })
  }
  const pairs = ltvs.flatMap(ltv => {
    const [lender, collateral] = [sides.get(ltv.vault), sides.get(ltv.collateral)]
    if (!lender?.vault || !collateral?.vault) return []
    const described = {
      lender: { ...lender, vault: lender.vault },
      collateral: { ...collateral, vault: collateral.vault },
    }
    return [{ ltv, liquidationBps: liquidationNow(ltv, blockTime), ...described }]
  })
  const open = new Set(pairs.flatMap(({ ltv, liquidationBps }) => (liquidationBps > 0 ? [ltv.vault] : [])))
  return pairs.flatMap(({ ltv, liquidationBps, lender, collateral }) => {
    if (liquidationBps === 0 && (open.has(ltv.vault) || lender.state.owed === 0n)) return []
    const pair = marketOf(chain, ltv, liquidationBps, lender, collateral)
    const oraclePrice = prices.get(`${ltv.vault} ${lender.vault.asset.address}`)
    return [
      {
        ...pair,
        lender: {
          ...pair.lender,
          oracle: oracles.get(ltv.vault),
          oraclePrice,
          securities: securities.get(ltv.vault) ?? [],
        },
      },
    ]
  })
}

const liquidationNow = (ltv: queries.EvkLtvRow, at: number) =>
  liquidationLtv(
    {
      liquidationBps: ltv.liquidation_ltv_bps,
      initialBps: ltv.initial_liquidation_ltv_bps,
      targetAt: ltv.target_at,
      rampSeconds: ltv.ramp_seconds,
    },
    at,
  )

/** A vault with what holds for it; `vault` is undefined where it is not described yet. */
function sideOf(
  catalogue: Catalogue,
  chainId: number,
  row: queries.EvkVaultRow,
  paused: ReadonlySet<string>,
  at: number,
) {
  const vault = catalogue.find(chainId, row.vault)
  const setting = (name: string) => vault?.state.settings?.[name]
  const feeBps = feeBpsOf(setting('fee:reserve'))
  const stored: EvkVault = {
    accumulator: BigInt(row.accumulator),
    interestRate: BigInt(row.interest_rate),
    owed: owedTo(row, { owed: row.owed, accumulator: row.owed_accumulator }),
    cash: BigInt(row.cash),
    totalShares: BigInt(row.total_shares),
    accumulatedFees: BigInt(row.accumulated_fees),
    updatedAt: row.updated_at,
  }
  // The largest uint256 is none (AmountCap.sol).
  const cap = (kind: string) => {
    const told = setting(`cap:${kind}`)
    return told && BigInt(told) !== maxUint256 ? BigInt(told) : undefined
  }
  return {
    vault,
    feeBps,
    state: accrueEvk(stored, feeBps, at),
    cap,
    isBorrowPaused: paused.has(`${row.vault} borrowPaused`),
    maxDiscountWad: BigInt(setting('fee:liquidationDiscount') ?? '0'),
  }
}

type Side = ReturnType<typeof sideOf> & { vault: Vault }

function figuresOf({ vault, state, feeBps, cap }: Side) {
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

function marketOf(
  chainId: number,
  ltv: queries.EvkLtvRow,
  liquidationBps: number,
  lender: Side,
  collateral: Side,
) {
  // What a liquidator gets grows with how far the position is under water, up to this.
  const risk = {
    maxLtv: ltv.borrow_ltv_bps / 10_000,
    liquidationThreshold: liquidationBps / 10_000,
    liquidationPenalty: fractionOfWad(evkPenalty(lender.maxDiscountWad)),
  }
  const loanId = `${ltv.vault}-loan`
  const collateralId = `${ltv.collateral}-collateral`
  const assets: LendingAsset[] = [
    {
      ...figuresOf(lender),
      id: loanId,
      side: 'loan',
      eventMarket: ltv.vault,
      isCollateralEnabled: false,
      isBorrowEnabled: ltv.borrow_ltv_bps > 0 && !lender.isBorrowPaused && lender.cap('borrow') !== 0n,
      risk: { maxLtv: 0, liquidationThreshold: 0, liquidationPenalty: 0 },
      pairs: [{ collateralMarketAssetId: collateralId, ...risk }],
    },
    {
      ...figuresOf(collateral),
      id: collateralId,
      side: 'collateral',
      eventMarket: ltv.collateral,
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
    protocol: 'euler-v2' as const,
    root: ltv.vault,
    assets,
    vaults: { [loanId]: ltv.vault, [collateralId]: ltv.collateral },
    lender: { vault: ltv.vault, state: lender.state },
    collateral: { vault: ltv.collateral, state: collateral.state },
  }
}
