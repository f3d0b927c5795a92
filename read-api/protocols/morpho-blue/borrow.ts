import {
  type Address,
  type ContractFunctionReturnType,
  encodeFunctionData,
  type Hex,
  zeroAddress,
} from 'viem'
import {
  accrueMorpho,
  type MorphoMarket,
  morphoBalances,
  morphoMaxBorrow,
  toAssetsUp,
  toSharesDown,
  toSharesUp,
} from '../../../abi/morpho-blue/math.ts'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { fractionOfWad, ratio, yearlyOfWad } from '../../lending/market.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import {
  amountWithin,
  type Bound,
  hasNone,
  LANDING_SECONDS,
  largest,
  payingPlan,
  refuseShortWallet,
  repayment,
  tightest,
  tokenOf,
  walletBound,
} from '../../transactions/borrow/bounds.ts'
import {
  type BorrowAction,
  type BorrowRequest,
  defineBorrowFamily,
  type MarketRef,
} from '../../transactions/borrow/family.ts'
import type { Plan, PlannedAction, ReadViews } from '../../transactions/family.ts'
import { singlePlan, units } from '../../transactions/wallet.ts'
import { irmAbi, morphoAbi, morphoOracleAbi } from './abis.ts'
import type { MorphoParams } from './market.ts'

export interface MorphoRef extends MarketRef {
  readonly protocol: 'morpho-blue'
  /** The id is the hash of these. The zero address: none. */
  readonly params: MorphoParams
}

const actionsOf = {
  loan: ['supply', 'withdraw', 'borrow', 'repay'],
  collateral: ['supply', 'withdraw'],
} as const satisfies Record<string, readonly BorrowAction[]>

type Stored = ContractFunctionReturnType<typeof morphoAbi, 'view', 'market'>

const storedView = (market: MorphoRef) =>
  view(morphoAbi, market.root as Address, 'market', [market.id as Hex])

/** The totals with interest up to the block, and the rate (per second, 1e18) that they grow at from there. */
async function accrued(market: MorphoRef, stored: Stored | undefined, at: number, read: ReadViews) {
  const params = paramsOf(market)
  if (!stored || stored.lastUpdate === 0n) {
    throw new RefusedError(`The contract ${market.root} knows no market ${market.id}.`)
  }
  const rate =
    params.irm === zeroAddress
      ? 0n
      : (await read({ rate: view(irmAbi, params.irm, 'borrowRateView', [params, stored]) })).values.rate
  const totals: MorphoMarket = {
    supplyAssets: stored.totalSupplyAssets,
    supplyShares: stored.totalSupplyShares,
    borrowAssets: stored.totalBorrowAssets,
    borrowShares: stored.totalBorrowShares,
    lastUpdate: Number(stored.lastUpdate),
    feeWad: stored.fee,
  }
  return { rate, state: accrueMorpho(totals, rate ?? 0n, at).market }
}

const paramsOf = ({ params }: MorphoRef) => ({
  loanToken: params.loanToken as Address,
  collateralToken: params.collateralToken as Address,
  oracle: params.oracle as Address,
  irm: params.irm as Address,
  lltv: params.lltv,
})

/** Whether so many shares of debt and `more` base units are covered by this collateral; `market` is that of the time when it lands. */
function staysHealthy(
  market: MorphoMarket,
  { shares, more }: { shares: bigint; more: bigint },
  { secured, price, lltv }: { secured: bigint; price: bigint | undefined; lltv: bigint },
): boolean {
  const added = more === 0n ? 0n : toSharesUp(more, market.borrowAssets, market.borrowShares)
  if (shares + added === 0n) return true
  const debt = toAssetsUp(shares + added, market.borrowAssets + more, market.borrowShares + added)
  return price !== undefined && debt <= morphoMaxBorrow(secured, price, lltv)
}

