import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import { VaultlogError } from '../../db/process/errors.ts'
import type { RawLog } from '../protocol.ts'
import type { TransactionCall } from '../source/rpc.ts'

export interface SourceBlock {
  ref: BlockRef
  logs: RawLog[]
  /** What the transactions call whose input matters, by hash, as far as the source gives them. */
  calls?: ReadonlyMap<string, TransactionCall>
}

/** A log or state read that gave no event, for the dead-letter table. */
export interface DeadLetter {
  stage: 'decode' | 'inspect' | 'sample' | 'cross_check'
  block: BlockRef
  contract: string
  reason: string
  log?: RawLog
  /** Of a block without state: the first one of which the node has it. */
  keptFrom?: number | undefined
}

/** Blocks that are handled together, by number, and what comes of them. */
export interface Handled {
  queue: ReadonlyMap<number, SourceBlock>
  output: BlockEvents[]
  letters: DeadLetter[]
}

/** A node answered for another branch than the one being stored; the batch is to be fetched again. */
export class BranchMismatchError extends VaultlogError {
  readonly code = 'BRANCH_MISMATCH'
  override readonly retryable = true
  constructor(block: number) {
    super(`The node's logs of block ${block} belong to another branch than its head. Fetching again.`)
  }
}
