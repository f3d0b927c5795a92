import type { BlockRef } from '../../db/events/event-store.ts'
import type { ChainHeader } from '../source/rpc-headers.ts'
import type { BlockLogs } from '../source/rpc-logs.ts'
import { BranchMismatchError } from './block.ts'

/** Asked for one after the other, each would cost a round trip. */
const HEADERS_AT_ONCE = 50

/** Logs with the headers of their blocks. Throws BranchMismatchError where a block is another one by now. */
export async function withHeaders(
  blocks: readonly BlockLogs[],
  headerOf: (number: number) => Promise<ChainHeader | undefined>,
): Promise<{ ref: BlockRef; logs: BlockLogs['logs'] }[]> {
  const found: { ref: BlockRef; logs: BlockLogs['logs'] }[] = []
  for (let i = 0; i < blocks.length; i += HEADERS_AT_ONCE) {
    const some = blocks.slice(i, i + HEADERS_AT_ONCE).map(async ({ number, hash, logs }) => {
      const ref = await headerOf(number)
      if (ref?.hash !== hash) throw new BranchMismatchError(number)
      return { ref, logs }
    })
    found.push(...(await Promise.all(some)))
  }
  return found
}
