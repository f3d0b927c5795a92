import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { Env } from '../process/env.ts'
import { ConfigError, PortInUseError, UnavailableError } from '../process/errors.ts'
import { LOADER, scriptOf } from '../process/script.ts'
import { identityHeader } from './clickhouse-http.ts'
import type { ServerOptions } from './clickhouse-server.ts'
import { DirectoryLock } from './directory-lock.ts'
import { assertRoom, openFolder } from './folder.ts'
import { passwordsOf } from './passwords.ts'
import { isPortTaken } from './ports.ts'
import { end, type Run, type Supervised, supervise } from './supervise.ts'

export interface EmbeddedClickHouse extends Supervised {
  /** HTTP interface, user `default` with its password. */
  url: string
  /** False where another process of ours already serves the directory: stop() then leaves it running. */
  isOwned: boolean
}

const serverMessage = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ failed: z.string(), message: z.string() }),
])

/** Threads that wait for the engine; more than its `concurrency`, so that files and compression find one too. */
const threads = 32

/** Limits of the read-only user, whoever asks. */
const readOnlyLimits = { maxExecutionSeconds: 60, maxResultRows: 1_000_000 }
/** As deploy/clickhouse/users.xml has them. */
const readOnlyAllowance = { atOnce: 4, queriesPerHour: 10_000, secondsPerHour: 3_600 }

/** Of the environment: what others put there (keys of nodes, passwords) is no business of whoever asks in SQL. */
const HANDED_ON = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TMPDIR',
  'LOG_LEVEL',
  'LOG_FORMAT',
  'FORCE_COLOR',
  'NO_COLOR',
  'NODE_ENV',
  'LD_LIBRARY_PATH',
]

export type ClickHouseEnv = Pick<
  Env,
  | 'VAULTLOG_DIR'
  | 'EMBEDDED_CLICKHOUSE_PORT'
  | 'EMBEDDED_CLICKHOUSE_MEMORY_MB'
  | 'EMBEDDED_CLICKHOUSE_CONFIG'
  | 'CLICKHOUSE_READONLY_USER'
  | 'CLICKHOUSE_READONLY_PASSWORD'
>

/**
 * ClickHouse over HTTP on 127.0.0.1, with its data in `<VAULTLOG_DIR>/clickhouse`. A server that already serves this
 * directory is taken as it is.
 *
 * @throws PortInUseError where something else listens on the port
 */
export async function startClickHouse(
  env: ClickHouseEnv,
  options: { isDetached?: boolean } = {},
): Promise<EmbeddedClickHouse> {
  const folder = openFolder(env.VAULTLOG_DIR)
  const dir = join(folder, 'clickhouse')
  const { clickhouse: password } = passwordsOf(folder)
  mkdirSync(dir, { recursive: true })
  const identity = createHash('sha256').update(realpathSync(dir)).digest('hex').slice(0, 16)
  const running = await findRunning(dir, identity, env.EMBEDDED_CLICKHOUSE_PORT, password)
  if (running) return running
  assertRoom(dir, !existsSync(join(dir, 'data')))

  const memoryBytes = env.EMBEDDED_CLICKHOUSE_MEMORY_MB * 1024 * 1024
  const isDetached = options.isDetached ?? false
  const serverOptions: ServerOptions = {
    dir,
    port: env.EMBEDDED_CLICKHOUSE_PORT,
    identity,
    memoryBytes,
    ...(env.EMBEDDED_CLICKHOUSE_CONFIG ? { configFile: resolve(env.EMBEDDED_CLICKHOUSE_CONFIG) } : {}),
    isDetached,
    password,
    readOnly: { user: env.CLICKHOUSE_READONLY_USER, password: env.CLICKHOUSE_READONLY_PASSWORD },
    limits: { ...readOnlyLimits, maxMemoryBytes: Math.floor(memoryBytes / 4) },
    allowance: readOnlyAllowance,
  }
  const url = urlOf(env.EMBEDDED_CLICKHOUSE_PORT, password)
  try {
    if (isDetached) {
      const run = await startServer(serverOptions)
      return { url, isOwned: true, pid: () => run.pid, stop: () => run.stop() }
    }
    const supervised = await supervise('embedded ClickHouse', () => startServer(serverOptions))
    return { url, isOwned: true, ...supervised }
  } catch (error) {
    // Two starts at one time: the other one won.
    const winner =
      error instanceof StartRefused
        ? await findRunning(dir, identity, env.EMBEDDED_CLICKHOUSE_PORT, password, 100)
        : undefined
    if (winner) return winner
    if (error instanceof StartRefused && error.reason === 'DIRECTORY_IN_USE')
      throw new ConfigError(error.message)
    throw error
  }
}

