import { type Address, maxUint256 } from 'viem'
import { aaveCalls, aaveConfigCalls } from './aave.ts'
import { morphoAbi } from './abis.ts'
import { calls } from './deploy.ts'
import { type Market, morphoCalls } from './morpho.ts'
import { assetSymbol, count, type Day, type Play, permille, provide, schedule, worth } from './play.ts'
import type { AssetSymbol } from './world.ts'

/** What borrowers and lenders have done so far, by user and place. */
export interface Loans {
  aaveSupplied: Map<string, bigint>
  morphoSupplied: Map<string, bigint>
  aaveBorrowers: Map<Address, { symbol: AssetSymbol; borrowed: bigint }>
  morphoBorrowers: Map<Address, { market: Market; borrowed: bigint }>
}

export const noLoans = (): Loans => ({
  aaveSupplied: new Map(),
  morphoSupplied: new Map(),
  aaveBorrowers: new Map(),
  morphoBorrowers: new Map(),
})

/**
 * The roles by place in the list of users. The doomed borrow too much on the eve of the crash; nobody else's health
 * comes near the line.
 */
export const roles = (users: readonly Address[]) => ({
  aaveLenders: users.slice(0, 12),
  aaveBorrowers: users.slice(12, 20),
  morphoLenders: users.slice(20, 30),
  morphoBorrowers: users.slice(30, 40),
  aaveDoomed: users.slice(40, 42),
  morphoDoomed: users.slice(42, 45),
})

/** A few lending acts of an ordinary day. */
export async function playLending(play: Play, day: Day, loans: Loans, acting: number): Promise<void> {
  const { random } = play
  const who = roles(play.world.actors.users)
  for (let i = 0; i < acting; i++) {
    const dice = random.below(10)
    if (dice < 3) lendAave(play, day, loans, random.pick(who.aaveLenders))
    else if (dice < 5) await borrowAave(play, day, loans, random.pick(who.aaveBorrowers))
    else if (dice < 8) lendMorpho(play, day, loans, random.pick(who.morphoLenders))
    else await borrowMorpho(play, day, loans, random.pick(who.morphoBorrowers))
  }
}

function lendAave(play: Play, day: Day, loans: Loans, user: Address | undefined): void {
  if (!user || acted(play, day, user)) return
  const { aave } = play.world
  const reserve = play.random.pick(aave.reserves)
  const symbol = reserve && assetSymbol(play, reserve.asset)
  if (!reserve || !symbol) return
  const pool = aaveCalls(aave.pool)
  const key = `${user} ${symbol}`
  const supplied = loans.aaveSupplied.get(key) ?? 0n
  if (supplied > 0n && play.random.chance(0.4)) {
    // One withdrawal in four takes less than the interest accrued: the aToken then mints instead of burning.
    const amount = play.random.chance(0.25) ? 10n : permille(supplied, play.random.between(100, 400))
    loans.aaveSupplied.set(key, supplied - amount)
    schedule(play, day, pool.withdraw(user, reserve.asset.address, amount))
    count(play, 'Aave withdrawal')
    return
  }
  if (supplied > 0n && play.random.chance(0.15)) {
    const amount = permille(supplied, 100)
    loans.aaveSupplied.set(key, supplied - amount)
    const to = play.random.pick(roles(play.world.actors.users).aaveLenders) ?? user
    schedule(play, day, calls.transfer(user, reserve.aToken, to, amount))
    return
  }
  const amount = worth(play, symbol, 500, 20_000)
  provide(play, day, user, reserve.asset, amount, aave.pool)
  loans.aaveSupplied.set(key, supplied + amount)
  schedule(play, day, pool.supply(user, reserve.asset.address, amount))
  count(play, 'Aave supply')
}

