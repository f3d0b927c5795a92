import request from 'supertest'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ClickHouse } from '../../db/clickhouse/client.ts'
import { identifier } from '../../db/clickhouse/migrate.ts'
import { openApiDocument } from '../../read-api/http/documentation.ts'
import { type Tier, tiersOf } from '../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { seededRandom } from '../chain/random.ts'
import { createClickHouse } from '../databases.ts'
import { RandomChain } from '../jobs/streams.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { stand } from './stand.ts'
import { makeSolana, type SolanaWorld, seatSolana } from './svm/world.ts'
import * as w from './world.ts'

/**
 * Answers follow from rows, however these lie on disk: of two APIs over the same rows, one has them merged into one part, the other in
 * many that nobody merges, as they come at the head of a chain.
 */

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 })

const PARTS = 12
const DRAWS = 6
const OTHER = { id: 8453, name: 'base' }

let merged: ApiHarness
let scattered: ApiHarness
let solana: SolanaWorld
let dropScattered: () => Promise<void>

beforeAll(async () => {
  solana = await makeSolana()
  merged = await startApi({ solanaUrl: solana.node.url })
  await w.seed(merged, w.makeWorld())
  await seatSolana(merged, solana)
  await merged.append(OTHER.id, OTHER.name, new RandomChain(5).lengthen(90))
  await merged.catchUp()
  const { house, drop } = await createClickHouse()
  dropScattered = drop
  await scatter(merged.house, house)
  const on = {
    postgres: { pool: merged.pool, url: merged.databaseUrl, drop: async () => {} },
    clickhouse: house,
  }
  scattered = await startApi({ on, solanaUrl: solana.node.url })
  await scattered.catalogue.refresh()
  await merged.catalogue.refresh()
  names.push(await namesOn(1, 'mainnet'), await namesOn(OTHER.id, OTHER.name))
})
afterAll(async () => {
  await scattered?.stop()
  await dropScattered?.()
  await merged?.stop()
  await solana?.node.close()
})

/** The rows of one database in many parts of another, in the order in which they came; those of the one are merged. */
async function scatter(from: ClickHouse, to: ClickHouse): Promise<void> {
  const tables = await from.query<{ name: string; has_position: number }>(
    'test',
    `SELECT name, has_position FROM system.tables
    LEFT JOIN (SELECT table, 1 AS has_position FROM system.columns WHERE database = currentDatabase() AND name = 'position') AS c
      ON c.table = name
    WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0 AND name != 'migration'`,
  )
  for (const table of tables) {
    const name = identifier(table.name)
    const source = `${identifier(from.database)}.${name}`
    await to.command('test', `SYSTEM STOP MERGES ${name}`)
    const cuts = table.has_position
      ? await from.query<{ to: string }>(
          'test',
          `SELECT DISTINCT toString(arrayJoin(quantilesExact(${Array.from({ length: PARTS }, (_, i) => (i + 1) / PARTS)})(position))) AS to
          FROM ${source} ORDER BY toUInt64(to)`,
        )
      : []
    let after = -1
    for (const cut of cuts.length > 0 ? cuts : [{ to: undefined }]) {
      const where = cut.to === undefined ? '' : `WHERE position > ${after} AND position <= ${cut.to}`
      await to.command(
        'test',
        `INSERT INTO ${name} SETTINGS insert_deduplicate = 0 SELECT * FROM ${source} ${where}`,
      )
      after = Number(cut.to)
    }
    await from.command('test', `OPTIMIZE TABLE ${source} FINAL`)
  }
}

interface Parameter {
  name: string
  in: string
  schema: { enum?: string[] }
}
const documents = new Map<Tier, ReturnType<typeof openApiDocument>>()
const endpoints = await loadEndpoints()
const operations = endpoints.flatMap(({ endpoint }) =>
  tiersOf(endpoint).flatMap(tier => {
    const document = documents.get(tier) ?? openApiDocument(endpoints, tier)
    documents.set(tier, document)
    const path = `/${tier}${endpoint.path}`
    const operation = document.paths?.[path]?.get as { parameters?: Parameter[] } | undefined
    // What is made of a node's answers, or of the key that asks, is not made of rows.
    if (endpoint.method !== 'get' || path.includes('/transactions/')) return []
    return [{ path, example: endpoint.example, parameters: operation?.parameters ?? [] }]
  }),
)

