import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { CONFIGURATOR, POOL } from './lending-world.ts'
import * as w from './world.ts'

/**
 * A pool of v3.5: what is supplied is worth its scaled units times the index, rounded down, what is owed rounded up
 * (getATokenBalance and getVTokenBalance of TokenMath.sol). In lending-world.ts the indexes of USDX are 1.1 and 1.2.
 */

let api: ApiHarness
let append: ReturnType<typeof w.laterBlocks>
const token = (side: 'supply' | 'debt', of: 'd' | 'e' = 'd') =>
  `0x${`${of}${side === 'supply' ? 1 : 2}`.repeat(20)}`
/** ×1.1 is 3,300,000,005.5 and ×1.2 is 1,200,000,001.2: half up is the other number each time. */
const scaled = { supply: 3_000_000_005n, debt: 1_000_000_001n }

beforeAll(async () => {
  api = await startApi()
  const world = w.makeWorld()
  await w.seed(api, world)
  append = w.laterBlocks(api, world)
  // Half up, 6 / 1.1 is 5 and 2 / 1.2 is 2.
  const minted = (side: 'supply' | 'debt', onBehalf: string): DomainEvent[] => [
    {
      type: 'ScaledMinted',
      protocol: 'aave-v3',
      contract: token(side),
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
    {
      type: 'PoolRevisionSampled',
      protocol: 'aave-v3',
      contract: token(side),
      data: { pool: POOL, revision: 9 },
    },
  ]
  await append([...minted('supply', w.BOB), ...minted('debt', w.ALICE)])
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

const RISK = { liquidationBonusBps: 10_500n }
const risk = (market: string, ltvBps: bigint, liquidationThresholdBps: bigint, eModeCategory?: number) =>
  ({
    type: 'RiskParametersChanged',
    protocol: 'aave-v3',
    contract: CONFIGURATOR,
    data: { market, ltvBps, liquidationThresholdBps, ...RISK, ...(eModeCategory ? { eModeCategory } : {}) },
  }) as DomainEvent
const counts = (enabled: boolean) =>
  ({
    type: 'ReserveFlagChanged',
    protocol: 'aave-v3',
    contract: CONFIGURATOR,
    data: { market: w.ETH_ASSET, flag: 'emode:3:collateral', enabled },
  }) as DomainEvent

it('health goes by the eMode, in which the zero of a reserve means nothing since v3.6', async () => {
  const { healthFactor: before } = await get(`/portfolio/positions/${w.ALICE}/mainnet/${POOL}`)
  /** What of a collateral of 82.5 % counts now, of all that Alice has of ETH. */
  const threshold = async () => {
    const { healthFactor } = await get(`/portfolio/positions/${w.ALICE}/mainnet/${POOL}`)
    return Math.round((healthFactor / before) * 8_250)
  }
  const entered: DomainEvent = {
    type: 'EModeChanged',
    protocol: 'aave-v3',
    contract: POOL,
    data: { user: w.ALICE, category: 3 },
  }
  await append([risk('emode:3', 9_000n, 9_300n, 3), counts(true), entered])
  expect(await threshold()).toBe(9_300)
  await append([risk(w.ETH_ASSET, 0n, 0n)])
  expect(await threshold()).toBe(0)
  const upgraded = (['supply', 'debt'] as const).map(
    (side): DomainEvent => ({
      type: 'PoolRevisionSampled',
      protocol: 'aave-v3',
      contract: token(side, 'e'),
      data: { pool: POOL, revision: 10 },
    }),
  )
  await append(upgraded)
  expect(await threshold()).toBe(9_300)
  // Taken out of the category that the reserve itself still names, as one of v3.1 and before had it.
  await append([risk(w.ETH_ASSET, 8_000n, 8_250n, 3), counts(false)])
  expect(await threshold()).toBe(8_250)
})
