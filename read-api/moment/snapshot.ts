import type pg from 'pg'
import { log } from '../../db/process/log.ts'

/** Every chain projection that the API reads: a chain is served up to where the slowest of them stands. */
export const CHAIN_PROJECTIONS = [
  'vault',
  'vault_sample',
  'vault_hourly',
  'feed_price',
  'flow',
  'daily_flow',
  'balance',
  'drawdown',
  'morpho_market',
  'morpho_rate',
  'morpho_sampled_rate',
  'aave_reserve',
  'aave_revision',
  'aave_liquidity',
  'comet_market',
  'evk_status',
  'oracle_price',
  'asset',
  'lending_event',
  'lending_setting',
  'vault_setting',
  'reward_claim',
  'reward_period',
  'reward_stream',
] as const

export const REGISTRY_PROJECTION = 'registry_fact'

export interface ChainMoment {
  position: number
  blockNumber: number
  /** Unix seconds. */
  blockTime: number
}

/** Where each chain stands, and the registry. Never changed: a newer moment is another object. */
export interface Moment {
  chains: ReadonlyMap<number, ChainMoment>
  registryPosition: number
  /** Replays of any projection so far: with one more, rows of the past may be others. */
  replays: number
}

export const EMPTY_MOMENT: Moment = { chains: new Map(), registryPosition: 0, replays: 0 }

interface CheckpointRow {
  projection: string
  stream: number
  position: number
  block_number: number
  block_time: number
  replays: number
}

/** The moment that a set of checkpoints allows. A projection that has none on a chain has not begun: position 0. */
export function momentOf(rows: readonly CheckpointRow[]): Moment {
  const chains = new Map<number, ChainMoment>()
  const byStream = new Map<number, Map<string, CheckpointRow>>()
  for (const row of rows) {
    const of = byStream.get(row.stream) ?? new Map<string, CheckpointRow>()
    byStream.set(row.stream, of.set(row.projection, row))
  }
  let registryPosition = 0
  for (const [stream, of] of byStream) {
    if (stream === 0) {
      registryPosition = of.get(REGISTRY_PROJECTION)?.position ?? 0
      continue
    }
    let least: CheckpointRow | undefined
    for (const projection of CHAIN_PROJECTIONS) {
      const row = of.get(projection)
      if (!row) {
        least = undefined
        break
      }
      if (
        !least ||
        row.position < least.position ||
        (row.position === least.position && row.block_number < least.block_number)
      ) {
        least = row
      }
    }
    if (least && least.position > 0) {
      chains.set(stream, {
        position: least.position,
        blockNumber: least.block_number,
        blockTime: least.block_time,
      })
    }
  }
  const replays = rows.reduce((sum, row) => sum + row.replays, 0)
  return { chains, registryPosition, replays }
}

export async function readMoment(pool: pg.Pool): Promise<Moment> {
  const { rows } = await pool.query<CheckpointRow>(
    // A projection at the head of its stream has seen every block so far, also those without events.
    `SELECT projection, stream, position, replays,
       CASE WHEN position = s.head THEN greatest(block_number, s.head_height) ELSE block_number END AS block_number,
       CASE WHEN position = s.head THEN greatest(block_time, s.head_time) ELSE block_time END AS block_time
     FROM checkpoint c JOIN stream s ON s.id = c.stream WHERE projection = ANY ($1)`,
    [[...CHAIN_PROJECTIONS, REGISTRY_PROJECTION]],
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

/**
 * Calls `onMove` soon after any checkpoint moved: by notification, and once a second in case one was lost. Calls do
 * not overlap; moves during a call lead to one more.
 */
export async function watchCheckpoints(
  pool: pg.Pool,
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
      .catch((error: Error) => log.warn({ error: error.message }, 'catalogue not brought forward'))
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
      await connection.query('LISTEN vaultlog_checkpoint')
      letGo = end
      if (stopped) end()
    } catch (error) {
      end()
      log.warn(
        { error: (error as Error).message },
        'cannot listen for checkpoints; asking once a second instead',
      )
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
