import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SvmDetailed, SvmEvents } from '../../../read-api/svm/schemas.ts'
import { indexSolana } from '../../svm/index-solana.ts'
import { standsOn } from '../../svm/programs/dumps.ts'
import { STAKE_POOL_PROGRAM } from '../../svm/stake-pool.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as w from '../world.ts'
import { makeSolana, newKey, SOL, type SolanaWorld, seatSolana, WRAPPED_SOL, wrapSol } from './world.ts'

standsOn(STAKE_POOL_PROGRAM)

/** What the API says of a stake pool and of wallets, read from the chain by the processor of Solana and from a node. */

let world: SolanaWorld
let api: ApiHarness

beforeAll(async () => {
  world = await makeSolana({ depositFee: { numerator: 1n, denominator: 1_000n } })
  api = await startApi({ solanaUrl: world.node.url })
  await seatSolana(api, world)
})
afterAll(async () => {
  await api?.stop()
  await world?.node.close()
})

const get = (path: string) => request(api.app).get(`/beta/svm${path}`).set('x-api-key', api.apiKey)

describe('what is said of the vault', () => {
  it('names it, its token and its figures', async () => {
    const { body, headers } = await get(`/detailed-vaults/${world.pool.pool}`)
    const first = world.deposits.reduce((sum, { lamports }) => sum + lamports, 0n)
    expect(SvmDetailed.parse(body)).toMatchObject({
      address: world.pool.pool,
      name: 'Test pool SOL',
      asset: { address: WRAPPED_SOL, name: 'Wrapped SOL', symbol: 'SOL', decimals: 9 },
      tvl: { native: `${first}`, usd: `${(Number(first) / 1e9) * 200}` },
      protocol: { name: 'spl-stake-pool' },
      lpToken: {
        address: world.pool.mint,
        tokenCaip: `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:${world.pool.mint}`,
        symbol: 'tSOL',
      },
      standing: 'made',
    })
    expect(headers['x-as-of-block']).toMatch(/^solana=\d+$/)
  })

  it('says what a wallet has done, and what its shares are worth', async () => {
    const { body } = await get(`/portfolio/events/${world.user.address}/${world.pool.pool}`)
    expect(SvmEvents.parse(body)).toEqual({
      items: world.deposits.length,
      data: world.deposits.map(({ sent, lamports, shares }) => ({
        timestamp: world.chain.blocks.find(({ slot }) => slot === sent.slot)?.blockTime,
        slot: `${sent.slot}`,
        eventType: 'deposit',
        vaultAddress: world.pool.pool,
        assetAmountNative: `${lamports}`,
        lpTokenAmount: `${shares}`,
        signature: sent.signature,
        instructionIndex: 0,
      })),
    })
    expect((await get(`/portfolio/events/${world.user.address}`)).body).toEqual(body)
    expect((await get(`/portfolio/events/${await newKey()}`)).body).toEqual({ data: [], items: 0 })

    const assets = world.deposits.reduce((sum, { lamports }) => sum + lamports, 0n)
    const shares = world.deposits.reduce((sum, of) => sum + of.shares, 0n)
    const supply = shares + world.deposits.reduce((sum, { lamports }) => sum + lamports, 0n) - shares
    const worth = (shares * assets) / supply
    const positions = await get(`/portfolio/positions/${world.user.address}`)
    expect(positions.body.data).toMatchObject([
      {
        address: world.pool.pool,
        asset: {
          balanceNative: `${worth}`,
          positionValueInAsset: `${worth}`,
          unclaimedNative: '0',
        },
      },
    ])
    expect(Number(positions.body.data[0].asset.balanceUsd)).toBeCloseTo((Number(worth) / 1e9) * 200, 4)
    const above = await get(`/portfolio/positions/${world.user.address}`).query({
      minUsdAssetValueThreshold: '1e9',
    })
    expect(above.body).toEqual({ data: [] })
  })

  it('says what a wallet holds besides, SOL and wrapped SOL together', async () => {
    const user = await world.chain.wallet(4n * SOL)
    await wrapSol(world, user, 3n * SOL)
    const all = await get(`/portfolio/idle-assets/${user.address}`)
    expect(all.body).toEqual({
      data: [
        { address: WRAPPED_SOL, name: 'Wrapped SOL', symbol: 'SOL', decimals: 9, balance: `${7n * SOL}` },
      ],
    })
    const one = await get(`/portfolio/idle-assets/${user.address}/${WRAPPED_SOL}`)
    expect(one.body).toEqual({ asset: all.body.data[0] })
    const held = await world.pool.balanceOf(world.user.address)
    const strange = await get(`/portfolio/idle-assets/${world.user.address}/${world.pool.mint}`)
    expect(strange.body).toEqual({
      asset: { address: world.pool.mint, name: '', symbol: '', decimals: 9, balance: `${held}` },
    })
    expect((await get(`/portfolio/idle-assets/${user.address}/${world.pool.pool}`)).status).toBe(404)
    expect((await get(`/portfolio/idle-assets/${await newKey()}`)).body).toEqual({ data: [] })
  })

  it.each([
    [{ assetSymbol: 'sol' }, 1],
    [{ assetSymbol: 'USDC' }, 0],
    [{ allowedAssets: 'SOL,USDC' }, 1],
    [{ disallowedAssets: 'SOL' }, 0],
    [{ allowedAssetMints: WRAPPED_SOL }, 1],
    [{ allowedAssetMints: WRAPPED_SOL.toLowerCase() }, 0],
    [{ disallowedAssetMints: WRAPPED_SOL }, 0],
    [{ allowedProtocols: 'SPL-Stake-Pool' }, 1],
    [{ disallowedProtocols: 'spl-stake-pool' }, 0],
    [{ allowedProtocols: 'kamino' }, 0],
    [{ minTvl: '349999' }, 1],
    [{ minTvl: '350001' }, 0],
    [{ maxTvl: '350001' }, 1],
    [{ maxTvl: '349999' }, 0],
    // Of 7 days nothing is known.
    [{ minApy: '-1' }, 0],
    [{ maxApy: '1' }, 0],
  ])('a filter lets through what it says: %o', async (query, count) => {
    const answer = await get('/detailed-vaults').query(query)
    expect([answer.status, answer.body.itemsOnPage, answer.body.nextPage]).toEqual([200, count, null])
    expect(answer.headers['x-credits-used']).toBe(`${1 + 3 * count}`)
  })
})

