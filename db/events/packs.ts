import type pg from 'pg'
import { DAY } from '../units.ts'
import { encodeEventData } from './event-json.ts'
import type { DomainEvent, EventType } from './vocabulary.ts'

/** Events that say what was read of contracts at a block, and that nothing but positions and read models refers to. */
export const PACKED: ReadonlySet<string> = new Set<EventType>(['StateSampled'])
/** Fewer are rows of their own. */
export const PACK_FROM = 4
/** As `stored_events` has it. */
export const PACK_UP_TO = 1_000
/** Seconds for which what a pack says is what others are compared with. */
const KEY_FOR = DAY

/** Events of a block that lie side by side, as one row; db/migrations/0008_packs.sql says what is in it. */
export interface Pack {
  count: number
  data: string
}

/** Of a block: unix seconds. */
interface Moment {
  timestamp: number
}

/** A pack that others may be told by. */
interface Key {
  position: number
  time: number
  rows: readonly { contract: string; data: Record<string, unknown> }[]
}

/**
 * At which positions contracts were last told of in full, as far as this process knows. Only a guess where transactions were rolled back:
 * what stands there is read before anything is told by it.
 */
export type PackKeys = Map<string, number>

/**
 * Packs of what is to be appended after `head`, by the positions after which they begin.
 *
 * @param tx no COPY may be under way in it
 */
export async function packsOf(
  tx: pg.PoolClient,
  stream: number,
  head: number,
  blocks: readonly { block: Moment; events: readonly DomainEvent[] }[],
  keys: PackKeys,
): Promise<Map<number, Pack>> {
  const packs = new Map<number, Pack>()
  /** Of this transaction, whose rows cannot be read yet, and those read. */
  const known = new Map<number, Key | undefined>()
  let position = head
  for (const { block, events } of blocks) {
    for (let i = 0; i < events.length; ) {
      const length = runFrom(events, i)
      const [first, ...others] = length < PACK_FROM ? [] : events.slice(i, i + length)
      i += length
      position += length
      if (!first) continue
      const rows = [first, ...others].map(rowOf)
      const of = `${first.type} ${first.protocol ?? ''} `
      const at = mostOften(rows.map(({ contract }) => keys.get(of + contract)))
      if (at !== undefined && !known.has(at)) known.set(at, await readKey(tx, stream, at))
      const key = at === undefined ? undefined : known.get(at)
      const told = key && isNear(key, block) ? toldBy(key, rows) : undefined
      if (!told) {
        known.set(position, { position, time: block.timestamp, rows })
        for (const { contract } of rows) keys.set(of + contract, position)
      }
      const data = `{"type":"${first.type}","count":${rows.length}${told ?? `,"rows":[${rows.map(inFull).join()}]`}}`
      packs.set(position - rows.length, { count: rows.length, data })
    }
  }
  return packs
}

/** How many events from `i` on may lie in one pack: one at least. */
function runFrom(events: readonly DomainEvent[], i: number): number {
  const first = events[i]
  if (!first || !PACKED.has(first.type)) return 1
  const belongs = (event: DomainEvent | undefined) =>
    event !== undefined &&
    event.type === first.type &&
    event.protocol === first.protocol &&
    event.transactionHash === undefined &&
    event.logIndex === undefined &&
    event.contract !== ''
  let end = i
  while (end - i < PACK_UP_TO && belongs(events[end])) end++
  return Math.max(1, end - i)
}

type Row = Key['rows'][number] & { json: string }

function rowOf({ contract, data }: DomainEvent): Row {
  const json = encodeEventData(data)
  return { contract, data: JSON.parse(json) as Record<string, unknown>, json }
}

const inFull = ({ contract, json }: Row) => `["${contract}",${json}]`

function mostOften(positions: readonly (number | undefined)[]): number | undefined {
  const times = new Map<number, number>()
  for (const position of positions)
    if (position !== undefined) times.set(position, (times.get(position) ?? 0) + 1)
  return [...times].sort(([, a], [, b]) => b - a)[0]?.[0]
}

const isNear = ({ time }: Key, { timestamp }: Moment) => timestamp >= time && timestamp - time < KEY_FOR

/** Rows by those of a key; undefined where they have too little in common. */
function toldBy(key: Key, rows: readonly Row[]): string | undefined {
  const places = new Map<string, number[]>()
  for (const [place, { contract }] of key.rows.entries())
    places.set(contract, [...(places.get(contract) ?? []), place])
  const told: string[] = []
  let next = 0
  /** Rows that the key does not have, and rows of it that are passed over. */
  let strange = 0
  for (const row of rows) {
    const place = places.get(row.contract)?.find(place => place >= next)
    const changed = place === undefined ? undefined : changedFrom(key.rows[place]?.data ?? {}, row.data)
    if (place === undefined || changed === undefined) {
      told.push(inFull(row))
      strange++
      continue
    }
    while (next < place) {
      told.push('false')
      next++
      strange++
    }
    next++
    told.push(changed)
  }
  return strange > rows.length ? undefined : `,"key":${key.position},"rows":[${told.join()}]`
}

/** `null` for the same, an object of the fields that differ, undefined where a field is gone. */
function changedFrom(before: Record<string, unknown>, after: Record<string, unknown>): string | undefined {
  for (const name in before) if (!Object.hasOwn(after, name)) return undefined
  const changed: Record<string, unknown> = {}
  let isSame = true
  for (const name in after) {
    if (Object.hasOwn(before, name) && isSameValue(before[name], after[name])) continue
    changed[name] = after[name]
    isSame = false
  }
  return isSame ? 'null' : JSON.stringify(changed)
}

const isSameValue = (a: unknown, b: unknown) =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))

async function readKey(tx: pg.PoolClient, stream: number, position: number): Promise<Key | undefined> {
  const { rows } = await tx.query<{
    time: number
    data: { rows: [string, Record<string, unknown>][]; key?: number }
  }>(
    `SELECT block_time AS time, data FROM event_log WHERE stream = $1 AND position = $2 AND type = 'Packed'`,
    [stream, position],
  )
  const [row] = rows
  if (!row || row.data.key !== undefined) return undefined
  return { position, time: row.time, rows: row.data.rows.map(([contract, data]) => ({ contract, data })) }
}