async function borrowAave(play: Play, day: Day, loans: Loans, user: Address | undefined): Promise<void> {
  if (!user || acted(play, day, user)) return
  const { aave, assets } = play.world
  const pool = aaveCalls(aave.pool)
  const loan = loans.aaveBorrowers.get(user)
  if (loan) {
    const { token } = assets[loan.symbol]
    const isAll = play.random.chance(0.4)
    const amount = isAll
      ? loan.borrowed + loan.borrowed / 5n
      : permille(loan.borrowed, play.random.between(100, 400))
    provide(play, day, user, token, amount, aave.pool)
    count(play, 'Aave repayment')
    if (!isAll) {
      loans.aaveBorrowers.set(user, { ...loan, borrowed: loan.borrowed - amount })
      schedule(play, day, pool.repay(user, token.address, amount))
      return
    }
    loans.aaveBorrowers.delete(user)
    count(play, 'Aave withdrawal')
    schedule(
      play,
      day,
      pool.repay(user, token.address, maxUint256),
      pool.withdraw(user, assets.WETH.token.address, maxUint256),
    )
    return
  }
  const symbol = play.random.chance(0.6) ? 'USDC' : 'DAI'
  const usd = play.random.between(5000, 30_000)
  const collateral = worth(play, 'WETH', usd, usd)
  const borrowed = worth(play, symbol, usd * 0.15, usd * 0.35)
  provide(play, day, user, assets.WETH.token, collateral, aave.pool)
  loans.aaveBorrowers.set(user, { symbol, borrowed })
  schedule(
    play,
    day,
    pool.supply(user, assets.WETH.token.address, collateral),
    pool.borrow(user, assets[symbol].token.address, borrowed),
  )
  count(play, 'Aave supply')
  count(play, 'Aave borrow')
}

function lendMorpho(play: Play, day: Day, loans: Loans, user: Address | undefined): void {
  const { morpho } = play.world
  const market = play.random.pick(morpho.markets)
  const symbol = market && assetSymbol(play, market.loan)
  if (!user || !market || !symbol || acted(play, day, user)) return
  const blue = morphoCalls(morpho.address)
  const key = `${user} ${market.id}`
  const supplied = loans.morphoSupplied.get(key) ?? 0n
  if (supplied > 0n && play.random.chance(0.4)) {
    // Well under the supply: a bad debt may have eaten a part of it.
    const amount = permille(supplied, play.random.between(100, 400))
    loans.morphoSupplied.set(key, supplied - amount * 2n)
    schedule(play, day, blue.withdraw(user, market, amount))
    count(play, 'Morpho withdrawal')
    return
  }
  const amount = worth(play, symbol, 500, 20_000)
  provide(play, day, user, market.loan, amount, morpho.address)
  loans.morphoSupplied.set(key, supplied + amount)
  schedule(play, day, blue.supply(user, market, amount))
  count(play, 'Morpho supply')
}

async function borrowMorpho(play: Play, day: Day, loans: Loans, user: Address | undefined): Promise<void> {
  if (!user || acted(play, day, user)) return
  const { morpho } = play.world
  const blue = morphoCalls(morpho.address)
  const loan = loans.morphoBorrowers.get(user)
  if (loan) {
    const { market } = loan
    if (play.random.chance(0.5)) {
      const amount = permille(loan.borrowed, play.random.between(100, 400))
      provide(play, day, user, market.loan, amount, morpho.address)
      loans.morphoBorrowers.set(user, { market, borrowed: loan.borrowed - amount })
      schedule(play, day, blue.repay(user, market, amount))
    } else {
      const position = await readPosition(play, market, user)
      provide(play, day, user, market.loan, loan.borrowed * 2n, morpho.address)
      loans.morphoBorrowers.delete(user)
      schedule(
        play,
        day,
        blue.repayShares(user, market, position.borrowShares),
        blue.withdrawCollateral(user, market, position.collateral),
      )
    }
    count(play, 'Morpho repayment')
    return
  }
  const market = play.random.pick(morpho.markets)
  if (market) openMorphoLoan(play, day, loans, user, market, play.random.between(0.15, 0.4))
}

function openMorphoLoan(
  play: Play,
  day: Day,
  loans: Loans,
  user: Address,
  market: Market,
  ltv: number,
): void {
  const { morpho } = play.world
  const blue = morphoCalls(morpho.address)
  const loanSymbol = assetSymbol(play, market.loan)
  const collateralSymbol = assetSymbol(play, market.collateral)
  if (!loanSymbol || !collateralSymbol) return
  const usd = play.random.between(5000, 30_000)
  const collateral = worth(play, collateralSymbol, usd, usd)
  const borrowed = worth(play, loanSymbol, usd * ltv, usd * ltv)
  provide(play, day, user, market.collateral, collateral, morpho.address)
  loans.morphoBorrowers.set(user, { market, borrowed })
  schedule(play, day, blue.supplyCollateral(user, market, collateral), blue.borrow(user, market, borrowed))
  count(play, 'Morpho borrow')
}