describe('the node', () => {
  it('that does not answer, or answers something else, is 503', async () => {
    const path = `/portfolio/idle-assets/${world.user.address}`
    world.node.fault = () => ({ status: 500 })
    const gone = await get(path)
    world.node.fault = () => ({ code: -32005, message: 'Node is behind by 200 slots' })
    const behind = await get(path)
    world.node.fault = undefined
    for (const answer of [gone, behind])
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    expect((await get(path)).status).toBe(200)
  })
})

describe('as time goes by', () => {
  it('an answer is known by its tag until the chain or the price moves', async () => {
    const list = () => get('/detailed-vaults')
    const first = await list()
    const tag = first.headers['etag'] ?? ''
    expect(tag).not.toBe('')
    expect((await list().set('if-none-match', tag)).status).toBe(304)
    world.pool.earn(350n * SOL)
    world.chain.nextEpoch()
    const { sent, shares, lamports } = world.deposits[0] ?? {}
    expect((await world.chain.send(world.user, [world.pool.update()])).failed).toBeUndefined()
    world.chain.mine([], 3_600)
    await indexSolana(api.pool, world)
    await api.catchUp()
    const moved = await list().set('if-none-match', tag)
    expect(moved.status).toBe(200)
    const { lamports: total, supply } = world.pool.state()
    expect(moved.body.data[0].tvl.native).toBe(`${total}`)
    expect(moved.headers['x-as-of-block']).toBe(`solana=${world.chain.slot}`)
    const positions = await get(`/portfolio/positions/${world.user.address}`)
    const held = await world.pool.balanceOf(world.user.address)
    expect(positions.body.data[0].asset.balanceNative).toBe(`${(held * total) / supply}`)
    // What was done before stays as it was.
    const events = await get(`/portfolio/events/${world.user.address}`)
    expect(events.body.data[0]).toMatchObject({
      signature: sent?.signature,
      assetAmountNative: `${lamports}`,
      lpTokenAmount: `${shares}`,
    })
  })
})

describe('the price of SOL', () => {
  it('follows the feed of another chain that a fact names', async () => {
    const its = await startApi()
    await w.seed(its, w.makeWorld())
    await seatSolana(its, world, { kind: 'feed', value: { feed: w.ETH_FEED, decimals: 8, chainId: 1 } })
    const ask = (path: string) => request(its.app).get(path).set('x-api-key', its.apiKey)
    const assets = (await ask('/v2/assets')).body.data as { address: string; assetPriceInUsd?: string }[]
    const price = Number(assets.find(({ address }) => address.toLowerCase() === w.ETH_ASSET)?.assetPriceInUsd)
    expect(price).toBeGreaterThan(0)
    const { tvl } = (await ask(`/beta/svm/detailed-vaults/${world.pool.pool}`)).body
    expect(Number(tvl.usd)).toBeCloseTo((Number(tvl.native) / 1e9) * price, 2)
    await its.stop()
  })
})

it('without a node named, and without anything indexed, says so', async () => {
  const its = await startApi()
  const ask = (path: string) => request(its.app).get(`/beta/svm${path}`).set('x-api-key', its.apiKey)
  expect((await ask('/vaults')).body).toEqual([])
  expect((await ask('/detailed-vaults')).body).toEqual({ itemsOnPage: 0, nextPage: null, data: [] })
  expect((await ask(`/portfolio/positions/${world.user.address}`)).body).toEqual({ data: [] })
  expect((await ask(`/portfolio/events/${world.user.address}`)).body).toEqual({ data: [], items: 0 })
  expect((await ask(`/detailed-vaults/${world.pool.pool}`)).status).toBe(404)
  const idle = await ask(`/portfolio/idle-assets/${world.user.address}`)
  expect([idle.status, idle.body.message]).toEqual([503, expect.stringContaining('RPC_SOLANA')])
  await its.stop()
})
