import type pg from 'pg'
import { HOUR } from '../units.ts'

/** A sample of a vault that was made for what happened in a block. */
export interface StoredSample {
  vault: string
  block: number
  /** Of the chain's time, since 1970. */
  hour: number
}

/** How vaults of one standing have their turns of hourly samples: all of them once in so many hours. */
export interface SamplingRound {
  standing: string
  vaults: number
  hours: number
}

/** Events that are read at once, from the newest back, and how often at most: an hour of a busy chain has fewer. */
const PAGE = 20_000
const PAGES = 20

/** Samples after events in the hour of a block, up to it: of the newest one that is stored unless told. Ascending. */
export async function readRecentSamples(
  db: pg.Pool,
  stream: number,
  at?: { number: number; timestamp: number },
): Promise<StoredSample[]> {
  const { rows: heads } = await db.query<{ head: number; head_time: number }>(
    'SELECT head, head_time FROM stream WHERE id = $1',
    [stream],
  )
  const [head] = heads
  if (!head) return []
  const since = Math.floor((at?.timestamp ?? head.head_time) / HOUR) * HOUR
  const last = at?.number ?? Number.MAX_SAFE_INTEGER
  const samples: StoredSample[] = []
  const gone: [number, number][] = []
  for (let to = head.head, page = 0; to > 0 && page < PAGES; to -= PAGE, page++) {
    const { rows } = await db.query<{
      position: number
      type: string
      vault: string
      block: number
      time: number
      from_position: number | null
      to_position: number | null
    }>(
      `SELECT position, type, data->>'vault' AS vault, block_number AS block, block_time AS time,
         (data->>'fromPosition')::bigint AS from_position, (data->>'toPosition')::bigint AS to_position
       FROM stored_events($1, $2, $3) WHERE (type = 'BlockRetracted'
         OR (type = 'StateSampled' AND block_time >= $4 AND block_number <= $5 AND data->>'reason' <> 'hourly'))
       ORDER BY position DESC`,
      [stream, to - PAGE, to, since, last],
    )
    for (const { position, type, vault, block, time, from_position: from, to_position: until } of rows) {
      if (type === 'BlockRetracted') gone.push([Number(from), Number(until)])
      else if (!gone.some(([first, last]) => position >= first && position <= last))
        samples.push({ vault, block, hour: Math.floor(time / HOUR) })
    }
    // History and live blocks are stored in turns: blocks above the last one say nothing.
    const { rows: newest } = await db.query<{ time: number | null }>(
      'SELECT max(block_time) AS time FROM event_log WHERE stream = $1 AND position > $2 AND position <= $3 AND block_number <= $4',
      [stream, to - PAGE, to, last],
    )
    if ((newest[0]?.time ?? since) < since) break
  }
  return samples.reverse().sort((a, b) => a.block - b.block)
}

/** What the operator is shown. */
export async function storeRounds(
  db: pg.Pool,
  stream: number,
  rounds: readonly SamplingRound[],
): Promise<void> {
  await db.query(
    `INSERT INTO sampling_round (stream, standing, vaults, hours)
     SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
     ON CONFLICT (stream, standing) DO UPDATE SET vaults = excluded.vaults, hours = excluded.hours`,
    [stream, rounds.map(of => of.standing), rounds.map(of => of.vaults), rounds.map(of => of.hours)],
  )
}
