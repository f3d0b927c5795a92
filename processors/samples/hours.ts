import type { BlockRef } from '../../db/events/event-store.ts'
import { HOUR } from '../../db/units.ts'

/** Hours that are looked for at once. */
const SIDE_BY_SIDE = 16

export interface Moment {
  number: number
  timestamp: number
}

/** Blocks that so many hours have, as far as there may be so many: one at least. */
export const blocksOf = (mostHours: number, hours: number, blockTime: number): number =>
  Math.ceil((Math.min(mostHours, Math.max(1, hours)) * HOUR) / blockTime)

/** Hours since the epoch, up to a time, that begin so many seconds behind the full ones. */
export const hourOf = (time: number, offset: number): number => Math.floor((time - offset) / HOUR)

/**
 * The first block at or after each full hour and `offset` seconds in (after, upTo], each block once: these carry the hourly
 * samples. They are found by bisection over headers; a header the source does not have ends the search.
 */
export async function findHourlyBlocks(
  after: Moment,
  upTo: BlockRef,
  offset: number,
  header: (height: number) => Promise<BlockRef | undefined>,
): Promise<BlockRef[]> {
  const found: BlockRef[] = []
  for (let low = after; ; ) {
    const { blocks, isOver } = await firstBlocks(
      { span: HOUR, offset, most: SIDE_BY_SIDE },
      low,
      upTo,
      header,
    )
    found.push(...blocks)
    low = blocks.at(-1) ?? low
    if (isOver) return found
  }
}

/**
 * The same for the next spans of so many seconds that begin after a moment, `most` of them; `isOver` where none is left to be
 * found.
 */
export async function firstBlocks(
  { span, offset, most }: { span: number; offset: number; most: number },
  after: Moment,
  upTo: BlockRef,
  header: (height: number) => Promise<BlockRef | undefined>,
): Promise<{ blocks: BlockRef[]; isOver: boolean }> {
  const first = (Math.floor((after.timestamp - offset) / span) + 1) * span + offset
  const count = Math.max(0, Math.min(most, Math.floor((upTo.timestamp - first) / span) + 1))
  const found = await Promise.all(
    Array.from({ length: count }, (_, i) => firstAtOrAfter(first + i * span, after, upTo, header)),
  )
  const missing = found.indexOf(undefined)
  const blocks: BlockRef[] = []
  // Where blocks are rare one may be the first of several spans.
  for (const block of found.slice(0, missing < 0 ? count : missing))
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
