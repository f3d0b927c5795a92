import { type Address, maxUint256 } from 'viem'
import { calls, type Token } from './deploy.ts'
import type { Call, Node } from './node.ts'
import type { Random } from './random.ts'
import type { AssetSymbol, DeployedVault, World } from './world.ts'

/** What the players of a scenario share from day to day. */
export interface Play {
  node: Node
  world: World
  random: Random
  days: number
  /** Every vault that exists today. */
  vaults: DeployedVault[]
  /** Last reported price in USD. */
  prices: Record<AssetSymbol, number>
  /** Users who have joined and not left for good. */
  present: Address[]
  /** Who may hold shares of a vault, by vault. */
  holders: Map<Address, Set<Address>>
  /** Lower bound of each account's money, by account and token. */
  wallets: Map<string, bigint>
  allowances: Set<string>
  tally: Map<Deed, number>
}

export type Deed =
  | 'deposit'
  | 'mint'
  | 'withdrawal'
  | 'redemption'
  | 'share transfer'
  | 'several events of one user in one transaction'
  | 'deposit of one vault’s shares into another'
  | 'yield payment'
  | 'price report'
  | 'full exit'
  | 'Aave supply'
  | 'Aave borrow'
  | 'Aave repayment'
  | 'Aave withdrawal'
  | 'Aave liquidation'
  | 'Morpho supply'
  | 'Morpho withdrawal'
  | 'Morpho borrow'
  | 'Morpho repayment'
  | 'Morpho liquidation'
  | 'transaction that failed'
  | 'log that only looks like one of a vault'

/** One simulated day: block times in ascending order and what goes into each block. */
export interface Day {
  index: number
  start: number
  times: number[]
  plan: Call[][]
  /** Words for the day's remarkable events. */
  news: string[]
}

/**
 * Blocks of a day. Every second hour, or every hour where `hourly`, has one 0 to 40 s after it begins; five more come
 * at any second.
 */
export function newDay(random: Random, index: number, start: number, hourly: boolean): Day {
  const times = new Set<number>()
  for (let hour = 0; hour < 24; hour += hourly ? 1 : 2) {
    times.add(start + hour * 3600 + (random.chance(0.2) ? 0 : random.below(41)))
  }
  for (let i = 0; i < 5; i++) times.add(start + 60 + random.below(86_300))
  const sorted = [...times].sort((a, b) => a - b)
  return { index, start, times: sorted, plan: sorted.map(() => []), news: [] }
}

/** Into a block at random after the morning's, all calls into the same one, in this order. */
export function schedule(play: Play, day: Day, ...list: Call[]): void {
  const slot = 1 + play.random.below(day.plan.length - 1)
  day.plan[slot]?.push(...list)
}

/** Into the first block of the day: money and allowances are there before anybody uses them. */
export function prepare(day: Day, ...list: Call[]): void {
  day.plan[0]?.push(...list)
}

export function count(play: Play, deed: Deed, n = 1): void {
  play.tally.set(deed, (play.tally.get(deed) ?? 0) + n)
}

/** Sees to it that `account` has `amount` of the token and has allowed `spender` to take it. */
export function provide(
  play: Play,
  day: Day,
  account: Address,
  token: Token,
  amount: bigint,
  spender: Address,
): void {
  const wallet = `${account} ${token.address}`
  const has = play.wallets.get(wallet) ?? 0n
  if (has < amount) {
    prepare(day, calls.mintToken(play.world.actors.admin, token.address, account, amount * 3n))
    play.wallets.set(wallet, has + amount * 2n)
  } else {
    play.wallets.set(wallet, has - amount)
  }
  allow(play, day, account, token.address, spender)
}

/** An allowance without limit, given once. */
export function allow(play: Play, day: Day, account: Address, token: Address, spender: Address): void {
  const allowance = `${account} ${token} ${spender}`
  if (play.allowances.has(allowance)) return
  play.allowances.add(allowance)
  prepare(day, calls.approve(account, token, spender, maxUint256))
}

/** Base units of a token worth between low and high USD, not round. */
export function worth(play: Play, symbol: AssetSymbol, low: number, high: number): bigint {
  const { token } = play.world.assets[symbol]
  const cents = BigInt(Math.round(play.random.between(low, high) * 100))
  const priceCents = BigInt(Math.round(play.prices[symbol] * 100))
  const dust = BigInt(play.random.below(1_000_000))
  return (cents * 10n ** BigInt(token.decimals)) / priceCents + (token.decimals > 8 ? dust : dust % 1000n)
}

export function assetSymbol(play: Play, token: Token): AssetSymbol | undefined {
  const { assets } = play.world
  for (const symbol of Object.keys(assets) as AssetSymbol[]) {
    if (assets[symbol].token.address === token.address) return symbol
  }
  return undefined
}

/** The share of an amount, in thousandths. */
export function permille(amount: bigint, thousandths: number): bigint {
  return (amount * BigInt(Math.round(thousandths))) / 1000n
}
