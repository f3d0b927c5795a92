import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import * as w from './world.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
})
afterAll(() => api?.stop())

it('prices the past as the facts of that time say', async () => {
  const peg = (usd: string) => [{ subject: `asset:1:${w.ODD_ASSET}`, kind: 'peg', value: { usd } }]
  await api.recordFacts(peg('10'), w.START + 5 * w.DAY)
  await api.recordFacts(peg('12'), w.START + 10 * w.DAY)
  await api.catchUp()
  const read = async (path: string) => {
    const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body
  }
  const window = `fromTimestamp=${w.START + 3 * w.DAY}&toTimestamp=${w.START + 12 * w.DAY}&granularity=1day`
  const { data } = await read(`/v2/historical/mainnet/${w.ODD_VAULT}/tvl?${window}`)
  // 12 shares of 2.5 assets with 8 decimals.
  const usd = data.map(({ tvl }: { tvl: { usd: string } }) => Number(tvl.usd))
  expect(usd).toEqual([300, 300, 300, 300, 300, 300, 300, 360, 360, 360])
  for (const [day, price] of [
    [4, '10'],
    [9, '10'],
    [11, '12'],
  ] as const) {
    const body = await read(`/alpha/historical-balances/${w.ALICE}/${w.START + day * w.DAY}`)
    const position = body.data.find(
      ({ address }: { address: string }) => address.toLowerCase() === w.ODD_VAULT,
    )
    expect(position.asset.assetPriceInUsd).toBe(price)
  }
  const prices = await read(`/v2/historical/asset-prices/mainnet/${w.ODD_ASSET}?granularity=1day&perPage=8`)
  expect(prices.data.map(({ priceInUsd }: { priceInUsd: string }) => priceInUsd)).toEqual([
    '10',
    '10',
    '10',
    '10',
    '10',
    '12',
    '12',
    '12',
  ])
  expect(prices.data[0].timestamp).toBe(w.START + 5 * w.DAY)
})
