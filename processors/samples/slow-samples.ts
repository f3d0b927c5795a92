import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'

/**
 * A vault of which nobody holds a share, which does not say what its shares are, or which burns what calls may cost, is sampled less and less often: one, two, four and so on
 * up to 128 full hours after that was seen, then weekly, and hourly again as soon as a sample shows shares. What it does
 * (a deposit) has it sampled at once, as ever. All of it follows from the samples: where the blocks are cut into batches
 * makes no difference.
 */

const HOUR = 3600
const WEEK = 168
/** The last of the doublings. */
const DOUBLINGS = 8

/** A block that carries hourly samples, with the full hours after `after` up to its own time. Unix seconds. */
export interface HourlyBlock {
  block: BlockRef
  after: number
}

/** Full hours after emptiness was seen, up to this one, at which such a vault is sampled. */
function dueUpTo(hours: number): number {
  if (hours < 1) return 0
  return Math.min(DOUBLINGS, Math.floor(Math.log2(hours)) + 1) + Math.floor(hours / WEEK)
}

/** Whether a vault that was seen empty at a time is sampled at an hourly block. */
export function isDue(emptySince: number, { block, after }: HourlyBlock): boolean {
  const hours = (time: number) => Math.floor(time / HOUR) - Math.floor(emptySince / HOUR)
  return dueUpTo(hours(block.timestamp)) > dueUpTo(hours(after))
}

export const isEmpty = ({ data }: DomainEvent<'StateSampled'>): boolean =>
  data.totalSupply === undefined || data.totalSupply === 0n || data.totalAssets === undefined

interface Sample {
  block: BlockRef
  event: DomainEvent<'StateSampled'>
}

export interface Timeline {
  /** The hourly samples that are not due, as things are. */
  drop: Sample[]
  /** Where it is seen that a vault is empty, or not any more. */
  turns: Sample[]
  /** Hourly blocks at which a sample is due that was not tried. */
  missing: HourlyBlock[]
}

/**
 * Goes through the samples of one vault in a batch of blocks.
 *
 * @param emptySince since when it was known to be empty before
 * @param wasTried whether it was to be sampled at a block
 * @param isActive whether something else than the hour had it sampled there
 * @param isQuiet whether a sample is a reason to ask less often
 */
export function follow(
  emptySince: number | undefined,
  hours: readonly HourlyBlock[],
  samples: readonly Sample[],
  wasTried: (block: BlockRef) => boolean,
  isActive: (block: BlockRef) => boolean,
  isQuiet: (event: DomainEvent<'StateSampled'>) => boolean = isEmpty,
): Timeline {
  const timeline: Timeline = { drop: [], turns: [], missing: [] }
  const hourly = new Map(hours.map(hour => [hour.block.hash, hour]))
  const sampled = new Map(samples.map(sample => [sample.block.hash, sample]))
  const blocks = new Map(
    [...hours.map(({ block }) => block), ...samples.map(({ block }) => block)].map(block => [
      block.hash,
      block,
    ]),
  )
  let since = emptySince
  for (const block of [...blocks.values()].sort((a, b) => a.number - b.number)) {
    const hour = hourly.get(block.hash)
    const isWanted = isActive(block) || since === undefined || (hour !== undefined && isDue(since, hour))
    const sample = sampled.get(block.hash)
    if (!sample) {
      if (hour && isWanted && !wasTried(block)) timeline.missing.push(hour)
    } else if (!isWanted) timeline.drop.push(sample)
    else if (isQuiet(sample.event) !== (since !== undefined)) {
      since = since === undefined ? block.timestamp : undefined
      timeline.turns.push(sample)
    }
  }
  return timeline
}

/** The same events without the samples that are dropped, and with what the samples say of emptiness behind them. */
export function told(
  entry: BlockEvents,
  drop: ReadonlySet<DomainEvent>,
  turns: ReadonlySet<DomainEvent>,
  isQuiet: (event: DomainEvent<'StateSampled'>) => boolean,
): DomainEvent[] {
  return entry.events.flatMap((event): DomainEvent[] => {
    if (drop.has(event)) return []
    if (!turns.has(event) || event.type !== 'StateSampled') return [event]
    const type = isQuiet(event) ? ('SamplingSlowed' as const) : ('SamplingResumed' as const)
    const { contract, protocol, data } = event
    return [event, { type, contract, ...(protocol ? { protocol } : {}), data: { vault: data.vault } }]
  })
}