class StartRefused extends UnavailableError {
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

async function startServer(options: ServerOptions): Promise<Run> {
  const child = spawn(process.execPath, [...LOADER, scriptOf('db/embedded/clickhouse-server')], {
    stdio: ['ignore', 'ignore', options.isDetached ? 'ignore' : 'inherit', 'ipc'],
    // Out of the terminal's process group: Ctrl-C must reach the mains only, which then stop their parts in order.
    detached: true,
    env: {
      ...Object.fromEntries(HANDED_ON.map(name => [name, process.env[name]])),
      UV_THREADPOOL_SIZE: String(threads),
      TZ: 'UTC',
    },
  })
  const exited = new Promise<string>(resolve => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', error => resolve(error.message))
  })
  child.send(options)
  await untilReady(child, exited)
  if (options.isDetached) {
    child.unref()
    if (child.connected) child.disconnect()
  }
  return {
    pid: child.pid ?? 0,
    exited,
    stop: () => end(signal => child.kill(signal), exited, 'SIGTERM', 12_000),
  }
}

async function untilReady(child: ChildProcess, exited: Promise<string>): Promise<void> {
  const message = await Promise.race([
    new Promise<unknown>(resolve => child.once('message', resolve)),
    exited.then(reason => ({
      failed: 'EXIT',
      message: `The embedded ClickHouse ended while starting: ${reason}`,
    })),
  ])
  const answer = serverMessage.parse(message)
  if ('ready' in answer) return
  await exited
  throw new StartRefused(answer.failed, answer.message)
}

/** The server of this directory, by the port that is set or by the one in its lock file. */
async function findRunning(
  dir: string,
  identity: string,
  port: number,
  password: string,
  attempts = 1,
): Promise<EmbeddedClickHouse | undefined> {
  const lock = new DirectoryLock(join(dir, 'server.lock'))
  for (let attempt = 0; ; attempt++) {
    const owner = lock.owner()
    for (const candidate of new Set([port, owner?.port ?? port])) {
      const answer = await fetch(`http://127.0.0.1:${candidate}/ping`, {
        signal: AbortSignal.timeout(2_000),
      }).catch(() => undefined)
      const isOurs = answer?.headers.get(identityHeader) === identity
      if (isOurs && answer?.ok) {
        return {
          url: urlOf(candidate, password),
          isOwned: false,
          pid: () => owner?.pid,
          stop: async () => {},
        }
      }
      if (!isOurs && candidate === port && (answer || (await isPortTaken(port)))) {
        throw new PortInUseError(port, 'the embedded ClickHouse', 'EMBEDDED_CLICKHOUSE_PORT')
      }
    }
    // Somebody owns the directory but does not answer yet: starting or stopping.
    if (!owner && attempt >= attempts - 1) return undefined
    if (owner && attempt >= 200) {
      throw new ConfigError(
        `${dir} is held by process ${owner.pid}, which does not answer on port ${owner.port}. Stop it.`,
      )
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

const urlOf = (port: number, password: string) => `http://default:${password}@127.0.0.1:${port}`