/** What a wallet does by itself and for itself. Amounts of either kind: assets, or shares where assets are 0. */
function actionsFor(market: MorphoRef, user: Address) {
  const params = paramsOf(market)
  const abi = morphoAbi
  const action = (name: string, data: Hex): PlannedAction => ({ name, to: market.root as Address, data })
  return {
    supplyLoan: (assets: bigint) => {
      const args = [params, assets, 0n, user, '0x'] as const
      return action('supply', encodeFunctionData({ abi, functionName: 'supply', args }))
    },
    supplyCollateral: (assets: bigint) => {
      const args = [params, assets, user, '0x'] as const
      return action('supply', encodeFunctionData({ abi, functionName: 'supplyCollateral', args }))
    },
    withdrawLoan: (assets: bigint, shares: bigint) => {
      const args = [params, assets, shares, user, user] as const
      return action('withdraw', encodeFunctionData({ abi, functionName: 'withdraw', args }))
    },
    withdrawCollateral: (assets: bigint) => {
      const args = [params, assets, user, user] as const
      return action('withdraw', encodeFunctionData({ abi, functionName: 'withdrawCollateral', args }))
    },
    borrow: (assets: bigint) => {
      const args = [params, assets, 0n, user, user] as const
      return action('borrow', encodeFunctionData({ abi, functionName: 'borrow', args }))
    },
    repay: (assets: bigint, shares: bigint) => {
      const args = [params, assets, shares, user, '0x'] as const
      return action('repay', encodeFunctionData({ abi, functionName: 'repay', args }))
    },
  }
}

/**
 * Morpho Blue. What is lent and borrowed is the loan asset, what secures is the collateral asset. Everything is withdrawn
 * and repaid by shares: they do not change while interest accrues.
 */
