import type pg from 'pg'
import { decodeEventData } from '../../db/events/event-json.ts'
import {
  noteTeaching,
  readEventsToLearn,
  readNewTeachingTypes,
  readRetractions,
  readTeaching,
  storeTeachingTypes,
  type Teaches,
  type TeachingEvent,
  type TeachingType,
} from '../../db/events/teaching.ts'
import type { DomainEvent, EventType } from '../../db/events/vocabulary.ts'
import { type WatchedSource, watchAlso } from '../../db/events/watched-sources.ts'
import { inTransaction } from '../../db/postgres.ts'
import { log } from '../../db/process/log.ts'
import type { Protocol, Sample } from '../protocol.ts'

/** From these it is known what there is to sample and to leave alone, whatever protocols there are. */
const VERDICTS: readonly EventType[] = ['VaultCreated', 'VaultDiscovered', 'VaultRejected']
/** How often a vault is sampled, and a market: the curator of a vault vouches for those that he gives a cap. */
const RHYTHMS: readonly EventType[] = ['SamplingSlowed', 'SamplingResumed', 'CapChanged']
/** As which they stand among the protocols. */
const VAULTS = 'vaults'

/** Events read at once when a type is learned from that was not before. */
const PAGE = 10_000

/** What protocols learn from events: each is asked for those types alone that it declares. Pure. */
export class Teaching {
  private readonly learners = new Map<string, Protocol[]>()
  private readonly remembered: ReadonlySet<string>
  /** Which protocol learns from which type. */
  readonly declared: readonly TeachingType[]

  constructor(protocols: readonly Protocol[]) {
    for (const protocol of protocols) {
      for (const type of protocol.teaches ?? [])
        this.learners.set(type, [...(this.learners.get(type) ?? []), protocol])
    }
    this.remembered = new Set([...VERDICTS, ...protocols.flatMap(({ remembers }) => remembers ?? [])])
    this.declared = [
      ...[...VERDICTS, ...RHYTHMS].map(type => ({ protocol: VAULTS, type })),
      ...protocols.flatMap(({ name, teaches = [], remembers = [] }) =>
        [...new Set([...teaches, ...remembers])].map(type => ({ protocol: name, type })),
      ),
    ]
  }

  /** Contracts to be watched because of an event; `by`: as these protocols see it. */
  watches(event: DomainEvent, by: (protocol: Protocol) => boolean = () => true): WatchedSource[] {
    const learners = this.learnersOf(event)
    return learners === NOBODY ? [] : learners.filter(by).flatMap(protocol => protocol.watches?.(event) ?? [])
  }

  samples(event: DomainEvent): Sample[] {
    const learners = this.learnersOf(event)
    return learners === NOBODY ? [] : learners.flatMap(protocol => protocol.samples?.(event) ?? [])
  }

  /** Whether nobody learns anything from events of the type, which are most. */
  isPlain(type: EventType): boolean {
    return !this.learners.has(type) && !this.remembered.has(type) && !RHYTHMS.includes(type)
  }

  /** Whether events of the type are kept as facts. */
  isRemembered(type: EventType): boolean {
    return this.remembered.has(type)
  }

  readonly teaches: Teaches = event => {
    if (this.isPlain(event.type)) return undefined
    const watched = this.watches(event)
    const isTaught =
      watched.length > 0 ||
      this.isRemembered(event.type) ||
      RHYTHMS.includes(event.type) ||
      this.samples(event).length > 0
    return isTaught ? [...new Set(watched.map(({ contract }) => contract))] : undefined
  }

  private learnersOf({ type }: DomainEvent): readonly Protocol[] {
    return this.learners.get(type) ?? NOBODY
  }
}

const NOBODY: readonly Protocol[] = []

export const taughtBy = ({
  type,
  protocol,
  contract,
  data,
}: Pick<TeachingEvent, 'type' | 'protocol' | 'contract' | 'data'>) =>
  ({ type, protocol, contract: contract ?? '', data: decodeEventData(type, data) }) as DomainEvent

/**
 * Stored events may be of a type that a protocol learns from since lately alone: they are noted now, as if it had been there
 * when they were stored, and the history of the contracts that they name is fetched like that of any other added source.
 *
 * @param sources what is watched whether or not an event says so
 * @param from the stream's first block
 */
export async function learnAnew(
  pool: pg.Pool,
  stream: number,
  teaching: Teaching,
  sources: readonly WatchedSource[],
  from: number,
): Promise<void> {
  const { fresh, isNew } = await readNewTeachingTypes(pool, stream, teaching.declared)
  if (fresh.length === 0) return
  const nameOf = ({ kind, contract }: WatchedSource) => `${kind} ${contract}`
  const isFresh = (protocol: string, type: EventType) =>
    fresh.some(one => one.protocol === protocol && one.type === type)
  await inTransaction(pool, async tx => {
    const known = new Set(sources.map(nameOf))
    for (const event of await readTeaching(tx, stream)) {
      const taught = taughtBy(event)
      for (const source of teaching.watches(taught, ({ name }) => !isFresh(name, event.type)))
        known.add(nameOf(source))
    }
    const more = new Map<string, WatchedSource>()
    const types = [...new Set(fresh.map(({ type }) => type))]
    const isRetracted = await readRetractions(tx, stream)
    for (let after = 0; ; ) {
      const page = await readEventsToLearn(tx, stream, types, { after, limit: PAGE })
      const events = page.map(event => ({ ...event, taught: taughtBy(event) }))
      await noteTeaching(
        tx,
        stream,
        events.flatMap(({ position, taught }) => {
          const contracts = teaching.teaches(taught)
          return contracts ? [{ position, contracts, isRetracted: isRetracted(position) }] : []
        }),
      )
      for (const { taught } of events.filter(({ position }) => !isRetracted(position))) {
        for (const source of teaching.watches(taught, ({ name }) => isFresh(name, taught.type)))
          if (!known.has(nameOf(source))) more.set(nameOf(source), source)
      }
      after = page.at(-1)?.position ?? after
      if (page.length < PAGE) break
    }
    // Where nothing was noted before, what was learned was watched all the same.
    if (!isNew && more.size > 0) {
      await watchAlso(tx, stream, [...more.values()], from)
      log.info({ stream, sources: [...more.keys()] }, 'stored events name contracts that were not watched')
    }
    await storeTeachingTypes(tx, stream, fresh)
  })
}
