import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  zeroAddress,
} from 'viem'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc4626Abi } from '../../transactions/abis.ts'
import {
  type ActionName,
  type BuildRequest,
  type CancelPlan,
  defineFamily,
  type PendingRequest,
  type Plan,
  type StepPlan,
  type VaultRef,
  type VaultTransactions,
} from '../../transactions/family.ts'
import {
  assetsToSpend,
  neededAmount,
  singlePlan,
  spendingPlan,
  unsupported,
  walletViews,
} from '../../transactions/wallet.ts'
import {
  checkRedeemable,
  depositPlan,
  figuresOf4626,
  type Limits,
  redeemPlan,
  sharesToSpend,
  worthOf,
} from '../erc-4626/deposit.ts'
import { erc7540Abi, lagoonAbi } from './abis.ts'

/** ERC-165 identifiers. @see ERC-7540, "Interface identifiers" */
const asyncDepositId = '0xce3bbe50'
const asyncRedeemId = '0x620ee8e4'

/**
 * Requests that are indistinguishable have id 0 in ERC-7540, and every known vault that pools requests uses it;
 * requests with ids of their own show as claimable through maxDeposit and maxRedeem, and not as pending.
 */
const requestId = 0n

interface Directions {
  deposit: boolean
  redeem: boolean
}

export const erc7540 = defineFamily({
  name: 'erc-7540',
  probes: vault => ({
    deposit: view(erc7540Abi, vault.address, 'supportsInterface', [asyncDepositId]),
    redeem: view(erc7540Abi, vault.address, 'supportsInterface', [asyncRedeemId]),
    share: view(erc7540Abi, vault.address, 'share', []),
  }),
  bind(known, { deposit = false, redeem = false, share }) {
    if (!deposit && !redeem) return undefined
    const address = (share?.toLowerCase() ?? known.share.address) as Address
    return bindErc7540({ ...known, share: { ...known.share, address } }, { deposit, redeem })
  },
})

function bindErc7540(vault: VaultRef, asynchronous: Directions): VaultTransactions {
  return {
    family: 'erc-7540',
    share: vault.share,
    figures: figuresOf4626(vault),
    async look(user, read, { valued }) {
      const of = [requestId, user] as const
      const { address } = vault
      const { block, values } = await read({
        ...walletViews(vault, user, vault.address),
        maxDeposit: view(erc4626Abi, vault.address, 'maxDeposit', [user]),
        maxRedeem: view(erc4626Abi, vault.address, 'maxRedeem', [user]),
        maxWithdraw: view(erc4626Abi, vault.address, 'maxWithdraw', [user]),
        paused: view(erc4626Abi, vault.address, 'paused', []),
        pendingDeposit: view(erc7540Abi, address, 'pendingDepositRequest', of),
        pendingRedeem: view(erc7540Abi, address, 'pendingRedeemRequest', of),
        cancelledDeposit: view(erc7540Abi, address, 'claimableCancelDepositRequest', of),
        cancelledRedeem: view(erc7540Abi, address, 'claimableCancelRedeemRequest', of),
        isValued: view(lagoonAbi, address, 'isTotalAssetsValid', []),
        preview: view(lagoonAbi, address, 'previewSyncDeposit', [10n ** BigInt(vault.asset.decimals)]),
      })
      const state: Requests = {
        asynchronous,
        isAtOnce: asynchronous.deposit && values.isValued === true && values.preview !== 0n,
        limits: {
          ...values,
          depositsClosed: values.paused ? 'The vault is paused.' : undefined,
          redeemsClosed: values.paused ? 'The vault is paused.' : undefined,
        },
        pendingDeposit: values.pendingDeposit ?? 0n,
        pendingRedeem: values.pendingRedeem ?? 0n,
        claimableDeposit: asynchronous.deposit ? (values.maxDeposit ?? 0n) : 0n,
        claimableRedeem: asynchronous.redeem ? (values.maxRedeem ?? 0n) : 0n,
        cancelledDeposit: values.cancelledDeposit,
        cancelledRedeem: values.cancelledRedeem,
      }
      const shares = values.shares ?? 0n
      return {
        block,
        shares,
        assets: values.assets ?? 0n,
        positionValue: await worthOf(vault, shares, read, valued),
        depositLimit: asynchronous.deposit ? undefined : values.maxDeposit,
        ...(asynchronous.redeem && values.maxWithdraw ? { unclaimedAssets: values.maxWithdraw } : {}),
        deposit: {
          current:
            state.claimableDeposit > 0n
              ? 'claim-deposit'
              : asynchronous.deposit && !state.isAtOnce
                ? 'request-deposit'
                : 'deposit',
          steps: depositSteps(state),
        },
        redeem: {
          current: !asynchronous.redeem
            ? 'redeem'
            : state.claimableRedeem > 0n
              ? 'claim-redeem'
              : 'request-redeem',
          steps: redeemSteps(asynchronous),
        },
        pendingRequests: requestsOf(state, values.maxWithdraw),
        vaultSpecificData: {
          requestData: {
            claimableDeposit: String(state.claimableDeposit),
            claimableRedeem: String(state.claimableRedeem),
            pendingDeposit: String(state.pendingDeposit),
            pendingRedeem: String(state.pendingRedeem),
          },
        },
        ...cancelsOf(state),
        build: request => buildPlan(vault, user, state, request),
      }
    },
  }
}

