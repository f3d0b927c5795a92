import { rm } from 'node:fs/promises'
import type { TestProject } from 'vitest/node'
import { type Embedded, startEmbedded } from '../db/embedded/up.ts'
import { readEnv } from '../db/process/env.ts'
import { PortInUseError } from '../db/process/errors.ts'
import { freePort } from './chain/anvil-process.ts'
import { newFolder } from './db/embedded/places.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
    clickhouseUrl: string
    /** Of the role that GraphQL reads as; empty with a DATABASE_URL of one's own. */
    graphqlUrl: string
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

/**
 * One Postgres and one ClickHouse for the whole run, in a folder of their own; those named by DATABASE_URL and
 * CLICKHOUSE_URL are used instead. Every test makes databases of its own on them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = newFolder('vaultlog-test-')
  const embedded = await startOnFreePorts(folder)
  project.provide('postgresUrl', embedded.databaseUrl)
  project.provide('clickhouseUrl', embedded.clickhouseUrl)
  project.provide('graphqlUrl', embedded.graphqlDatabaseUrl ?? '')
  return async () => {
    await embedded.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