export const morphoBlue = defineBorrowFamily<MorphoRef>({
  protocol: 'morpho-blue',

  async figures(market, asset, read) {
    // The contract keeps no sum of the collateral of a market.
    if (asset.side === 'collateral') return undefined
    const { block, values } = await read({ stored: storedView(market) })
    const { rate, state } = await accrued(market, values.stored, block.timestamp, read)
    const { supplyAssets, supplyShares, borrowAssets, borrowShares, feeWad } = state
    const borrowRate = rate === undefined ? undefined : yearlyOfWad(rate)
    const index = (assets: bigint, shares: bigint) => ratio((assets + 1n) * 1_000_000n, shares + 1_000_000n)
    return {
      block,
      borrowRate,
      supplyRate:
        borrowRate === undefined
          ? undefined
          : borrowRate * ratio(borrowAssets, supplyAssets) * (1 - fractionOfWad(feeWad)),
      supplied: supplyAssets,
      borrowed: borrowAssets,
      supplyIndex: index(supplyAssets, supplyShares),
      borrowIndex: index(borrowAssets, borrowShares),
    }
  },

  async look(market, asset, user, read) {
    const morpho = market.root as Address
    const params = paramsOf(market)
    const token = tokenOf(asset)
    const { block, values } = await read({
      stored: storedView(market),
      position: view(morphoAbi, morpho, 'position', [market.id as Hex, user]),
      wallet: view(erc20Abi, token.address, 'balanceOf', [user]),
      allowance: view(erc20Abi, token.address, 'allowance', [user, morpho]),
      price: view(morphoOracleAbi, params.oracle, 'price', []),
    })
    const { rate = 0n, state } = await accrued(market, values.stored, block.timestamp, read)
    const { price, wallet = 0n, allowance = 0n } = values
    const [supplyShares = 0n, borrowShares = 0n, collateral = 0n] = values.position ?? []
    const held = { supplyShares, borrowShares, collateral }
    const owed = (seconds: number) => {
      const { market: then } = accrueMorpho(state, rate, block.timestamp + seconds)
      return morphoBalances(held, then).borrowed
    }
    const { supplied: lent, borrowed } = morphoBalances(held, state)
    const isLoan = asset.side === 'loan'
    const supplied = isLoan ? lent : collateral
    const cash = state.supplyAssets - state.borrowAssets

    const { market: landed } = accrueMorpho(state, rate, block.timestamp + LANDING_SECONDS)
    const isHealthy = (secured: bigint, more: bigint): boolean =>
      staysHealthy(landed, { shares: borrowShares, more }, { secured, price, lltv: params.lltv })
    const noPrice = price === undefined ? " The market's oracle does not answer." : ''
    const lending: Bound = {
      most: cash,
      because: `The market has ${units(cash, token)} that are not lent out.`,
    }
    const supplyBound = walletBound(wallet, asset)
    const owns: Bound = { most: supplied, because: `The wallet has supplied ${units(supplied, token)}.` }
    const withdrawBound = isLoan
      ? tightest(owns, lending)
      : tightest(owns, {
          most: borrowShares === 0n ? collateral : largest(collateral, x => isHealthy(collateral - x, 0n)),
          because: `With less collateral the position would not be healthy.${noPrice}`,
        })
    const borrowBound = tightest(lending, {
      most: isLoan ? largest(cash, x => isHealthy(collateral, x)) : 0n,
      because: `With more debt the position would not be healthy.${noPrice}`,
    })
    const owes: Bound = { most: borrowed, because: `The wallet owes ${units(borrowed, token)}.` }
    const repayBound = tightest(owes, walletBound(wallet, asset))

    const act = actionsFor(market, user)

    const build = (request: BorrowRequest): Plan => {
      const { action, amount } = request
      if (!isLoan && (action === 'borrow' || action === 'repay'))
        throw hasNone(asset, action, actionsOf.collateral)
      const pay = (value: bigint, needed: bigint, last: PlannedAction) =>
        payingPlan(asset, morpho, allowance, { needed, value, reset: request.resetAllowance }, [last])
      if (action === 'supply') {
        const value = amountWithin(request, token, wallet, supplyBound)
        if (isLoan && toSharesDown(value, state.supplyAssets, state.supplyShares) === 0n) {
          throw new RefusedError('The amount is too small: it would give no shares of the market.')
        }
        return pay(value, value, isLoan ? act.supplyLoan(value) : act.supplyCollateral(value))
      }
      if (action === 'withdraw') {
        const value = amountWithin(request, token, supplied, withdrawBound)
        if (!isLoan) return singlePlan(act.withdrawCollateral(value), [token])
        const out = amount === 'all' ? act.withdrawLoan(0n, supplyShares) : act.withdrawLoan(value, 0n)
        return singlePlan(out, [token])
      }
      if (action === 'borrow') {
        const value = amountWithin(request, token, borrowBound.most, borrowBound)
        return singlePlan(act.borrow(value), [token])
      }
      const value = amountWithin(request, token, borrowed, amount === 'all' ? owes : repayBound)
      // Repaid as an amount, the whole debt could come to more shares than are owed, and that reverts.
      const isAll =
        amount === 'all' || toSharesDown(value, state.borrowAssets, state.borrowShares) >= borrowShares
      if (!isAll) return pay(value, value, act.repay(value, 0n))
      const { needed, approved } = repayment(owed)
      refuseShortWallet(wallet, borrowed, needed, asset)
      return pay(approved, needed, act.repay(0n, borrowShares))
    }

    return {
      block,
      balances: { supplied, borrowed: isLoan ? borrowed : 0n, wallet, allowance },
      limits: {
        maxWithdraw: withdrawBound.most,
        maxBorrow: borrowBound.most,
        maxRepay: isLoan ? repayBound.most : 0n,
      },
      steps: {
        supply: ['approve', 'supply'],
        withdraw: ['withdraw'],
        borrow: isLoan ? ['borrow'] : [],
        repay: isLoan ? ['approve', 'repay'] : [],
      },
      build,
    }
  },
})
