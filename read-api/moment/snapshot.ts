import type pg from 'pg'
import type { Face } from '../../db/faces.ts'
import { log } from '../../db/process/log.ts'

export interface ChainMoment {
  position: number
  blockNumber: number
  /** Unix seconds. */
  blockTime: number
}

/** Where each chain stands, by face, and the registry. Never changed: a newer moment is another object. */
export interface Moment {
  /** Of the core face: vaults, their prices and who holds them. */
  chains: ReadonlyMap<number, ChainMoment>
  /** Of each other face, up to where it stands itself. */
  faces: ReadonlyMap<Face, ReadonlyMap<number, ChainMoment>>
  /** Tables of projections that have not caught up with their face on a chain yet: their rows are not whole. */
  filling: ReadonlyMap<number, ReadonlySet<string>>
  registryPosition: number
  /** By chain and table: the position from which on its rows up to the chain's are the same. */
  changedTo: ReadonlyMap<number, ReadonlyMap<string, number>>
  /** By chain: rows that retractions up to there took back are gone from all tables that are read. */
  compacted: ReadonlyMap<number, number>
  /** Replays of any projection so far: with one more, rows of the past may be others. */
  replays: number
}

export const EMPTY_MOMENT: Moment = {
  chains: new Map(),
  faces: new Map(),
  filling: new Map(),
  registryPosition: 0,
  changedTo: new Map(),
  compacted: new Map(),
  replays: 0,
}

const REGISTRY = 0

/** A projection on a stream; without a position it has not begun there. */
export interface FaceRow {
  stream: number
  face: Face
  tables: string[]
  has_joined: boolean
  position: number | null
  block_number: number
  block_time: number
  replays: number
  compacted: number
  changed_to: number
}

/**
 * The moment that a set of projections allows: each face on each chain stands where the slowest of those that have joined it
 * does. What has not joined holds nobody up, and its tables are not read.
 */
export function momentOf(rows: readonly FaceRow[]): Moment {
  const faces = new Map<Face, Map<number, FaceRow>>()
  const filling = new Map<number, Set<string>>()
  const compacted = new Map<number, number>()
  const changedTo = new Map<number, Map<string, number>>()
  for (const row of rows) {
    if (!row.has_joined) {
      const tables = filling.get(row.stream) ?? new Set()
      for (const table of row.tables) tables.add(table)
      filling.set(row.stream, tables)
      continue
    }
    const places = faces.get(row.face) ?? new Map<number, FaceRow>()
    faces.set(row.face, places)
    const least = places.get(row.stream)
    if (!least || isBefore(row, least)) places.set(row.stream, row)
    const changed = changedTo.get(row.stream) ?? new Map<string, number>()
    changedTo.set(row.stream, changed)
    for (const table of row.tables) changed.set(table, row.changed_to)
    compacted.set(row.stream, Math.min(row.compacted, compacted.get(row.stream) ?? row.compacted))
  }
  const chainsOf = (places: ReadonlyMap<number, FaceRow> = new Map()) =>
    new Map(
      [...places.values()].flatMap(({ stream, position, block_number, block_time }) =>
        stream === REGISTRY || !position
          ? []
          : [[stream, { position, blockNumber: block_number, blockTime: block_time }] as const],
      ),
    )
  const { core, ...others } = Object.fromEntries(faces) as Partial<Record<Face, Map<number, FaceRow>>>
  return {
    chains: chainsOf(core),
    faces: new Map(Object.entries(others).map(([face, places]) => [face as Face, chainsOf(places)])),
    filling,
    changedTo,
    compacted,
    registryPosition: core?.get(REGISTRY)?.position ?? 0,
    replays: rows.reduce((sum, row) => sum + row.replays, 0),
  }
}

const isBefore = (a: FaceRow, b: FaceRow) =>
  (a.position ?? 0) < (b.position ?? 0) || (a.position === b.position && a.block_number < b.block_number)

/**
 * Where a chain stands for answers of a face that are made of the core's as well: at the earlier of the two. Undefined where
 * either has not begun on the chain.
 */
