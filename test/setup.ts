import { existsSync, statfsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import type { TestProject } from 'vitest/node'
import { openClickHouse } from '../db/clickhouse/client.ts'
import { dropClickHouse } from '../db/clickhouse/migrate.ts'
import { type Embedded, startEmbedded } from '../db/embedded/up.ts'
import { readEnv } from '../db/process/env.ts'
import { PortInUseError } from '../db/process/errors.ts'
import { type Built, build } from './built.ts'
import { freePort } from './chain/anvil-process.ts'
import { freeDatabases } from './clickhouse-databases.ts'
import { newFolder } from './db/embedded/places.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
    clickhouseUrl: string
    /** Of the role that GraphQL reads as; empty with a DATABASE_URL of one's own. */
    graphqlUrl: string
    /** Folder in which databases of that ClickHouse are named that no test uses. */
    freeDatabases: string
  }
}

/** A port that was free a moment ago may be another's by now. */
async function startOnFreePorts(folder: string, attempts = 5): Promise<Embedded> {
  const env = readEnv({
    ...process.env,
    VAULTLOG_DIR: folder,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  })
  try {
    return await startEmbedded(env)
  } catch (error) {
    if (!(error instanceof PortInUseError) || attempts <= 1) throw error
    return startOnFreePorts(folder, attempts - 1)
  }
}

interface Servers {
  embedded: Promise<Embedded>
  built: Promise<Built> | undefined
  folder: string
  free: string
  users: number
}

/** Each level of tests loads this module anew, in one process. */
const shared = globalThis as typeof globalThis & { testServers?: Servers }

const MEMORY = '/dev/shm'
const ROOM = 8 * 2 ** 30

/** Nothing of a test run's databases is to last: they lie in memory where there is plenty of it, which spares some of the time. */
function placeOfServers(): string {
  if (!existsSync(MEMORY) || freemem() < ROOM) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize < ROOM ? tmpdir() : MEMORY
}

function startServers({ watch }: { watch: boolean }): Servers {
  const folder = newFolder('vaultlog-test-', placeOfServers())
  const free = newFolder('vaultlog-test-free-')
  // Who watches changes what was built.
  return { folder, free, embedded: startOnFreePorts(folder), built: watch ? undefined : build(), users: 0 }
}

/**
 * One Postgres and one ClickHouse for the whole run, in a folder of their own; those named by DATABASE_URL and
 * CLICKHOUSE_URL are used instead. Every test makes databases of its own on them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.testServers ??= startServers(project.vitest.config)
  const servers = shared.testServers
  servers.users++
  const [embedded, built] = await Promise.all([servers.embedded, servers.built])
  project.provide('postgresUrl', embedded.databaseUrl)
  project.provide('clickhouseUrl', embedded.clickhouseUrl)
  project.provide('graphqlUrl', embedded.graphqlDatabaseUrl ?? '')
  project.provide('freeDatabases', servers.free)
  return async () => {
    if (--servers.users > 0) return
    const free = await freeDatabases(servers.free)
    if (process.env['CLICKHOUSE_URL']) await dropAll(embedded.clickhouseUrl, free)
    await embedded.stop()
    await built?.remove()
    await rm(servers.folder, { recursive: true, force: true })
  }
}

async function dropAll(url: string, names: readonly string[]): Promise<void> {
  const house = openClickHouse({ url, database: 'default' })
  for (const name of names) await dropClickHouse(house, name)
  await house.close()
}
