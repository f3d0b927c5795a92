import type { BlockRef } from '../../db/events/event-store.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import type { ChainRpc } from '../source/rpc.ts'
import type { BlockLogs } from '../source/rpc-logs.ts'
import { BranchMismatchError } from './block.ts'

/** Asked for one after the other, each would cost a round trip. */
const HEADERS_AT_ONCE = 50

/**
 * Logs with their blocks, which come ascending. Of final ones the header is asked for where their logs do not say the time, or as the first or
 * the last of some.
 *
 * @throws BranchMismatchError a block is another one by now
 */
export async function withHeaders(
  blocks: readonly BlockLogs[],
  rpc: Pick<ChainRpc, 'header' | 'times'> | undefined,
  /** The newest block that is final. */
  final: number,
): Promise<{ ref: BlockRef; logs: BlockLogs['logs'] }[]> {
  const found: { ref: BlockRef; logs: BlockLogs['logs'] }[] = []
  if (blocks.length === 0) return found
  if (!rpc) throw new UnavailableError('There is no node to be asked for blocks of logs.')
  const ascending = [...blocks].sort((a, b) => a.number - b.number)
  for (let i = 0; i < ascending.length; i += HEADERS_AT_ONCE) {
    const some = ascending.slice(i, i + HEADERS_AT_ONCE)
    const refs = await rpc.times.blocks(
      some.map((one, n) => ({
        number: one.number,
        found: one,
        isAsked: n === 0 || n === some.length - 1 || one.number > final,
      })),
      async number => {
        const header = await rpc.header(number)
        if (!header) throw new BranchMismatchError(number)
        return header
      },
    )
    for (const [n, { number, hash, logs }] of some.entries()) {
      const ref = refs[n]
      if (ref?.hash !== hash) throw new BranchMismatchError(number)
      found.push({ ref, logs })
    }
  }
  return found
}
