import type pg from 'pg'
import { type Ask, openFailover } from '../../db/chain/failover.ts'
import { loadPrograms } from '../../processors/svm/load-programs.ts'
import { runSvm } from '../../processors/svm/processor.ts'
import type { SvmProgram } from '../../processors/svm/program.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import type { SvmSource } from '../../processors/svm/source.ts'
import type { TestChain } from './chain.ts'

export interface From {
  chain: TestChain
  node?: { url: string } | undefined
  /** Absent, and without a node: nothing is sampled. */
  ask?: Ask | undefined
  source?: SvmSource | undefined
  /** Absent: all. */
  programs?: readonly SvmProgram[]
  endSlot?: number
  signal?: AbortSignal | undefined
}

/** What a source tells of the chain, stored as the processor of Solana stores it; unless told of the node, which is asked for state, too. */
export async function indexSolana(
  pool: pg.Pool,
  {
    chain,
    node,
    ask = node && openFailover([node.url]),
    source,
    programs,
    endSlot = chain.slot,
    signal,
  }: From,
): Promise<void> {
  const from = source ?? (ask && openRpcSource(ask))
  if (!from) throw new TypeError('there is no source')
  await runSvm({
    pool,
    programs: programs ?? (await loadPrograms()),
    source: from,
    ask,
    startSlot: chain.blocks[0]?.slot,
    endSlot,
    pollInterval: 20,
    signal,
  })
}
