import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { networkIds } from '../../db/networks.ts'
import { readEnv } from '../../db/process/env.ts'
import { refuseTakenPorts } from '../../jobs/taken-ports.ts'
import { freePort } from '../chain/anvil-process.ts'
import { start } from '../faults/command.ts'

async function listen(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const demo = { command: 'npm run demo', networks: ['mainnet'] }

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
    refuseTakenPorts(readEnv({ ...rest, ...settings }), { ...demo, databases })
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
      refuseTakenPorts(readEnv({ ...rest, API_PORT: port }), { ...demo, databases: false, said }),
    ).rejects.toThrow(/beside it: VAULTLOG_DIR='\/tmp\/my data' GRAPHQL_PORT=4999 API_PORT=\d+ npm run demo$/)
    await expect(check({ API_PORT: port }, false)).rejects.toThrow(/API_PORT=\d+ npm run demo/)
  } finally {
    server.close()
  }
})

test('metrics of processors stand by the place of their networks, and another first port is free for all of them', async () => {
  const server = await listen()
  const taken = (server.address() as AddressInfo).port
  const base = networkIds.findIndex(({ name }) => name === 'base')
  const first = taken - base
  const env = readEnv({
    PROCESSOR_METRICS_PORT: String(first),
    WORKER_METRICS_PORT: 'off',
    API_METRICS_PORT: 'off',
    API_PORT: String(await freePort()),
    GRAPHQL_PORT: String(await freePort()),
  })
  const check = (networks: string[]) =>
    refuseTakenPorts(env, { command: 'npm run dev', networks, databases: false })
  try {
    await check([])
    const words = await check(['mainnet', 'base', 'solana']).catch((error: Error) => error.message)
    const [, other] =
      new RegExp(
        `^In use: port .*\\b${taken}\\b.* \\(PROCESSOR_METRICS_PORT\\)\\. .* PROCESSOR_METRICS_PORT=(\\d+) npm run dev$`,
      ).exec(words ?? '') ?? []
    expect([first, taken]).not.toContain(Number(other) + base)
  } finally {
    server.close()
  }
})

test.each([
  ['API_PORT', {}],
  ['GRAPHQL_PORT', {}],
  ['API_METRICS_PORT', {}],
  ['WORKER_METRICS_PORT', {}],
  ['PROCESSOR_METRICS_PORT', { RPC_MAINNET: 'http://127.0.0.1:1' }],
])('npm run dev ends with one line where %s is taken, and starts nothing', async (name, more) => {
  const server = await listen()
  const port = String((server.address() as AddressInfo).port)
  const folder = '/nowhere/that/anybody/may/write'
  try {
    const { code, stderr } = await start(['jobs/dev.ts'], {
      API_PORT: String(await freePort()),
      GRAPHQL_PORT: String(await freePort()),
      ...more,
      VAULTLOG_DIR: folder,
      LOG_LEVEL: 'fatal',
      LOG_FORMAT: 'json',
      [name]: port,
    }).ended
    expect(code).toBe(1)
    const [line = '', ...others] = stderr.trim().split('\n')
    expect(others).toEqual([])
    const { code: said, msg } = JSON.parse(line)
    expect(said).toBe('CONFIG')
    expect(msg).toMatch(
      new RegExp(
        `^In use: port ${port} \\(${name}\\)\\. .*VAULTLOG_DIR=${folder} .*${name}=\\d+ npm run dev$`,
      ),
    )
  } finally {
    server.close()
  }
})
