import { type ChildProcess, spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Env } from '../process/env.ts'
import { ConfigError, PortInUseError, UnavailableError } from '../process/errors.ts'
import { steadyNow } from '../process/steady.ts'
import { DirectoryLock, isAlive } from './directory-lock.ts'
import { assertRoom, openFolder } from './folder.ts'
import { type Passwords, passwordsOf } from './passwords.ts'
import { isPortTaken } from './ports.ts'
import { findBinaries, findUser, type PostgresBinaries, type PostgresUser } from './postgres-binaries.ts'
import { homeOf, makeHome, makeRunnable } from './postgres-place.ts'
import { ADMIN, makeRoles, type PostgresUrls, urlsOf } from './postgres-roles.ts'
import { end, type Run, type Supervised, supervise } from './supervise.ts'

export interface EmbeddedPostgres extends Supervised {
  url: string
  /** Of the role that reads the view of raw events. */
  graphqlUrl: string
  /** False where another process of ours already serves the directory: stop() then leaves it running. */
  isOwned: boolean
}

export type PostgresEnv = Pick<Env, 'VAULTLOG_DIR' | 'EMBEDDED_POSTGRES_PORT'>

const startPatienceMs = 120_000

/**
 * fsync, full_page_writes and synchronous_commit stay on. Cursor and events share a transaction, so turning
 * synchronous_commit off would keep Postgres consistent with itself; but ClickHouse holds rows made from events
 * seconds after their commit, and a killed server would take back up to 0.6 s of events that have already been
 * projected. Appends come in batches, so a batch and not an event pays for the flush. The queue, which may be lost,
 * turns it off for its own connections.
 */
const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '256MB',
  work_mem: '16MB',
  maintenance_work_mem: '256MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_buffers: '16MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

/**
 * A real Postgres on 127.0.0.1, with its data in `<VAULTLOG_DIR>/postgres`. A server that already serves this
 * directory is taken as it is.
 *
 * @throws PortInUseError where something else listens on the port
 */
export async function startPostgres(
  env: PostgresEnv,
  options: { isDetached?: boolean } = {},
): Promise<EmbeddedPostgres> {
  const folder = openFolder(env.VAULTLOG_DIR)
  const dir = join(folder, 'postgres')
  const passwords = passwordsOf(folder)
  const port = env.EMBEDDED_POSTGRES_PORT
  const lock = await oneStartAtATime(env.VAULTLOG_DIR, port)
  try {
    return (await findRunning(dir, port, passwords)) ?? (await startOwn(env, dir, passwords, options))
  } finally {
    lock.release()
  }
}

