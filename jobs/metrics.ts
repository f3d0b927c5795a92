import type { ClickHouseClient } from '@clickhouse/client'
import type { Queue } from 'bullmq'
import type pg from 'pg'
import { Counter, Gauge, Histogram } from 'prom-client'
import { networkOfChain } from '../db/networks.ts'
import { onScrape, registry } from '../db/process/metrics.ts'
import { countDeadLetters, readReplays, readStatus, readVerifications } from '../db/status.ts'

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
  help: 'Now less the time of the newest block stored of a chain, whether or not its processor runs',
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
const queueJobs = new Gauge({
  name: 'vaultlog_queue_jobs',
  help: 'Jobs in the queue by state',
  labelNames: ['state'] as const,
  registers,
})
const feedAge = new Gauge({
  name: 'vaultlog_feed_age_seconds',
  help: "Time of the chain's newest stored block less that of the newest report of a price feed",
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

/** Newest reports by feed, read at most this often: it is a look at every feed of every chain. */
const FEEDS_EVERY_MS = 60_000

/** Tells at every scrape where everything stands by the databases: what all workers together have done. */
export function exposeStatus(parts: { pool: pg.Pool; clickhouse: ClickHouseClient; queue: Queue }): void {
  const { pool, clickhouse, queue } = parts

  let feeds: { readAt: number; rows: { chain_id: number; feed: string; at: number }[] } | undefined
  const readFeeds = async () => {
    if (feeds && Date.now() - feeds.readAt < FEEDS_EVERY_MS) return feeds.rows
    const answer = await clickhouse.query({
      query:
        'SELECT chain_id, feed, toUnixTimestamp(max(timestamp)) AS at FROM feed_price GROUP BY chain_id, feed',
      format: 'JSONEachRow',
      clickhouse_settings: { log_comment: 'metrics feeds' },
    })
    feeds = { readAt: Date.now(), rows: await answer.json() }
    return feeds.rows
  }

  onScrape([streamHead, streamAge, behind], async () => {
    const streams = await readStatus(pool)
    return () => {
      for (const { name, head, age, projections } of streams) {
        streamHead.set({ stream: name }, head)
        if (age !== undefined) streamAge.set({ stream: name }, age)
        for (const projection of projections)
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
        verifyEqual.set({ table, stream }, isEqual ? 1 : 0)
        verifyTime.set({ table, stream }, checkedAt.getTime() / 1000)
      }
    }
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
      pool.query<{ id: number; head_time: number }>(
        `SELECT id, head_time FROM stream WHERE kind = 'chain' AND head_time > 0`,
      ),
    ])
    const headTimes = new Map(rows.map(({ id, head_time }) => [id, head_time]))
    return () => {
      for (const { chain_id, feed, at } of reports) {
        const head = headTimes.get(chain_id)
        if (head !== undefined) feedAge.set({ chain: streamName(chain_id), feed }, Math.max(0, head - at))
      }
    }
  })
}
