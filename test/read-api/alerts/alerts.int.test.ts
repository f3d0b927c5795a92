import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rewindChain } from '../../../db/events/rewind.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { MORPHO_MARKET } from '../lending-world.ts'
import * as w from '../world.ts'
import {
  type BlockEvent,
  mineBlock,
  paused as pausedOf,
  priceReported,
  sampled,
  type Tail,
  watch,
} from './watching.ts'

let api: ApiHarness
const world = w.makeWorld()
const last = { number: w.lastBlock(world).number, timestamp: w.lastBlock(world).timestamp }

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
})
afterAll(() => api?.stop())

const watching = (...given: Tail<Parameters<typeof watch>>) => watch(api, ...given)
const block = (...events: BlockEvent[]) => mineBlock(api, last, ...events)
const vault = w.USD_VAULT
const paused = pausedOf(vault)
const unpaused = pausedOf(vault, false)
const sampleOf = (part: bigint) => sampled(world, vault, part)
const priceOf = (answer: bigint) => priceReported(w.USD_FEED, answer, last.timestamp)

it('each rule fires once when it is crossed, is taken back with its block, and is cleared', async () => {
  await block(priceOf(100_000_000n), sampleOf(100n))
  const ofVault = { network: 'mainnet', vaultId: vault }
  const hook = await watching([
    { kind: 'paused', ...ofVault },
    { kind: 'depeg', network: 'mainnet', assetAddress: w.USD_ASSET, threshold: '0.02' },
    { kind: 'share-price-fell', ...ofVault, threshold: '0.1' },
    { kind: 'tvl-outflow', ...ofVault, threshold: '0.4' },
    { kind: 'paused', network: 'mainnet', vaultId: `0x${'77'.repeat(20)}` },
    { kind: 'apy-below', ...ofVault, window: '7day', threshold: '1000' },
    { kind: 'apy-below', ...ofVault, window: '7day', threshold: '0' },
    { kind: 'apy-fell', ...ofVault, window: '7day', threshold: '1000' },
  ])
  const calm = ['clear', 'clear', 'clear', 'clear', 'unknown', 'crossed', 'clear', 'clear']
  await expect.poll(hook.states).toEqual(calm)
  await expect.poll(hook.told).toEqual(['6 alert.fired'])
  // 1 USD less 2 % exactly is no crossing yet.
  await block(priceOf(98_000_000n))
  await expect.poll(async () => (await hook.show()).rules[1].value).toBe('0.02')
  expect(await hook.states()).toEqual(calm)
  const height = last.number
  await block(paused, priceOf(97_999_999n), sampleOf(50n))
  const fired = ['1 alert.fired', '2 alert.fired', '3 alert.fired', '4 alert.fired']
  await expect.poll(hook.told).toEqual(['6 alert.fired', ...fired])
  expect(hook.messages[1]).toMatchObject({
    kind: 'alert',
    network: 'mainnet',
    blockNumber: String(last.number),
    timestamp: last.timestamp,
    data: { ruleKind: 'paused', value: '1' },
  })
  expect(hook.messages[2]?.data).toMatchObject({ value: '0.02000001', threshold: '0.02' })
  expect(hook.messages[4]?.data['value']).toMatch(/^0\.(4|5)\d*$/)
  await block(priceOf(97_000_000n))
  await expect.poll(async () => (await hook.show()).rules[1].value).toBe('0.03')
  expect(hook.told()).toHaveLength(5)

  // The blocks are taken back: so is what they fired, and nothing else.
  await rewindChain(api.pool, 1, 'mainnet', height)
  await api.catchUp()
  const retracted = fired.map(text => text.replace('fired', 'retracted'))
  await expect.poll(hook.told).toEqual(['6 alert.fired', ...fired, ...retracted])
  expect(hook.messages.slice(5).map(({ data }) => data['alertId'])).toEqual(
    hook.messages.slice(1, 5).map(({ data }) => data['alertId']),
  )
  await expect.poll(hook.states).toEqual(calm)
  expect(new Set(hook.messages.map(({ id }) => id)).size).toBe(9)

  // On the other branch it comes about again, and is over then.
  last.number = height
  await block(paused)
  await expect.poll(() => hook.told().slice(9)).toEqual(['1 alert.fired'])
  await block(unpaused)
  await expect.poll(() => hook.told().slice(10)).toEqual(['1 alert.cleared'])
  expect(hook.messages[10]?.data['alertId']).toBe(hook.messages[9]?.data['alertId'])
  expect(hook.messages[9]?.data['alertId']).not.toBe(hook.messages[1]?.data['alertId'])
})

