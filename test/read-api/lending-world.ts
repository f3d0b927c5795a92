import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type MarketParams, marketId } from '../chain/morpho.ts'

/** What happens in lending markets of the made-up chain of world.ts: a Morpho Blue market and an Aave pool. */

const address = (byte: string) => `0x${byte.repeat(20)}`
const RAY = 10n ** 27n
export const MORPHO = address('b1')
/** Parameters of the market; its id is their hash, as the contract has it. */
export const MORPHO_PARAMS = {
  loanToken: address('01'),
  collateralToken: address('02'),
  oracle: address('b3'),
  irm: address('b2'),
  lltv: 86n * 10n ** 16n,
}
export const MORPHO_MARKET: string = marketId(MORPHO_PARAMS as MarketParams)
export const POOL = address('9a')
export const CONFIGURATOR = address('9b')
const ORACLE = address('9c')
/** Per second, scaled by 1e18: about 3.2 % a year before the last accrual, and 6.5 % from there on. */
const MORPHO_RATE_BEFORE = 10n ** 9n
export const MORPHO_RATE = 2n * 10n ** 9n
/** Base units of the loan asset (6 decimals) per unit of collateral (18), scaled by 1e36: 3,000 a whole one. */
export const MORPHO_PRICE = 3_000n * 10n ** 24n
export const ACCRUED_AT_HOUR = 10
export const COMET = address('c3')
/** Per second, ray: about 3.2 % a year. */
export const EVK_RATE = 10n ** 18n
export const EVK_AT_HOUR = 14
/** Of the vault that lends, and of the one whose shares secure. */
export const EVK_LENDER = {
  totalShares: 9n * 10n ** 18n,
  totalBorrows: 4n * 10n ** 18n,
  cash: 6n * 10n ** 18n,
}
export const EVK_COLLATERAL = { totalShares: 1_000n, totalBorrows: 0n, cash: 1_000_000_000n }
export const EVK_DEBT = 10n ** 17n
/** USD of 18 decimals per base unit of WETH and of USDX, scaled by 1e36. */
export const EVK_PRICES = { loan: 3_000n * 10n ** 36n, collateral: 10n ** 48n }
/** A token that is no vault's asset: only the market names it. */
export const LENT_ONLY = address('c4')
/** Per second, scaled by 1e18: lenders and borrowers, whatever the utilization. */
export const COMET_RATES = { supply: 5n * 10n ** 8n, borrow: 10n ** 9n }
export const COMET_SAMPLED_AT_HOUR = 12
export const COMET_TOTALS = {
  supplyIndex: 1_100_000_000_000_000n,
  borrowIndex: 1_200_000_000_000_000n,
  supplyPrincipal: 10_000_000_000n,
  borrowPrincipal: 1_000_000_000n,
}

export interface LendingNames {
  usd: string
  eth: string
  usdFeed: string
  ethFeed: string
  alice: string
  bob: string
  carol: string
  /** Vaults with an LTV between them. */
  lender: string
  secures: string
  /** Unix seconds of an hour of the world. */
  timeOf(hour: number): number
}

type Happened = Pick<DomainEvent, 'type' | 'data'>
type Put = (hour: number, contract: string, event: Happened) => void

