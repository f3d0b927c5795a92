import type { BlockRef } from '../../db/events/event-store.ts'
import { HOUR } from '../../db/units.ts'
import { hourOf, type Recurring } from './hours.ts'

/**
 * A network's vaults are not sampled in one block of an hour where they are many: what happens in the blocks behind it would wait
 * for all of them to be read, stored and projected. They are divided by their addresses among up to 32 times in the first minutes
 * of the hour. Where the blocks are cut into batches makes no difference: how many parts there are follows from the vaults that are
 * known as of the block.
 */

/** About so many vaults are sampled in one block because of the hour: some five requests, a fraction of a second. */
const AT_ONCE = 400
const MOST_PARTS = 32
/** Seconds of an hour over which the parts are spread evenly. */
export const WITHIN = 640
/** What a part is chosen by has so many values. */
const PLACES = 256

/**
 * How many parts so many vaults are sampled in. Powers of two: where a part is divided, each half of it comes when it came before or
 * later, so that nothing is left out of the hour in which the vaults become more.
 */
export function partsOf(vaults: number): number {
  let parts = 1
  while (parts < MOST_PARTS && vaults > parts * AT_ONCE) parts *= 2
  return parts
}

/**
 * In how many parts an hour's samples are made, by the vaults that were known as of a block.
 *
 * @param inAnHour how many of such vaults are sampled
 */
export function partsByBlock(
  vaults: { vault: string; block: number }[],
  inAnHour: (vaults: readonly string[]) => number,
): (block: number) => number {
  const byBirth = [...vaults].sort((a, b) => a.block - b.block)
  const parts = new Map<number, number>()
  return number => {
    const next = byBirth.findIndex(({ block }) => block > number)
    const born = next < 0 ? byBirth.length : next
    const own = parts.get(born) ?? partsOf(inAnHour(byBirth.slice(0, born).map(({ vault }) => vault)))
    parts.set(born, own)
    return own
  }
}

/** The times at which the hourly samples of a network are due. */
export const hourlyTimes = (offset: number, parts: number): Recurring => ({
  span: HOUR,
  offset,
  delays: Array.from({ length: parts }, (_, part) => (part * WITHIN) / parts),
})

/** All times that may be due, however many vaults there are. */
export const finestTimes = (offset: number): Recurring => hourlyTimes(offset, MOST_PARTS)

/** Even over addresses of all kinds, those with many equal digits among them (FNV-1a). */
function placeOf(subject: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < subject.length; i++) hash = Math.imul(hash ^ subject.charCodeAt(i), 0x01000193)
  return (hash >>> 16) % PLACES
}

/** Seconds by which a vault's samples, or the reads of another subject, come behind the hour of their network. */
export function delayOf(subject: string, parts: number): number {
  return (Math.floor((placeOf(subject) * parts) / PLACES) * WITHIN) / parts
}

/** A block that carries hourly samples, with the hours after `after` up to its own time, which begin `offset` behind the full ones. Unix seconds. */
export interface HourlyBlock {
  block: BlockRef
  after: number
  offset: number
  /** In how many parts the hour's samples are made. */
  parts: number
}

/** The block with the hours as they begin for one vault, or another subject of reads; undefined where none does. */
export function hourFor(subject: string, hour: HourlyBlock): HourlyBlock | undefined {
  const { block, after } = hour
  const offset = hour.parts === 1 ? hour.offset : hour.offset + delayOf(subject, hour.parts)
  if (hourOf(block.timestamp, offset) <= hourOf(after, offset)) return undefined
  return { ...hour, offset }
}
