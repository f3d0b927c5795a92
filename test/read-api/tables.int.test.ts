import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openApiDocument } from '../../read-api/http/documentation.ts'
import type { Endpoint } from '../../read-api/http/endpoint.ts'
import { tiersOf } from '../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import { stand } from './stand.ts'
import * as w from './world.ts'

/** Every endpoint of the past is a table, too, for who accepts one. */

const endpoints = await loadEndpoints()
const routes = endpoints.flatMap(({ endpoint }) =>
  /historical|events|statement/.test(endpoint.path) && !endpoint.path.startsWith('/svm/')
    ? tiersOf(endpoint).map(tier => ({ name: `/${tier}${endpoint.path}`, tier, endpoint }))
    : [],
)
let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
})
afterAll(() => api?.stop())

const filled = (text: string) => stand[text] ?? text

function send(tier: string, { path, example }: Endpoint) {
  const url = `/${tier}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(filled(example.params?.[name] ?? '')))}`
  const query = Object.entries(example.query ?? {}).map(([name, value]) => [name, filled(String(value))])
  return request(api.app).get(url).query(Object.fromEntries(query)).set('x-api-key', api.apiKey)
}

/** What is at the ends of an item, by the names that lead there. */
function leavesOf(item: unknown): Map<string, string | number> {
  const leaves = new Map<string, string | number>()
  const walk = (value: unknown, path: string) => {
    if (value === null || value === undefined) return
    if (Array.isArray(value)) leaves.set(path, JSON.stringify(value))
    else if (typeof value === 'object')
      for (const [name, own] of Object.entries(value)) walk(own, path ? `${path}_${name}` : name)
    else leaves.set(path, typeof value === 'number' ? value : String(value))
  }
  walk(item, '')
  return leaves
}

const asBytes = (response: unknown, done: (error: Error | null, body: Buffer) => void) => {
  const parts: Buffer[] = []
  const stream = response as NodeJS.ReadableStream
  stream.on('data', (part: Buffer) => parts.push(part))
  stream.on('end', () => done(null, Buffer.concat(parts)))
}

/** By ClickHouse, which shares no code with what wrote it. */
async function readTable(bytes: Buffer, format: string): Promise<Record<string, unknown>[]> {
  const names = bytes.toString().split('\r\n')[0]?.split(',') ?? []
  const structure = format === 'Parquet' ? '' : `'${names.map(name => `\`${name}\` String`).join(', ')}', `
  const answer = await api.clickhouse.query({
    query: `SELECT * FROM format(${format}, ${structure}unhex('${bytes.toString('hex')}'))`,
    format: 'JSONEachRow',
    clickhouse_settings: { max_query_size: '10000000' },
  })
  return answer.json()
}

it.each(routes)(
  '$name says the same as CSV and as Parquet, by another parser',
  async ({ tier, endpoint }) => {
    const asked = () => send(tier, endpoint)
    const json = await asked()
    const rows: unknown[] = json.body[endpoint.table ?? '']
    const leaves = rows.map(leavesOf)
    for (const [type, format] of [
      ['text/csv', 'CSVWithNames'],
      ['application/vnd.apache.parquet', 'Parquet'],
    ] as const) {
      const answer = await asked().set('accept', type).buffer(true).parse(asBytes)
      expect([answer.status, answer.headers['content-type']?.split(';')[0]]).toEqual([200, type])
      expect(answer.headers['vary']?.toLowerCase()).toMatch(/\baccept\b(?!-)/)
      expect(answer.headers['etag'] === undefined).toBe(json.headers['etag'] === undefined)
      expect(answer.headers['etag']).not.toBe(json.headers['etag'])
      const bytes = answer.body as Buffer
      if (rows.length === 0) {
        // ClickHouse reads no table without a row.
        expect(bytes.toString('latin1')).toMatch(format === 'Parquet' ? /^PAR1.*PAR1$/s : /^[\w,]+\r\n$/)
        continue
      }
      const found = await readTable(bytes, format)
      expect(found.length).toBe(rows.length)
      for (const [i, row] of found.entries()) {
        const told = Object.fromEntries(
          Object.entries(row).filter(([, value]) => value !== null && value !== ''),
        )
        const meant = [...(leaves[i] ?? [])].filter(([, value]) => value !== '')
        expect(Object.keys(told).sort()).toEqual(meant.map(([name]) => name).sort())
        for (const [name, value] of meant)
          if (typeof value === 'number') expect(Number(told[name])).toBe(value)
          else expect(told[name]).toBe(value)
      }
      const unchanged = await asked().set('accept', type).set('if-none-match', String(answer.headers['etag']))
      expect(unchanged.status).toBe(304)
      const documented = openApiDocument(endpoints, tier).paths?.[`/${tier}${endpoint.path}`]?.get?.responses
      expect(Object.keys((documented?.['200'] as { content?: object } | undefined)?.content ?? {})).toContain(
        type,
      )
    }
    const none = await asked().set('accept', 'image/png')
    expect([none.status, none.headers['x-credits-used']]).toEqual([406, '0'])
    expect(none.body.message).toContain('application/json, text/csv, application/vnd.apache.parquet')
    const browser = await asked().set('accept', 'text/html,application/xml;q=0.9,*/*;q=0.8')
    expect(browser.body).toEqual(json.body)
  },
)

it('names the next page of a table in a header', async () => {
  const path = `/v2/historical/mainnet/${w.USD_VAULT}/tvl?granularity=1day&perPage=2`
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey).set('accept', 'text/csv')
  expect(answer.headers['link']).toBe(`<${path.slice(path.indexOf('?'))}&page=1>; rel="next"`)
  expect(answer.text.split('\r\n')).toHaveLength(4)
})

it('what clients say beside a media type changes nothing, of an answer at hand neither; what a table cannot say is a header', async () => {
  const path = `/v2/historical/mainnet/${w.USD_VAULT}/tvl?granularity=1day&perPage=3`
  const asked = (accept: string, at = path) =>
    request(api.app).get(at).set('x-api-key', api.apiKey).set('accept', accept)
  const typeOf = async (accept: string) => (await asked(accept)).headers['content-type']?.split(';')[0]
  for (const json of [
    'application/json; charset=utf-8',
    'application/json, text/plain, */*',
    '*/*',
    'application/*;v=2',
  ])
    for (const _ of ['made', 'at hand']) expect(await typeOf(json), json).toBe('application/json')
  for (const csv of [
    'text/csv; charset=utf-8',
    'text/csv;header=present;q=0.9, application/json;q=0.1',
    'text/*, */*;q=0.1',
  ])
    for (const _ of ['made', 'at hand']) expect(await typeOf(csv), csv).toBe('text/csv')
  expect((await asked('text/csv')).headers['x-warnings']).toBeUndefined()
  const statement = `/beta/portfolio/statement?wallets=0x${'1'.repeat(40)}&fromTimestamp=${w.START}&allowedNetworks=mainnet,nöwhere`
  const warned = await asked('text/csv', statement)
  expect(warned.headers['x-warnings']).toContain('n\\u00f6where')
  expect(JSON.parse(String(warned.headers['x-warnings']))).toMatchObject({ unsupportedNetworks: ['nöwhere'] })
})