/** By hour from the beginning of the world. Rates of the pool are zero, so that its amounts stay what they were. */
export function lendingEvents(names: LendingNames): { hour: number; event: DomainEvent }[] {
  const { usd, eth, usdFeed, ethFeed, alice, bob } = names
  const events: { hour: number; event: DomainEvent }[] = []
  const puts = (protocol: string) => (hour: number, contract: string, event: Happened) => {
    const logIndex = 1_000 + events.length
    const transactionHash = `0x${(0xabc000 + events.length).toString(16).padStart(64, '0')}`
    events.push({ hour, event: { ...event, protocol, contract, logIndex, transactionHash } as DomainEvent })
  }
  const put: Put = (hour, contract, event) =>
    puts(contract === MORPHO ? 'morpho-blue' : 'aave-v3')(hour, contract, event)
  const market = MORPHO_MARKET
  put(3, MORPHO, {
    type: 'MarketCreated',
    data: {
      market,
      loanAsset: usd,
      collateralAsset: eth,
      oracle: MORPHO_PARAMS.oracle,
      irm: MORPHO_PARAMS.irm,
      lltvWad: MORPHO_PARAMS.lltv,
    },
  })
  for (const [asset, byte, ltv, threshold] of [
    [usd, 'd', 7500n, 8000n],
    [eth, 'e', 8000n, 8250n],
  ] as const) {
    const aToken = address(`${byte}1`)
    put(3, aToken, {
      type: 'ReserveTokenInitialized',
      data: { market: asset, pool: POOL, decimals: asset === usd ? 6 : 18, symbol: 'a' },
    })
    put(3, CONFIGURATOR, {
      type: 'ReserveListed',
      data: { market: asset, asset, aToken, variableDebtToken: address(`${byte}2`) },
    })
    put(3, CONFIGURATOR, {
      type: 'RiskParametersChanged',
      data: {
        market: asset,
        ltvBps: ltv,
        liquidationThresholdBps: threshold,
        liquidationBonusBps: 10_500n,
      },
    })
    put(3, CONFIGURATOR, {
      type: 'ReserveFlagChanged',
      data: { market: asset, flag: 'borrowing', enabled: true },
    })
    put(3, ORACLE, {
      type: 'OracleChanged',
      data: { market: asset, oracle: asset === usd ? usdFeed : ethFeed },
    })
    put(4, POOL, {
      type: 'RateUpdated',
      data: {
        market: asset,
        liquidityRateRay: 0n,
        variableBorrowRateRay: 0n,
        liquidityIndexRay: asset === usd ? (RAY * 11n) / 10n : RAY,
        variableBorrowIndexRay: asset === usd ? (RAY * 12n) / 10n : RAY,
      },
    })
  }
  put(3, CONFIGURATOR, {
    type: 'CapChanged',
    data: { kind: 'borrow', cap: 5_000n, capDecimals: 0, market: usd, asset: usd },
  })
  put(5, MORPHO, { type: 'OraclePriceSampled', data: { market, oracle: ORACLE, price: MORPHO_PRICE } })
  const lend = (hour: number, user: string, assets: bigint) =>
    put(hour, MORPHO, {
      type: 'Supplied',
      data: { market, sender: user, onBehalf: user, assets, shares: assets * 1_000_000n },
    })
  lend(4, bob, 1_000_000_000n)
  put(5, MORPHO, {
    type: 'CollateralSupplied',
    data: { market, sender: alice, onBehalf: alice, assets: 10n ** 18n },
  })
  put(5, MORPHO, {
    type: 'Borrowed',
    data: { market, sender: alice, onBehalf: alice, assets: 400_000_000n, shares: 400_000_000_000_000n },
  })
  put(ACCRUED_AT_HOUR, MORPHO, {
    type: 'InterestAccrued',
    data: { market, interest: 7_200n, feeShares: 0n, previousBorrowRateWad: MORPHO_RATE_BEFORE },
  })
  put(ACCRUED_AT_HOUR, MORPHO, {
    type: 'Repaid',
    data: { market, sender: alice, onBehalf: alice, assets: 100_000_000n, shares: 99_998_200_000_000n },
  })
  put(ACCRUED_AT_HOUR, MORPHO, { type: 'BorrowRateSampled', data: { market, rateWad: MORPHO_RATE } })

  const mint = (token: string, side: 'supply' | 'variableDebt', user: string, value: bigint, index: bigint) =>
    put(6, token, {
      type: 'ScaledMinted',
      data: { side, caller: user, onBehalf: user, value, balanceIncrease: 0n, indexRay: index },
    })
  put(6, POOL, {
    type: 'Supplied',
    data: { market: eth, sender: alice, onBehalf: alice, assets: 2n * 10n ** 18n },
  })
  mint(address('e1'), 'supply', alice, 2n * 10n ** 18n, RAY)
  put(6, POOL, { type: 'CollateralEnabled', data: { market: eth, user: alice } })
  mint(address('d1'), 'supply', bob, 3_300_000_000n, (RAY * 11n) / 10n)
  put(6, POOL, {
    type: 'Borrowed',
    data: { market: usd, sender: alice, onBehalf: alice, assets: 1_200_000_000n },
  })
  mint(address('d2'), 'variableDebt', alice, 1_200_000_000n, (RAY * 12n) / 10n)
  putComet(puts('compound-v3'), names)
  putEvk(puts('euler-v2'), names)
  return events
}

