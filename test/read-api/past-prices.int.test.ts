import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import * as w from './world.ts'

let api: ApiHarness
let append: ReturnType<typeof w.laterBlocks>
const world = w.makeWorld()
beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
  append = w.laterBlocks(api, world)
})
afterAll(() => api?.stop())

const sampled: DomainEvent = {
  type: 'StateSampled',
  contract: w.NESTED_VAULT,
  data: {
    vault: w.NESTED_VAULT,
    reason: 'hourly',
    totalAssets: 3n * 10n ** 18n,
    totalSupply: 2n * 10n ** 18n,
    sharePrice: 15n * 10n ** 17n,
    decimals: 18,
    assetDecimals: 18,
  },
}

async function read(path: string) {
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

it('prices the past as the facts of that time say', async () => {
  const peg = (usd: string) => [{ subject: `asset:1:${w.ODD_ASSET}`, kind: 'peg', value: { usd } }]
  await api.recordFacts(peg('10'), w.START + 5 * w.DAY)
  await api.recordFacts(peg('12'), w.START + 10 * w.DAY)
  await api.catchUp()
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

it('prices a share over time since all its parts have a price, on full pages', async () => {
  const feed = `0x${'f3'.repeat(20)}`
  const fact = { subject: `asset:1:${w.USD_VAULT}`, kind: 'feed', value: { feed, decimals: 8 } }
  await api.recordFacts([fact], w.START)
  // The vault had been sampled for forty days before.
  const data = { source: 'chainlink', feed, answer: 200_000_000n, decimals: 8, reportedAt: w.START } as const
  await append([{ type: 'PriceReported', contract: `0x${'a9'.repeat(20)}`, data }])
  const first = (api.catalogue.current().chain(1)?.blockTime ?? 0) + w.HOUR
  for (let hour = 0; hour < 3; hour++) await append([sampled])
  const path = `/v2/historical/asset-prices/mainnet/${w.NESTED_VAULT}?perPage=2`
  const pointOf = (hour: number) => ({ timestamp: first + hour * w.HOUR, priceInUsd: '3' })
  expect(await read(path)).toEqual({ itemsOnPage: 2, nextPage: 1, data: [pointOf(0), pointOf(1)] })
  expect(await read(`${path}&page=1`)).toEqual({ itemsOnPage: 1, nextPage: null, data: [pointOf(2)] })
})

it('prices a page that begins long after a report until the feed has missed three of them', async () => {
  const feed = `0x${'f4'.repeat(20)}`
  const reportedAt = (api.catalogue.current().chain(1)?.blockTime ?? 0) + w.HOUR
  const value = { feed, decimals: 8, heartbeat: w.HOUR }
  await api.recordFacts([{ subject: `asset:1:${w.USD_VAULT}`, kind: 'feed', value }], reportedAt)
  const data = { source: 'chainlink', feed, answer: 500_000_000n, decimals: 8, reportedAt } as const
  await append([{ type: 'PriceReported', contract: `0x${'a9'.repeat(20)}`, data }])
  for (let hour = 0; hour < 4; hour++) await append([sampled])
  const path = `/v2/historical/mainnet/${w.NESTED_VAULT}/tvl?granularity=1hour&fromTimestamp=`
  const usdFrom = async (hour: number) =>
    (await read(`${path}${reportedAt + hour * w.HOUR}`)).data.map(
      (row: { tvl: { usd: string } }) => row.tvl.usd,
    )
  // Three assets of 5 USD each; at three hours the report is as old as it may be.
  expect(await usdFrom(1)).toEqual(['15', '15', '15', ''])
  expect(await usdFrom(3)).toEqual(['15', ''])
  expect(await usdFrom(4)).toEqual([''])
})