it('what wavers about its threshold is cleared once it is back over the other one, and no sooner', async () => {
  await block(priceOf(100_000_000n))
  const depeg = { kind: 'depeg', network: 'mainnet', assetAddress: w.USD_ASSET, threshold: '0.02' }
  const hook = await watching([{ ...depeg, clearThreshold: '0.01' }, depeg])
  await expect.poll(hook.states).toEqual(['clear', 'clear'])
  expect((await hook.show()).rules[0]).toMatchObject({ threshold: '0.02', clearThreshold: '0.01' })
  for (const price of [97_000_000n, 98_500_000n, 97_500_000n, 98_900_000n]) {
    await block(priceOf(price))
    const value = `0.${`${100_000_000n - price}`.padStart(8, '0').replace(/0+$/, '')}`
    await expect.poll(async () => (await hook.show()).rules[0].value).toBe(value)
  }
  expect(await hook.states()).toEqual(['crossed', 'clear'])
  await block(priceOf(99_000_000n))
  await expect.poll(hook.states).toEqual(['clear', 'clear'])
  const told = (rule: number) => hook.told().filter(text => text.startsWith(`${rule} `))
  await expect.poll(() => told(1)).toEqual(['1 alert.fired', '1 alert.cleared'])
  await expect
    .poll(() => told(2))
    .toEqual(['2 alert.fired', '2 alert.cleared', '2 alert.fired', '2 alert.cleared'])
  await block(priceOf(100_000_000n))
})

it('what crosses while the receiver fails is told when it is back, by whichever process', async () => {
  let status = 500
  const hook = await watching([{ kind: 'paused', network: 'mainnet', vaultId: vault }], () => status)
  await expect.poll(hook.states).toEqual(['clear'])
  await block(paused)
  await expect.poll(hook.told).toContain('1 alert.fired')
  await block(unpaused)
  await expect.poll(hook.states).toEqual(['clear'])
  await hook.stopDelivering()
  status = 200
  hook.messages.length = 0
  // It waits no longer for its next attempt.
  await api.pool.query('UPDATE webhook SET retry_at = NULL')
  hook.deliverAgain()
  await expect.poll(hook.told).toEqual(['1 alert.fired', '1 alert.cleared'])
  const { id } = await hook.show()
  const waiting = () => api.pool.query('SELECT FROM webhook_message WHERE webhook_id = $1', [id])
  await expect.poll(async () => (await waiting()).rowCount).toBe(0)
})

it('a process that is behind what was seen fires nothing', async () => {
  const hook = await watching([{ kind: 'paused', network: 'mainnet', vaultId: vault }])
  await block(paused)
  await expect.poll(hook.told).toEqual(['1 alert.fired'])
  await block(unpaused)
  await expect.poll(hook.told).toEqual(['1 alert.fired', '1 alert.cleared'])
  await hook.stopDelivering()
  const { rows } = await api.pool.query(
    `SELECT max((seen->>'1')::bigint) AS seen, (SELECT head FROM stream WHERE id = 1) AS head FROM webhook_rule WHERE alert_id IS NULL`,
  )
  expect(rows[0]?.seen).toBe(rows[0]?.head)
  // As another process would see it that has not come so far.
  const shift = (by: number) =>
    api.pool.query(`UPDATE webhook_rule SET seen = jsonb_build_object('1', (seen->>'1')::bigint + $1)`, [by])
  await shift(1000)
  hook.deliverAgain()
  await block(paused)
  await new Promise(resolve => setTimeout(resolve, 500))
  expect(hook.told()).toHaveLength(2)
  await hook.stopDelivering()
  await shift(-1000)
  hook.deliverAgain()
  await expect.poll(hook.told).toEqual(['1 alert.fired', '1 alert.cleared', '1 alert.fired'])
  await block(unpaused)
})

