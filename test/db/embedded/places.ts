import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Env, readEnv } from '../../../db/process/env.ts'

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject(address)))
    })
  })
}

/** A new folder that the servers' users may pass, too: what is below it goes with it. */
export function newFolder(prefix: string, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, prefix))
  chmodSync(folder, 0o711)
  return folder
}

/** An environment with a directory and ports of its own. */
export async function ownPlace(
  overrides: Record<string, string> = {},
): Promise<{ env: Env; remove(): void }> {
  const dir = newFolder('vaultlog-test-')
  const env = readEnv({
    VAULTLOG_DIR: dir,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_MEMORY_MB: '2048',
    ...overrides,
  })
  return { env, remove: () => rmSync(dir, { recursive: true, force: true }) }
}
