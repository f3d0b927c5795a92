import type { BlockRef } from '../../db/events/event-store.ts'

const HOUR = 3600

/**
 * The first block at or after each full hour in (after, upTo], each block once: these carry the hourly samples.
 * Blocks that no log pointed to are found by bisection over headers; a header the source does not have ends the search.
 */
export async function findHourlyBlocks(
  after: { number: number; timestamp: number },
  upTo: BlockRef,
  header: (height: number) => Promise<BlockRef | undefined>,
): Promise<BlockRef[]> {
  const found: BlockRef[] = []
  let low = after
  while (true) {
    const boundary = (Math.floor(low.timestamp / HOUR) + 1) * HOUR
    if (boundary > upTo.timestamp) return found
    const block = await firstAtOrAfter(boundary, low, upTo, header)
    if (!block) return found
    found.push(block)
    low = block
  }
}

async function firstAtOrAfter(
  time: number,
  low: { number: number; timestamp: number },
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
