import type { Key } from '../../abi/svm/programs.ts'

/** What is read of a chain of Solana's kind, whatever the source. Keys and hashes are lower-case hex. */
export interface SvmBlock {
  slot: number
  hash: string
  parentHash: string
  /** Unix seconds, as the cluster reckons them. */
  time: number
  /** Those that may concern us and were carried out; not all that there were. */
  transactions: SvmTransaction[]
}

export interface SvmTransaction {
  index: number
  signature: string
  /** In the order in which they were carried out. */
  instructions: SvmInstruction[]
  balances: TokenBalance[]
}

export interface SvmInstruction {
  /** Place of the outer one, of the one that it called, … */
  path: readonly number[]
  /** Place in the transaction's trace. */
  place: number
  program: Key
  accounts: readonly Key[]
  data: Buffer
  /** Data that it wrote to the log, in their order; what was cut off there is not among them. */
  logged?: readonly Buffer[]
}

/** What a token account held before and after a transaction. */
export interface TokenBalance {
  account: Key
  before?: Holding | undefined
  after?: Holding | undefined
}

export interface Holding {
  mint: Key
  owner: Key
  amount: bigint
}

/** Instructions that were carried out because of this one. */
export function below(of: SvmInstruction, { instructions }: SvmTransaction): SvmInstruction[] {
  return instructions.filter(
    ({ path }) => path.length > of.path.length && of.path.every((step, i) => path[i] === step),
  )
}

/** Whose a token account is after a transaction, or was before it was closed in it. */
export function ownerOf(account: Key, { balances }: SvmTransaction): { before?: Key; after?: Key } {
  const found = balances.find(balance => balance.account === account)
  return {
    ...(found?.before && { before: found.before.owner }),
    ...(found?.after && { after: found.after.owner }),
  }
}

/** @throws RangeError where the instruction does not name so many */
export function accountAt(accounts: readonly Key[], place: number): Key {
  const found = accounts[place]
  if (!found) throw new RangeError(`there are ${accounts.length} accounts, and number ${place} is wanted`)
  return found
}