/** The eve of the crash: loans near the limit, on WETH. */
export function borrowTooMuch(play: Play, day: Day, loans: Loans): void {
  const { aave, assets, morpho, actors } = play.world
  const pool = aaveCalls(aave.pool)
  const who = roles(actors.users)
  for (const user of who.aaveDoomed) {
    const usd = play.random.between(15_000, 30_000)
    const collateral = worth(play, 'WETH', usd, usd)
    provide(play, day, user, assets.WETH.token, collateral, aave.pool)
    schedule(
      play,
      day,
      pool.supply(user, assets.WETH.token.address, collateral),
      pool.borrow(user, assets.USDC.token.address, worth(play, 'USDC', usd * 0.7, usd * 0.71)),
    )
    count(play, 'Aave supply')
    count(play, 'Aave borrow')
  }
  const [first] = morpho.markets
  const ltvs = [0.68, 0.7, 0.82]
  for (const [i, user] of who.morphoDoomed.entries()) {
    if (first) openMorphoLoan(play, day, loans, user, first, ltvs[i] ?? 0.7)
  }
  day.news.push('five users borrow near their limit against WETH')
}

/** The day after the crash. On Morpho the last of the doomed is left with bad debt. */
export async function liquidate(play: Play, day: Day): Promise<void> {
  const { aave, assets, morpho, actors } = play.world
  const { liquidator } = actors
  const who = roles(actors.users)
  const pool = aaveCalls(aave.pool)
  const blue = morphoCalls(morpho.address)
  for (const [i, user] of who.aaveDoomed.entries()) {
    const amount = i === 0 ? worth(play, 'USDC', 3000, 5000) : maxUint256
    schedule(
      play,
      day,
      pool.liquidate(liquidator, assets.WETH.token.address, assets.USDC.token.address, user, amount),
    )
    count(play, 'Aave liquidation')
  }
  const [market] = morpho.markets
  if (!market) return
  for (const [i, user] of who.morphoDoomed.entries()) {
    const { borrowShares, collateral } = await readPosition(play, market, user)
    const isLast = i === who.morphoDoomed.length - 1
    const call = isLast
      ? blue.seize(liquidator, market, user, collateral)
      : blue.liquidate(liquidator, market, user, borrowShares / 2n)
    schedule(play, day, call)
    count(play, 'Morpho liquidation')
  }
  day.news.push('the liquidator takes collateral on Aave and Morpho')
}

/** Settings change: a fee on Morpho, caps on Aave, a reserve paused for a day. */
export function configure(play: Play, day: Day, step: 'fee' | 'caps' | 'pause' | 'unpause'): void {
  const { aave, assets, morpho, actors } = play.world
  const settings = aaveConfigCalls(aave.configurator)
  const [market] = morpho.markets
  if (step === 'fee' && market)
    schedule(play, day, morphoCalls(morpho.address).setFee(actors.admin, market, 0.1))
  if (step === 'caps') {
    schedule(play, day, settings.setSupplyCap(actors.admin, assets.USDC.token.address, 50_000_000n))
    schedule(play, day, settings.setBorrowCap(actors.admin, assets.USDC.token.address, 40_000_000n))
  }
  const isPause = step === 'pause'
  if (isPause || step === 'unpause') {
    day.plan[isPause ? day.plan.length - 1 : 0]?.push(
      settings.setPaused(actors.admin, assets.WBTC.token.address, isPause),
    )
  }
}

async function readPosition(play: Play, market: Market, user: Address) {
  const [supplyShares, borrowShares, collateral] = await play.node.client.readContract({
    address: play.world.morpho.address,
    abi: morphoAbi,
    functionName: 'position',
    args: [market.id, user],
  })
  return { supplyShares, borrowShares, collateral }
}

/** Each does one thing a day: a second one could come into an earlier block than the first. */
function acted(play: Play, day: Day, user: Address): boolean {
  const { morpho, aave } = play.world
  return day.plan.some(list =>
    list.some(({ from, to }) => from === user && (to === morpho.address || to === aave.pool)),
  )
}
