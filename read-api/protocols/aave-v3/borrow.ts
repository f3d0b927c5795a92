import { type Address, encodeFunctionData, type Hex, maxUint256, zeroAddress } from 'viem'
import { rayMul } from '../../../abi/aave-v3/math.ts'
import { RAY } from '../../../db/units.ts'
import { view } from '../../chain/view.ts'
import { toWhole } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { yearlyOfRay } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  amountWithin,
  type Bound,
  closed,
  largest,
  payingPlan,
  refuseShortWallet,
  repayment,
  tightest,
  tokenOf,
  walletBound,
} from '../../transactions/borrow/bounds.ts'
import { answeredBy, type BorrowRequest, defineBorrowFamily } from '../../transactions/borrow/family.ts'
import type { Plan, PlannedAction } from '../../transactions/family.ts'
import { singlePlan, units } from '../../transactions/wallet.ts'
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
const wad = 10n ** 18n

/**
 * Aave v3. Any asset of a pool is lent, borrowed and, where the user has it so, collateral. The pool itself reckons what
 * "everything" is when a transaction lands.
 */
export const aaveV3 = defineBorrowFamily<AaveRef>({
  protocol: 'aave-v3',

  async figures(market, { info }, read) {
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

  async look(market, asset, user, read) {
    const pool = market.root as Address
    const token = tokenOf(asset)
    const { block, account, extra } = await readAccount(market, token.address, user, read, of => ({
      wallet: view(erc20Abi, token.address, 'balanceOf', [user]),
      allowance: view(erc20Abi, token.address, 'allowance', [user, pool]),
      liquidity: view(erc20Abi, token.address, 'balanceOf', [of.aTokenAddress]),
      virtual: view(aaveAbi, pool, 'getVirtualUnderlyingBalance', [token.address]),
      index: view(aaveAbi, pool, 'getReserveNormalizedIncome', [token.address]),
      scaledSupply: view(aaveAbi, of.aTokenAddress, 'scaledTotalSupply', []),
      totalVariable: view(erc20Abi, of.variableDebtTokenAddress, 'totalSupply', []),
      totalStable: view(erc20Abi, of.stableDebtTokenAddress, 'totalSupply', []),
    }))
    const reserve = account.reserves.find(of => of.asset === token.address)
    if (!reserve || !extra) throw notListed(market, token.symbol)
    const { data, configuration, supplied } = reserve
    const { wallet = 0n, allowance = 0n, index = RAY, scaledSupply = 0n } = extra
    const { totalVariable = 0n, totalStable = 0n, liquidity: cash = 0n, virtual } = extra
    const isMinted = virtual !== undefined && !configuration.isVirtualAccounting
    const liquidity = isMinted ? maxUint256 : virtual !== undefined && virtual < cash ? virtual : cash
    const unit = 10n ** BigInt(configuration.decimals)
    const debt = reserve.variable
    const owes = account.reserves.some(of => owedOf(of) > 0n)

    const stopped = !configuration.isActive
      ? 'The reserve is not active.'
      : configuration.isPaused
        ? 'The reserve is paused.'
        : undefined
    const frozen = stopped ?? (configuration.isFrozen ? 'The reserve is frozen.' : undefined)
    const lending: Bound = { most: liquidity, because: `The reserve holds ${units(liquidity, token)}.` }

    // As ValidationLogic.validateSupply and validateBorrow reckon what the caps leave.
    const supplyTotal = rayMul(scaledSupply + data.accruedToTreasury, index)
    const borrowTotal = grown(totalVariable + totalStable, reserve, 60)
    const capped = (cap: bigint, total: bigint, what: string): Bound[] => {
      const room = cap * unit > total ? cap * unit - total : 0n
      return cap === 0n
        ? []
        : [{ most: room, because: `The ${what} cap leaves room for ${units(room, token)}.` }]
    }

    const supplyBound = tightest(
      walletBound(wallet, asset),
      ...closed(frozen),
      ...capped(configuration.supplyCap, supplyTotal, 'supply'),
    )

    const isSafeWithout = (amount: bigint): boolean => {
      if (!reserve.isCollateral || !owes) return true
      const { healthFactorWad } = accountAfter(account, { withdraw: { asset: reserve.asset, amount } })
      return healthFactorWad === undefined || healthFactorWad >= wad
    }
    const withdrawBound = tightest(
      { most: supplied, because: `The wallet has supplied ${units(supplied, token)}.` },
      ...closed(stopped),
      lending,
      ...closed(lockedByZeroLtv(account, reserve)),
      {
        most: largest(supplied, isSafeWithout),
        because: 'With less collateral the health factor would fall below 1.',
      },
    )

    const borrowOptions = enablings(account).map(enabling => ({
      enabling,
      bound: borrowBound(account, reserve, enabling, [
        ...closed(frozen),
        ...closed(reserve.isBorrowingEnabled ? undefined : 'Borrowing of this asset is switched off.'),
        ...closed(
          reserve.isBorrowableInEMode
            ? undefined
            : `The wallet is in eMode ${account.category}, in which this asset cannot be borrowed.`,
        ),
        ...closed(refusedBySilo(account, reserve)),
        ...capped(configuration.borrowCap, borrowTotal, 'borrow'),
        lending,
      ]),
    }))
    const bestBorrow = borrowOptions.reduce((best, option) =>
      option.bound.most > best.bound.most ? option : best,
    )

    const owed: Bound = { most: debt, because: `The wallet owes ${units(debt, token)} at the variable rate.` }
    const repayBound = tightest(owed, ...closed(stopped), walletBound(wallet, asset))

    const needsEnabling =
      !reserve.isCollateral &&
      mayBeCollateral(account, reserve) &&
      // A first supply counts as collateral by itself, unless it would isolate the account.
      !(supplied === 0n && configuration.debtCeiling === 0n)

    const call = (name: string, data: Hex): PlannedAction => ({ name, to: pool, data })
    const enable = (of: Address) =>
      call(
        'enableCollateral',
        encodeFunctionData({ abi: aaveAbi, functionName: 'setUserUseReserveAsCollateral', args: [of, true] }),
      )

    const build = (request: BorrowRequest): Plan => {
      const { action, amount } = request
      const pay = (needed: bigint, value: bigint, actions: PlannedAction[]) =>
        payingPlan(asset, pool, allowance, { needed, value, reset: request.resetAllowance }, actions)
      if (action === 'supply') {
        const value = amountWithin(request, token, wallet, supplyBound)
        const args = [token.address, value, user, 0] as const
        const supply = encodeFunctionData({ abi: aaveAbi, functionName: 'supply', args })
        return pay(value, value, [call('supply', supply), ...(needsEnabling ? [enable(token.address)] : [])])
      }
      if (action === 'withdraw') {
        const value = amountWithin(request, token, supplied, withdrawBound)
        const args = [token.address, amount === 'all' ? maxUint256 : value, user] as const
        return singlePlan(
          call('withdraw', encodeFunctionData({ abi: aaveAbi, functionName: 'withdraw', args })),
          [token],
        )
      }
      if (action === 'borrow') {
        const value = amountWithin(request, token, bestBorrow.bound.most, bestBorrow.bound)
        const { enabling } = borrowOptions.find(({ bound }) => bound.most >= value) ?? bestBorrow
        const args = [token.address, value, variableRate, 0, user] as const
        const borrow = encodeFunctionData({ abi: aaveAbi, functionName: 'borrow', args })
        return {
          actions: [...enabling.map(enable), call('borrow', borrow)],
          currentActionIndex: 0,
          gains: [token],
        }
      }
      const repay = (value: bigint) => {
        const args = [token.address, value, variableRate, user] as const
        return [call('repay', encodeFunctionData({ abi: aaveAbi, functionName: 'repay', args }))]
      }
      if (amount !== 'all') {
        const value = amountWithin(request, token, debt, repayBound)
        return pay(value, value, repay(value))
      }
      amountWithin(request, token, debt, tightest(owed, ...closed(stopped)))
      const { needed, approved } = repayment(seconds => grown(debt, reserve, seconds))
      refuseShortWallet(wallet, debt, needed, asset)
      return pay(needed, approved, repay(maxUint256))
    }

    return {
      block,
      balances: { supplied, borrowed: debt, wallet, allowance },
      limits: {
        maxWithdraw: withdrawBound.most,
        maxBorrow: bestBorrow.bound.most,
        maxRepay: repayBound.most,
      },
      steps: {
        supply: ['approve', 'supply', ...(needsEnabling ? ['enableCollateral'] : [])],
        withdraw: ['withdraw'],
        borrow: [
          ...(borrowOptions[0]?.bound.most === 0n ? bestBorrow.enabling : []).map(() => 'enableCollateral'),
          'borrow',
        ],
        repay: ['approve', 'repay'],
      },
      build,
    }
  },
})

const notListed = ({ root }: AaveRef, symbol: string) =>
  new RefusedError(`The pool ${root} lists no reserve of ${symbol}.`)

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
  const most = tightest({ most: maxUint256, because: '' }, ...bounds)
  const covered: Bound = {
    most: largest(most.most, amount => covers(after, reserve, amount)),
    because:
      after.totalCollateralBase === 0n
        ? 'The wallet has no collateral in this pool.'
        : 'Its collateral covers no more: the position would not be healthy.',
  }
  return tightest(most, covered)
}
