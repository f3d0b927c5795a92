import { type Address, encodeFunctionData, type Hex, maxUint256, zeroAddress } from 'viem'
import { rayMul } from '../../../abi/aave-v3/math.ts'
import { RAY, WAD } from '../../../db/units.ts'
import { view } from '../../chain/view.ts'
import { toWhole } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { yearlyOfRay } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  type Bound,
  bestOption,
  capped,
  closed,
  enablingFor,
  largest,
  neededEnabling,
  suppliedBound,
  tightest,
  tokenOf,
} from '../../transactions/borrow/bounds.ts'
import { answeredBy, type BorrowPosition, type MarketAssetRef } from '../../transactions/borrow/family.ts'
import { defineBorrowFamily } from '../../transactions/borrow/standing.ts'
import type { PlannedAction, ReadViews } from '../../transactions/family.ts'
import { units } from '../../transactions/wallet.ts'
import { aaveAbi } from './abis.ts'
import {
  type AaveRef,
  accountAfter,
  covers,
  grown,
  type HeldAccount,
  type HeldReserve,
  isolatedBy,
  mayBeCollateral,
  owedOf,
  readAccount,
} from './account.ts'

const variableRate = 2n

/**
 * Aave v3. Any asset of a pool is lent, borrowed and, where the user has it so, collateral. The pool itself reckons what
 * "everything" is when a transaction lands.
 */
export const aaveV3 = defineBorrowFamily({
  protocol: 'aave-v3',

  async figures(market: AaveRef, { info }, read) {
    const pool = market.root as Address
    const asset = info.address as Address
    const { block, values } = await read({
      data: view(aaveAbi, pool, 'getReserveData', [asset]),
      income: view(aaveAbi, pool, 'getReserveNormalizedIncome', [asset]),
      debt: view(aaveAbi, pool, 'getReserveNormalizedVariableDebt', [asset]),
    })
    const { data, income = RAY, debt = RAY } = values
    // Of a reserve that was dropped the pool says zeros.
    if (!data || data.aTokenAddress === zeroAddress) throw notListed(market, info.symbol)
    const { values: totals } = await read({
      supplied: view(erc20Abi, data.aTokenAddress, 'totalSupply', []),
      borrowed: view(erc20Abi, data.variableDebtTokenAddress, 'totalSupply', []),
    })
    return {
      block,
      supplyRate: yearlyOfRay(data.currentLiquidityRate),
      borrowRate: yearlyOfRay(data.currentVariableBorrowRate),
      supplied: answeredBy(data.aTokenAddress, totals.supplied),
      borrowed: answeredBy(data.variableDebtTokenAddress, totals.borrowed),
      supplyIndex: toWhole(income, 27),
      borrowIndex: toWhole(debt, 27),
    }
  },

  read: readPosition,
  bounds: boundsOf,

  steps: (position, { options }) => ({
    supply: ['approve', 'supply', ...(needsEnabling(position) ? ['enableCollateral'] : [])],
    withdraw: ['withdraw'],
    borrow: [...neededEnabling(options).map(() => 'enableCollateral'), 'borrow'],
    repay: ['approve', 'repay'],
  }),

  actions: {
    supply(position, { value }) {
      const { token, user } = position
      const args = [token.address, value, user, 0] as const
      const supply = encodeFunctionData({ abi: aaveAbi, functionName: 'supply', args })
      const enabling = needsEnabling(position) ? [enableCollateral(position, token.address)] : []
      return [call(position, 'supply', supply), ...enabling]
    },

    withdraw(position, { value, isAll }) {
      const args = [position.token.address, isAll ? maxUint256 : value, position.user] as const
      const withdraw = encodeFunctionData({ abi: aaveAbi, functionName: 'withdraw', args })
      return [call(position, 'withdraw', withdraw)]
    },

    borrow(position, { value }, { options }) {
      const args = [position.token.address, value, variableRate, 0, position.user] as const
      const borrow = encodeFunctionData({ abi: aaveAbi, functionName: 'borrow', args })
      const enabling = enablingFor(options, value).map(of => enableCollateral(position, of))
      return [...enabling, call(position, 'borrow', borrow)]
    },

    repay(position, { value, isAll }) {
      const args = [position.token.address, isAll ? maxUint256 : value, variableRate, position.user] as const
      const repay = encodeFunctionData({ abi: aaveAbi, functionName: 'repay', args })
      return [call(position, 'repay', repay)]
    },
  },
})

interface Position extends BorrowPosition {
  account: HeldAccount
  reserve: HeldReserve
  /** What the pool can pay out. */
  liquidity: bigint
  /** What counts against the caps. */
  suppliedTotal: bigint
  borrowedTotal: bigint
}

