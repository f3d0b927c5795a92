import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import type { BlockLogs } from './rpc-logs.ts'

/** Blocks whose headers have to say the same before a node is believed. */
const PROOFS = 20

/** A block; without `parentHash` where its header was not asked for. */
export interface TimedBlock {
  number: number
  hash: string
  parentHash?: string
  /** Unix seconds. */
  timestamp: number
}

interface Wanted {
  number: number
  /** Its logs, if it has any. */
  found?: BlockLogs | undefined
  /** As it is known already. */
  known?: TimedBlock | undefined
  /** Its header is wanted, whatever its logs say. */
  isAsked: boolean
}

export interface ToldTimes {
  /**
   * Blocks, ascending as they are wanted; the header is asked for where it is wanted, or where nothing else says the block's time.
   * For the first and the last it should be: a time between them that is not is noticed.
   *
   * @throws UnavailableError one that is known already has a time that was told and cannot be right
   */
  blocks(wanted: readonly Wanted[], ask: (number: number) => Promise<TimedBlock>): Promise<TimedBlock[]>
}

/**
 * Times of blocks as a node says them with its logs (`blockTimestamp`: execution-apis #639; geth since 1.16, reth, Nethermind,
 * Erigon, Besu), which spare the headers of blocks that have any. Other nodes do not say them, and some have said them wrong: they
 * are believed once enough headers have said the same, where blocks stay in the order of time between those whose headers are
 * known, and never again after one that was wrong.
 */
export function openToldTimes(network?: string): ToldTimes {
  let proven = 0
  let isWrong = false

  function toldOf({ found, isAsked }: Wanted): TimedBlock | undefined {
    if (isWrong || proven < PROOFS || isAsked || found?.toldTime === undefined) return undefined
    return { number: found.number, hash: found.hash, timestamp: found.toldTime }
  }

  /** Whether everything that was told can be right. */
  function hold(wanted: readonly Wanted[], blocks: readonly TimedBlock[]): boolean {
    for (const [i, block] of blocks.entries()) {
      const { number, parentHash, timestamp } = block
      const found = wanted[i]?.found
      // Another block stands there by now: nothing is wrong with the time of the one that had these logs.
      const told = found?.hash === block.hash ? found.toldTime : undefined
      if (told === timestamp && parentHash !== undefined) proven++
      const before = blocks[i - 1]
      const isTold = parentHash === undefined || (before !== undefined && before.parentHash === undefined)
      const isEarlier = isTold && timestamp < (before?.timestamp ?? 0)
      if ((told ?? timestamp) === timestamp && !isEarlier) continue
      if (!isWrong)
        log.warn(
          { network, block: number },
          'the node says wrong times with its logs: headers are asked for instead',
        )
      isWrong = true
    }
    return !isWrong
  }

  return {
    async blocks(wanted, ask) {
      const read = () => Promise.all(wanted.map(one => one.known ?? toldOf(one) ?? ask(one.number)))
      const blocks = await read()
      if (hold(wanted, blocks)) return blocks
      if (wanted.some(({ known }) => known && known.parentHash === undefined))
        throw new UnavailableError('The node said wrong times with its logs. Fetching again.')
      return blocks.every(({ parentHash }) => parentHash !== undefined) ? blocks : read()
    },
  }
}
