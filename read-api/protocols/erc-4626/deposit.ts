import { type Address, encodeFunctionData } from 'viem'
import { type Answers, type Views, view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc20Abi, erc4626Abi } from '../../transactions/abis.ts'
import {
  type BuildRequest,
  defineFamily,
  defineFigures,
  type Plan,
  type ReadViews,
  type Standing,
  type VaultRef,
  type VaultTransactions,
} from '../../transactions/family.ts'
import {
  assetsToSpend,
  neededAmount,
  singlePlan,
  spendingPlan,
  units,
  unsupported,
  walletViews,
} from '../../transactions/wallet.ts'

/** What a kind of ERC-4626 vault adds to the standard. */
export interface Erc4626Kind<V extends Views> {
  family: string
  views(user: Address): V
  /** What its max… functions answer says nothing. */
  limitsUnknown?: boolean
  /** Why no deposit is taken, in the vault's own terms; undefined where only the standard's limit speaks. */
  depositsClosed?(values: Answers<V>): string | undefined
  redeemsClosed?(values: Answers<V>): string | undefined
  /** What can be redeemed, where the vault knows more than its maxRedeem and maxWithdraw say. */
  redeemable?(
    user: Address,
    shares: bigint,
    values: Answers<V>,
    read: ReadViews,
  ): Promise<Redeemable | undefined>
  vaultSpecificData?(values: Answers<V>): Record<string, unknown> | undefined
}

export function limitViews(vault: VaultRef, user: Address) {
  return {
    maxDeposit: view(erc4626Abi, vault.address, 'maxDeposit', [user]),
    maxRedeem: view(erc4626Abi, vault.address, 'maxRedeem', [user]),
    maxWithdraw: view(erc4626Abi, vault.address, 'maxWithdraw', [user]),
    paused: view(erc4626Abi, vault.address, 'paused', []),
  }
}

export function figuresOf4626(vault: VaultRef): VaultTransactions['figures'] {
  return defineFigures({
    views: {
      totalSupply: view(erc20Abi, vault.share.address, 'totalSupply', []),
      totalAssets: view(erc4626Abi, vault.address, 'totalAssets', []),
      price: view(erc4626Abi, vault.address, 'convertToAssets', [10n ** BigInt(vault.share.decimals)]),
    },
    of: ({ totalSupply, totalAssets, price }) => ({ totalSupply, totalAssets, assetsOfWholeShare: price }),
  })
}

export function bindErc4626<V extends Views>(vault: VaultRef, kind: Erc4626Kind<V>): VaultTransactions {
  return {
    family: kind.family,
    figures: figuresOf4626(vault),
    async look(user, read, { valued }) {
      const common = { ...walletViews(vault, user, vault.address), ...limitViews(vault, user) }
      const { block, values: all } = await read({ ...common, ...kind.views(user) })
      // What a generic V adds cannot be told apart from the common part by the compiler.
      const values = all as unknown as Answers<typeof common>
      const kindValues = all as unknown as Answers<V>
      const shares = values.shares ?? 0n
      const positionValue = await worthOf(vault, shares, read, valued)
      const closed = values.paused === true ? 'The vault is paused.' : undefined
      const limits: Limits = {
        ...values,
        ...(kind.limitsUnknown ? noLimits : {}),
        ...(await kind.redeemable?.(user, shares, kindValues, read)),
        depositsClosed: closed ?? kind.depositsClosed?.(kindValues),
        redeemsClosed: closed ?? kind.redeemsClosed?.(kindValues),
      }
      const data = kind.vaultSpecificData?.(kindValues)
      return {
        block,
        shares,
        assets: values.assets ?? 0n,
        positionValue,
        depositLimit: limits.depositsClosed ? 0n : limits.maxDeposit,
        deposit: { current: 'deposit', steps: [{ name: 'deposit', actions: ['approve', 'deposit'] }] },
        redeem: { current: 'redeem', steps: [{ name: 'redeem', actions: ['redeem'] }] },
        ...(data ? { vaultSpecificData: data } : {}),
        build: request => {
          if (request.action === 'deposit') return depositPlan(vault, user, limits, request)
          if (request.action === 'redeem') return redeemPlan(vault, user, limits, request)
          throw unsupported(kind.family, request.action, ['deposit', 'redeem'])
        },
      } satisfies Standing
    },
  }
}

const noLimits = { maxDeposit: undefined, maxRedeem: undefined, maxWithdraw: undefined }

/** Asset base units that `shares` are worth, at the block of the look. */
export async function worthOf(
  vault: VaultRef,
  shares: bigint,
  read: ReadViews,
  valued: boolean,
): Promise<bigint | undefined> {
  if (shares === 0n) return 0n
  if (!valued) return undefined
  const { values } = await read({ value: view(erc4626Abi, vault.address, 'convertToAssets', [shares]) })
  return values.value
}

