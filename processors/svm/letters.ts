import type pg from 'pg'
import type { Key } from '../../abi/svm/programs.ts'
import { storeDeadLetters } from '../../db/dead-letters.ts'
import { SOLANA } from '../../db/streams.ts'
import { deadLetters as metric } from '../metrics.ts'
import type { Handled } from './handle.ts'
import type { Sampled } from './sampler.ts'

/** Dead letters of one slice that are kept. */
const MOST_LETTERS = 100

/** What did not read as published. */
export async function keepLetters(pool: pg.Pool, { deadLetters }: Handled): Promise<void> {
  if (deadLetters.length === 0) return
  metric.inc({ chain: SOLANA.name, stage: 'decode' }, deadLetters.length)
  await storeDeadLetters(
    pool,
    deadLetters.slice(0, MOST_LETTERS).map(({ block, transaction, instruction, reason }) => ({
      stage: 'decode',
      stream: SOLANA.id,
      block: block.slot,
      hash: block.hash,
      tx: transaction.signature,
      logIndex: transaction.index * 256 + instruction.place,
      contract: instruction.program,
      reason,
      payload: { accounts: instruction.accounts, data: instruction.data.toString('hex') },
    })),
  )
}

/** What a node said that is not what it should be. */
export async function keepRefusals(pool: pg.Pool, sampled: readonly Sampled[]): Promise<void> {
  const letters = sampled.flatMap(({ refused }) =>
    refused.map(({ account, reason }: { account: Key; reason: string }) => ({
      stage: 'sample',
      stream: SOLANA.id,
      contract: account,
      reason,
      payload: {},
    })),
  )
  if (letters.length > 0) metric.inc({ chain: SOLANA.name, stage: 'sample' }, letters.length)
  await storeDeadLetters(pool, letters)
}