async function readPosition(
  market: AaveRef,
  asset: MarketAssetRef,
  user: Address,
  read: ReadViews,
): Promise<Position> {
  const pool = market.root as Address
  const token = tokenOf(asset)
  const { block, account, extra } = await readAccount(market, token.address, user, read, of => ({
    wallet: view(erc20Abi, token.address, 'balanceOf', [user]),
    allowance: view(erc20Abi, token.address, 'allowance', [user, pool]),
    cash: view(erc20Abi, token.address, 'balanceOf', [of.aTokenAddress]),
    virtual: view(aaveAbi, pool, 'getVirtualUnderlyingBalance', [token.address]),
    index: view(aaveAbi, pool, 'getReserveNormalizedIncome', [token.address]),
    scaledSupply: view(aaveAbi, of.aTokenAddress, 'scaledTotalSupply', []),
    totalVariable: view(erc20Abi, of.variableDebtTokenAddress, 'totalSupply', []),
    totalStable: view(erc20Abi, of.stableDebtTokenAddress, 'totalSupply', []),
  }))
  const reserve = account.reserves.find(of => of.asset === token.address)
  if (!reserve || !extra) throw notListed(market, token.symbol)
  const { data, configuration, supplied, variable: debt } = reserve
  const { wallet = 0n, allowance = 0n, cash = 0n, virtual } = extra
  const { index = RAY, scaledSupply = 0n, totalVariable = 0n, totalStable = 0n } = extra
  const isMinted = virtual !== undefined && !configuration.isVirtualAccounting
  return {
    block,
    user,
    asset,
    token,
    contract: pool,
    balances: { supplied, borrowed: debt, wallet, allowance },
    owedIn: seconds => grown(debt, reserve, seconds),
    account,
    reserve,
    liquidity: isMinted ? maxUint256 : virtual !== undefined && virtual < cash ? virtual : cash,
    // As ValidationLogic.validateSupply and validateBorrow reckon them.
    suppliedTotal: rayMul(scaledSupply + data.accruedToTreasury, index),
    borrowedTotal: grown(totalVariable + totalStable, reserve, 60),
  }
}

const notListed = ({ root }: AaveRef, symbol: string) =>
  new RefusedError(`The pool ${root} lists no reserve of ${symbol}.`)

function boundsOf(position: Position) {
  const { account, reserve, token, balances } = position
  const unconditional = loanBounds(position)
  const options = enablings(account).map(enabling => ({
    enabling,
    bound: borrowBound(account, reserve, enabling, unconditional),
  }))
  const owed: Bound = {
    most: balances.borrowed,
    because: `The wallet owes ${units(balances.borrowed, token)} at the variable rate.`,
  }
  return {
    supply: supplyBound(position),
    withdraw: withdrawBound(position),
    borrow: bestOption(options).bound,
    repay: tightest(owed, ...closed(stopped(reserve))),
    /** Of borrow. */
    options,
  }
}

const stopped = ({ configuration }: HeldReserve): string | undefined =>
  !configuration.isActive
    ? 'The reserve is not active.'
    : configuration.isPaused
      ? 'The reserve is paused.'
      : undefined

const frozen = (reserve: HeldReserve): string | undefined =>
  stopped(reserve) ?? (reserve.configuration.isFrozen ? 'The reserve is frozen.' : undefined)

/** The caps are in whole tokens; zero: none. */
const capOf = (whole: bigint, { configuration }: HeldReserve): bigint | undefined =>
  whole === 0n ? undefined : whole * 10n ** BigInt(configuration.decimals)

const liquidityBound = ({ liquidity, token }: Position): Bound => ({
  most: liquidity,
  because: `The reserve holds ${units(liquidity, token)}.`,
})

function supplyBound({ reserve, suppliedTotal, token }: Position): Bound {
  const cap = capOf(reserve.configuration.supplyCap, reserve)
  return tightest(...closed(frozen(reserve)), ...capped('supply', cap, suppliedTotal, token))
}

function withdrawBound(position: Position): Bound {
  const { account, reserve, balances } = position
  const owes = account.reserves.some(of => owedOf(of) > 0n)
  const isSafeWithout = (amount: bigint): boolean => {
    if (!reserve.isCollateral || !owes) return true
    const { healthFactorWad } = accountAfter(account, { withdraw: { asset: reserve.asset, amount } })
    return healthFactorWad === undefined || healthFactorWad >= WAD
  }
  return tightest(
    suppliedBound(position),
    ...closed(stopped(reserve)),
    liquidityBound(position),
    ...closed(lockedByZeroLtv(account, reserve)),
    {
      most: largest(balances.supplied, isSafeWithout),
      because: 'With less collateral the health factor would fall below 1.',
    },
  )
}

