import type { ClickHouseClient } from '@clickhouse/client'
import type { Queue } from 'bullmq'
import type pg from 'pg'
import { Counter, Gauge, Histogram } from 'prom-client'
import { networkOfChain } from '../db/networks.ts'
import { onScrape, registry } from '../db/process/metrics.ts'
import { steadyNow } from '../db/process/steady.ts'
import { readFault } from '../db/read-models.ts'
import { countDeadLetters, readReplays, readStatus, readVerifications } from '../db/status.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { type Projection, tablesOf } from './projection.ts'

const registers = [registry]

/** The mirror is the projection `event`. */
const projectedEvents = new Counter({
  name: 'vaultlog_projected_events_total',
  help: 'Positions of a stream that a projection has passed; projection event is the copy to ClickHouse',
  labelNames: ['projection', 'stream'] as const,
  registers,
})
const batchDuration = new Histogram({
  name: 'vaultlog_batch_duration_seconds',
  help: 'One batch of a projection: planning, rows and checkpoint',
  labelNames: ['projection'] as const,
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  registers,
})
const jobFailures = new Counter({
  name: 'vaultlog_job_failures_total',
  help: 'Jobs that failed, each attempt',
  labelNames: ['projection', 'stream'] as const,
  registers,
})

const streamHead = new Gauge({
  name: 'vaultlog_stream_head_position',
  help: 'Events in a stream, retractions included',
  labelNames: ['stream'] as const,
  registers,
})
const streamAge = new Gauge({
  name: 'vaultlog_stream_age_seconds',
  help: 'Now less the time of the newest block stored of a chain that is not retired, or less when it was named where it has none',
  labelNames: ['stream'] as const,
  registers,
})
const behind = new Gauge({
  name: 'vaultlog_projection_behind_events',
  help: 'Positions of the stream that a projection has not passed yet',
  labelNames: ['projection', 'stream'] as const,
  registers,
})
const openDeadLetters = new Gauge({
  name: 'vaultlog_dead_letters_open',
  help: 'Dead letters that nobody has resolved',
  labelNames: ['stream', 'stage'] as const,
  registers,
})
const replayPosition = new Gauge({
  name: 'vaultlog_replay_position_events',
  help: 'Positions that a replay or a verification has made',
  labelNames: ['purpose', 'projection', 'stream'] as const,
  registers,
})
const replayGoal = new Gauge({
  name: 'vaultlog_replay_goal_events',
  help: 'Positions that it has to make',
  labelNames: ['purpose', 'projection', 'stream'] as const,
  registers,
})
const verifyEqual = new Gauge({
  name: 'vaultlog_verify_equal',
  help: '1 where the last verification found a table equal to a replay, 0 where not',
  labelNames: ['table', 'stream'] as const,
  registers,
})
const verifyTime = new Gauge({
  name: 'vaultlog_verify_timestamp_seconds',
  help: 'When a table was verified last, unix seconds',
  labelNames: ['table', 'stream'] as const,
  registers,
})
const readModelsWhole = new Gauge({
  name: 'vaultlog_read_models_whole',
  help: '1 where the read models are those of the event store, 0 where they are lost or being rebuilt',
  registers,
})
const queueJobs = new Gauge({
  name: 'vaultlog_queue_jobs',
  help: 'Jobs in the queue by state',
  labelNames: ['state'] as const,
  registers,
})
const feedAge = new Gauge({
  name: 'vaultlog_feed_age_seconds',
  help: "Time of the chain's newest stored block less that of the newest report of a price feed that is watched",
  labelNames: ['chain', 'feed'] as const,
  registers,
})

/** The registry is stream 0, a chain's stream has its id. */
const streamName = (stream: number) =>
  stream === 0 ? 'registry' : (networkOfChain(stream)?.name ?? String(stream))

export function observeBatch(
  projection: string,
  stream: number,
  batch: { from: number; to: number },
  seconds: number,
): void {
  projectedEvents.inc({ projection, stream: streamName(stream) }, batch.to - batch.from)
  batchDuration.observe({ projection }, seconds)
}

export function observeFailure({ projection, stream }: { projection: string; stream: number }): void {
  jobFailures.inc({ projection, stream: streamName(stream) })
}

interface FeedRow {
  chain_id: number
  feed: string
  at: number
  /** The aggregator that logged the newest report: what a processor watches. */
  contract: string
}

