import type pg from 'pg'
import { readEvents, readEventsAt } from '../../db/events/event-store.ts'
import { VaultlogError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { Turns } from '../../db/process/turns.ts'
import { type CheckpointWatch, watchChannel } from '../moment/snapshot.ts'
import type { Chain } from './chains.ts'
import { type Cursor, type Place, placeOf } from './cursor.ts'
import { type Message, messageOf } from './message.ts'

/** `instant`: as stored, with what is taken back. `finalized`: what no fork replaces any more, and nothing is taken back. */
export type Mode = 'instant' | 'finalized'

/** Events that are read at once: what a slow reader holds in memory at most. */
export const PAGE = 200
/** Of each chain, events that are kept for those who follow its head. */
const TAIL = 1_000
/** Who is far behind reads from the database, so many at a time: requests need its connections, too. */
const READERS = 2
/** How long a standby that did not answer is not asked. */
const STANDBY_RESTS_MS = 30_000

class GapError extends VaultlogError {
  readonly code = 'GAP'
  constructor(chainId: number, after: number) {
    super(
      `Events of chain ${chainId} after position ${after} are not in the event store, which says that it has them: check that DATABASE_URL is the store that the processors write.`,
    )
  }
}

interface Tail {
  /** Positions after this, without a gap. */
  after: number
  messages: Message[]
  growing?: Promise<void> | undefined
}

/** Positions that were taken back, and the position of the retraction that says so. */
interface TakenRange {
  from: number
  to: number
  by: number
}

/** Ranges that were taken back, as far as they were read. */
interface TakenBack {
  to: number
  ranges: readonly TakenRange[]
}

/**
 * What is stored, as messages, for all who follow it in this process: one connection waits for news, and an event at the
 * head is read once however many are told of it.
 */
export class Feed {
  private readonly pool: pg.Pool
  private readonly standby: pg.Pool | undefined
  /** By performance.now(). */
  private standbyRestsUntil = 0
  private chains: ReadonlyMap<number, Chain> = new Map()
  /** As followers were last told of them: others look, too. */
  private announced: ReadonlyMap<number, Chain> = new Map()
  private lastLook: Promise<unknown> = Promise.resolve()
  private nextLook: Promise<ReadonlyMap<number, Chain>> | undefined
  private readonly tails = new Map<number, Tail>()
  private readonly takenBack = new Map<number, Promise<TakenBack>>()
  private readonly followers = new Set<() => void>()
  private watch: Promise<CheckpointWatch> | undefined
  private readonly reading = new Turns(READERS)
  private readonly stopping = new AbortController()

  /** @param standby a copy of the database that follows it: the past is read there, as far as it has come */
  constructor(pool: pg.Pool, standby?: pg.Pool) {
    this.pool = pool
    this.standby = standby
  }

  /** Aborted when the process ends: every stream ends with it. */
  get ending(): AbortSignal {
    return this.stopping.signal
  }

  /** Where the chains stand, as last heard. */
  get current(): ReadonlyMap<number, Chain> {
    return this.chains
  }

  /** Where the chains stand now. One look after the other, so that none puts another's chains back; who comes meanwhile shares the next. */
  look(): Promise<ReadonlyMap<number, Chain>> {
    this.nextLook ??= this.lastLook.then(() => {
      const look = this.lookNow()
      this.lastLook = look.catch(() => {})
      this.nextLook = undefined
      return look
    })
    return this.nextLook
  }

  private async lookNow(): Promise<ReadonlyMap<number, Chain>> {
    const { rows } = await this.pool.query<{ id: number; head: number; hot: number | null }>(
      // What is above finality is remembered until it is final or taken back, in the transaction that makes it so.
      `SELECT id, head, (SELECT min(from_position) FROM hot_block h
         WHERE h.stream = stream.id AND h.from_position <= h.to_position) AS hot
       FROM stream WHERE kind <> 'registry' ORDER BY id`,
    )
    for (const { id, head } of rows) {
      // Restored from an older copy: what is remembered of it may never have been.
      if (head >= (this.chains.get(id)?.head ?? 0)) continue
      this.tails.delete(id)
      this.takenBack.delete(id)
    }
    this.chains = new Map(rows.map(({ id, head, hot }) => [id, { head, final: hot ? hot - 1 : head }]))
    return this.chains
  }

  /** Calls back whenever chains have moved. What comes back ends it. */
  follow(onMove: () => void): () => void {
    this.followers.add(onMove)
    this.watch ??= watchChannel(this.pool, 'vaultlog_stream', () => this.move())
    return () => {
      this.followers.delete(onMove)
      if (this.followers.size === 0) void this.rest()
    }
  }

  private async move(): Promise<void> {
    const chains = await this.look()
    const hasMoved = [...chains].some(([id, chain]) => {
      const was = this.announced.get(id)
      return was?.head !== chain.head || was.final !== chain.final
    })
    this.announced = chains
    if (hasMoved) for (const onMove of this.followers) onMove()
  }

  /** Nobody follows: nothing is asked and nothing kept. */
  private async rest(): Promise<void> {
    const { watch } = this
    this.watch = undefined
    this.tails.clear()
    await watch?.then(found => found.stop())
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.rest()
  }

  /** What is stored at these positions. */
  async placesAt(positions: ReadonlyMap<number, number>): Promise<Cursor> {
    const places: Cursor = new Map([...positions].map(([id, position]) => [id, { position, mark: '' }]))
    for (const event of await readEventsAt(this.pool, positions)) places.set(event.stream, placeOf(event))
    return places
  }

  /** How far somebody may read each chain, as last heard. */
  ends(mode: Mode): [chainId: number, position: number][] {
    return [...this.chains.keys()].map(chainId => [chainId, this.reach(chainId, mode)])
  }

  /** How far somebody may read a chain. */
  reach(chainId: number, mode: Mode, chains = this.chains): number {
    const chain = chains.get(chainId)
    return (mode === 'finalized' ? chain?.final : chain?.head) ?? 0
  }

  /**
   * What comes next on a chain, in order, from `after` to `to` at most, which is more, and how far that is: what has been
   * taken back is no message of what is final.
   */
  async read(
    chainId: number,
    after: number,
    to: number,
    mode: Mode,
  ): Promise<{ messages: readonly Message[]; last: Place }> {
    // What is stored by now is further than anything that is final.
    const gone =
      mode === 'finalized' ? await this.retractionsTo(chainId, this.reach(chainId, 'instant')) : undefined
    const found = await this.page(chainId, after, to)
    const last = found.at(-1)?.place
    if (last === undefined) throw new GapError(chainId, after)
    const messages = gone
      ? found.filter(({ isRetraction, position }) => !isRetraction && !isWithin(gone.ranges, position))
      : found
    return { messages, last }
  }

  private async page(chainId: number, after: number, to: number): Promise<readonly Message[]> {
    const tail = this.tailOf(chainId)
    if (tail && after >= tail.after) {
      while (after >= tail.after + tail.messages.length) {
        tail.growing ??= this.grow(chainId, tail).finally(() => {
          tail.growing = undefined
        })
        await tail.growing
      }
      // It may have been cut meanwhile, for somebody slow.
      if (after >= tail.after) {
        const from = after - tail.after
        return tail.messages.slice(from, Math.min(from + PAGE, to - tail.after))
      }
    }
    return this.reading.turn(() =>
      this.ofPast(chainId, Math.min(to, after + PAGE), pool => readPage(pool, chainId, after, to)),
    )
  }

  private tailOf(chainId: number): Tail | undefined {
    if (this.followers.size === 0) return undefined
    let tail = this.tails.get(chainId)
    if (!tail) {
      tail = { after: this.chains.get(chainId)?.head ?? 0, messages: [] }
      // Who comes first is at the head, or has a page to read until there.
      tail.after = Math.max(0, tail.after - PAGE)
      this.tails.set(chainId, tail)
    }
    return tail
  }

  private async grow(chainId: number, tail: Tail): Promise<void> {
    const end = tail.after + tail.messages.length
    // Everybody at the head waits for it: it waits for nobody who is behind.
    const more = await readPage(this.pool, chainId, end, this.chains.get(chainId)?.head ?? end)
    if (more.length === 0) throw new GapError(chainId, end)
    tail.messages.push(...more)
    const excess = tail.messages.length - TAIL
    if (excess <= 0) return
    tail.messages = tail.messages.slice(excess)
    tail.after += excess
  }

  /** Reads events up to a position from the standby, where it has them: a chain's head is stored with its events. */
  private async ofPast<T>(chainId: number, to: number, read: (pool: pg.Pool) => Promise<T>): Promise<T> {
    const { standby } = this
    if (!standby || performance.now() < this.standbyRestsUntil) return read(this.pool)
    try {
      // One that was promoted follows nobody: what it has may never have been.
      const { rows } = await standby.query<{ head: number }>(
        'SELECT head FROM stream WHERE id = $1 AND pg_is_in_recovery()',
        [chainId],
      )
      if ((rows[0]?.head ?? 0) >= to) return await read(standby)
    } catch (error) {
      // One that hangs would be waited for with every page.
      this.standbyRestsUntil = performance.now() + STANDBY_RESTS_MS
      log.warn(
        { error: (error as Error).message, forSeconds: STANDBY_RESTS_MS / 1000 },
        'the standby does not answer; reading where events are written',
      )
    }
    return read(this.pool)
  }

  /**
   * What a chain took back by retractions at positions up to `to`, and maybe after it. Read once however many ask, from
   * where it was read before.
   */
  async retractionsTo(chainId: number, to: number): Promise<TakenBack> {
    const before = this.takenBack.get(chainId)
    const known = (await before) ?? { to: 0, ranges: [] }
    if (known.to >= to) return known
    // Somebody else has begun to meanwhile.
    if (this.takenBack.get(chainId) !== before) return this.retractionsTo(chainId, to)
    const next = this.readRetractions(chainId, known, to)
    this.takenBack.set(chainId, next)
    // What was known before is read on from the next time.
    next.catch(() => this.takenBack.set(chainId, Promise.resolve(known)))
    return next
  }

  private async readRetractions(chainId: number, known: TakenBack, to: number): Promise<TakenBack> {
    const range = { after: known.to, to, types: ['BlockRetracted'] }
    const stored = await this.ofPast(chainId, to, pool => readEvents(pool, chainId, range))
    const found = stored.map(({ data, position }) => ({
      from: Number(data['fromPosition']),
      to: Number(data['toPosition']),
      by: position,
    }))
    if (found.length === 0) return { to, ranges: known.ranges }
    return { to, ranges: [...known.ranges, ...found].sort((a, b) => a.from - b.from) }
  }
}

const readPage = async (pool: pg.Pool, chainId: number, after: number, to: number): Promise<Message[]> =>
  (await readEvents(pool, chainId, { after, to, limit: PAGE })).map(messageOf)

/** Ranges do not overlap: nothing is taken back twice. Gives the place of the first that begins after `position`. */
function placeAfter(ranges: readonly TakenRange[], position: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ranges[middle]?.from ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low
}

const isWithin = (ranges: readonly TakenRange[], position: number): boolean =>
  (ranges[placeAfter(ranges, position) - 1]?.to ?? 0) >= position

/** Whether a retraction at a position of (after, to] takes back one of the positions (from, last]. */
export function areTakenBack(
  ranges: readonly TakenRange[],
  [from, last]: readonly [from: number, last: number],
  [after, to]: readonly [after: number, to: number],
): boolean {
  for (let at = placeAfter(ranges, last) - 1; at >= 0; at--) {
    const range = ranges[at]
    if (!range || range.to <= from) return false
    if (range.by > after && range.by <= to) return true
  }
  return false
}
