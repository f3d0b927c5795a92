import type { BlockRef } from '../../db/events/event-store.ts'
import { HOUR } from '../../db/units.ts'
import type { SourceBlock } from '../handling/block.ts'
import type { ChainRpc } from '../source/rpc.ts'

/** Times that are looked for at once. */
const SIDE_BY_SIDE = 32

export interface Moment {
  number: number
  timestamp: number
}

/** Blocks that so many hours have, as far as there may be so many: one at least. */
export const blocksOf = (mostHours: number, hours: number, blockTime: number): number =>
  Math.ceil((Math.min(mostHours, Math.max(1, hours)) * HOUR) / blockTime)

/** Hours since the epoch, up to a time, that begin so many seconds behind the full ones. */
export const hourOf = (time: number, offset: number): number => Math.floor((time - offset) / HOUR)

/** Times that come again: so many seconds into each span, which begins `offset` seconds behind its multiples. Ascending, in seconds. */
export interface Recurring {
  span: number
  offset: number
  delays: readonly number[]
}

/** Those of them in (after, upTo], at most so many. */
export function timesOf(
  { span, offset, delays }: Recurring,
  after: number,
  upTo: number,
  most: number,
): number[] {
  const times: number[] = []
  for (let begin = Math.floor((after - offset) / span) * span + offset; ; begin += span) {
    for (const delay of delays) {
      if (begin + delay <= after) continue
      // A time that a source does not give is no number.
      if (!(begin + delay <= upTo) || times.length === most) return times
      times.push(begin + delay)
    }
  }
}

/**
 * The first block at or after each of the times that come again in (after, upTo], each block once. They are found by bisection over
 * headers; a header the source does not have ends the search.
 */
export async function findBlocks(
  recurring: Recurring,
  after: Moment,
  upTo: BlockRef,
  header: (height: number) => Promise<BlockRef | undefined>,
): Promise<BlockRef[]> {
  const found: BlockRef[] = []
  for (let low = after; ; ) {
    const { blocks, isOver } = await firstBlocks(recurring, SIDE_BY_SIDE, low, upTo, header)
    found.push(...blocks)
    low = blocks.at(-1) ?? low
    if (isOver) return found
  }
}

/** The same for the next `most` times; `isOver` where none is left to be found. */
export async function firstBlocks(
  recurring: Recurring,
  most: number,
  after: Moment,
  upTo: BlockRef,
  header: (height: number) => Promise<BlockRef | undefined>,
): Promise<{ blocks: BlockRef[]; isOver: boolean }> {
  const due = timesOf(recurring, after.timestamp, upTo.timestamp, most)
  const found = await Promise.all(due.map(time => firstAtOrAfter(time, after, upTo, header)))
  const missing = found.indexOf(undefined)
  const blocks: BlockRef[] = []
  // Where blocks are rare one may be the first of several times.
  for (const block of found.slice(0, missing < 0 ? due.length : missing))
    if (block && block.number > (blocks.at(-1) ?? after).number) blocks.push(block)
  return { blocks, isOver: missing >= 0 || blocks.length === 0 }
}

/** The first block at or after a time, in (low, high]; undefined where a header is missing. */
async function firstAtOrAfter(
  time: number,
  low: Moment,
  high: BlockRef,
  header: (height: number) => Promise<BlockRef | undefined>,
): Promise<BlockRef | undefined> {
  let before = low
  let at = high
  for (let step = 0; at.number - before.number > 1; step++) {
    // Interpolation finds it in few steps where block times are even; every third step halves, whatever they are.
    const share =
      step % 3 === 2 ? 0.5 : (time - before.timestamp) / Math.max(1, at.timestamp - before.timestamp)
    const guess = before.number + Math.floor(share * (at.number - before.number))
    const block = await header(Math.min(at.number - 1, Math.max(before.number + 1, guess)))
    if (!block) return undefined
    if (block.timestamp >= time) at = block
    else before = block
  }
  return at
}

/** Headers by height: those at hand, others asked for once. */
export function headersAmong(
  queue: ReadonlyMap<number, SourceBlock>,
  rpc: ChainRpc,
): (height: number) => Promise<BlockRef | undefined> {
  const known = new Map<number, Promise<BlockRef | undefined>>(
    [...queue].map(([height, { ref }]) => [height, Promise.resolve(ref)]),
  )
  return height => {
    const header = known.get(height) ?? rpc.header(height)
    known.set(height, header)
    return header
  }
}