/** Carol has shares of one vault and owes in the other, where she enabled both. */
function putEvk(put: Put, { carol, lender, secures, eth }: LendingNames): void {
  const hour = EVK_AT_HOUR
  const accumulatorRay = 2n * RAY
  for (const [vault, totals, interestRateRay] of [
    [lender, EVK_LENDER, EVK_RATE],
    [secures, EVK_COLLATERAL, 0n],
  ] as const) {
    const market = vault
    put(hour, vault, {
      type: 'VaultStatusChanged',
      data: { market, ...totals, accumulatedFees: 0n, accumulatorRay, interestRateRay },
    })
    put(hour, vault, {
      type: 'DebtTotalSampled',
      data: { market, owed: totals.totalBorrows << 31n, accumulatorRay },
    })
  }
  const market = lender
  put(hour, lender, {
    type: 'LtvChanged',
    data: {
      market,
      collateral: secures,
      borrowLtvBps: 8_000,
      liquidationLtvBps: 8_500,
      initialLiquidationLtvBps: 8_500,
      targetAt: 0,
      rampSeconds: 0,
    },
  })
  put(hour, lender, { type: 'FeeChanged', data: { kind: 'liquidationDiscount', feeWad: 15n * 10n ** 16n } })
  const oracle = address('c7')
  for (const [asset, price] of [
    [eth, EVK_PRICES.loan],
    [secures, EVK_PRICES.collateral],
  ] as const)
    put(hour, lender, { type: 'OraclePriceSampled', data: { market, asset, oracle, price } })
  const connector = address('c6')
  put(hour, connector, {
    type: 'AccountCollateralChanged',
    data: { account: carol, vault: secures, enabled: true },
  })
  put(hour, connector, {
    type: 'AccountControllerChanged',
    data: { account: carol, vault: lender, enabled: true },
  })
  put(hour, lender, {
    type: 'Borrowed',
    data: { market, sender: carol, onBehalf: carol, assets: EVK_DEBT },
  })
  put(hour, lender, {
    type: 'DebtSampled',
    data: { market, account: carol, owed: EVK_DEBT << 31n, accumulatorRay },
  })
}

/** Bob lends, Alice has the token that only this market knows as collateral and owes. */
function putComet(put: Put, { usd, usdFeed, alice, bob, timeOf }: LendingNames): void {
  const market = COMET
  const hour = COMET_SAMPLED_AT_HOUR
  const unit = 10n ** 18n
  const rate = (side: 'supply' | 'borrow') => ({
    [`${side}KinkWad`]: (8n * unit) / 10n,
    [`${side}RateBaseWad`]: COMET_RATES[side],
    [`${side}RateSlopeLowWad`]: 0n,
    [`${side}RateSlopeHighWad`]: 0n,
  })
  put(hour, LENT_ONLY, {
    type: 'AssetDescribed',
    data: { asset: LENT_ONLY, name: 'Lent only', symbol: 'LENT', decimals: 18 },
  })
  put(hour, COMET, {
    type: 'CometConfigured',
    data: {
      market,
      baseAsset: usd,
      baseOracle: usdFeed,
      baseScale: 10n ** 6n,
      baseBorrowMin: 0n,
      targetReserves: 0n,
      storeFrontPriceFactorWad: unit / 2n,
      ...rate('supply'),
      ...rate('borrow'),
      assetCount: 1,
    } as DomainEvent<'CometConfigured'>['data'],
  })
  put(hour, COMET, {
    type: 'CometAssetConfigured',
    data: {
      market,
      asset: LENT_ONLY,
      offset: 0,
      oracle: address('c5'),
      scale: unit,
      borrowCollateralFactorWad: (80n * unit) / 100n,
      liquidateCollateralFactorWad: (85n * unit) / 100n,
      liquidationFactorWad: (93n * unit) / 100n,
      supplyCap: 1_000n * unit,
    },
  })
  put(hour, COMET, {
    type: 'CollateralSupplied',
    data: { market, sender: alice, onBehalf: alice, asset: LENT_ONLY, assets: 3n * unit },
  })
  put(hour, COMET, {
    type: 'Borrowed',
    data: { market, sender: alice, onBehalf: alice, receiver: alice, assets: 1_200_000_000n },
  })
  put(hour, COMET, {
    type: 'CometStateSampled',
    data: {
      market,
      ...COMET_TOTALS,
      updatedAt: timeOf(hour),
      pauseFlags: 0,
      reserves: 7n,
    },
  })
  put(hour, COMET, { type: 'PrincipalSampled', data: { market, account: alice, principal: -1_000_000_000n } })
  put(hour, COMET, { type: 'PrincipalSampled', data: { market, account: bob, principal: 10_000_000_000n } })
  put(hour, COMET, {
    type: 'OraclePriceSampled',
    data: { market, asset: LENT_ONLY, oracle: address('c5'), price: 1_000n * 10n ** 8n },
  })
}