export interface Redeemable {
  maxRedeem: bigint | undefined
  maxWithdraw: bigint | undefined
  /** Why no more, as the end of a sentence. */
  because: string
}

export interface Limits extends Partial<Redeemable> {
  assets: bigint | undefined
  allowance: bigint | undefined
  shares: bigint | undefined
  native: bigint | undefined
  maxDeposit: bigint | undefined
  depositsClosed: string | undefined
  redeemsClosed: string | undefined
}

/** Throws where the vault takes no deposits now, or not so much. */
export function checkDepositLimit(vault: VaultRef, limits: Limits, value: bigint): void {
  if (limits.depositsClosed) throw new RefusedError(limits.depositsClosed)
  const { maxDeposit } = limits
  if (maxDeposit === undefined || value <= maxDeposit) return
  throw new RefusedError(
    maxDeposit === 0n
      ? 'The vault takes no deposits from this account now (maxDeposit is 0): it is full, closed, or wants permission.'
      : `The vault takes ${units(maxDeposit, vault.asset)} more at most, less than the ${value} asked for.`,
  )
}

export function depositPlan(vault: VaultRef, user: Address, limits: Limits, request: BuildRequest): Plan {
  const value = assetsToSpend(vault, limits, request)
  checkDepositLimit(vault, limits, value)
  return spendingPlan(vault, limits, request, {
    spender: vault.address,
    value,
    last: {
      name: 'deposit',
      to: vault.address,
      data: encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [value, user] }),
    },
    gains: [vault.share],
  })
}

/** By shares with `redeem`, by assets with `withdraw`: each gives exactly what was asked for. */
export function redeemPlan(vault: VaultRef, user: Address, limits: Limits, request: BuildRequest): Plan {
  const amount = neededAmount(request)
  if (limits.redeemsClosed) throw new RefusedError(limits.redeemsClosed)
  const held = limits.shares ?? 0n
  if (held === 0n) throw new RefusedError(`The wallet holds no ${vault.share.symbol}.`)
  if (amount.kind === 'assets') {
    const most = limits.maxWithdraw
    if (amount.value === 0n) throw new RefusedError('There is nothing to do: the amount is 0.')
    if (most !== undefined && amount.value > most) {
      throw new RefusedError(
        `${units(most, vault.asset)} can be withdrawn now, less than the ${amount.value} asked for${becauseOf(limits)}.`,
      )
    }
    return singlePlan(
      {
        name: 'redeem',
        to: vault.address,
        data: encodeFunctionData({
          abi: erc4626Abi,
          functionName: 'withdraw',
          args: [amount.value, user, user],
        }),
      },
      [vault.asset],
    )
  }
  const shares = sharesToSpend(vault, held, amount)
  checkRedeemable(vault, shares, limits)
  return singlePlan(
    {
      name: 'redeem',
      to: vault.address,
      data: encodeFunctionData({ abi: erc4626Abi, functionName: 'redeem', args: [shares, user, user] }),
    },
    [vault.asset],
  )
}

export function sharesToSpend(
  vault: VaultRef,
  held: bigint,
  amount: { kind: 'all' } | { kind: 'shares'; value: bigint },
): bigint {
  const shares = amount.kind === 'all' ? held : amount.value
  if (shares === 0n) throw new RefusedError('There is nothing to do: the amount is 0.')
  if (shares > held) {
    throw new RefusedError(`The wallet holds ${units(held, vault.share)}, less than the ${shares} asked for.`)
  }
  return shares
}

/**
 * Vaults that reckon maxRedeem from assets (MetaMorpho) say a little less than the shares held. That much is let
 * through; the dry run tells whether it is more than rounding.
 */
export function checkRedeemable(
  vault: VaultRef,
  shares: bigint,
  limits: Pick<Limits, 'maxRedeem' | 'because'>,
): void {
  const { maxRedeem, because } = limits
  if (maxRedeem === undefined || shares <= maxRedeem) return
  const unit = 10n ** BigInt(Math.max(0, vault.share.decimals - vault.asset.decimals))
  const rounding = [shares / 1_000_000n, 2n * unit, 2n].reduce((a, b) => (a > b ? a : b))
  if (maxRedeem > 0n && shares - maxRedeem <= rounding) return
  throw new RefusedError(
    maxRedeem === 0n && because === undefined
      ? 'The vault pays nothing out to this account now (maxRedeem is 0): it has no liquidity, is paused, or the shares are bound.'
      : `${units(maxRedeem, vault.share)} can be redeemed now, less than the ${shares} asked for${becauseOf(limits)}.`,
  )
}

const becauseOf = ({ because }: Pick<Limits, 'because'>) => (because === undefined ? '' : `: ${because}`)

/** Any vault that nothing more special claims. */
export const erc4626 = defineFamily({
  name: 'erc-4626',
  isGeneral: true,
  probes: () => ({}),
  bind: vault => bindErc4626(vault, { family: 'erc-4626', views: () => ({}) }),
})
