import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { Slowness } from '../knowledge/known-contracts.ts'
import { hourOf } from './hours.ts'
import type { HourlyBlock } from './spread.ts'

/**
 * A vault of which nobody holds a share, which does not say what its shares are, or which burns what calls may cost, is sampled
 * less and less often: one, two, four and so on up to 128 full hours after that was seen, then weekly, and hourly again as soon
 * as a sample shows shares. What it does (a deposit) has it sampled at once, as ever; one that burns what calls may cost waits
 * for its hour all the same. All of it follows from the samples: where the blocks are cut into batches makes no difference.
 */

const WEEK = 168
/** Steps from one hour to 128, each twice the one before. */
const DOUBLINGS = 8

/** Full hours after emptiness was seen, up to this one, at which such a vault is sampled. */
function dueUpTo(hours: number): number {
  if (hours < 1) return 0
  return Math.min(DOUBLINGS, Math.floor(Math.log2(hours)) + 1) + Math.floor(hours / WEEK)
}

/** Whether a vault that was seen empty or dear at a time is sampled at an hourly block. */
export function isDue(since: number, { block, after, offset }: HourlyBlock): boolean {
  const hours = (time: number) => hourOf(time, offset) - hourOf(since, offset)
  return dueUpTo(hours(block.timestamp)) > dueUpTo(hours(after))
}

export const isEmpty = ({ data }: DomainEvent<'StateSampled'>): boolean =>
  data.totalSupply === undefined || data.totalSupply === 0n || data.totalAssets === undefined

interface Sample {
  block: BlockRef
  event: DomainEvent<'StateSampled'>
}

/** Why a vault is sampled less often. */
export type Quiet = 'empty' | 'dear' | undefined

export interface Timeline {
  /** The hourly samples that are not due, as things are, and those for events of a vault that is dear. */
  drop: Sample[]
  /** Where it is seen that a vault is empty or dear, or not any more. */
  turns: Sample[]
  /** Blocks at which a sample is due that was not tried. */
  missing: { block: BlockRef; reason: 'hourly' | 'activity' }[]
}

export interface Followed {
  /** How it was before. */
  slowness: Slowness | undefined
  hours: readonly HourlyBlock[]
  samples: readonly Sample[]
  /** Blocks in which something else than the hour has it sampled. */
  active: readonly BlockRef[]
  /** Whether it was to be sampled at a block. */
  wasTried(block: BlockRef): boolean
  quietOf(event: DomainEvent<'StateSampled'>): Quiet
}

/** Goes through the samples of one vault in a batch of blocks. */
export function follow({ slowness, hours, samples, active, wasTried, quietOf }: Followed): Timeline {
  const timeline: Timeline = { drop: [], turns: [], missing: [] }
  const hourly = new Map(hours.map(hour => [hour.block.hash, hour]))
  const sampled = new Map(samples.map(sample => [sample.block.hash, sample]))
  const eventful = new Set(active.map(({ hash }) => hash))
  // The events of one that is not dear were tried, as far as there is a budget.
  const left = slowness?.isDear ? active : []
  const all = [...hours.map(({ block }) => block), ...samples.map(({ block }) => block), ...left]
  const blocks = new Map(all.map(block => [block.hash, block]))
  let now = slowness
  for (const block of [...blocks.values()].sort((a, b) => a.number - b.number)) {
    const hour = hourly.get(block.hash)
    const isActive = eventful.has(block.hash) && !now?.isDear
    const isWanted = isActive || now === undefined || (hour !== undefined && isDue(now.since, hour))
    const sample = sampled.get(block.hash)
    if (!sample) {
      if (isWanted && !wasTried(block)) timeline.missing.push({ block, reason: hour ? 'hourly' : 'activity' })
    } else if (!isWanted) timeline.drop.push(sample)
    else {
      const quiet = quietOf(sample.event)
      if (quiet === (now && (now.isDear ? 'dear' : 'empty'))) continue
      now = quiet && { since: block.timestamp, isDear: quiet === 'dear' }
      timeline.turns.push(sample)
    }
  }
  return timeline
}

/** The same events without the samples that are dropped, and with what the samples say of their vaults behind them. */
export function told(
  entry: BlockEvents,
  drop: ReadonlySet<DomainEvent>,
  turns: ReadonlySet<DomainEvent>,
  quietOf: Followed['quietOf'],
): DomainEvent[] {
  return entry.events.flatMap((event): DomainEvent[] => {
    if (drop.has(event)) return []
    if (!turns.has(event) || event.type !== 'StateSampled') return [event]
    const quiet = quietOf(event)
    const { contract, protocol, data } = event
    const type = quiet ? ('SamplingSlowed' as const) : ('SamplingResumed' as const)
    const why = quiet === 'dear' ? { isDear: true as const } : {}
    return [event, { type, contract, ...(protocol ? { protocol } : {}), data: { vault: data.vault, ...why } }]
  })
}
