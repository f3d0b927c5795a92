import { execFileSync, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { passwordsOf } from '../../db/embedded/passwords.ts'
import { startPostgres } from '../../db/embedded/postgres.ts'
import { findBinaries, findUser } from '../../db/embedded/postgres-binaries.ts'
import { homeOf, makeRunnable } from '../../db/embedded/postgres-place.ts'
import { urlsOf } from '../../db/embedded/postgres-roles.ts'
import { freePort, ownPlace } from './embedded/places.ts'

interface Server {
  port: number
  stop(signal?: 'SIGINT' | 'SIGKILL'): Promise<void>
}

export interface Pair {
  /** Of the owner, at the server that is written to. */
  url: string
  /** Of the owner, at the one that follows it. */
  standbyUrl: string
  /** Of the role that reads the view of events, there. */
  graphqlUrl: string
  /** The standby goes on hearing, and shows nothing new. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Until it shows what is there now. */
  caughtUp(): Promise<void>
  /** The standby follows nobody any more. */
  promote(): Promise<void>
  /** It is gone. */
  kill(): Promise<void>
  close(): Promise<void>
}

/** A Postgres and a hot standby that follows it by streaming replication, of the embedded server's files. */
export async function startPair(): Promise<Pair> {
  const { env, remove } = await ownPlace()
  const passwords = passwordsOf(env.VAULTLOG_DIR)
  // Makes the cluster and its roles; it keeps no log that could be followed.
  await (await startPostgres(env)).stop()
  const dir = join(env.VAULTLOG_DIR, 'postgres')
  const data = join(homeOf(dir), 'data')
  const copy = join(homeOf(dir), 'standby')
  const user = await findUser()
  const binaries = await makeRunnable(findBinaries(), user, dir)
  const start = async (folder: string, settings: Record<string, string>): Promise<Server> => {
    const port = await freePort()
    const given = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      wal_level: 'replica',
      ...settings,
    }
    const child = spawn(
      binaries.postgres,
      [
        '-D',
        folder,
        '-p',
        String(port),
        ...Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      { ...user, cwd: '/', stdio: 'ignore', env: { PATH: process.env['PATH'], LC_ALL: 'C' } },
    )
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    const stop: Server['stop'] = async (signal = 'SIGINT') => {
      child.kill(signal)
      await ended
    }
    const { admin } = urlsOf(port, passwords)
    for (const until = Date.now() + 60_000; !(await ask(admin, 'SELECT 1').catch(() => undefined)); ) {
      if (Date.now() > until || child.exitCode !== null)
        throw new Error(`Postgres in ${folder} did not start`)
      await sleep(50)
    }
    return { port, stop }
  }
  // Whoever follows begins at a point that was written for followers.
  await (await start(data, {})).stop()
  // With its owner.
  execFileSync('cp', ['-a', data, copy])
  writeFileSync(join(copy, 'standby.signal'), '')
  const primary = await start(data, {})
  const standby = await start(copy, {
    primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password=${passwords.postgresAdmin}`,
  })
  const there = urlsOf(standby.port, passwords)
  const here = urlsOf(primary.port, passwords)
  return {
    url: here.owner,
    standbyUrl: there.owner,
    graphqlUrl: there.graphql,
    pause: async () => void (await ask(there.admin, 'SELECT pg_wal_replay_pause()')),
    resume: async () => void (await ask(there.admin, 'SELECT pg_wal_replay_resume()')),
    async caughtUp() {
      const [now] = await ask(here.admin, 'SELECT pg_current_wal_lsn()::text AS at')
      while (
        !(await ask(there.admin, `SELECT pg_last_wal_replay_lsn() >= '${now?.['at']}' AS is`))[0]?.['is']
      )
        await sleep(20)
    },
    promote: async () => void (await ask(there.admin, 'SELECT pg_promote()')),
    kill: () => standby.stop('SIGKILL'),
    async close() {
      await standby.stop('SIGKILL')
      await primary.stop('SIGKILL')
      rmSync(homeOf(dir), { recursive: true, force: true })
      remove()
    },
  }
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}
