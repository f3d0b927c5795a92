import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../db/embedded/up.ts'
import { readEnv } from '../db/process/env.ts'
import { freePort } from './chain/anvil-process.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
    clickhouseUrl: string
  }
}

/**
 * One Postgres and one ClickHouse for the whole run, in a folder of their own; those named by DATABASE_URL and
 * CLICKHOUSE_URL are used instead. Every test makes databases of its own on them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-test-'))
  const env = readEnv({
    ...process.env,
    VAULTLOG_DIR: folder,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  })
  const embedded = await startEmbedded(env)
  project.provide('postgresUrl', embedded.databaseUrl)
  project.provide('clickhouseUrl', embedded.clickhouseUrl)
  return async () => {
    await embedded.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
