import type { BorrowFamily } from './transactions/borrow/family.ts'
import type { TransactionFamily } from './transactions/family.ts'

/** What the API knows of one protocol: the default export of `protocols/<name>/index.ts`. */
export interface ApiProtocol {
  /** How one deposits into its vaults and redeems. */
  vaults?: TransactionFamily
  /** How one supplies to its markets and borrows from them. */
  borrow?: BorrowFamily
}

export function defineApiProtocol(protocol: ApiProtocol): ApiProtocol {
  return protocol
}
