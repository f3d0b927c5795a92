import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type {
  BackendFactory,
  IQueueBackend,
  Job,
  Processor,
  Queue,
  QueueOptions,
  Worker,
  WorkerOptions,
} from 'bullmq'
import { Redis } from 'ioredis'
import type pg from 'pg'
import { PatientClient, watchConnection } from './lost-connections.ts'
import { log } from './process/log.ts'

/** BullMQ by CommonJS: its Postgres backend finds `pg` with `require`, which it does not have as an ES module. */
const bullmq: typeof import('bullmq') = createRequire(import.meta.url)('bullmq')

/** Where BullMQ's tables live; beside ours, so that dropping the queue is dropping a schema. */
const postgresSchema = 'queue'

export interface QueueBackend {
  kind: 'redis' | 'postgres'
  /** @param name no `:` in it */
  createQueue<Data, Result = unknown>(name: string, options?: Partial<QueueOptions>): Queue<Data, Result>
  /** Begins to take jobs at once, unless `autorun: false`. */
  createWorker<Data, Result = unknown>(
    name: string,
    processor: (job: Job<Data, Result>) => Promise<Result>,
    options?: Partial<WorkerOptions>,
  ): Worker<Data, Result>
  /** Workers finish the jobs they have, then everything is closed. Idempotent. */
  close(): Promise<void>
}

/**
 * BullMQ on Redis where there is one, else on Postgres. Jobs are wake-ups only: losing all of them loses nothing, so
 * its Postgres connections do not wait for the disk (synchronous_commit off, for them alone).
 */
export function openQueueBackend(env: {
  REDIS_URL?: string
  REDIS_PREFIX?: string
  databaseUrl: string
}): QueueBackend {
  return env.REDIS_URL
    ? openRedis(env.REDIS_URL, env.REDIS_PREFIX ?? 'vaultlog')
    : openPostgres(env.databaseUrl)
}

/** The connection of BullMQ's options depends on the backend; the factory that comes with it is what reads it. */
type Factory = BackendFactory<IQueueBackend, unknown>

interface Parts {
  connection: unknown
  workerConnection: unknown
  factory: Factory
  prefix?: string
  closeConnections(): Promise<void>
}

/**
 * A connection over which no answer has come for so long is left: it may be one that a NAT or a proxy has forgotten without closing
 * it. The longest that Redis is asked to wait for a job is ten seconds.
 */
const SILENCE_MS = 20_000

function openRedis(url: string, prefix: string): QueueBackend {
  const redis = (maxRetriesPerRequest: number | null) => {
    const client = new Redis(url, { maxRetriesPerRequest, socketTimeout: SILENCE_MS })
    client.on('error', error => log.warn({ err: error }, 'queue: Redis'))
    return client
  }
  const producer = redis(20)
  // Blocking commands must be repeated for ever.
  const consumer = redis(null)
  return backendOf('redis', {
    connection: producer,
    workerConnection: consumer,
    factory: bullmq.createRedisBackend as Factory,
    prefix,
    closeConnections: async () => {
      for (const client of [producer, consumer]) await client.quit().catch(() => client.disconnect())
    },
  })
}

function openPostgres(databaseUrl: string): QueueBackend {
  const connection = {
    connectionString: databaseUrl,
    schema: postgresSchema,
    migrate: true,
    max: 4,
    options: '-c synchronous_commit=off',
    Client: PatientClient,
    onConnect: (client: pg.ClientBase) => watchConnection(client, databaseUrl),
  }
  return backendOf('postgres', {
    connection,
    workerConnection: connection,
    factory: createPostgresBackend as Factory,
    closeConnections: async () => {},
  })
}

interface Connecting {
  /** What BullMQ remembers of its attempt. */
  readyPromise?: Promise<void> | undefined
  waitUntilReady(): Promise<void>
}

interface Listening {
  /** BullMQ's own connection for notifications. */
  listenClient?: { connection: { stream: Socket } } | undefined
}

/**
 * BullMQ 6.7.0 remembers its first attempt to connect even where that failed: a process that started while Postgres was
 * away would have no queue for as long as it lives. Here the next one who asks tries again. Where one connection was lost others may
 * be: the one that listens sends nothing that could go unanswered, so it is made anew.
 */
const createPostgresBackend: typeof bullmq.createPostgresBackend = (...options) => {
  const backend = bullmq.createPostgresBackend(...options)
  for (const part of [backend, backend.connection] as unknown as Connecting[]) {
    const connect = part.waitUntilReady.bind(part)
    part.waitUntilReady = () =>
      connect().catch(error => {
        part.readyPromise = undefined
        throw error
      })
  }
  const connection = backend.connection as unknown as Listening & { pool: pg.Pool }
  connection.pool.on('connect', client =>
    client.once('error', () => connection.listenClient?.connection.stream.destroy()),
  )
  return backend
}

function backendOf(kind: QueueBackend['kind'], parts: Parts): QueueBackend {
  const queues: { close(): Promise<void> }[] = []
  const workers: { close(): Promise<void> }[] = []
  let closing: Promise<void> | undefined
  const prefix = parts.prefix ? { prefix: parts.prefix } : {}
  return {
    kind,
    createQueue<Data, Result>(name: string, options: Partial<QueueOptions> = {}) {
      const queue = new bullmq.Queue(
        name,
        { ...prefix, ...options, connection: parts.connection },
        parts.factory,
      )
      queue.on('error', error => log.warn({ err: error, queue: name }, 'queue'))
      queues.push(queue)
      return queue as unknown as Queue<Data, Result>
    },
    createWorker<Data, Result>(
      name: string,
      processor: (job: Job<Data, Result>) => Promise<Result>,
      options: Partial<WorkerOptions> = {},
    ) {
      const worker = new bullmq.Worker(
        name,
        processor as unknown as Processor,
        { ...prefix, ...options, connection: parts.workerConnection },
        parts.factory,
      )
      worker.on('error', error => log.warn({ err: error, queue: name }, 'worker'))
      workers.push(worker)
      return worker as unknown as Worker<Data, Result>
    },
    close() {
      closing ??= (async () => {
        await Promise.all(workers.map(worker => worker.close()))
        await Promise.all(queues.map(queue => queue.close()))
        await parts.closeConnections()
      })()
      return closing
    },
  }
}