/** Base units: of the asset for deposits, of the share for redemptions. */
interface Requests {
  asynchronous: Directions
  /**
   * Lagoon's vaults take deposits at once, and no requests, while their valuation is valid; since v0.6.0 where they are
   * set to, too, which their preview tells.
   */
  isAtOnce: boolean
  limits: Limits
  pendingDeposit: bigint
  pendingRedeem: bigint
  claimableDeposit: bigint
  claimableRedeem: bigint
  /** Undefined where the vault has no cancellation. */
  cancelledDeposit: bigint | undefined
  cancelledRedeem: bigint | undefined
}

function depositSteps({ asynchronous, isAtOnce, claimableDeposit }: Requests): StepPlan[] {
  const deposit: StepPlan = { name: 'deposit', actions: ['approve', 'deposit'] }
  const claim: StepPlan = { name: 'claim-deposit', actions: ['claim-deposit'] }
  if (!asynchronous.deposit) return [deposit]
  if (!isAtOnce) return [{ name: 'request-deposit', actions: ['approve', 'request-deposit'] }, claim]
  // Of a request from before.
  return claimableDeposit > 0n ? [deposit, claim] : [deposit]
}

const redeemSteps = ({ redeem }: Directions): StepPlan[] =>
  redeem
    ? [
        { name: 'request-redeem', actions: ['request-redeem'] },
        { name: 'claim-redeem', actions: ['claim-redeem'] },
      ]
    : [{ name: 'redeem', actions: ['redeem'] }]

/** What can be taken back, or was and waits to be paid out. */
function cancelsOf(state: Requests): { cancelSteps?: CancelPlan[] } {
  const cancelSteps: CancelPlan[] = []
  if (state.cancelledDeposit !== undefined && state.pendingDeposit + state.cancelledDeposit > 0n)
    cancelSteps.push({ name: 'cancel-deposit', actions: ['cancel-deposit'] })
  if (state.cancelledRedeem !== undefined && state.pendingRedeem + state.cancelledRedeem > 0n)
    cancelSteps.push({ name: 'cancel-redeem', actions: ['cancel-redeem'] })
  return cancelSteps.length > 0 ? { cancelSteps } : {}
}

function requestsOf(state: Requests, claimableAssets: bigint | undefined) {
  const deposits: PendingRequest[] = []
  const redeems: PendingRequest[] = []
  if (state.pendingDeposit > 0n) deposits.push({ status: 'pending', assetAmount: state.pendingDeposit })
  if (state.claimableDeposit > 0n) deposits.push({ status: 'ready', assetAmount: state.claimableDeposit })
  if (state.pendingRedeem > 0n) redeems.push({ status: 'pending', lpTokenAmount: state.pendingRedeem })
  if (state.claimableRedeem > 0n) {
    redeems.push({
      status: 'ready',
      lpTokenAmount: state.claimableRedeem,
      ...(claimableAssets === undefined ? {} : { assetAmount: claimableAssets }),
    })
  }
  return { deposits, redeems }
}

