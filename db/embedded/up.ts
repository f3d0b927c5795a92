import type { Env } from '../process/env.ts'
import { startClickHouse } from './clickhouse.ts'
import { startPostgres } from './postgres.ts'

export interface Embedded {
  databaseUrl: string
  /** Unset where DATABASE_URL is given: its owner says who reads for GraphQL. */
  graphqlDatabaseUrl?: string
  clickhouseUrl: string
  /** Unset: queue and rate limits live in Postgres. */
  redisUrl?: string
  /** Ids of the processes started here. */
  pids(): number[]
  /** Idempotent; everything that was started here is down afterwards, the last first. */
  stop(): Promise<void>
}

/**
 * Starts what no URL was given for. The parts die with this process, also when it is killed, unless they were started
 * detached; one that ends by itself is started again. A part that another Vaultlog process already runs for the same
 * VAULTLOG_DIR is shared, and left running by stop().
 *
 * @throws PortInUseError where a port is taken; what was started before is stopped again
 */
export async function startEmbedded(env: Env, options: { isDetached?: boolean } = {}): Promise<Embedded> {
  const [postgres, clickhouse] = await Promise.allSettled([
    env.DATABASE_URL ? undefined : startPostgres(env, options),
    env.CLICKHOUSE_URL ? undefined : startClickHouse(env, options),
  ])
  const started = [postgres, clickhouse].flatMap(part =>
    part.status === 'fulfilled' && part.value ? [part.value] : [],
  )
  const stop = async () => {
    for (const part of [...started].reverse()) await part.stop()
  }
  const failed = [postgres, clickhouse].find(part => part.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  const urlOf = (part: typeof postgres | typeof clickhouse, given: string | undefined): string =>
    given ?? (part.status === 'fulfilled' && part.value ? part.value.url : '')
  let stopping: Promise<void> | undefined
  return {
    databaseUrl: urlOf(postgres, env.DATABASE_URL),
    clickhouseUrl: urlOf(clickhouse, env.CLICKHOUSE_URL),
    ...(postgres.status === 'fulfilled' && postgres.value
      ? { graphqlDatabaseUrl: postgres.value.graphqlUrl }
      : {}),
    ...(env.REDIS_URL ? { redisUrl: env.REDIS_URL } : {}),
    pids: () => started.flatMap(part => (part.isOwned ? [part.pid() ?? 0] : [])).filter(pid => pid > 0),
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}
