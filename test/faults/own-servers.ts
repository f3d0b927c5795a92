import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startClickHouse } from '../../db/embedded/clickhouse.ts'
import { startPostgres } from '../../db/embedded/postgres.ts'
import { type Env, readEnv } from '../../db/process/env.ts'
import { freePort } from '../chain/anvil-process.ts'
import { newFolder } from '../db/embedded/places.ts'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

/** A server that can be stopped, killed and frozen, on a port and with data that stay the same. */
export interface Server {
  url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** SIGKILL, children too; whoever supervises it starts it again, or `start` does. */
  kill(): void
  /** SIGSTOP to it and all its children. */
  freeze(): void
  thaw(): void
}

export type OwnName = 'postgres' | 'clickhouse' | 'redis'
const REDIS = '/usr/bin/redis-server'
export const hasRedis = existsSync(REDIS)

/** A process and all that descend from it. */
function family(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]))
    } catch {
      // It ended meanwhile.
    }
  }
  const found = [pid]
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child)
  return found
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (!pid) return
  for (const one of family(pid)) {
    try {
      process.kill(one, name)
    } catch {
      // It ended meanwhile.
    }
  }
}

interface Embedded {
  url: string
  pid(): number | undefined
  stop(): Promise<void>
}

async function embedded(begin: () => Promise<Embedded>): Promise<Server> {
  let current = await begin()
  let frozen: number | undefined
  return {
    url: current.url,
    async start() {
      current = await begin()
    },
    stop: () => current.stop(),
    kill: () => signal(current.pid(), 'SIGKILL'),
    freeze() {
      frozen = current.pid()
      signal(frozen, 'SIGSTOP')
    },
    thaw: () => signal(frozen, 'SIGCONT'),
  }
}

async function redis(folder: string): Promise<Server> {
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async () => {
    child = spawn(REDIS, ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''], {
      stdio: 'ignore',
    })
    await pause(300)
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    async stop() {
      const running = child
      if (!running || running.exitCode !== null || running.signalCode !== null) return
      const ended = new Promise(resolve => running.once('exit', resolve))
      running.kill('SIGTERM')
      await ended
    },
    kill: () => void child?.kill('SIGKILL'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}

/** Room for an empty store and a few minutes of life. */
const SMALL_DISK_MIB = 640

export interface OwnServers {
  servers: Partial<Record<OwnName, Server>>
  /** Of the server that was to have one. */
  disk?: SmallDisk
  stop(): Promise<void>
}

/** Servers for one check alone, in a folder of their own; one of them on a small disk where that is asked for. */
export async function startOwn(names: readonly OwnName[], onSmallDisk?: OwnName): Promise<OwnServers> {
  const folder = newFolder('vaultlog-own-')
  const disk = onSmallDisk && mountSmallDisk(join(folder, onSmallDisk), SMALL_DISK_MIB)
  const env: Env = readEnv({
    VAULTLOG_DIR: folder,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  })
  const servers: OwnServers['servers'] = {}
  for (const name of names) {
    servers[name] =
      name === 'redis'
        ? await redis(folder)
        : await embedded(() => (name === 'postgres' ? startPostgres(env) : startClickHouse(env)))
  }
  return {
    servers,
    ...(disk ? { disk } : {}),
    async stop() {
      for (const server of Object.values(servers)) {
        server.thaw()
        await server.stop().catch(() => {})
      }
      disk?.unmount()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
