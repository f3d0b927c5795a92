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
  // Half up, 6 / 1.1 is 5 and 2 / 1.2 is 2.
  const minted = (side: 'supply' | 'debt', onBehalf: string): DomainEvent[] => [
    {
      type: 'ScaledMinted',
      contract: token(side),
      logIndex: side === 'supply' ? 1 : 2,
      transactionHash: `0x${'5b'.repeat(32)}`,
      data: {
        side: side === 'supply' ? 'supply' : 'variableDebt',
        caller: onBehalf,
        onBehalf,
        value: side === 'supply' ? 6n : 2n,
        balanceIncrease: 0n,
        indexRay: (10n ** 27n * (side === 'supply' ? 11n : 12n)) / 10n,
        scaledChange: scaled[side] - (side === 'supply' ? 3_000_000_000n : 1_000_000_000n),
      },
    },
    { type: 'PoolRevisionSampled', contract: token(side), data: { pool: POOL, revision: 9 } },
  ]
  const block = { number: last.number + 1, hash: `0x${'5a'.repeat(32)}`, timestamp: last.timestamp + w.HOUR }
  await api.append(1, 'mainnet', [
    { block, events: [...minted('supply', w.BOB), ...minted('debt', w.ALICE)] },
  ])
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
