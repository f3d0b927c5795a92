import type { LendingFamily } from './lending/family.ts'
import type { RewardContext, RewardSource } from './rewards/source.ts'
import type { SvmFamily } from './svm/family.ts'
import type { AmmFamily } from './transactions/amm/family.ts'
import type { BorrowFamily } from './transactions/borrow/family.ts'
import type { TransactionFamily } from './transactions/family.ts'
import type { FixedTermFamily } from './transactions/fixed-term/family.ts'
import type { RevertWords } from './transactions/revert-reason.ts'

/** What the API knows of one protocol: the default export of `protocols/<name>/index.ts`. */
export interface ApiProtocol {
  /** How one deposits into its vaults and redeems. */
  vaults?: TransactionFamily
  /** What the read models say of its lending markets. */
  lending?: LendingFamily
  /** How one supplies to its markets and borrows from them. */
  borrow?: BorrowFamily
  /** What its fixed-term markets are worth, and how one buys and sells there. */
  fixedTerm?: FixedTermFamily
  /** What it owes to users beside the yield, and how they claim it; undefined where its service is not configured. */
  rewards?: (context: RewardContext) => RewardSource | undefined
  /** What its contracts revert with, in words. */
  errors?: RevertWords
  /** What its vaults of liquidity are worth, and how one deposits and withdraws there. */
  amm?: AmmFamily
  /** How its vaults on Solana are used. */
  svm?: SvmFamily
}

export function defineApiProtocol(protocol: ApiProtocol): ApiProtocol {
  return protocol
}
