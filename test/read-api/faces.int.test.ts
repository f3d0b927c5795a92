import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerProjections } from '../../jobs/checkpoints.ts'
import { loadProjections, type Projection } from '../../jobs/projection.ts'
import { runProjection } from '../../jobs/runner.ts'
import { findWork, work } from '../../jobs/work.ts'
import { createApp } from '../../read-api/app.ts'
import { createCatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { COMET, POOL } from './lending-world.ts'
import * as w from './world.ts'

const CORE = [
  '/v2/detailed-vaults?perPage=50',
  `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`,
  `/v2/portfolio/positions/${w.ALICE}`,
  `/v2/historical/mainnet/${w.ETH_VAULT}?granularity=1day`,
]
const LENDING = [
  '/beta/borrow/markets?perPage=50',
  '/beta/borrow/markets/mainnet',
  `/beta/borrow/markets/mainnet/${POOL}`,
  `/beta/borrow/portfolio/positions/${w.ALICE}`,
  `/beta/borrow/markets/mainnet/${COMET}`,
]
const all = await loadProjections()
const world = w.makeWorld()
const quiet = (hour: number) => {
  const last = world.blocks.at(-1)?.block ?? { number: 0, timestamp: 0 }
  const hash = `0x${(0x7b0000 + hour).toString(16).padStart(64, '0')}`
  const block = { number: last.number + hour, hash, timestamp: last.timestamp + hour * w.HOUR }
  const answer = { source: 'chainlink', feed: `0x${'a7'.repeat(20)}`, answer: 1n, decimals: 8 }
  const data = { ...answer, reportedAt: block.timestamp }
  return { block, events: [{ type: 'PriceReported' as const, contract: `0x${'a8'.repeat(20)}`, data }] }
}

async function answersOf(api: Pick<ApiHarness, 'app' | 'apiKey'>, routes: readonly string[]) {
  const answers: { route: string; status: number; body: string; asOf: string | undefined }[] = []
  for (const route of routes) {
    const answer = await request(api.app).get(route).set('x-api-key', api.apiKey)
    const asOf: string | undefined = answer.headers['x-as-of-block']
    answers.push({ route, status: answer.status, body: answer.text, asOf })
  }
  return answers
}

/** Does what there is to do for some projections, as workers of the new version do while others are still at it. */
async function advance(api: ApiHarness, projections: readonly Projection[]): Promise<void> {
  const context = { pool: api.pool, clickhouse: api.clickhouse, projections }
  for (let jobs = await findWork(api.pool, projections); jobs.length > 0; ) {
    for (const job of jobs) await work(context, job)
    jobs = await findWork(api.pool, projections)
  }
  await api.catalogue.refresh()
}

/** One batch of a few positions of one projection. */
async function begin(api: ApiHarness, projection: Projection): Promise<void> {
  let isOver = false
  await runProjection(api.pool, api.clickhouse, projection, 1, {
    limits: { batch: 20 },
    onBatch: () => {
      isOver = true
    },
    turn: { isOver: () => isOver },
  })
  await api.catalogue.refresh()
}

async function restarted(api: ApiHarness): Promise<Pick<ApiHarness, 'app' | 'apiKey'>> {
  const catalogue = createCatalogueKeeper(api.pool, api.clickhouse)
  await catalogue.refresh()
  return { app: await createApp({ ...api.deps, catalogue }), apiKey: api.apiKey }
}

let whole: ApiHarness
beforeAll(async () => {
  whole = await startApi()
  await w.seed(whole, world)
  await whole.append(1, 'mainnet', [quiet(1)])
  await whole.catchUp()
})
afterAll(() => whole?.stop())

describe.each([
  { added: 'vault_setting', face: 'core', others: [...CORE, ...LENDING], own: [] },
  { added: 'lending_setting', face: 'lending', others: CORE, own: LENDING.slice(0, 3) },
  { added: 'attributed_flow', face: 'attribution', others: [...CORE, ...LENDING], own: [] },
])('$added, added to the face $face of a filled store', ({ added, others, own }) => {
  let api: ApiHarness
  const fresh = all.filter(({ name }) => name === added)
  const older = all.filter(({ name }) => name !== added)
  let before: Awaited<ReturnType<typeof answersOf>>
  beforeAll(async () => {
    api = await startApi({ without: [added] })
    await w.seed(api, world)
    before = await answersOf(api, others)
  })
  afterAll(() => api?.stop())

  it('changes no answer of the others while it has not begun, and while it fills', async () => {
    for (const { status, route, asOf } of before) {
      expect(status, route).toBe(200)
      expect(asOf, route).toMatch(/^mainnet=\d+$/)
    }
    await registerProjections(api.pool, all)
    await api.catalogue.refresh()
    expect(await answersOf(api, others)).toEqual(before)
    for (const projection of fresh) await begin(api, projection)
    const { rows } = await api.pool.query<{ position: number; has_joined: boolean }>(
      'SELECT position, has_joined FROM checkpoint WHERE projection = $1 AND stream = 1',
      [added],
    )
    expect(rows).toEqual([{ position: expect.any(Number), has_joined: added === 'attributed_flow' }])
    expect(rows[0]?.position).toBeLessThan(100)
    expect(await answersOf(api, others)).toEqual(before)
    expect(await answersOf(await restarted(api), others)).toEqual(before)
  })

  it('answers that it is read for say what to wait for meanwhile', async () => {
    for (const { status, body } of await answersOf(api, own)) {
      expect(status).toBe(503)
      expect(JSON.parse(body).message).toMatch(
        new RegExp(`The read model ${added} is new and has not caught up on chain 1 yet.*npm run status`),
      )
    }
  })

  it('keeps nobody waiting when blocks come', async () => {
    await api.append(1, 'mainnet', [quiet(1)])
    await advance(api, older)
    const now = await answersOf(api, others)
    const blockOf = (asOf: string | undefined) => Number(asOf?.split('=')[1])
    for (const [i, { status, asOf, route }] of now.entries()) {
      expect(status, route).toBe(200)
      expect(blockOf(asOf), route).toBe(blockOf(before[i]?.asOf) + 1)
    }
  })

  it('is served with its face from when it has caught up, as if it had always been there', async () => {
    await advance(api, all)
    expect(await answersOf(api, [...CORE, ...LENDING])).toEqual(await answersOf(whole, [...CORE, ...LENDING]))
    const { rows } = await api.pool.query(
      'SELECT FROM checkpoint WHERE stream = 1 AND NOT has_joined AND projection <> $1',
      ['event'],
    )
    expect(rows).toEqual([])
  })
})

describe('a face that has not begun on a chain', () => {
  let api: ApiHarness
  const lending = all.filter(({ face }) => face === 'lending')
  beforeAll(async () => {
    api = await startApi({ without: lending.map(({ name }) => name) })
    await w.seed(api, world)
  })
  afterAll(() => api?.stop())

  it('is no market of that chain, and nothing to the core, until all of it has begun', async () => {
    const before = await answersOf(api, CORE)
    const [last, ...first] = lending
    if (!last) throw new Error('no projection of the face')
    await registerProjections(api.pool, all)
    await api.catalogue.refresh()
    for (const projection of first) await begin(api, projection)
    expect(await answersOf(api, CORE)).toEqual(before)
    const [list, network, market] = await answersOf(api, LENDING)
    expect([list?.status, network?.status, market?.status]).toEqual([200, 404, 404])
    expect(JSON.parse(list?.body ?? '').data).toEqual([])
    expect(JSON.parse(network?.body ?? '').message).toBe('No lending markets are indexed on mainnet.')

    await begin(api, last)
    const [begun] = await answersOf(api, LENDING)
    const served = Number(begun?.asOf?.split('=')[1])
    expect(served).toBeGreaterThan(0)
    expect(served).toBeLessThan(Number(before[0]?.asOf?.split('=')[1]))
    expect(await answersOf(api, CORE)).toEqual(before)
    await advance(api, all)
    expect(JSON.parse((await answersOf(api, LENDING))[0]?.body ?? '').data.length).toBeGreaterThan(3)
    expect(await answersOf(api, CORE)).toEqual(before)
  })
})
