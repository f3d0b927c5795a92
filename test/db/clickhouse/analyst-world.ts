import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import type { Positioned } from '../../jobs/streams.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
export const [ann, bob, liquidator] = ['a', 'b', 'c'].map(address) as [string, string, string]
export const [vault, usdc, feed, weth] = ['1', '2', '3', '4'].map(address) as [string, string, string, string]
export const [morpho, pool, aToken, debtToken, comet, configurator] = ['5', '6', '7', '8', '9', 'd'].map(
  address,
) as [string, string, string, string, string, string]
export const evk = address('f')
/** Of a second reserve. */
const [wethToken, wethDebt] = ['70', '80'].map(digits => `0x${digits.repeat(20)}`) as [string, string]
export const market = `0x${'e'.repeat(64)}`
const USDC = 10n ** 6n
const SHARE = 10n ** 18n
const RAY = 10n ** 27n
const YEAR = 31_536_000n

const PROTOCOLS: Record<string, string> = {
  [morpho]: 'morpho-blue',
  [comet]: 'compound-v3',
  [evk]: 'euler-v2',
  ...Object.fromEntries(
    [pool, aToken, debtToken, wethToken, wethDebt, configurator].map(one => [one, 'aave-v3']),
  ),
}
/** One vault, two accounts, a market of each protocol: few enough events to reckon by head. */
export const log: Positioned[] = []
let number = 100
/** A block of the hour `hour` with these events. */
function block(hour: number, ...events: DomainEvent[]): void {
  number++
  const at = {
    number,
    hash: `0x${String(number).padStart(64, '0')}`,
    timestamp: 1_704_067_200 + hour * 3_600,
  }
  for (const [i, event] of events.entries())
    log.push({
      position: log.length + 1,
      block: at,
      event: {
        transactionHash: `0x${String(number).padStart(64, 'f')}`,
        logIndex: i,
        protocol: PROTOCOLS[event.contract] ?? 'erc-4626',
        ...event,
      },
    })
}
const sampled = (assets: bigint, supply: bigint, price: bigint): DomainEvent => ({
  type: 'StateSampled',
  contract: vault,
  data: {
    vault,
    reason: 'hourly',
    totalAssets: assets,
    totalSupply: supply,
    sharePrice: price,
    decimals: 18,
    assetDecimals: 6,
  },
})
const transfer = (from: string, to: string, shares: bigint): DomainEvent => ({
  type: 'ShareTransferred',
  contract: vault,
  data: { from, to, shares },
})
const deposited = (owner: string, assets: bigint, shares: bigint): DomainEvent => ({
  type: 'Deposited',
  contract: vault,
  data: { sender: owner, owner, assets, shares, ledger: 'transfer' },
})
const redeemed = (owner: string, assets: bigint, shares: bigint): DomainEvent => ({
  type: 'Redeemed',
  contract: vault,
  data: { sender: owner, owner, receiver: owner, assets, shares, ledger: 'transfer' },
})
const answered = (answer: bigint): DomainEvent => ({
  type: 'PriceReported',
  contract: feed,
  data: { feed, source: 'chainlink', answer, decimals: 8, reportedAt: 1_704_067_200 },
})

block(
  0,
  {
    type: 'VaultDiscovered',
    contract: vault,
    data: {
      vault,
      protocol: 'erc-4626',
      name: 'Vault',
      symbol: 'v',
      decimals: 18,
      asset: usdc,
      assetName: 'USD Coin',
      assetSymbol: 'USDC',
      assetDecimals: 6,
    },
  },
  answered(100_000_000n),
  sampled(2_000_000n * USDC, 2_000_000n * SHARE, USDC),
)
// Before any price that counts: a report of three days ago is none.
block(1, transfer(address('0'), ann, 100n * SHARE), deposited(ann, 100n * USDC, 100n * SHARE))
block(24, sampled(2_200_000n * USDC, 2_000_000n * SHARE, 1_100_000n), answered(99_000_000n))
block(25, transfer(ann, bob, 40n * SHARE), transfer(ann, ann, SHARE), transfer(ann, bob, 0n))
block(26, transfer(bob, address('0'), 10n * SHARE), redeemed(bob, 11n * USDC, 10n * SHARE))
block(48, sampled(2_400_000n * USDC, 2_000_000n * SHARE, 1_200_000n))
block(200, transfer(address('0'), bob, SHARE), deposited(bob, 1_200_000n, SHARE))