const NEWEST_REPORTS = `
  SELECT f.chain_id AS chain_id, f.feed AS feed, f.at AS at, e.contract AS contract
  FROM (SELECT toInt32(chain_id) AS chain_id, feed, toUnixTimestamp(max(timestamp)) AS at, max(position) AS newest
        FROM feed_price GROUP BY chain_id, feed) AS f
  INNER JOIN (SELECT stream, position, contract FROM event
    WHERE (stream, position) IN (SELECT toInt32(chain_id), max(position) FROM feed_price GROUP BY chain_id, feed)) AS e
    ON e.stream = f.chain_id AND e.position = f.newest`

/** Newest reports by feed, read at most this often: it is a look at every feed of every chain. */
const FEEDS_EVERY_MS = 60_000

/** Tells at every scrape where everything stands by the databases: what all workers together have done. */
export function exposeStatus(parts: {
  pool: pg.Pool
  clickhouse: ClickHouseClient
  queue: Queue
  projections: readonly Projection[]
  /** Price feeds that processors are to follow, by chain. */
  feeds: ReadonlyMap<number, ReadonlySet<string>>
}): void {
  const { pool, clickhouse, queue } = parts
  // Rows of a projection that was taken away stay, and would be behind, or different, for ever.
  const projections = new Set([MIRROR, ...parts.projections.map(({ name }) => name)])
  const tables = new Set([MIRROR, 'retracted', ...parts.projections.flatMap(tablesOf)])

  let feeds: { readAt: number; rows: FeedRow[] } | undefined
  const readFeeds = async () => {
    if (feeds && steadyNow() - feeds.readAt < FEEDS_EVERY_MS) return feeds.rows
    const answer = await clickhouse.query({
      query: NEWEST_REPORTS,
      format: 'JSONEachRow',
      clickhouse_settings: { log_comment: 'metrics feeds' },
    })
    feeds = { readAt: steadyNow(), rows: await answer.json() }
    return feeds.rows
  }

  onScrape([streamHead, streamAge, behind], async () => {
    const streams = await readStatus(pool)
    return () => {
      for (const { name, head, age, projections: all } of streams) {
        streamHead.set({ stream: name }, head)
        if (age !== undefined) streamAge.set({ stream: name }, age)
        for (const projection of all.filter(({ name }) => projections.has(name)))
          behind.set({ projection: projection.name, stream: name }, projection.behind)
      }
    }
  })
  onScrape([openDeadLetters], async () => {
    const counts = await countDeadLetters(pool)
    return () => {
      for (const { stream, stage, count } of counts) openDeadLetters.set({ stream, stage }, count)
    }
  })
  onScrape([replayPosition, replayGoal], async () => {
    const replays = await readReplays(pool)
    return () => {
      for (const { purpose, projection, stream, position, goal } of replays) {
        replayPosition.set({ purpose, projection, stream }, position)
        replayGoal.set({ purpose, projection, stream }, goal)
      }
    }
  })
  onScrape([verifyEqual, verifyTime], async () => {
    const verifications = await readVerifications(pool)
    return () => {
      for (const { table, stream, isEqual, checkedAt } of verifications) {
        if (!tables.has(table)) continue
        verifyEqual.set({ table, stream }, isEqual ? 1 : 0)
        verifyTime.set({ table, stream }, checkedAt.getTime() / 1000)
      }
    }
  })
  onScrape([readModelsWhole], async () => {
    const fault = await readFault(pool)
    return () => readModelsWhole.set(fault === undefined ? 1 : 0)
  })
  onScrape([queueJobs], async () => {
    const counts = await queue.getJobCounts()
    return () => {
      for (const [state, count] of Object.entries(counts)) queueJobs.set({ state }, count)
    }
  })
  onScrape([feedAge], async () => {
    const [reports, { rows }] = await Promise.all([
      readFeeds(),
      pool.query<{ id: number; head_time: number; watched: string[] }>(
        `SELECT id, head_time,
           ARRAY(SELECT contract FROM watched_source w WHERE w.stream = s.id AND removed_at IS NULL) AS watched
         FROM stream s WHERE kind = 'evm' AND head_time > 0 AND retired_at IS NULL`,
      ),
    ])
    const chains = new Map(rows.map(({ id, head_time, watched }) => [id, { head_time, watched }]))
    return () => {
      for (const { chain_id, feed, at, contract } of reports) {
        const chain = chains.get(chain_id)
        if (!chain) continue
        // One that does not answer when the processor begins is not watched then: it grows old all the same.
        const isFollowed = parts.feeds.get(chain_id)?.has(feed) || chain.watched.includes(contract)
        if (isFollowed) feedAge.set({ chain: streamName(chain_id), feed }, Math.max(0, chain.head_time - at))
      }
    }
  })
}