/** Whoever starts second finds the server of the first. */
async function oneStartAtATime(folder: string, port: number): Promise<DirectoryLock> {
  const lock = new DirectoryLock(join(folder, 'postgres.starting'))
  const deadline = steadyNow() + startPatienceMs
  for (let other = lock.acquire({ port }); other; other = lock.acquire({ port })) {
    if (steadyNow() > deadline)
      throw new UnavailableError(
        `Process ${other.pid} has been starting the embedded Postgres for ${startPatienceMs / 1000} s.`,
      )
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return lock
}

async function startOwn(
  env: PostgresEnv,
  dir: string,
  passwords: Passwords,
  options: { isDetached?: boolean },
): Promise<EmbeddedPostgres> {
  const port = env.EMBEDDED_POSTGRES_PORT
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const user = await findUser()
  assertRoom(dir, !existsSync(join(clusterOf(dir), 'PG_VERSION')))
  const binaries = await makeRunnable(findBinaries(), user, dir)
  const home = await makeHome(dir, user)
  const isNew = !existsSync(join(home, 'data', 'PG_VERSION'))
  if (home !== dir) assertRoom(home, isNew)
  if (isNew) await initialise(binaries, user, home, passwords)
  const urls = urlsOf(port, passwords)
  const isDetached = options.isDetached ?? false
  const start = () => startServer(binaries, user, dir, port, urls, isDetached)
  const supervised = isDetached ? unsupervised(await start()) : await supervise('embedded Postgres', start)
  try {
    await makeRoles(urls.admin, passwords)
  } catch (error) {
    await supervised.stop()
    throw error
  }
  return { url: urls.owner, graphqlUrl: urls.graphql, isOwned: true, ...supervised }
}

const clusterOf = (dir: string) => join(homeOf(dir), 'data')
const unsupervised = (run: Run): Supervised => ({ pid: () => run.pid, stop: () => run.stop() })

/** Builds the cluster beside its place and moves it there whole: a killed start leaves nothing half made. */
async function initialise(
  binaries: PostgresBinaries,
  user: PostgresUser,
  home: string,
  passwords: Passwords,
): Promise<void> {
  const fresh = join(home, 'data.new')
  rmSync(fresh, { recursive: true, force: true })
  const passwordFile = join(home, 'password.new')
  writeFileSync(passwordFile, `${passwords.postgresAdmin}\n`, { mode: 0o600 })
  if (user.uid !== undefined && user.gid !== undefined) chownSync(passwordFile, user.uid, user.gid)
  try {
    const child = spawnAs(user, binaries.initdb, [
      `--pgdata=${fresh}`,
      `--username=${ADMIN}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--data-checksums',
    ])
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk))
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk))
    const reason = await exitOf(child)
    if (reason !== 'exit code 0')
      throw new ConfigError(`initdb failed (${reason}): ${output.trim().slice(-2000)}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(fresh, join(home, 'data'))
}

function spawnAs(
  user: PostgresUser,
  file: string,
  args: readonly string[],
  stderr: 'pipe' | number = 'pipe',
): ChildProcess {
  return spawn(file, args, {
    ...user,
    cwd: '/',
    // Out of the terminal's process group: Ctrl-C must reach the mains only.
    detached: true,
    stdio: ['ignore', stderr === 'pipe' ? 'pipe' : 'ignore', stderr],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  })
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise(resolve => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', error => resolve(error.message))
  })
}

async function startServer(
  binaries: PostgresBinaries,
  user: PostgresUser,
  dir: string,
  port: number,
  urls: PostgresUrls,
  isDetached: boolean,
): Promise<Run> {
  const cluster = clusterOf(dir)
  const logPath = join(dir, 'server.log')
  const deadline = steadyNow() + startPatienceMs
  for (;;) {
    removeForeignPidFile(cluster)
    const isLogLarge = existsSync(logPath) && statSync(logPath).size > 10 * 1024 * 1024
    const logFile = openSync(logPath, isLogLarge ? 'w' : 'a')
    const logStart = isLogLarge ? 0 : statSync(logPath).size
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawnAs(user, binaries.postgres, ['-D', cluster, '-p', String(port), ...flags], logFile)
    closeSync(logFile)
    const exited = exitOf(child)
    const giveUp = new AbortController()
    const failure = await Promise.race([exited, untilReady(urls.admin, cluster, deadline, giveUp.signal)])
    giveUp.abort()
    if (failure === 'ready') {
      const pid = child.pid ?? 0
      if (isDetached) child.unref()
      const watcher = isDetached ? undefined : watchParent(pid)
      void exited.then(() => watcher?.kill('SIGKILL'))
      return { pid, exited, stop: () => end(signal => child.kill(signal), exited, 'SIGINT', 30_000) }
    }
    const said = readFileSync(logPath, 'utf8').slice(logStart).trim()
    // Children of a killed server need a moment to see that it is gone.
    const isPassing = /still in use|is still running|lock file .* already exists/i.test(said)
    if (isPassing && steadyNow() < deadline) {
      await new Promise(resolve => setTimeout(resolve, 200))
      continue
    }
    if (failure === 'timeout') {
      child.kill('SIGKILL')
      await exited
      throw new UnavailableError(
        `The embedded Postgres did not become ready in ${startPatienceMs / 1000} s; see ${logPath}.`,
      )
    }
    if (/could not bind|Address already in use/i.test(said)) {
      throw new PortInUseError(port, 'the embedded Postgres', 'EMBEDDED_POSTGRES_PORT')
    }
    throw new UnavailableError(
      `The embedded Postgres ended while starting (${failure}): ${said.slice(-1500)}`,
    )
  }
}

/** Postgres trusts the id in its pid file; after a reboot or in a new container it may be anybody's. */
function removeForeignPidFile(cluster: string): void {
  const pid = pidFile(cluster)?.pid
  if (pid === undefined || !isAlive(pid)) return
  let command: string
  try {
    command = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return
  }
  if (command !== 'postgres') rmSync(join(cluster, 'postmaster.pid'), { force: true })
}

function pidFile(cluster: string): { pid: number; port: number } | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), port: Number(lines[3]) }
  } catch {
    return undefined
  }
}

async function untilReady(
  admin: string,
  cluster: string,
  deadline: number,
  signal: AbortSignal,
): Promise<'ready' | 'timeout'> {
  while (steadyNow() < deadline && !signal.aborted) {
    if ((await clusterAt(admin)) === cluster) return 'ready'
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  return 'timeout'
}

/** The data directory of the server at this port, if it lets us in. */
async function clusterAt(admin: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: admin, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    return rows[0]?.data_directory
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => {})
  }
}

async function findRunning(
  dir: string,
  port: number,
  passwords: Passwords,
): Promise<EmbeddedPostgres | undefined> {
  const cluster = clusterOf(dir)
  const file = pidFile(cluster)
  if (file && isAlive(file.pid)) {
    const urls = urlsOf(file.port, passwords)
    // Starting or stopping servers answer in a moment; a foreign process with this id never does.
    for (let attempt = 0; attempt < 20; attempt++) {
      if ((await clusterAt(urls.admin)) === cluster) {
        await makeRoles(urls.admin, passwords)
        return {
          url: urls.owner,
          graphqlUrl: urls.graphql,
          isOwned: false,
          pid: () => file.pid,
          stop: async () => {},
        }
      }
      if (!(await isPortTaken(file.port))) break
      await new Promise(resolve => setTimeout(resolve, 250))
    }
  }
  if (await isPortTaken(port))
    throw new PortInUseError(port, 'the embedded Postgres', 'EMBEDDED_POSTGRES_PORT')
  return undefined
}

/**
 * Ends Postgres when this process is gone, however it went: the shell's input is a pipe that only we hold. Fast
 * shutdown (SIGINT) breaks off transactions and keeps what was committed.
 */
function watchParent(pid: number): ChildProcess {
  const watcher = spawn('sh', ['-c', `while read -r _; do :; done; kill -INT ${pid}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.on('error', () => {})
  watcher.unref()
  if (watcher.stdin && 'unref' in watcher.stdin && typeof watcher.stdin.unref === 'function')
    watcher.stdin.unref()
  return watcher
}
