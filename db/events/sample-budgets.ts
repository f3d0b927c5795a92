import type pg from 'pg'

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

const HOUR = 3600
/** Events that are read at once, from the newest back, and how often at most: an hour of a busy chain has fewer. */
const PAGE = 20_000
const PAGES = 20

/** Samples after events in the newest hour that is stored, ascending. */
export async function readRecentSamples(db: pg.Pool, stream: number): Promise<StoredSample[]> {
  const { rows: heads } = await db.query<{ head: number; head_time: number }>(
    'SELECT head, head_time FROM stream WHERE id = $1',
    [stream],
  )
  const [head] = heads
  if (!head) return []
  const since = Math.floor(head.head_time / HOUR) * HOUR
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
       FROM event_log WHERE stream = $1 AND position > $2 AND position <= $3 AND (type = 'BlockRetracted'
         OR (type = 'StateSampled' AND block_time >= $4 AND data->>'reason' <> 'hourly'))
       ORDER BY position DESC`,
      [stream, to - PAGE, to, since],
    )
    for (const { position, type, vault, block, time, from_position: from, to_position: until } of rows) {
      if (type === 'BlockRetracted') gone.push([Number(from), Number(until)])
      else if (!gone.some(([first, last]) => position >= first && position <= last))
        samples.push({ vault, block, hour: Math.floor(time / HOUR) })
    }
    const { rows: oldest } = await db.query<{ time: number }>(
      'SELECT block_time AS time FROM event_log WHERE stream = $1 AND position = $2',
      [stream, Math.max(1, to - PAGE + 1)],
    )
    if ((oldest[0]?.time ?? 0) < since) break
  }
  return samples.reverse()
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