/** Values by the names of parameters, of what there is on a chain. */
type Names = Readonly<Record<string, readonly string[]>>

async function namesOn(chain: number, network: string): Promise<Names> {
  const { app, apiKey, house } = merged
  const column = async (table: string, value: string) => {
    const sql = `SELECT DISTINCT toString(${value}) AS value FROM ${table} WHERE chain_id = {chain:UInt32} ORDER BY value`
    return (await house.query<{ value: string }>('test', sql, { chain })).map(row => row.value)
  }
  const { body } = await request(app).get(`/beta/borrow/markets/${network}`).set('x-api-key', apiKey)
  const markets = body.data as { marketId: string; assetsData: { marketAssetId: string }[] }[]
  const times = await column('flow', 'toUnixTimestamp(timestamp)')
  return {
    network: [network],
    userAddress: await column('account_vault', 'account'),
    vaultId: await column('vault', 'vault'),
    assetAddress: await column('asset', 'asset'),
    marketId: markets.map(({ marketId }) => marketId),
    assetId: markets.flatMap(({ assetsData }) => assetsData.map(({ marketAssetId }) => marketAssetId)),
    timestamp: times,
    fromTimestamp: times.slice(0, times.length / 2),
    toTimestamp: times.slice(times.length / 2),
    perPage: ['1', '7', '100'],
  }
}

const fill = (value: string) => stand[value] ?? value
const names: Names[] = []
const tally: Record<number, number> = {}

/** What the documentation asks, and what is drawn of all that there is. */
function* questionsOf({ path, example, parameters }: (typeof operations)[number]) {
  const query = Object.entries(example.query ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(fill) : fill(String(value)),
  ])
  const filled = (chosen: (name: string) => string | undefined) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => chosen(name) ?? fill(example.params?.[name] ?? ''))
  yield { path: filled(() => undefined), query: Object.fromEntries(query) }
  const random = seededRandom(path.length)
  for (let i = 0; i < DRAWS; i++) {
    const there = path.includes('/svm/') ? {} : (names[i % names.length] ?? {})
    const chosen = (name: string) => random.pick(there[name] ?? [])
    const drawn = parameters.flatMap(({ name, in: place, schema }) => {
      const value =
        place === 'query' && random.chance(0.3) && (random.pick(schema.enum ?? []) ?? chosen(name))
      return value ? [[name, value]] : []
    })
    yield { path: filled(chosen), query: Object.fromEntries([...query, ...drawn]) }
  }
}

async function ask({ app, apiKey }: ApiHarness, path: string, query: object) {
  const { status, body, headers } = await request(app).get(path).query(query).set('x-api-key', apiKey)
  // An error has the number of its request.
  return { status, answer: status === 200 ? body : body.error, asOf: headers['x-as-of-block'] }
}

it('one has few parts, the other many', async () => {
  const sql = 'SELECT count() AS parts FROM system.parts WHERE active AND database = currentDatabase()'
  const [few, many] = await Promise.all(
    [merged, scattered].map(
      async ({ house }) => (await house.query<{ parts: string }>('test', sql))[0]?.parts,
    ),
  )
  expect(Number(many)).toBeGreaterThan(4 * Number(few))
})

it.for(operations)('$path says the same of both', async operation => {
  for (const { path, query } of questionsOf(operation)) {
    const [one, other] = [await ask(merged, path, query), await ask(scattered, path, query)]
    tally[one.status] = (tally[one.status] ?? 0) + 1
    expect(other, `${path} ${JSON.stringify(query)}`).toEqual(one)
    // There is no node here.
    if (one.status === 503) return
  }
})

it('most of what was asked has an answer', () => {
  const total = Object.values(tally).reduce((sum, n) => sum + n, 0)
  expect(tally[200] ?? 0, JSON.stringify(tally)).toBeGreaterThan(0.75 * total)
})
