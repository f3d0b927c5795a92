import { afterAll, beforeAll, expect, it } from 'vitest'
import { rewindChain } from '../../../db/events/rewind.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as w from '../world.ts'
import { mineBlock, priceReported, watch } from './watching.ts'

/** What moves a rule besides its own chain: prices of another one, the registry, a replay. */

let api: ApiHarness
const world = w.makeWorld()
const BASE_FEED = `0x${'fb'.repeat(20)}`
const { timestamp } = w.lastBlock(world)
const base = { number: 0, timestamp, chain: { id: 8453, name: 'base' } }

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
})
afterAll(() => api?.stop())

const report = (answer: bigint) => mineBlock(api, base, priceReported(BASE_FEED, answer, base.timestamp))
const positionOf = async (stream: number): Promise<number> =>
  (await api.pool.query('SELECT head FROM stream WHERE id = $1', [stream])).rows[0].head

it('a price on another chain, and the registry, move a rule whose own chain stands still', async () => {
  const hook = await watch(api, [
    { kind: 'depeg', network: 'mainnet', assetAddress: w.ODD_ASSET, threshold: '0.02' },
    { kind: 'depeg', network: 'mainnet', assetAddress: w.USD_ASSET, threshold: '0.02' },
  ])
  await expect.poll(hook.states).toEqual(['unknown', 'clear'])
  const still = await positionOf(1)
  await report(100_000_000n)
  // Only now the registry says that the price of the asset is reported there.
  const value = { feed: BASE_FEED, decimals: 8, chainId: 8453 }
  await api.recordFacts([{ subject: `asset:1:${w.ODD_ASSET}`, kind: 'feed', value }], timestamp)
  await api.catchUp()
  await expect.poll(hook.states).toEqual(['clear', 'clear'])
  const height = base.number
  await report(97_000_000n)
  await expect.poll(hook.told).toEqual(['1 alert.fired'])
  expect(hook.messages[0]).toMatchObject({ network: 'mainnet', data: { value: '0.03' } })

  // The block that fired it is of the other chain, and so is the fork.
  await rewindChain(api.pool, 8453, 'base', height)
  await api.catchUp()
  await expect.poll(hook.told).toEqual(['1 alert.fired', '1 alert.retracted'])
  expect(hook.messages[1]?.data['alertId']).toBe(hook.messages[0]?.data['alertId'])
  base.number = height
  await report(96_000_000n)
  await expect.poll(() => hook.told().slice(2)).toEqual(['1 alert.fired'])
  await report(100_000_000n)
  await expect.poll(() => hook.told().slice(3)).toEqual(['1 alert.cleared'])
  // A feed that has stopped is no price, though nothing says so but the time of its chain.
  base.timestamp += 4 * w.DAY
  await mineBlock(api, base)
  await expect.poll(hook.states).toEqual(['unknown', 'clear'])
  expect(await positionOf(1)).toBe(still)
})

it('a replay moves rules on whatever chain it changed rows of', async () => {
  const hook = await watch(api, [{ kind: 'paused', network: 'mainnet', vaultId: w.USD_VAULT }])
  await expect.poll(hook.states).toEqual(['clear'])
  const still = await positionOf(1)
  // As a replay by another version leaves it: rows of the past are others, and it was counted.
  await api.clickhouse.insert({
    table: 'vault_setting',
    format: 'JSONEachRow',
    values: [
      {
        chain_id: 1,
        vault: w.USD_VAULT,
        setting: 'paused',
        market: '',
        position: still,
        block_number: 1,
        timestamp,
        value: '1',
      },
    ],
  })
  await api.pool.query(
    `UPDATE checkpoint SET replays = replays + 1 WHERE projection = 'vault_setting' AND stream = 1`,
  )
  await api.catalogue.refresh()
  await expect.poll(hook.told).toEqual(['1 alert.fired'])
  expect(await positionOf(1)).toBe(still)
})