it('says unknown of what is a dollar by decree, and of assets that were not read lately', async () => {
  await api.recordFacts([{ subject: `asset:1:${w.ODD_ASSET}`, kind: 'peg', value: { usd: '1' } }], w.START)
  await block(priceOf(100_000_000n), sampleOf(100n))
  const hook = await watching([
    { kind: 'depeg', network: 'mainnet', assetAddress: w.ODD_ASSET, threshold: '0.02' },
    { kind: 'depeg', network: 'mainnet', assetAddress: w.USD_ASSET, threshold: '0.02' },
    { kind: 'tvl-outflow', network: 'mainnet', vaultId: vault, threshold: '0.99' },
  ])
  const { body } = await request(api.app)
    .get('/v2/vaults')
    .query({ allowedAssets: w.ODD_ASSET })
    .set('x-api-key', api.apiKey)
  expect(body.data).not.toEqual([])
  await expect.poll(hook.states).toEqual(['unknown', 'clear', 'clear'])
  last.timestamp += 7 * w.HOUR
  await block(priceOf(100_000_000n))
  await expect.poll(hook.states).toEqual(['unknown', 'clear', 'unknown'])
  expect(hook.told()).toEqual([])
})

it('lending: utilisation and health factor are those that the API shows', async () => {
  const get = async (path: string) => (await request(api.app).get(path).set('x-api-key', api.apiKey)).body
  const market = await get(`/beta/borrow/markets/mainnet/${MORPHO_MARKET}`)
  const assetId = `${w.USD_ASSET}-loan`
  const asset = market.assetsData.find(
    (one: { marketAssetId: string }) => one.marketAssetId.toLowerCase() === assetId,
  )
  expect(asset).toBeDefined()
  const wallets = [w.ALICE, w.BOB, w.CAROL]
  const factors = await Promise.all(
    wallets.map(
      async wallet =>
        (await get(`/beta/borrow/portfolio/positions/${wallet}/mainnet/${MORPHO_MARKET}`)).healthFactor as
          | number
          | null,
    ),
  )
  const at = factors.findIndex(factor => typeof factor === 'number')
  const factor = Number(factors[at])
  expect(factor).toBeGreaterThan(0)
  const ofMarket = { network: 'mainnet', marketId: MORPHO_MARKET }
  const hook = await watching([
    { kind: 'utilization-above', ...ofMarket, assetId, threshold: '0.000001' },
    { kind: 'utilization-above', ...ofMarket, assetId, threshold: '0.999999' },
    { kind: 'health-factor-below', ...ofMarket, wallet: wallets[at], threshold: (factor + 0.001).toFixed(6) },
    { kind: 'health-factor-below', ...ofMarket, wallet: wallets[at], threshold: (factor - 0.001).toFixed(6) },
    { kind: 'health-factor-below', ...ofMarket, wallet: `0x${'66'.repeat(20)}`, threshold: '1.1' },
    { kind: 'utilization-above', network: 'base', marketId: MORPHO_MARKET, assetId, threshold: '0.5' },
  ])
  await expect.poll(hook.states).toEqual(['crossed', 'clear', 'crossed', 'clear', 'clear', 'unknown'])
  await expect.poll(hook.told).toEqual(['1 alert.fired', '3 alert.fired'])
  const { rules } = await hook.show()
  expect(Number(rules[2].value)).toBeCloseTo(factor, 9)
  expect(rules[4].value).toBe('none')
})

it.each([
  [{ kind: 'apy', network: 'mainnet' }, /must be one of apy-below/],
  [
    { kind: 'apy-below', network: 'mainnet', vaultId: w.USD_VAULT, window: '7day' },
    /"rules.0.threshold" is missing/,
  ],
  [
    { kind: 'paused', network: 'mainnet', vaultId: w.USD_VAULT, threshold: '1' },
    /"rules.0.threshold" must be left out/,
  ],
  [{ kind: 'depeg', network: 'mainnet', assetAddress: w.USD_ASSET, threshold: '-1' }, /must be a decimal/],
  [{ kind: 'paused', network: 'nowhere', vaultId: w.USD_VAULT }, /must be one of mainnet/],
])('%j is refused with what would be right', async (rule, message) => {
  const answer = await request(api.app)
    .post('/beta/webhooks')
    .set('x-api-key', api.apiKey)
    .send({ url: 'https://example.com/', rules: [rule] })
  expect(answer.body.message).toMatch(message)
  expect(answer.status).toBe(400)
})