function buildPlan(vault: VaultRef, user: Address, state: Requests, request: BuildRequest): Plan {
  const { asynchronous, limits } = state
  const does: ActionName[] = [...depositSteps(state), ...redeemSteps(asynchronous)].map(step => step.name)
  if (state.cancelledDeposit !== undefined) does.push('cancel-deposit')
  if (state.cancelledRedeem !== undefined) does.push('cancel-redeem')
  if (state.isAtOnce && request.action === 'request-deposit') {
    throw new RefusedError('The vault takes deposits at once now, and no requests: the action is deposit.')
  }
  if (!does.includes(request.action)) throw unsupported('erc-7540', request.action, does)
  const call = <N extends ContractFunctionName<typeof erc7540Abi, 'nonpayable'>>(
    functionName: N,
    args: ContractFunctionArgs<typeof erc7540Abi, 'nonpayable', N>,
  ) => ({
    name: request.action,
    to: vault.address,
    // viem's overloads want one concrete function; the signature above is what callers are held to.
    data: encodeFunctionData({
      abi: erc7540Abi as Abi,
      functionName: functionName as string,
      args: args as readonly unknown[],
    }),
  })
  switch (request.action) {
    case 'deposit':
      return state.isAtOnce
        ? depositAtOnce(vault, user, limits, request)
        : depositPlan(vault, user, limits, request)
    case 'redeem':
      return redeemPlan(vault, user, limits, request)
    case 'request-deposit': {
      const value = assetsToSpend(vault, limits, request)
      if (limits.depositsClosed) throw new RefusedError(limits.depositsClosed)
      return spendingPlan(vault, limits, request, {
        spender: vault.address,
        value,
        last: call('requestDeposit', [value, user, user]),
        gains: [],
      })
    }
    case 'request-redeem': {
      const amount = neededAmount(request)
      if (limits.redeemsClosed) throw new RefusedError(limits.redeemsClosed)
      if (amount.kind === 'assets') {
        throw new RefusedError(
          `A redemption is requested in shares, what they will pay is not known before: assetAddress must be ${vault.share.address}, or all=true.`,
        )
      }
      const shares = sharesToSpend(vault, limits.shares ?? 0n, amount)
      return singlePlan(call('requestRedeem', [shares, user, user]))
    }
    case 'claim-deposit':
      if (state.claimableDeposit === 0n) throw new RefusedError(notReady('deposit', state.pendingDeposit))
      return singlePlan(call('deposit', [state.claimableDeposit, user, user]), [vault.share])
    case 'claim-redeem':
      if (state.claimableRedeem === 0n) throw new RefusedError(notReady('redemption', state.pendingRedeem))
      checkRedeemable(vault, state.claimableRedeem, limits)
      return singlePlan(call('redeem', [state.claimableRedeem, user, user]), [vault.asset])
    case 'cancel-deposit':
      if (state.cancelledDeposit) {
        return singlePlan(call('claimCancelDepositRequest', [requestId, user, user]), [vault.asset])
      }
      if (state.pendingDeposit === 0n) throw new RefusedError('No deposit request is pending.')
      return singlePlan(call('cancelDepositRequest', [requestId, user]))
    default:
      if (state.cancelledRedeem) {
        return singlePlan(call('claimCancelRedeemRequest', [requestId, user, user]), [vault.share])
      }
      if (state.pendingRedeem === 0n) throw new RefusedError('No redemption request is pending.')
      return singlePlan(call('cancelRedeemRequest', [requestId, user]))
  }
}

/** What maxDeposit says is about requests. */
function depositAtOnce(vault: VaultRef, user: Address, limits: Limits, request: BuildRequest): Plan {
  const value = assetsToSpend(vault, limits, request)
  if (limits.depositsClosed) throw new RefusedError(limits.depositsClosed)
  return spendingPlan(vault, limits, request, {
    spender: vault.address,
    value,
    last: {
      name: 'deposit',
      to: vault.address,
      data: encodeFunctionData({
        abi: lagoonAbi,
        functionName: 'syncDeposit',
        args: [value, user, zeroAddress],
      }),
    },
    gains: [vault.share],
  })
}

const notReady = (what: string, pending: bigint) =>
  pending > 0n ? `The requested ${what} is still pending.` : `No requested ${what} is waiting to be claimed.`
