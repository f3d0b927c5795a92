import request from 'supertest'
import { expect, onTestFinished } from 'vitest'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { Feed } from '../../../read-api/feed/feed.ts'
import { Deliveries, type DeliveriesOptions } from '../../../read-api/webhooks/deliveries.ts'
import type { ApiHarness } from '../harness.ts'
import { receive } from '../webhooks/receiver.ts'
import type * as w from '../world.ts'

export type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never
export type BlockEvent = Omit<DomainEvent, 'protocol' | 'logIndex' | 'transactionHash'>

/** One more block after `last`, and the read models of it. */
export async function mineBlock(
  api: ApiHarness,
  last: { number: number; timestamp: number; chain?: { id: number; name: string } },
  ...events: BlockEvent[]
) {
  last.number++
  last.timestamp += 12
  const { number, timestamp, chain = { id: 1, name: 'mainnet' } } = last
  const hash = `0x${number.toString(16).padStart(62, '0')}${Math.floor(Math.random() * 256)
    .toString(16)
    .padStart(2, '0')}`
  const made = events.map(
    (event, logIndex) => ({ protocol: 'erc-4626', logIndex, transactionHash: hash, ...event }) as DomainEvent,
  )
  await api.append(chain.id, chain.name, [{ block: { number, timestamp, hash }, events: made }])
  await api.catchUp()
}

export const paused = (vault: string, isPaused = true) =>
  ({ type: isPaused ? 'Paused' : 'Unpaused', contract: vault, data: {} }) as never

export const priceReported = (feed: string, answer: bigint, reportedAt: number) =>
  ({
    type: 'PriceReported',
    contract: `0x${'a9'.repeat(4)}${feed.slice(10)}`,
    data: { source: 'chainlink', feed, answer, decimals: 8, reportedAt },
  }) as never

/** So many hundredths of what a vault had last. */
export function sampled(world: w.World, vault: string, part: bigint) {
  const sample = world.samples.findLast(one => one.vault === vault)
  return {
    type: 'StateSampled',
    contract: vault,
    data: {
      vault,
      reason: 'interval',
      totalAssets: ((sample?.assets ?? 0n) * part) / 100n,
      totalSupply: sample?.supply,
      sharePrice: ((sample?.price ?? 0n) * part) / 100n,
      decimals: 18,
      assetDecimals: 6,
    },
  } as never
}

type ReadModels = NonNullable<DeliveriesOptions['readModels']>

/** Everything that is delivered, as the API does; over when the test is. */
export function delivering(
  api: ApiHarness,
  {
    feed = new Feed(api.pool),
    mostWaiting,
    ...readModels
  }: Partial<ReadModels> & { feed?: Feed; mostWaiting?: number } = {},
) {
  const begin = () => {
    const begun = new Deliveries({
      pool: api.pool,
      feed,
      poster: api.deps.webhooks.poster,
      credits: api.deps.credits,
      readModels: { catalogue: api.catalogue, clickhouse: api.clickhouse, noteMs: 0, ...readModels },
      sweepMs: 20,
      ...(mostWaiting ? { mostWaiting } : {}),
    })
    begun.start()
    return begun
  }
  let deliveries = begin()
  onTestFinished(async () => {
    await deliveries.stop()
    await feed.stop()
  })
  return {
    stop: () => deliveries.stop(),
    again() {
      deliveries = begin()
    },
  }
}

/** A webhook with these rules, being delivered: what it was told, in order, as rule and type. */
export async function watch(
  api: ApiHarness,
  rules: object[],
  answer: () => number = () => 200,
  options: Parameters<typeof delivering>[1] = {},
) {
  const messages: { id: string; type: string; blockNumber: string; data: Record<string, unknown> }[] = []
  const receiver = await receive(({ body }) => {
    messages.push(JSON.parse(body))
    return answer()
  })
  onTestFinished(() => receiver.close())
  const made = await request(api.app)
    .post('/beta/webhooks')
    .set('x-api-key', api.apiKey)
    .send({ url: receiver.url, events: false, rules })
  expect(made.status, made.text).toBe(200)
  const deliveries = delivering(api, options)
  const show = async () =>
    (await request(api.app).get(`/beta/webhooks/${made.body.id}`).set('x-api-key', api.apiKey)).body
  return {
    id: made.body.id as string,
    messages,
    show,
    stopDelivering: deliveries.stop,
    deliverAgain: deliveries.again,
    told: () => messages.map(({ type, data }) => `${data['rule']} ${type}`),
    states: async () => (await show()).rules.map(({ state }: { state: string }) => state),
  }
}
