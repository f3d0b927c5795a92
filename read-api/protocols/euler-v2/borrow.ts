import { type Address, encodeFunctionData, type Hex, maxUint256, zeroAddress } from 'viem'
import { view } from '../../chain/view.ts'
import { toWhole } from '../../http/amounts.ts'
import { RefusedError } from '../../http/errors.ts'
import { ratio, SECONDS_PER_YEAR } from '../../lending/market.ts'
import { erc4626Abi } from '../../transactions/abis.ts'
import {
  amountWithin,
  type Bound,
  closed,
  hasNone,
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
import { evcAbi, evkAbi } from './abis.ts'
import { capOf, type EulerAccount, type EulerRef, isHealthy, readAccount, vaultOf } from './account.ts'

/** Bits of hookedOps: an operation hooked to no target is switched off. @see Constants.sol of euler-vault-kit */
const operations = { deposit: 0n, withdraw: 2n, redeem: 3n, borrow: 6n, repay: 7n } as const

/**
 * Euler v2 (EVK). One vault lends; other vaults, whose shares it takes, are the collateral. The connector (EVC) knows what
 * an account has made collateral and which vault decides over it; both are set in one batch before the first loan.
 */
export const eulerEvk = defineBorrowFamily<EulerRef>({
  protocol: 'euler-v2',

  async figures(market, asset, read) {
    const vault = vaultOf(market, asset)
    const wholeShares = 10n ** BigInt(asset.info.decimals)
    const { block, values } = await read({
      supplied: view(erc4626Abi, vault, 'totalAssets', []),
      borrowed: view(evkAbi, vault, 'totalBorrows', []),
      rate: view(evkAbi, vault, 'interestRate', []),
      fee: view(evkAbi, vault, 'interestFee', []),
      accumulator: view(evkAbi, vault, 'interestAccumulator', []),
      worth: view(erc4626Abi, vault, 'convertToAssets', [wholeShares]),
    })
    const { supplied, rate, fee = 0, accumulator, worth } = values
    if (supplied === undefined) throw new RefusedError(`The contract ${vault} is no vault.`)
    const borrowed = answeredBy(vault, values.borrowed)
    const borrowRate =
      rate === undefined ? undefined : Math.expm1(SECONDS_PER_YEAR * Math.log1p(Number(rate) / 1e27))
    return {
      block,
      borrowRate,
      supplyRate:
        borrowRate === undefined ? undefined : borrowRate * ratio(borrowed, supplied) * (1 - fee / 10_000),
      supplied,
      borrowed,
      supplyIndex: worth === undefined ? 1 : ratio(worth, wholeShares),
      borrowIndex: accumulator === undefined ? 1 : toWhole(accumulator, 27),
    }
  },

  async look(market, asset, user, read) {
    const account = await readAccount(market, asset, user, read)
    const { block, evc, debt, supplied, shares, borrows, isController } = account
    const { wallet = 0n, allowance = 0n, cash = 0n, total = 0n } = account
    const vault = vaultOf(market, asset)
    const token = tokenOf(asset)
    const isLoan = asset.side === 'loan'

    const off = (hook: EulerAccount['hook'], operation: keyof typeof operations) =>
      hook !== undefined &&
      hook[0] === zeroAddress &&
      ((BigInt(hook[1]) >> operations[operation]) & 1n) === 1n
        ? `The vault's governor has switched ${operation} off.`
        : undefined
    const capped = (raw: number | undefined, sum: bigint, what: string): Bound[] => {
      const cap = capOf(raw)
      const room = cap !== undefined && cap > sum ? cap - sum : 0n
      return cap === undefined
        ? []
        : [{ most: room, because: `The ${what} cap leaves room for ${units(room, token)}.` }]
    }
    const cashBound: Bound = { most: cash, because: `The vault holds ${units(cash, token)}.` }
    const supplyBound = tightest(
      walletBound(wallet, asset),
      ...closed(off(account.hook, 'deposit')),
      ...capped(account.caps?.[0], total, 'supply'),
    )
    const withdrawBound = tightest(
      { most: supplied, because: `The wallet has supplied ${units(supplied, token)}.` },
      ...closed(off(account.hook, 'withdraw')),
      ...closed(off(account.hook, 'redeem')),
      cashBound,
      {
        most: account.free?.assets ?? supplied,
        because: account.free ? `${account.free.because.replace(/^t/, 'T')}.` : '',
      },
    )

    const indebted = account.others.find(({ owed }) => owed === undefined || owed > 0n)
    const limits: Bound[] = [
      ...closed(off(account.lenderHook, 'borrow')),
      ...closed(
        indebted ? `The vault ${indebted.vault} decides over the account, which owes to it.` : undefined,
      ),
      ...capped(account.lenderCaps?.[1], borrows, 'borrow'),
      cashBound,
    ]
    const idle = account.collaterals
      .filter(({ isEnabled }) => !isEnabled)
      .sort((a, b) => (a.value * a.ltvBps < b.value * b.ltvBps ? 1 : -1))
      .map(of => of.vault)
    const options = Array.from({ length: idle.length + 1 }, (_, n) => {
      const enabling = idle.slice(0, n)
      const most = tightest({ most: isLoan ? maxUint256 : 0n, because: '' }, ...limits)
      const covered = {
        most: largest(most.most, more => isHealthy(account, { more, enabling })),
        because: 'With more debt the position would not be healthy.',
      }
      return { enabling, bound: tightest(most, covered) }
    })
    const best = options.reduce((a, b) => (b.bound.most > a.bound.most ? b : a))
    const owes: Bound = { most: debt, because: `The wallet owes ${units(debt, token)}.` }
    const repayBound = tightest(owes, ...closed(off(account.hook, 'repay')), walletBound(wallet, asset))

    const call = (name: string, to: Address, data: Hex): PlannedAction => ({ name, to, data })
    const enableCollateral = (of: Address) =>
      encodeFunctionData({ abi: evcAbi, functionName: 'enableCollateral', args: [user, of] })
    const needsEnabling = !isLoan && !account.enabled.includes(vault)

    /** What the connector has to be told before a loan, in one batch. */
    const preparing = (enabling: readonly Address[]): PlannedAction[] => {
      const toEvc = (data: Hex) => ({ targetContract: evc, onBehalfOfAccount: zeroAddress, value: 0n, data })
      const items = [
        ...enabling.map(of => toEvc(enableCollateral(of))),
        // A vault that nothing is owed to any more lets go of the account.
        ...account.others.map(({ vault: other }) => ({
          targetContract: other,
          onBehalfOfAccount: user,
          value: 0n,
          data: encodeFunctionData({ abi: evkAbi, functionName: 'disableController', args: [] }),
        })),
        ...(isController
          ? []
          : [
              toEvc(
                encodeFunctionData({
                  abi: evcAbi,
                  functionName: 'enableController',
                  args: [user, market.root as Address],
                }),
              ),
            ]),
      ]
      if (items.length === 0) return []
      const batch = encodeFunctionData({ abi: evcAbi, functionName: 'batch', args: [items] })
      return [call(isController ? 'enableCollateral' : 'enableController', evc, batch)]
    }

    const build = (request: BorrowRequest): Plan => {
      const { action, amount } = request
      if (!isLoan && (action === 'borrow' || action === 'repay'))
        throw hasNone(asset, action, ['supply', 'withdraw'])
      const pay = (needed: bigint, value: bigint, actions: PlannedAction[]) =>
        payingPlan(asset, vault, allowance, { needed, value, reset: request.resetAllowance }, actions)
      if (action === 'supply') {
        const value = amountWithin(request, token, wallet, supplyBound)
        const deposit = encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [value, user] })
        return pay(value, value, [
          call('supply', vault, deposit),
          ...(needsEnabling ? [call('enableCollateral', evc, enableCollateral(vault))] : []),
        ])
      }
      if (action === 'withdraw') {
        const value = amountWithin(request, token, supplied, withdrawBound)
        const data =
          amount === 'all'
            ? encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [shares, user, user] })
            : encodeFunctionData({ abi: erc4626Abi, functionName: 'withdraw', args: [value, user, user] })
        return singlePlan(call('withdraw', vault, data), [token])
      }
      if (action === 'borrow') {
        const value = amountWithin(request, token, best.bound.most, best.bound)
        const { enabling } = options.find(({ bound }) => bound.most >= value) ?? best
        const borrow = encodeFunctionData({ abi: evkAbi, functionName: 'borrow', args: [value, user] })
        return {
          actions: [...preparing(enabling), call('borrow', vault, borrow)],
          currentActionIndex: 0,
          gains: [token],
        }
      }
      const repay = (value: bigint) => [
        call('repay', vault, encodeFunctionData({ abi: evkAbi, functionName: 'repay', args: [value, user] })),
      ]
      if (amount !== 'all') {
        const value = amountWithin(request, token, debt, repayBound)
        return pay(value, value, repay(value))
      }
      amountWithin(request, token, debt, tightest(owes, ...closed(off(account.hook, 'repay'))))
      const { needed, approved } = repayment(account.owedIn)
      refuseShortWallet(wallet, debt, needed, asset)
      return pay(needed, approved, repay(maxUint256))
    }

    const before = preparing(options[0]?.bound.most === 0n ? best.enabling : []).map(({ name }) => name)
    return {
      block,
      balances: { supplied, borrowed: isLoan ? debt : 0n, wallet, allowance },
      limits: {
        maxWithdraw: withdrawBound.most,
        maxBorrow: isLoan ? best.bound.most : 0n,
        maxRepay: isLoan ? repayBound.most : 0n,
      },
      steps: {
        supply: ['approve', 'supply', ...(needsEnabling ? ['enableCollateral'] : [])],
        withdraw: ['withdraw'],
        borrow: isLoan ? [...before, 'borrow'] : [],
        repay: isLoan ? ['approve', 'repay'] : [],
      },
      build,
    }
  },
})
