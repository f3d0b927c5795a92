import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { discovered, type Modelled, numbered, WALLETS } from './portfolio-world.ts'

/** The markets of debts-world.ts: one of each protocol that lends, a fixed term and a vault of liquidity. */

export const USD = numbered('d1', 1)
export const ETH = numbered('d1', 2)
export const POOL = numbered('d2', 1)
export const DEBT_TOKEN = numbered('d2', 2)
export const A_TOKEN = numbered('d2', 3)
export const MORPHO = numbered('d3', 1)
export const MORPHO_MARKET = `0x${'d3'.repeat(32)}`
export const COMET = numbered('d4', 1)
export const LENDER: Modelled = { vault: numbered('d5', 1), asset: USD, decimals: 6, assetDecimals: 6 }
export const SECURES: Modelled = { vault: numbered('d5', 2), asset: ETH, decimals: 18, assetDecimals: 18 }
export const PT = numbered('d6', 1)
export const PT_MARKET = numbered('d6', 2)
export const LP = numbered('d7', 1)

/** What others lend to the market and owe it, so that no wallet is alone in it. */
export const MORPHO_SEED = {
  assets: 10n ** 15n,
  shares: 10n ** 21n,
  owed: 10n ** 14n,
  owedShares: 10n ** 20n,
}

/** Markets as they come to be. */
export function beginning(at: number): DomainEvent[] {
  const told: DomainEvent[] = []
  const tell = (protocol: string, contract: string, type: string, data: object) =>
    told.push({
      protocol,
      contract,
      type,
      data,
      logIndex: 0,
      transactionHash: `0x${'e'.repeat(64)}`,
    } as DomainEvent)
  for (const [asset, symbol, decimals] of [
    [USD, 'USDA', 6],
    [ETH, 'ETHA', 18],
  ] as const)
    tell('erc-20', asset, 'AssetDescribed', { asset, name: symbol, symbol, decimals })
  tell('aave-v3', A_TOKEN, 'ReserveTokenInitialized', {
    market: ETH,
    pool: POOL,
    decimals: 18,
    symbol: 'aETHA',
  })
  tell('aave-v3', numbered('d2', 9), 'ReserveListed', {
    market: ETH,
    asset: ETH,
    aToken: A_TOKEN,
    variableDebtToken: DEBT_TOKEN,
  })
  const [oracle, irm] = [numbered('d3', 2), numbered('d3', 3)]
  tell('morpho-blue', MORPHO, 'MarketCreated', {
    market: MORPHO_MARKET,
    loanAsset: USD,
    collateralAsset: ETH,
    oracle,
    irm,
    lltvWad: 86n * 10n ** 16n,
  })
  const whale = {
    market: MORPHO_MARKET,
    sender: LENDER.vault,
    onBehalf: LENDER.vault,
    receiver: LENDER.vault,
  }
  tell('morpho-blue', MORPHO, 'Supplied', {
    ...whale,
    assets: MORPHO_SEED.assets,
    shares: MORPHO_SEED.shares,
  })
  tell('morpho-blue', MORPHO, 'Borrowed', {
    ...whale,
    assets: MORPHO_SEED.owed,
    shares: MORPHO_SEED.owedShares,
  })
  const curve = (side: string) => ({
    [`${side}KinkWad`]: 10n ** 18n,
    [`${side}RateBaseWad`]: 0n,
    [`${side}RateSlopeLowWad`]: 0n,
    [`${side}RateSlopeHighWad`]: 0n,
  })
  tell('compound-v3', COMET, 'CometConfigured', {
    market: COMET,
    baseAsset: USD,
    baseOracle: oracle,
    baseScale: 10n ** 6n,
    baseBorrowMin: 0n,
    targetReserves: 0n,
    storeFrontPriceFactorWad: 0n,
    ...curve('supply'),
    ...curve('borrow'),
    assetCount: 1,
  })
  tell('compound-v3', COMET, 'CometAssetConfigured', {
    market: COMET,
    asset: ETH,
    offset: 0,
    oracle,
    scale: 10n ** 18n,
    borrowCollateralFactorWad: 8n * 10n ** 17n,
    liquidateCollateralFactorWad: 85n * 10n ** 16n,
    liquidationFactorWad: 9n * 10n ** 17n,
    supplyCap: 10n ** 24n,
  })
  told.push(discovered(LENDER, 'optimism', 'USDA'), discovered(SECURES, 'optimism', 'ETHA'))
  tell('euler-v2', LENDER.vault, 'LtvChanged', {
    market: LENDER.vault,
    collateral: SECURES.vault,
    borrowLtvBps: 8_000,
    liquidationLtvBps: 8_500,
    initialLiquidationLtvBps: 8_500,
    targetAt: 0,
    rampSeconds: 0,
  })
  for (const account of WALLETS)
    tell('euler-v2', numbered('d5', 9), 'AccountControllerChanged', {
      account,
      vault: LENDER.vault,
      enabled: true,
    })
  const expiry = at + 400 * 86_400
  tell('pendle-v2', numbered('d6', 9), 'FixedTermMarketCreated', { market: PT_MARKET, pt: PT })
  tell('pendle-v2', PT_MARKET, 'FixedTermTokensNamed', {
    market: PT_MARKET,
    pt: PT,
    sy: numbered('d6', 3),
    yt: numbered('d6', 4),
    expiry,
  })
  tell('pendle-v2', PT_MARKET, 'FixedTermMarketDescribed', {
    market: PT_MARKET,
    name: 'PT',
    symbol: 'PT',
    decimals: 6,
    asset: USD,
    assetDecimals: 6,
    yieldToken: numbered('d6', 5),
  })
  tell('ichi', numbered('d7', 9), 'AmmVaultCreated', { vault: LP, creator: numbered('d7', 8) })
  tell('ichi', LP, 'AmmVaultDescribed', {
    vault: LP,
    name: 'Liquidity',
    symbol: 'LP',
    decimals: 18,
    pool: numbered('d7', 2),
    token0: USD,
    token1: ETH,
    takesToken0: true,
    takesToken1: true,
  })
  return told
}
