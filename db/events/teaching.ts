import type pg from 'pg'
import type { BlockEvents, StoredEvent } from './event-store.ts'
import type { DomainEvent, EventType } from './vocabulary.ts'

/** The contracts that are watched because of an event; undefined where nobody learns anything from it. */
export type Teaches = (event: DomainEvent) => readonly string[] | undefined

/** A protocol that learns from events of a type. */
export interface TeachingType {
  protocol: string
  type: EventType
}

/** An event that taught something, and whether a fork or a rewind took it back. */
export type TeachingEvent = StoredEvent & { is_retracted: boolean }

/** Notes which of the events just appended after `base` teach something, in the same transaction. */
export async function storeTeaching(
  tx: pg.PoolClient,
  stream: number,
  base: number,
  blocks: readonly BlockEvents[],
  teaches: Teaches | undefined,
): Promise<void> {
  if (!teaches) return
  const taught: { position: number; contracts: readonly string[] }[] = []
  let position = base
  for (const { events } of blocks) {
    for (const event of events) {
      position++
      const contracts = teaches(event)
      if (contracts) taught.push({ position, contracts })
    }
  }
  await noteTeaching(tx, stream, taught)
}

export async function noteTeaching(
  tx: pg.PoolClient,
  stream: number,
  events: readonly { position: number; contracts: readonly string[]; isRetracted?: boolean }[],
): Promise<void> {
  if (events.length === 0) return
  await tx.query(
    `INSERT INTO teaching_event (stream, position, contracts, is_retracted)
     SELECT $1, position, string_to_array(contracts, ' '), is_retracted
     FROM unnest($2::bigint[], $3::text[], $4::boolean[]) AS now(position, contracts, is_retracted)
     ON CONFLICT (stream, position) DO UPDATE SET contracts = excluded.contracts`,
    [
      stream,
      events.map(event => event.position),
      events.map(event => event.contracts.join(' ')),
      events.map(event => event.isRetracted ?? false),
    ],
  )
}

/** Marks what events at these positions taught as retracted. */
export async function retractTeaching(
  tx: pg.PoolClient,
  stream: number,
  ranges: readonly { from_position: number; to_position: number }[],
): Promise<void> {
  if (ranges.length === 0) return
  await tx.query(
    `UPDATE teaching_event t SET is_retracted = true FROM unnest($2::bigint[], $3::bigint[]) AS gone(first, last)
     WHERE stream = $1 AND position BETWEEN gone.first AND gone.last`,
    [stream, ranges.map(range => range.from_position), ranges.map(range => range.to_position)],
  )
}

/** Everything that a stream's events taught, in their order. */
export async function readTeaching(
  db: pg.Pool | pg.PoolClient,
  stream: number,
): Promise<Omit<TeachingEvent, 'stream' | 'block_hash' | 'tx_hash' | 'log_index'>[]> {
  const { rows } = await db.query<TeachingEvent>(
    `SELECT position, type, protocol, block_number, block_time, '0x' || encode(contract, 'hex') AS contract, data, is_retracted
     FROM teaching_event t JOIN event_log e USING (stream, position) WHERE t.stream = $1 ORDER BY position`,
    [stream],
  )
  return rows
}

/** Of these, those for which events that are stored already are not noted yet; `isNew`: none is for any. */
export async function readNewTeachingTypes(
  db: pg.Pool,
  stream: number,
  declared: readonly TeachingType[],
): Promise<{ fresh: TeachingType[]; isNew: boolean }> {
  const { rows } = await db.query<TeachingType>(
    'SELECT protocol, type FROM teaching_type WHERE stream = $1',
    [stream],
  )
  const known = new Set(rows.map(({ protocol, type }) => `${protocol} ${type}`))
  return {
    fresh: declared.filter(({ protocol, type }) => !known.has(`${protocol} ${type}`)),
    isNew: rows.length === 0,
  }
}

export async function storeTeachingTypes(
  tx: pg.PoolClient,
  stream: number,
  types: readonly TeachingType[],
): Promise<void> {
  await tx.query(
    'INSERT INTO teaching_type (stream, protocol, type) SELECT $1, * FROM unnest($2::text[], $3::text[]) ON CONFLICT DO NOTHING',
    [stream, types.map(({ protocol }) => protocol), types.map(({ type }) => type)],
  )
}

/** Reads which positions of a stream were retracted, by forks and by rewinds. */
export async function readRetractions(
  db: pg.Pool | pg.PoolClient,
  stream: number,
): Promise<(position: number) => boolean> {
  const { rows } = await db.query<{ first: number; last: number }>(
    `SELECT (data->>'fromPosition')::bigint AS first, (data->>'toPosition')::bigint AS last
     FROM event_log WHERE stream = $1 AND type = 'BlockRetracted' ORDER BY 1`,
    [stream],
  )
  const ranges: { first: number; last: number }[] = []
  for (const range of rows) {
    const before = ranges.at(-1)
    if (before && range.first <= before.last) before.last = Math.max(before.last, range.last)
    else ranges.push(range)
  }
  return position => {
    let [low, high] = [0, ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ranges[middle]?.last ?? 0) < position) low = middle + 1
      else high = middle
    }
    return (ranges[low]?.first ?? Number.POSITIVE_INFINITY) <= position
  }
}

/** Stored events of some types at positions above one. Reads the stream by its positions. */
export async function readEventsToLearn(
  tx: pg.PoolClient,
  stream: number,
  types: readonly EventType[],
  { after, limit }: { after: number; limit: number },
): Promise<StoredEvent[]> {
  const { rows } = await tx.query<StoredEvent>(
    `SELECT position, type, protocol, block_number, block_time, '0x' || encode(contract, 'hex') AS contract, data
     FROM event_log WHERE stream = $1 AND position > $2 AND type = ANY ($3) ORDER BY position LIMIT $4`,
    [stream, after, types, limit],
  )
  return rows
}

/**
 * Logs of contracts whose discovery was retracted, and which stand nevertheless: those of blocks below the fork that
 * were fetched when the contract was first seen. As `<block hash> <log index>`. All of a contract's events were stored
 * from the transaction on that first taught of it, whose rows share their recorded_at, so nothing older is read.
 */
export async function readStandingLogs(
  db: pg.Pool,
  stream: number,
  contracts: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ log: string }>(
    `WITH first AS (
       SELECT position, recorded_at FROM teaching_event t JOIN event_log e USING (stream, position)
       WHERE t.stream = $1 AND t.contracts && $2::text[] ORDER BY position LIMIT 1
     ), before AS (
       SELECT coalesce((SELECT e.position FROM event_log e, first
         WHERE e.stream = $1 AND e.position < first.position AND e.recorded_at <> first.recorded_at
         ORDER BY e.position DESC LIMIT 1), 0) AS position
     ), gone AS (
       SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
       FROM event_log WHERE stream = $1 AND type = 'BlockRetracted' AND position > (SELECT position FROM before)
     )
     SELECT DISTINCT '0x' || encode(block_hash, 'hex') || ' ' || log_index AS log
     FROM event_log e
     WHERE stream = $1 AND position > (SELECT position FROM before) AND log_index IS NOT NULL
       AND contract = ANY (SELECT decode(substr(c, 3), 'hex') FROM unnest($2::text[]) AS c)
       AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)`,
    [stream, contracts],
  )
  return new Set(rows.map(({ log }) => log))
}