/** Bounds of a loan that do not depend on what is collateral. */
function loanBounds(position: Position): Bound[] {
  const { account, reserve, borrowedTotal, token } = position
  return [
    ...closed(frozen(reserve)),
    ...closed(reserve.isBorrowingEnabled ? undefined : 'Borrowing of this asset is switched off.'),
    ...closed(
      reserve.isBorrowableInEMode
        ? undefined
        : `The wallet is in eMode ${account.category}, in which this asset cannot be borrowed.`,
    ),
    ...closed(refusedBySilo(account, reserve)),
    ...capped('borrow', capOf(reserve.configuration.borrowCap, reserve), borrowedTotal, token),
    liquidityBound(position),
  ]
}

/** What can be borrowed after `enabling`, within bounds that do not depend on it. */
function borrowBound(
  account: HeldAccount,
  reserve: HeldReserve,
  enabling: readonly Address[],
  others: readonly Bound[],
): Bound {
  const after = accountAfter(account, { enabling })
  const isolated = isolatedBy(account, enabling)
  const bounds: Bound[] = [...others]
  if (isolated) {
    const { debtCeiling } = isolated.configuration
    const { isolationModeTotalDebt: debt } = isolated.data
    // The ceiling has two decimals; what is borrowed counts in those, rounded down.
    const step = 10n ** BigInt(Math.max(0, reserve.configuration.decimals - 2))
    const room = debtCeiling > debt ? (debtCeiling - debt + 1n) * step - 1n : 0n
    bounds.push(
      ...closed(
        reserve.configuration.isBorrowableInIsolation
          ? undefined
          : 'The wallet is in isolation mode, in which this asset cannot be borrowed.',
      ),
      { most: room, because: 'The debt ceiling of the isolated collateral leaves no more.' },
    )
  }
  const most = tightest(...bounds)
  const covered: Bound = {
    most: largest(most.most, amount => covers(after, reserve, amount)),
    because:
      after.totalCollateralBase === 0n
        ? 'The wallet has no collateral in this pool.'
        : 'Its collateral covers no more: the position would not be healthy.',
  }
  return tightest(most, covered)
}

/** @see ValidationLogic.validateHFAndLtv: collateral that has lost its LTV has to leave first. */
function lockedByZeroLtv({ reserves }: HeldAccount, reserve: HeldReserve): string | undefined {
  if (!reserve.isCollateral || reserve.terms.ltvBps === 0n) return undefined
  if (!reserves.some(of => owedOf(of) > 0n)) return undefined
  const isZero = reserves.some(
    ({ isCollateral, terms }) => isCollateral && terms.ltvBps === 0n && terms.liquidationThresholdBps !== 0n,
  )
  return isZero ? 'Collateral of which the LTV is now 0 has to be withdrawn first.' : undefined
}

/** @see ValidationLogic.validateBorrow: a siloed asset is the only one borrowed. */
function refusedBySilo({ reserves }: HeldAccount, reserve: HeldReserve): string | undefined {
  const others = reserves.filter(of => of !== reserve && owedOf(of) > 0n)
  if (others.length === 0) return undefined
  return reserve.configuration.isSiloed || others.some(({ configuration }) => configuration.isSiloed)
    ? 'A siloed asset can only be borrowed by itself, and the wallet owes another one.'
    : undefined
}

/**
 * What may be made collateral for a loan, least first: nothing; then what is supplied and not yet collateral, the most
 * valuable first. An isolated collateral stands alone.
 */
function enablings(account: HeldAccount): Address[][] {
  const worth = ({ supplied, price = 0n, configuration }: HeldReserve) =>
    (supplied * price) / 10n ** BigInt(configuration.decimals)
  const able = account.reserves
    .filter(reserve => !reserve.isCollateral && reserve.supplied > 0n && mayBeCollateral(account, reserve))
    .sort((a, b) => (worth(a) < worth(b) ? 1 : -1))
  const isolated = able.filter(({ configuration }) => configuration.debtCeiling !== 0n)
  const free = able.filter(of => !isolated.includes(of)).map(({ asset }) => asset)
  return [
    ...Array.from({ length: free.length + 1 }, (_, n) => free.slice(0, n)),
    ...isolated.map(({ asset }) => [asset]),
  ]
}

/** Whether what is supplied has to be made collateral. The first supply becomes it by itself, unless it would isolate the account. */
function needsEnabling({ account, reserve }: Position): boolean {
  const { isCollateral, supplied, configuration } = reserve
  const countsByItself = supplied === 0n && configuration.debtCeiling === 0n
  return !isCollateral && mayBeCollateral(account, reserve) && !countsByItself
}

const call = ({ contract }: Position, name: string, data: Hex): PlannedAction => ({
  name,
  to: contract,
  data,
})

function enableCollateral(position: Position, of: Address): PlannedAction {
  const args = [of, true] as const
  const data = encodeFunctionData({ abi: aaveAbi, functionName: 'setUserUseReserveAsCollateral', args })
  return call(position, 'enableCollateral', data)
}
