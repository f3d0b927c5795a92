import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { API_COMMAND } from '../../../db/process/api-command.ts'
import { freePort } from '../../chain/anvil-process.ts'
import { type Running, start } from '../../faults/command.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
})
afterAll(() => api?.stop())

interface Asked {
  host: string
  port: number
  path: string
  header?: string
}
/** The status; 0 where nobody listens at that address. */
function ask({ host, port, path, header }: Asked): Promise<number> {
  return new Promise(resolve => {
    request({ host, port, path, headers: { host: header ?? `${host}:${port}` } }, response => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', () => resolve(0))
      .end()
  })
}

/** Another address of this machine: who listens on 127.0.0.1 alone does not answer there. */
const ELSEWHERE = '127.0.0.2'
const ADDRESS = '0xAbCd000000000000000000000000000000001234'

describe.each<{ settings: Record<string, string>; isOpen: boolean }>([
  { settings: {}, isOpen: false },
  { settings: { HOST: '0.0.0.0', METRICS_HOST: '0.0.0.0', LOG_ADDRESSES: 'short' }, isOpen: true },
])('the read API with $settings', ({ settings, isOpen }) => {
  let running: Running
  let ports: { port: number; metrics: number }
  beforeAll(async () => {
    ports = { port: await freePort(), metrics: await freePort() }
    running = start(API_COMMAND, {
      DATABASE_URL: api.databaseUrl,
      CLICKHOUSE_URL: inject('clickhouseUrl'),
      CLICKHOUSE_DATABASE: api.house.database,
      API_PORT: String(ports.port),
      API_METRICS_PORT: String(ports.metrics),
      ...settings,
    })
    await running.until(/read API listening/)
  })
  afterAll(async () => {
    running.child.kill('SIGTERM')
    await running.ended
  })

  it('listens where it is told, on this machine alone unless told', async () => {
    expect(await ask({ host: '127.0.0.1', port: ports.port, path: '/v2/health' })).toBe(200)
    expect(await ask({ host: '127.0.0.1', port: ports.metrics, path: '/live' })).toBe(200)
    const expected = isOpen ? 200 : 0
    expect(await ask({ host: ELSEWHERE, port: ports.port, path: '/v2/health' })).toBe(expected)
    expect(await ask({ host: ELSEWHERE, port: ports.metrics, path: '/live' })).toBe(expected)
  })

  it("answers on loopback about the operator's pages to this machine's names alone", async () => {
    const page = { host: '127.0.0.1', port: ports.port, path: '/ops' }
    expect(await ask(page)).toBe(401)
    for (const path of ['/ops', '/OPS/status.json', '//ops/queues', '/ops?x=1'])
      expect(await ask({ ...page, path, header: 'evil.example' }), path).toBe(
        // With a proxy before it or an address of its own, names are for those to look at.
        isOpen ? await ask({ ...page, path }) : 403,
      )
    // Tools of agents are asked by POST; whoever may ask is told so.
    expect(await ask({ ...page, path: '/mcp', header: 'evil.example' })).toBe(isOpen ? 405 : 403)
    expect(await ask({ ...page, path: '/mcp' })).toBe(405)
    expect(await ask({ ...page, path: '/v2/health', header: 'evil.example' })).toBe(200)
  })

  it('names addresses in the log as LOG_ADDRESSES says', async () => {
    await ask({ host: '127.0.0.1', port: ports.port, path: `/v2/portfolio/positions/${ADDRESS}` })
    await running.until(/portfolio\/positions\/0x[^"]+"/)
    const said = /portfolio\/positions\/(0x[^"]+)"/.exec(running.said())?.[1]
    expect(said).toBe(isOpen ? '0xAbCd…1234' : ADDRESS)
    if (isOpen) expect(running.said()).not.toContain(ADDRESS)
  })
})