export function momentOfFace(moment: Moment, chainId: number, face: Face): ChainMoment | undefined {
  // Chains of another kind have no core face: nothing of theirs is in it.
  if (face === 'svm') return moment.faces.get(face)?.get(chainId)
  const core = moment.chains.get(chainId)
  if (face === 'core' || !core) return core
  const own = moment.faces.get(face)?.get(chainId)
  return own && own.position < core.position ? own : own && core
}

export async function readMoment(pool: pg.Pool): Promise<Moment> {
  const { rows } = await pool.query<FaceRow>(
    // A projection at the head of its stream has seen every block so far, also those without events.
    `SELECT s.id AS stream, p.face, p.tables, coalesce(c.has_joined, false) AS has_joined, c.position,
       CASE WHEN c.position = s.head THEN greatest(c.block_number, s.head_height) ELSE c.block_number END AS block_number,
       CASE WHEN c.position = s.head THEN greatest(c.block_time, s.head_time) ELSE c.block_time END AS block_time,
       coalesce(c.replays, 0) AS replays, coalesce(c.compacted, 0) AS compacted, coalesce(c.changed_to, 0) AS changed_to
     FROM stream s JOIN projection p ON p.streams = s.kind
     LEFT JOIN checkpoint c ON c.projection = p.name AND c.stream = s.id`,
  )
  return momentOf(rows)
}

/** Positions by chain, as the ClickHouse parameter {as_of:Map(UInt32, UInt64)}. */
export function asOfParameter(moment: Moment, chainIds?: Iterable<number>): Map<number, number> {
  const positions = new Map<number, number>()
  for (const chainId of chainIds ?? moment.chains.keys()) {
    const chain = moment.chains.get(chainId)
    if (chain) positions.set(chainId, chain.position)
  }
  return positions
}

export interface CheckpointWatch {
  stop(): Promise<void>
}

/** Calls `onMove` soon after any checkpoint moved. */
export const watchCheckpoints = (
  pool: pg.Pool,
  onMove: () => Promise<void>,
  options?: { pollMs?: number },
): Promise<CheckpointWatch> => watchChannel(pool, 'vaultlog_checkpoint', onMove, options)

/**
 * Calls `onMove` soon after somebody spoke on a channel: by notification, and once a second in case one was lost. Calls do
 * not overlap; moves during a call lead to one more.
 */
export async function watchChannel(
  pool: pg.Pool,
  channel: 'vaultlog_checkpoint' | 'vaultlog_stream',
  onMove: () => Promise<void>,
  options: { pollMs?: number } = {},
): Promise<CheckpointWatch> {
  let stopped = false
  let running: Promise<void> | undefined
  let again = false
  let letGo: (() => void) | undefined
  let isConnecting = false

  const move = () => {
    if (stopped) return
    if (running) {
      again = true
      return
    }
    running = onMove()
      .catch((error: Error) =>
        log.warn({ error: error.message, channel }, 'what has moved could not be read'),
      )
      .finally(() => {
        running = undefined
        if (again) {
          again = false
          move()
        }
      })
  }

  const listen = async () => {
    if (stopped || letGo || isConnecting) return
    isConnecting = true
    let connection: pg.PoolClient | undefined
    // Listening is the connection's: it is closed, not given back. One that is lost is given back too, or the pool would take
    // it for busy, and a few of them would leave it nothing.
    const end = () => {
      connection?.removeListener('notification', move)
      connection?.release(true)
      connection = undefined
      if (letGo === end) letGo = undefined
    }
    try {
      connection = await pool.connect()
      connection.on('error', end)
      connection.on('notification', move)
      await connection.query(`LISTEN ${channel}`)
      letGo = end
      if (stopped) end()
    } catch (error) {
      end()
      log.warn({ error: (error as Error).message, channel }, 'cannot listen; asking once a second instead')
    } finally {
      isConnecting = false
    }
  }

  await listen()
  const timer = setInterval(() => {
    void listen()
    move()
  }, options.pollMs ?? 1_000)
  timer.unref()

  return {
    async stop() {
      stopped = true
      clearInterval(timer)
      letGo?.()
      await running
    },
  }
}
