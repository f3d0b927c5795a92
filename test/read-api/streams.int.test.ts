import type { Test } from 'supertest'
import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromBase58, toBase58 } from '../../db/base58.ts'
import { decodeEventData } from '../../db/events/event-json.ts'
import { type BlockEvents, readEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { MIRROR } from '../../db/wake-ups.ts'
import { loadProjections, tablesOf } from '../../jobs/projection.ts'
import { catchUpAll, findWork } from '../../jobs/work.ts'
import { createApp } from '../../read-api/app.ts'
import { createCatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { tiersOf } from '../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { appendBlocks } from './append.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { stand } from './stand.ts'
import * as w from './world.ts'

/** A stream of another kind than the networks of the API: nothing of it is in an answer or a read model of theirs. */

const SOLANA = 1_399_811_149
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const endpoints = await loadEndpoints()
const projections = await loadProjections()
const world = w.makeWorld()
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
})
afterAll(() => api?.stop())

/** The example of every endpoint of theirs, by every network's name where it has one. */
async function answers(app: ApiHarness['app']): Promise<Record<string, unknown>> {
  const given: Record<string, unknown> = {}
  for (const { endpoint } of endpoints) {
    const { method, path, example } = endpoint
    // Webhooks are of a key, and of whatever streams there are.
    if (/^\/(svm|webhooks)\b/.test(path)) continue
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value = example.params?.[name] ?? ''
      return encodeURIComponent(stand[value] ?? value)
    })
    const query = Object.fromEntries(
      Object.entries(example.query ?? {}).map(([name, value]) => [
        name,
        typeof value === 'string' ? (stand[value] ?? value) : value,
      ]),
    )
    // Events are told of every stream, where none is named.
    if (path === '/feed') query.networks = 'mainnet'
    for (const tier of tiersOf(endpoint)) {
      const asked: Test =
        method === 'get' ? request(app).get(`/${tier}${filled}`) : request(app).post(`/${tier}${filled}`)
      asked.set('x-api-key', api.apiKey).query(query)
      const answer = await (example.body ? asked.send(example.body as object) : asked)
      const { errorId, ...body } = answer.body as Record<string, unknown>
      given[`${method} /${tier}${path}`] = [answer.status, body, answer.headers['x-as-of-block']]
    }
  }
  return given
}

async function sums(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const table of projections.flatMap(tablesOf)) {
    const answer = await api.clickhouse.query({
      query: `SELECT toString(count()) AS rows, toString(sum(cityHash64(toString(tuple(*))))) AS sum FROM ${table}`,
      format: 'JSONEachRow',
    })
    found[table] = (await answer.json())[0]
  }
  return found
}

/** The same with accounts of 32 bytes. */
const widened = (event: DomainEvent): DomainEvent =>
  JSON.parse(
    JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? `int ${value}` : value)).replaceAll(
      /"0x([0-9a-f]{40})"/g,
      `"0x$1${'5a'.repeat(12)}"`,
    ),
    (_, value) => (typeof value === 'string' && value.startsWith('int ') ? BigInt(value.slice(4)) : value),
  )

it('changes no answer and no read model of theirs, whatever it is said to hold', async () => {
  const before = { answers: await answers(api.app), sums: await sums() }
  const last = world.blocks.at(-1)?.block ?? { number: 0, timestamp: 0 }
  const program = fromBase58(TOKEN_PROGRAM) ?? ''
  const signature = `0x${'c5'.repeat(64)}`
  const own: BlockEvents = {
    block: { number: last.number + 1, hash: `0x${'5b'.repeat(32)}`, timestamp: last.timestamp + 1 },
    events: [
      {
        type: 'ShareTransferred',
        contract: program,
        transactionHash: signature,
        logIndex: 64 * 256 + 63,
        data: { from: program, to: `0x${'00'.repeat(32)}`, shares: 7n },
      },
    ],
  }
  // What the EVM chain holds, with accounts of 32 bytes and once more with the very addresses of its vaults and wallets.
  const events = world.blocks.map(({ block, events }) => ({
    block,
    events: [...events.map(widened), ...events],
  }))
  await appendBlocks(api.pool, SOLANA, 'solana', [...events, own], 'svm')
  await catchUpAll({ pool: api.pool, clickhouse: api.clickhouse, projections })
  await api.catalogue.refresh()

  const stored = await readEvents(api.pool, SOLANA, { after: 0 })
  expect(stored.length).toBe(2 * world.blocks.reduce((sum, { events }) => sum + events.length, 0) + 1)
  for (const { type, data } of stored) decodeEventData(type, data)
  expect(stored.at(-1)).toMatchObject({ contract: program, tx_hash: signature, log_index: 64 * 256 + 63 })

  const staged = await api.clickhouse.query({
    query: `SELECT contract, tx_hash, JSONExtractString(data, 'from') AS "from", count() OVER () AS events
      FROM (SELECT * FROM event FINAL WHERE stream = ${SOLANA}) ORDER BY position DESC LIMIT 1`,
    format: 'JSONEachRow',
  })
  const [row] = await staged.json<{ contract: string; tx_hash: string; from: string; events: string }>()
  expect(row).toMatchObject({ contract: program, tx_hash: signature })
  expect(toBase58(row?.from ?? '')).toBe(TOKEN_PROGRAM)
  expect(Number(row?.events)).toBe(stored.length)

  expect(await sums()).toEqual(before.sums)
  expect(await answers(api.app)).toEqual(before.answers)
  const catalogue = createCatalogueKeeper(api.pool, api.clickhouse)
  await catalogue.refresh()
  expect([...catalogue.current().moment.chains.keys()]).toEqual([1])
  expect(await answers(await createApp({ ...api.deps, catalogue }))).toEqual(before.answers)
  expect(
    Object.values(before.answers).filter(answer => (answer as unknown[])[0] === 200).length,
  ).toBeGreaterThan(30)
})

it('is copied, and no read model of the networks has work with it or waits for it', async () => {
  const { rows } = await api.pool.query('SELECT projection FROM checkpoint WHERE stream = $1', [SOLANA])
  const ofIts = projections.filter(({ streams }) => streams === 'svm').map(({ name }) => name)
  expect(rows.map(({ projection }) => projection).sort()).toEqual([MIRROR, ...ofIts].sort())
  expect(await findWork(api.pool, projections)).toEqual([])
})

it('a face is of one kind of chain', () => {
  const kinds = new Map<string, Set<string>>()
  for (const { face, streams } of projections) {
    if (streams === 'registry') continue
    kinds.set(face, (kinds.get(face) ?? new Set()).add(streams))
  }
  for (const [face, streams] of kinds) expect([face, streams.size]).toEqual([face, 1])
})
