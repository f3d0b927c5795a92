import request from 'supertest'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import * as p from './portfolio-world.ts'
import * as w from './world.ts'

/** Analytics of many vaults: the page against single answers and against the list of what happened. */

const OPTIMISM = 10
const BASE = 8453
const world = w.makeWorld()
const wallets = p.makePortfolioWorld(20_250_101)
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await api.append(OPTIMISM, 'optimism', wallets.blocks)
  await api.append(BASE, 'base', p.makeShelf())
  await w.seed(api, world)
}, 120_000)
afterAll(() => api?.stop())

const lower = (address: string) => address.toLowerCase()

it('say of each what it alone says', async () => {
  const select = {
    maxDrawdown: true,
    detailedVault: true,
    withdrawalPauseRatio: true,
    composition: true,
    utilizationRate: true,
  }
  const list = await request(api.app)
    .post('/beta/advanced-analytics?allowedNetworks=mainnet,optimism,nowhere')
    .set('x-api-key', api.apiKey)
    .send({ select })
  expect(list.status).toBe(200)
  expect(list.body.errors.unsupportedNetworks).toEqual(['nowhere'])
  expect(list.body.data).toHaveLength(world.vaults.length + wallets.vaults.length)
  expect(list.headers['x-credits-used']).toBe(String(1 + 10 * list.body.data.length))
  for (const item of list.body.data) {
    const one = await request(api.app)
      .post(`/alpha/advanced-analytics/${item.network}/${item.vaultId}`)
      .set('x-api-key', api.apiKey)
      .send({ select })
    expect(one.body).toEqual(item)
    expect(item).toMatchObject({ withdrawalPauseRatio: { value: null }, utilizationRate: { value: null } })
  }
  // A seventh was lost on the twelfth day.
  for (const { vault } of wallets.vaults) {
    const item = list.body.data.find(({ vaultId }: { vaultId: string }) => lower(vaultId) === vault)
    const prices = (wallets.states.get(vault) ?? []).map(({ assets, supply }) =>
      Number(
        (10n ** 24n * (assets + 1n)) /
          (supply + (lower(item.vaultId) === wallets.vaults[0]?.vault ? 10n ** 12n : 1n)),
      ),
    )
    let peak = 0
    let fall = 0
    for (const price of prices) {
      peak = Math.max(peak, price)
      fall = Math.max(fall, 1 - price / peak)
    }
    expect(item.maxDrawdown.mdd30days).toBeCloseTo(fall, 5)
  }
})

it('ask as many questions for fifty vaults as for two', async () => {
  const select = { maxDrawdown: true, withdrawalPauseRatio: true, composition: true, utilizationRate: true }
  const asked = vi.spyOn(api.deps.clickhouse, 'query')
  const questions = async (perPage: number) => {
    asked.mockClear()
    const list = await request(api.app)
      .post(`/beta/advanced-analytics?allowedNetworks=base&perPage=${perPage}`)
      .set('x-api-key', api.apiKey)
      .send({ select })
    expect(list.body.itemsOnPage).toBe(perPage)
    return asked.mock.calls.length
  }
  // The markets of the chain are read once per moment.
  await questions(1)
  expect(await questions(50)).toBe(await questions(2))
  // Drawdowns, pauses, shares held, supplies to Morpho and to Aave.
  expect(await questions(50)).toBe(5)
  asked.mockRestore()
})

it('cost one and nothing more where nothing is selected', async () => {
  const list = await request(api.app)
    .post('/alpha/advanced-analytics?perPage=2')
    .set('x-api-key', api.apiKey)
    .send({})
  expect(list.headers['x-credits-used']).toBe('1')
  expect(list.body.data.map(Object.keys)).toEqual([
    ['vaultId', 'network'],
    ['vaultId', 'network'],
  ])
})
