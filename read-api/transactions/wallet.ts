import { type Address, encodeFunctionData } from 'viem'
import { multicall3Abi, multicall3Address } from '../chain/multicall.ts'
import { view } from '../chain/view.ts'
import { RefusedError } from '../http/errors.ts'
import { erc20Abi, wrappedNativeAbi } from './abis.ts'
import type { ActionName, Amount, BuildRequest, Plan, PlannedAction, Token, VaultRef } from './family.ts'

/** What of the wallet every family needs: its balances, and what `spender` may take of the asset. */
export function walletViews(vault: VaultRef, user: Address, spender: Address) {
  return {
    assets: view(erc20Abi, vault.asset.address, 'balanceOf', [user]),
    allowance: view(erc20Abi, vault.asset.address, 'allowance', [user, spender]),
    shares: view(erc20Abi, vault.share.address, 'balanceOf', [user]),
    native: view(multicall3Abi, multicall3Address, 'getEthBalance', [user]),
  }
}

export interface Wallet {
  assets: bigint | undefined
  allowance: bigint | undefined
  shares: bigint | undefined
  native: bigint | undefined
}

export const units = (amount: bigint, token: Token): string => `${amount} base units of ${token.symbol}`

/** The amount of asset that a deposit is about. Throws where there is none, or more than the wallet holds. */
export function assetsToSpend(vault: VaultRef, wallet: Wallet, request: BuildRequest): bigint {
  const { amount, native } = request
  const held = native ? (wallet.native ?? 0n) : (wallet.assets ?? 0n)
  const coin = native ? { ...vault.asset, symbol: 'the native coin' } : vault.asset
  if (!amount) throw new RefusedError(`amount or all=true is needed for ${request.action}.`)
  if (amount.kind === 'shares') {
    throw new RefusedError(
      `A ${request.action} is paid in ${vault.asset.symbol}: assetAddress must be ${vault.asset.address}.`,
    )
  }
  if (native && amount.kind === 'all') {
    throw new RefusedError('all=true would leave nothing for gas: give an amount of the native coin.')
  }
  const value = amount.kind === 'all' ? held : amount.value
  if (value === 0n) throw new RefusedError(`There is nothing to do: the amount is 0 (${coin.symbol}).`)
  if (native) {
    const missing = notWrapped(wallet, value)
    // Paying for gas takes some of the coin too, so all of it cannot be wrapped.
    if (missing > 0n && missing >= held) {
      throw new RefusedError(
        `The wallet holds ${units(held, coin)} and ${units(wallet.assets ?? 0n, vault.asset)}: to deposit ${value} it would have to wrap ${missing}, and to pay for gas besides.`,
      )
    }
  } else if (value > held) {
    throw new RefusedError(`The wallet holds ${units(held, coin)}, less than the ${value} asked for.`)
  }
  return value
}

/**
 * What of `value` still has to be wrapped. Wrapped coins in the wallet count: those that an earlier action of the same
 * bundle has wrapped cannot be told from others, and must not be wrapped again.
 */
const notWrapped = ({ assets = 0n }: Wallet, value: bigint): bigint => (value > assets ? value - assets : 0n)

/** What lets `spender` take `value` of a token; `reset`: the allowance is set to zero first. */
export function approvals(
  token: Address,
  spender: Address,
  value: bigint,
  { reset }: { reset: boolean },
): PlannedAction[] {
  const approve = (name: string, amount: bigint): PlannedAction => ({
    name,
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] }),
  })
  return [...(reset ? [approve('reset-approval', 0n)] : []), approve('approve', value)]
}

/** Wrapping, approving, and then `last`; what is done already is before the current action. */
export function spendingPlan(
  vault: VaultRef,
  wallet: Wallet,
  request: BuildRequest,
  spending: { spender: Address; value: bigint; last: PlannedAction; gains: readonly Token[] },
): Plan {
  const { spender, value, last, gains } = spending
  const allowance = wallet.allowance ?? 0n
  const actions: PlannedAction[] = []
  let done = 0
  if (request.native) {
    const missing = notWrapped(wallet, value)
    actions.push({
      name: 'wrap',
      to: vault.asset.address,
      data: encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' }),
      value: missing || value,
    })
    if (missing === 0n) done = 1
  }
  const approved = allowance >= value
  actions.push(
    ...approvals(vault.asset.address, spender, value, {
      reset: !approved && request.resetAllowance === true && allowance > 0n,
    }),
  )
  if (approved && done === actions.length - 1) done = actions.length
  actions.push(last)
  return { actions, currentActionIndex: done, gains, ...(gains.length > 0 ? { pays: value } : {}) }
}

export function unsupported(family: string, action: ActionName, does: readonly string[]): RefusedError {
  return new RefusedError(`A vault of the kind ${family} has no ${action}. It has: ${does.join(', ')}.`)
}

export function neededAmount(request: BuildRequest): Amount {
  if (!request.amount) throw new RefusedError(`amount or all=true is needed for ${request.action}.`)
  if (request.native) {
    throw new RefusedError(
      `A ${request.action} pays out the wrapped token: assetAddress must be that of the vault's asset.`,
    )
  }
  return request.amount
}

/** One action and nothing before it. */
export function singlePlan(action: PlannedAction, gains: readonly Token[] = []): Plan {
  return { actions: [action], currentActionIndex: 0, gains }
}
