import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { POOL } from './lending-world.ts'
import * as w from './world.ts'

/**
 * A pool of v3.5: what is supplied is worth its scaled units times the index, rounded down, what is owed rounded up
 * (getATokenBalance and getVTokenBalance of TokenMath.sol). In lending-world.ts the indexes of USDX are 1.1 and 1.2.
 */

let api: ApiHarness
const token = (side: 'supply' | 'debt') => `0x${(side === 'supply' ? 'd1' : 'd2').repeat(20)}`
/** ×1.1 is 3,300,000,005.5 and ×1.2 is 1,200,000,001.2: half up is the other number each time. */
const scaled = { supply: 3_000_000_005n, debt: 1_000_000_001n }

beforeAll(async () => {
  api = await startApi()
  const world = w.makeWorld()
  await w.seed(api, world)
  const last = world.blocks.at(-1)?.block
  if (!last) throw new Error('the world has no blocks')
  const sampled = (side: 'supply' | 'debt', account: string): DomainEvent => ({
    type: 'ScaledBalanceSampled',
    contract: token(side),
    data: { account, scaled: scaled[side], total: scaled[side] },
  })
  const block = { number: last.number + 1, hash: `0x${'5a'.repeat(32)}`, timestamp: last.timestamp + w.HOUR }
  await api.append(1, 'mainnet', [{ block, events: [sampled('supply', w.BOB), sampled('debt', w.ALICE)] }])
  await api.catchUp()
})
afterAll(() => api?.stop())

async function get(path: string) {
  const answer = await request(api.app).get(`/beta/borrow${path}`).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

it('positions, totals and history have the balances that the tokens say, rounded as they round them', async () => {
  const of = async (user: string) =>
    (await get(`/portfolio/positions/${user}/mainnet/${POOL}/${w.USD_ASSET}`)).asset
  expect((await of(w.BOB)).suppliedNative).toBe('3300000005')
  expect((await of(w.ALICE)).borrowedNative).toBe('1200000002')
  const [usd] = (await get(`/markets/mainnet/${POOL}`)).assetsData
  expect([usd.totalSupplied.native, usd.totalBorrowed.native]).toEqual(['3300000005', '1200000002'])
  const { data } = await get(`/markets/historical/mainnet/${POOL}/${w.USD_ASSET}?perPage=2000`)
  const told = data.map((point: Record<'totalSupplied' | 'totalBorrowed', { native: string }>) => [
    point.totalSupplied.native,
    point.totalBorrowed.native,
  ])
  expect(told.at(-2)).toEqual(['3300000000', '1200000000'])
  expect(told.at(-1)).toEqual(['3300000005', '1200000002'])
})
