import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { readEnv } from '../../db/process/env.ts'
import { freePort } from './anvil-process.ts'
import { refuseTakenPorts } from './demo-ports.ts'

test('a port that is taken is named with one that is free, and what is not asked for does not matter', async () => {
  const port = String(await freePort())
  const rest = {
    API_PORT: String(await freePort()),
    GRAPHQL_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
    PROCESSOR_METRICS_PORT: 'off',
    WORKER_METRICS_PORT: 'off',
    API_METRICS_PORT: 'off',
  }
  const check = (settings: Record<string, string | undefined>, databases: boolean) =>
    refuseTakenPorts(readEnv({ ...rest, ...settings }), { databases })
  const server = createServer().listen(Number(port), '127.0.0.1')
  try {
    await check({ EMBEDDED_POSTGRES_PORT: port }, false)
    const words = await check({ EMBEDDED_POSTGRES_PORT: port }, true).catch((error: Error) => error.message)
    const [, other] =
      /^In use: port \d+ \(EMBEDDED_POSTGRES_PORT\)\. .*: EMBEDDED_POSTGRES_PORT=(\d+) npm run demo$/.exec(
        words ?? '',
      ) ?? []
    await check({ EMBEDDED_POSTGRES_PORT: other ?? port }, true)
    await check({ EMBEDDED_POSTGRES_PORT: port, DATABASE_URL: 'postgres://h/d' }, true)
    // What was set by hand is still so in the command.
    const said = { VAULTLOG_DIR: '/tmp/my data', GRAPHQL_PORT: '4999', API_PORT: port, HOME: '/root' }
    await expect(
      refuseTakenPorts(readEnv({ ...rest, API_PORT: port }), { databases: false, said }),
    ).rejects.toThrow(/beside it: VAULTLOG_DIR='\/tmp\/my data' GRAPHQL_PORT=4999 API_PORT=\d+ npm run demo$/)
    await expect(check({ API_PORT: port }, false)).rejects.toThrow(/API_PORT=\d+ npm run demo/)
  } finally {
    server.close()
  }
})
