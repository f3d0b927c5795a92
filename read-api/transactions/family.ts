import type { Address, Hex } from 'viem'
import type { BlockMark } from '../chain/multicall.ts'
import type { Answers, Views } from '../chain/view.ts'

/** Steps of the wire, in its words. */
export const stepNames = [
  'deposit',
  'redeem',
  'request-redeem',
  'request-deposit',
  'claim-redeem',
  'claim-deposit',
  'claim-rewards',
  'start-redeem-cooldown',
] as const
export type StepName = (typeof stepNames)[number]

/** Beyond the wire: taken where an asynchronous vault supports them. */
export const cancelNames = ['cancel-deposit', 'cancel-redeem'] as const
export type ActionName = StepName | (typeof cancelNames)[number]

export interface Token {
  address: Address
  symbol: string
  decimals: number
}

/** What the catalogue knows of a vault. Addresses are lower case. */
export interface VaultRef {
  network: string
  chainId: number
  address: Address
  asset: Token
  share: Token
  /** The chain's wrapped native token, where there is one. */
  wrappedNative?: Address
  /** Contract that pays the vault's rewards, where the vault cannot name it. */
  rewards?: Address
}

/** Base units. `all`: every share, or the whole balance. */
export type Amount = { kind: 'all' } | { kind: 'assets'; value: bigint } | { kind: 'shares'; value: bigint }

export interface BuildRequest {
  action: ActionName
  amount: Amount | undefined
  /** Pay in the chain's own coin. */
  native?: boolean
  /** The token refuses to change a nonzero allowance: set it to zero first, as USDT demands. */
  resetAllowance?: boolean
}

export interface PlannedAction {
  name: string
  to: Address
  data: Hex
  /** Wei. */
  value?: bigint
}

export interface Plan {
  actions: PlannedAction[]
  /** The first action that is still to be done. */
  currentActionIndex: number
  /** Tokens of which the user has more afterwards; where not, the payload would give nothing for something. */
  gains: readonly Token[]
  /** Base units of the vault's asset that are given for what is gained. */
  pays?: bigint
}

export interface StepPlan {
  name: StepName
  actions: string[]
}

/** Amounts in base units, times in unix seconds. */
export interface PendingRequest {
  status: 'pending' | 'ready'
  assetAmount?: bigint
  lpTokenAmount?: bigint
  requestTimestamp?: number
  estimatedResolution?: number
  withdrawalStart?: number
  withdrawalEnd?: number
}

/** What an asynchronous vault lets its users take back. The wire has no steps for it. */
export interface CancelPlan {
  name: (typeof cancelNames)[number]
  actions: string[]
}

export interface StepList {
  current: StepName
  steps: StepPlan[]
}

/** How one user stands with one vault at one block. Amounts in base units. */
export interface Standing {
  block: BlockMark
  shares: bigint
  /** The wallet's own balance of the asset. */
  assets: bigint
  /** What the shares are worth; undefined where the vault cannot say. */
  positionValue: bigint | undefined
  /** Undefined: no limit is known. */
  depositLimit: bigint | undefined
  unclaimedAssets?: bigint
  unclaimedShares?: bigint
  deposit: StepList
  redeem: StepList
  pendingRequests?: { deposits: PendingRequest[]; redeems: PendingRequest[] }
  vaultSpecificData?: Record<string, unknown>
  /** Shown in vaultSpecificData. */
  cancelSteps?: CancelPlan[]
  rewards?: { token: Address; amount: bigint }[]
  /** Pure. Throws RefusedError with the reason where the action cannot be done. */
  build(request: BuildRequest): Plan
}

/** Reads at one block; a second read of the same look is of the same block. */
export type ReadViews = <const V extends Views>(views: V) => Promise<{ block: BlockMark; values: Answers<V> }>

/** What a vault says of itself now, for near-real-time reads. `assetsOfWholeShare`: of 10^(share decimals) shares. */
export interface VaultFigures {
  totalSupply: bigint | undefined
  totalAssets: bigint | undefined
  assetsOfWholeShare: bigint | undefined
}

/** A vault whose family is known. */
export interface VaultTransactions {
  readonly family: string
  /** Where it is not what the catalogue takes for it: a contract apart from the vault (ERC-7575). */
  readonly share?: Token
  /** The view that says what shares are worth, where that is not convertToAssets. */
  readonly worthBy?: 'previewRedeem'
  /** `valued`: find out the worth of the position as well, at the price of another read. */
  look(user: Address, read: ReadViews, options: { valued: boolean }): Promise<Standing>
  figures: { views: Views; of(values: Record<string, unknown>): VaultFigures }
}

/** One kind of vault: how it is recognised on chain, and what is done with it. */
export interface TransactionFamily {
  readonly name: string
  /** Takes any vault that nothing more special claims. */
  readonly isGeneral?: boolean
  /** Read once for each vault, to find its family. */
  probes(vault: VaultRef): Views
  /** The vault as one of this family; undefined where the answers say that it is not. */
  bind(vault: VaultRef, values: Record<string, unknown>): VaultTransactions | undefined
}

/** Types the answers by the views that asked for them. */
export function defineFamily<V extends Views>(family: {
  name: string
  isGeneral?: boolean
  probes(vault: VaultRef): V
  bind(vault: VaultRef, values: Answers<V>): VaultTransactions | undefined
}): TransactionFamily {
  return family as unknown as TransactionFamily
}

export function defineFigures<V extends Views>(figures: {
  views: V
  of(values: Answers<V>): VaultFigures
}): VaultTransactions['figures'] {
  return figures as unknown as VaultTransactions['figures']
}