const lent = { assets: 1_000n * USDC, shares: 1_000n * USDC }
const owed = { assets: 400n * USDC, shares: 400n * USDC }
const of = (where: string, sender = ann) => ({ market: where, sender, onBehalf: ann })
block(
  30,
  {
    type: 'MarketCreated',
    contract: morpho,
    data: { market, loanAsset: usdc, collateralAsset: weth, lltvWad: 10n ** 18n },
  },
  {
    type: 'AssetDescribed',
    contract: weth,
    data: { asset: weth, name: 'Wrapped', symbol: 'WETH', decimals: 18 },
  },
  { type: 'Supplied', contract: morpho, data: { ...of(market), ...lent } },
  { type: 'CollateralSupplied', contract: morpho, data: { ...of(market), assets: 3n * SHARE } },
  { type: 'Borrowed', contract: morpho, data: { ...of(market), receiver: ann, ...owed } },
  { type: 'FeeChanged', contract: morpho, data: { kind: 'protocol', feeWad: 10n ** 17n, market } },
  {
    type: 'InterestAccrued',
    contract: morpho,
    data: { market, interest: 0n, feeShares: 0n, previousBorrowRateWad: (5n * 10n ** 16n) / YEAR },
  },
)
block(31, {
  type: 'Liquidated',
  contract: morpho,
  data: {
    market,
    liquidator,
    borrower: ann,
    repaidAssets: 50n * USDC,
    repaidShares: 50n * USDC,
    seizedAssets: SHARE / 2n,
  },
})
block(
  32,
  {
    type: 'ReserveListed',
    contract: configurator,
    data: { market: usdc, asset: usdc, aToken, variableDebtToken: debtToken },
  },
  {
    type: 'ReserveTokenInitialized',
    contract: aToken,
    data: { market: usdc, pool, decimals: 6, symbol: 'aUSDC' },
  },
  {
    type: 'RateUpdated',
    contract: pool,
    data: {
      market: usdc,
      liquidityRateRay: RAY / 50n,
      variableBorrowRateRay: RAY / 20n,
      liquidityIndexRay: RAY,
      variableBorrowIndexRay: RAY,
    },
  },
  {
    type: 'ScaledMinted',
    contract: aToken,
    data: {
      side: 'supply',
      caller: ann,
      onBehalf: ann,
      value: 500n * USDC,
      balanceIncrease: 0n,
      indexRay: RAY,
    },
  },
  {
    type: 'ScaledMinted',
    contract: debtToken,
    data: {
      side: 'variableDebt',
      caller: ann,
      onBehalf: ann,
      value: 100n * USDC,
      balanceIncrease: 0n,
      indexRay: RAY,
    },
  },
)
block(
  33,
  {
    type: 'CometConfigured',
    contract: comet,
    data: {
      market: comet,
      baseAsset: usdc,
      baseOracle: feed,
      baseScale: USDC,
      baseBorrowMin: 1n,
      targetReserves: 0n,
      storeFrontPriceFactorWad: 0n,
      supplyKinkWad: 5n * 10n ** 17n,
      supplyRateBaseWad: 0n,
      supplyRateSlopeLowWad: 10n ** 9n,
      supplyRateSlopeHighWad: 10n ** 10n,
      borrowKinkWad: 9n * 10n ** 17n,
      borrowRateBaseWad: 10n ** 8n,
      borrowRateSlopeLowWad: 2n * 10n ** 9n,
      borrowRateSlopeHighWad: 10n ** 10n,
      assetCount: 0,
    },
  },
  {
    type: 'CometStateSampled',
    contract: comet,
    data: {
      market: comet,
      supplyIndex: (5n * 10n ** 15n) / 4n,
      borrowIndex: (8n * 10n ** 15n) / 5n,
      supplyPrincipal: 800n * USDC,
      borrowPrincipal: 500n * USDC,
      updatedAt: 1,
      pauseFlags: 0,
    },
  },
  {
    type: 'DebtAbsorbed',
    contract: comet,
    data: { market: comet, absorber: liquidator, borrower: bob, assets: 7n * USDC },
  },
  {
    type: 'CollateralAbsorbed',
    contract: comet,
    data: { market: comet, absorber: liquidator, borrower: bob, asset: weth, assets: SHARE / 4n },
  },
)
const basics = (account: string, principal: bigint): DomainEvent => ({
  type: 'PrincipalSampled',
  contract: comet,
  data: { market: comet, account, principal },
})
block(34, basics(ann, 7n), basics(bob, -7n), {
  type: 'CollateralTransferred',
  contract: comet,
  data: { market: comet, from: liquidator, to: ann, asset: weth, assets: SHARE },
})
const minted = (
  token: string,
  side: 'supply' | 'variableDebt',
  value: bigint,
  index: bigint,
): DomainEvent => ({
  type: 'ScaledMinted',
  contract: token,
  data: { side, caller: bob, onBehalf: bob, value, balanceIncrease: 0n, indexRay: index },
})
const [lentIndex, owedIndex] = [(RAY * 3n) / 2n, (RAY * 7n) / 5n]
/** A reserve of WETH, of which bob has three scaled units lent and three owed. */
block(
  35,
  {
    type: 'ReserveListed',
    contract: configurator,
    data: { market: weth, asset: weth, aToken: wethToken, variableDebtToken: wethDebt },
  },
  {
    type: 'ReserveTokenInitialized',
    contract: wethToken,
    data: { market: weth, pool, decimals: 18, symbol: 'aWETH' },
  },
  {
    type: 'RateUpdated',
    contract: pool,
    data: {
      market: weth,
      liquidityRateRay: 0n,
      variableBorrowRateRay: 0n,
      liquidityIndexRay: lentIndex,
      variableBorrowIndexRay: owedIndex,
    },
  },
  minted(wethToken, 'supply', 5n, lentIndex),
  minted(wethDebt, 'variableDebt', 4n, owedIndex),
)
/** From here on the pool rounds in its own favour. */
block(
  36,
  ...[wethToken, wethDebt].map(
    (token): DomainEvent => ({ type: 'PoolRevisionSampled', contract: token, data: { pool, revision: 9 } }),
  ),
)
const status = (cash: bigint, accumulatorRay: bigint): DomainEvent => ({
  type: 'VaultStatusChanged',
  contract: evk,
  data: {
    market: evk,
    totalShares: 1_000n * USDC,
    totalBorrows: 600n * USDC,
    accumulatedFees: 0n,
    cash,
    accumulatorRay,
    interestRateRay: RAY / 20n / YEAR,
  },
})
/** A lending vault: ann has 600 of its 1,000 shares, bob owed 300 USDC and the smallest fraction more. */
block(
  37,
  {
    type: 'VaultDiscovered',
    contract: evk,
    data: {
      vault: evk,
      protocol: 'euler-v2',
      name: 'EVK Vault',
      symbol: 'eUSDC',
      decimals: 6,
      asset: usdc,
      assetName: 'USD Coin',
      assetSymbol: 'USDC',
      assetDecimals: 6,
    },
  },
  { type: 'ShareTransferred', contract: evk, data: { from: address('0'), to: ann, shares: 600n * USDC } },
  {
    type: 'DebtSampled',
    contract: evk,
    data: { market: evk, account: bob, owed: ((300n * USDC) << 31n) + 1n, accumulatorRay: RAY },
  },
  status(500n * USDC, RAY),
)
block(38, status(500n * USDC, (RAY * 11n) / 10n))
/** A block that is taken back: nothing of it is to be seen. */
const forked = log.length + 1
block(
  39,
  status(9_000n * USDC, RAY * 2n),
  { type: 'Borrowed', contract: morpho, data: { ...of(market), receiver: ann, ...owed } },
  basics(ann, 9_000n * USDC),
  minted(wethToken, 'supply', 900n * SHARE, lentIndex),
)
const last = log.at(-1)
if (!last) throw new Error('no events')
export const forkedBlock = last.block.number
block(39, {
  type: 'BlockRetracted',
  contract: '',
  data: {
    blockNumber: last.block.number,
    blockHash: last.block.hash,
    fromPosition: forked,
    toPosition: last.position,
  },
})
