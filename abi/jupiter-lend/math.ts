import { type Lending, PRICE_PRECISION } from './lending.ts'
import type { RewardsModel, SupplyPosition, TokenReserve } from './liquidity.ts'

/**
 * The programs' own arithmetic, rounded as they round.
 * @see Instadapp/fluid-solana-programs: token_reserve.rs (calculate_exchange_prices), lending/utils/helpers.rs
 * (calculate_new_token_exchange_price), lendingRewardRateModel/state.rs (get_rate), user_supply_position.rs
 */
const YEAR = 31_536_000n
/** 100 % of rates in hundredths of a percent, of a return, and of shares of a yield. */
const FOUR = 10_000n
const WHOLE = 10n ** 14n
const FINE = 10n ** 17n
const MOST_REWARDS = 50n * 10n ** 12n

/** What a supply of 1e12 is worth at `now`; undefined where the account says what cannot be. */
export function supplyPriceAt(reserve: TokenReserve, now: bigint): bigint | undefined {
  const { supplyPrice, borrowRate, borrowWithInterest, supplyWithInterest, supplyInterestFree } = reserve
  const seconds = now - reserve.updatedAt
  if (supplyPrice === 0n || seconds < 0n || reserve.feeOnInterest > FOUR) return undefined
  if (seconds === 0n || borrowRate === 0n || borrowWithInterest === 0n || supplyWithInterest === 0n)
    return supplyPrice
  const supplyRatio = lesserOf(supplyWithInterest, supplyInterestFree)
  const isMostlyFree = supplyWithInterest < supplyInterestFree
  if (isMostlyFree && supplyRatio === 0n) return supplyPrice
  const lenders = isMostlyFree
    ? (reserve.utilization * (FINE + (FINE * FOUR) / supplyRatio)) / FOUR
    : (reserve.utilization * FINE * (FOUR + supplyRatio)) / (FOUR * FOUR)
  const borrowRatio = lesserOf(borrowWithInterest, reserve.borrowInterestFree)
  const paid = (borrowRatio * FINE) / (FOUR + borrowRatio)
  const borrowers = borrowWithInterest < reserve.borrowInterestFree ? paid : FINE - paid
  const share = (((lenders * borrowers) / FINE) * FOUR) / FINE
  const rate = borrowRate * share * (FOUR - reserve.feeOnInterest)
  return supplyPrice + (supplyPrice * rate * seconds) / (YEAR * FOUR) / (FOUR * FOUR)
}

/** The smaller as hundredths of a percent of the larger. */
function lesserOf(a: bigint, b: bigint): bigint {
  const [less, more] = a < b ? [a, b] : [b, a]
  return more === 0n ? 0n : (less * FOUR) / more
}

/** What a share is worth at `now`, in 1e12: as an update then would write it down. Undefined where it would fail. */
export function sharePriceAt(
  lending: Pick<Lending, 'price' | 'liquidityPrice' | 'updatedAt'>,
  supply: bigint,
  reserve: TokenReserve,
  rewards: RewardsModel,
  now: bigint,
): bigint | undefined {
  const liquidityPrice = supplyPriceAt(reserve, now)
  if (liquidityPrice === undefined || liquidityPrice < lending.liquidityPrice || lending.liquidityPrice === 0n)
    return undefined
  const assets = (lending.price * supply) / PRICE_PRECISION
  const earned = ((liquidityPrice - lending.liquidityPrice) * WHOLE) / lending.liquidityPrice
  const rewarded = rewardsSince(lending.updatedAt, assets, rewards, now)
  if (rewarded === undefined) return undefined
  const total = earned + rewarded
  return lending.price + (lending.price * total) / WHOLE
}

/**
 * Of 1e14, what rewards were paid between an update and `now`: of the phase that runs, and of the next one after its end. Undefined where
 * the program divides by nothing, and fails.
 */
function rewardsSince(
  updatedAt: bigint,
  assets: bigint,
  model: RewardsModel,
  now: bigint,
): bigint | undefined {
  const { startTime, duration, nextDuration } = model
  if (startTime === 0n || now < startTime || assets < model.startTvl) return 0n
  if (assets === 0n || (model.nextRewardAmount > 0n && nextDuration === 0n)) return undefined
  const end = startTime + duration
  const nextYearly = nextDuration > 0n ? (model.nextRewardAmount * YEAR) / nextDuration : 0n
  return (
    paidIn(rateOf(model.yearlyReward, assets), most(updatedAt, startTime), least(now, end)) +
    paidIn(rateOf(nextYearly, assets), most(updatedAt, end), least(now, end + nextDuration))
  )
}

const rateOf = (yearly: bigint, assets: bigint) => least((yearly * WHOLE) / assets, MOST_REWARDS)
const paidIn = (rate: bigint, from: bigint, to: bigint) => (to > from ? (rate * (to - from)) / YEAR : 0n)
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)

/** Assets that a vault can take out of the liquidity layer at `now`, whatever lies there. */
export function withdrawableAt(position: SupplyPosition, supplyPrice: bigint, now: bigint): bigint {
  const { amount, withdrawalLimit, expandDuration } = position
  const expandable = (amount * position.expandPercent) / FOUR
  const seconds = most(now - position.updatedAt, 0n)
  const expanded = expandDuration === 0n ? 0n : (expandable * seconds) / expandDuration
  const kept = withdrawalLimit === 0n ? 0n : most(withdrawalLimit - expanded, amount - expandable)
  const raw = most(amount - kept, 0n)
  return position.withInterest ? (raw * supplyPrice) / PRICE_PRECISION : raw
}

/** The fewest shares that pay at least so many assets. */
export const sharesOfWithdrawal = (assets: bigint, price: bigint): bigint =>
  (assets * PRICE_PRECISION + price - 1n) / price

export const assetsOfShares = (shares: bigint, price: bigint): bigint => (shares * price) / PRICE_PRECISION

/** What a deposit gives: of what the liquidity layer counts of it, rounded down to its own price. */
export function sharesOfDeposit(assets: bigint, supplyPrice: bigint, price: bigint): bigint {
  const counted = (assets * PRICE_PRECISION) / supplyPrice
  return (((counted * supplyPrice) / PRICE_PRECISION) * PRICE_PRECISION) / price
}
