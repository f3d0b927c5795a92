import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type Node, startNode } from '../chain/node.ts'
import { asking } from './ask.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import type { Modelled } from './portfolio-world.ts'
import * as p from './portfolio-world.ts'
import * as w from './world.ts'
import { seatWorld } from './world-on-chain.ts'

/** Positions, idle assets and benchmarks against what happened, reckoned here from the list of it. */

const OPTIMISM = 10
const BASE = 8453
const world = w.makeWorld()
const wallets = p.makePortfolioWorld(20_250_101)
let api: ApiHarness
let node: Node

beforeAll(async () => {
  node = await startNode()
  await seatWorld(node)
  // Mainnet has a node; optimism and base cannot be reached.
  api = await startApi({ wrappedNatives: { mainnet: w.ETH_ASSET as `0x${string}` }, rpcUrl: node.rpcUrl })
  await api.recordFacts(
    [
      { subject: `asset:${BASE}:${p.DOLLAR}`, kind: 'peg', value: { usd: '1' } },
      { subject: `vault:${BASE}:${p.SHELF[3]?.vault}`, kind: 'featured', value: true },
    ],
    w.START,
  )
  await api.append(OPTIMISM, 'optimism', wallets.blocks)
  await api.append(BASE, 'base', p.makeShelf())
  await w.seed(api, world)
}, 120_000)
afterAll(async () => {
  await api?.stop()
  await node?.stop()
})

const { ask, get } = asking(() => api)
const lower = (address: string) => address.toLowerCase()

const { stateAt, heldAfter } = p.bookOf(wallets)
const END = Number.MAX_SAFE_INTEGER

it('a network that is asked for and not indexed here is named, and is no empty wallet', async () => {
  for (const path of ['idle-assets', 'positions', 'best-deposit-options', 'best-vault']) {
    const alone = await get(`/v2/portfolio/${path}/${w.ALICE}?allowedNetworks=eip155:100`)
    expect(alone.errors.unsupportedNetworks, path).toEqual(['eip155:100'])
    expect(alone.errors.unreachableNetworks, path).toBeUndefined()
    const beside = await get(
      `/v2/portfolio/${path}/${w.ALICE}?allowedNetworks=gnosis&allowedNetworks=mainnet,eip155:100`,
    )
    expect(beside.errors.unsupportedNetworks, path).toEqual(['gnosis', 'eip155:100'])
  }
})

describe('positions', () => {
  const listed = async (wallet: string, query = '') =>
    (await get(`/v2/portfolio/positions/${wallet}${query}`)) as {
      data: { address: string; asset: Record<string, string>; lpToken: Record<string, string> }[]
      errors: Record<string, string[]>
    }

  it.each(p.WALLETS)('of %s are what it holds, at what that is worth', async wallet => {
    const { data, errors } = await listed(wallet)
    const expected = wallets.vaults.filter(model => heldAfter(model, wallet, END) > 0n)
    expect(data.map(({ address }) => lower(address)).sort()).toEqual(
      expected.map(({ vault }) => vault).sort(),
    )
    for (const position of data) {
      const model = expected.find(({ vault }) => vault === lower(position.address)) as Modelled
      const shares = heldAfter(model, wallet, END)
      expect(position.lpToken['balanceNative']).toBe(String(shares))
      const value = String(p.worthOf(shares, stateAt(model, END), model))
      expect(position.lpToken['positionValueInAsset']).toBe(value)
      expect(position.asset['positionValueInAsset']).toBe(value)
      // Nothing says what this asset costs, and the chain cannot be asked.
      expect(position.lpToken).not.toHaveProperty('balanceUsd')
      expect(position.asset['balanceNative']).toBe('')
      // The value is of the last sample, and says of when that is.
      const isSample = (event: DomainEvent) =>
        event.type === 'StateSampled' && event.contract === lower(position.address)
      const sampled = wallets.blocks.findLast(({ events }) => events.some(isSample))
      expect(position.lpToken['lastUpdateTimestamp']).toBe(sampled?.block.timestamp)
    }
    expect(errors['unreachableNetworks']).toEqual(expected.length > 0 ? ['optimism'] : undefined)
  })

  it('have the wallet’s own balance of the asset, from the chain', async () => {
    const { data, errors } = (await get(
      `/v2/portfolio/positions/${w.ALICE}?sortBy=balanceUsd&sortOrder=desc`,
    )) as {
      data: { address: string; asset: Record<string, string>; lpToken: Record<string, string> }[]
      errors: Record<string, string[]>
    }
    expect(errors).not.toHaveProperty('unreachableNetworks')
    const usd = data.find(({ address }) => lower(address) === w.USD_VAULT)
    // A million whole units were minted to her, one of which she put into the vault there.
    expect(usd?.asset['balanceNative']).toBe(String(10n ** 12n - 10n ** 6n))
    expect(Number(usd?.asset['balanceUsd'])).toBeCloseTo(999_999 * Number(usd?.asset['assetPriceInUsd']), 3)
    const values = data.map(({ lpToken }) => lpToken['balanceUsd'])
    expect(values.length).toBe(3)
    expect(values[2]).toBeUndefined()
    const known = values.filter(value => value !== undefined).map(Number)
    expect(known).toEqual([...known].sort((a, b) => b - a))
    const nested = data.find(({ address }) => lower(address) === w.NESTED_VAULT) as unknown as {
      apy: { total: number }
      apyComposite: { totalApy: { total: number }; intrinsicApy: { total: number } }
    }
    expect(nested.apyComposite.totalApy.total).toBeCloseTo(
      (1 + nested.apy.total) * (1 + nested.apyComposite.intrinsicApy.total) - 1,
      9,
    )
  })

  it.each([
    ['?allowedNetworks=base', 0],
    ['?allowedNetworks=mainnet&allowedAssets=USDX', 1],
    ['?disallowedNetworks=mainnet', 0],
    ['?minUsdAssetValueThreshold=1000', 1],
    ['?onlyAppFeatured=true', 1],
    ['?minTvl=0', 2],
    ['?tags=core', 1],
    ['', 3],
  ])('%s narrows to %i', async (query, count) => {
    expect((await listed(w.ALICE, query)).data).toHaveLength(count)
  })

  it('names what nobody knows', async () => {
    const { errors } = await listed(w.ALICE, '?allowedAssets=NOPE&allowedNetworks=moon,mainnet')
    expect(errors).toMatchObject({ unsupportedNetworks: ['moon'], unsupportedAssets: ['NOPE'] })
  })

  it('one: also of a wallet that holds nothing, and by the interval asked for', async () => {
    const path = `/v2/portfolio/positions/${w.CAROL}/mainnet/${w.ETH_VAULT}`
    const none = await get(path)
    expect(none.lpToken.balanceNative).toBe('0')
    expect(none.asset.balanceNative).toBe('0')
    const detailed = await get(`/v2/detailed-vaults/mainnet/${w.ETH_VAULT}`)
    for (const interval of ['1day', '7day', '30day']) {
      expect((await get(`${path}?apyInterval=${interval}`)).apy).toEqual(detailed.apy[interval])
    }
  })

  it('of fifty vaults come soon', async () => {
    const timed = async (path: string) => {
      const before = performance.now()
      await get(path)
      return performance.now() - before
    }
    const path = `/v2/portfolio/positions/${p.COLLECTOR}`
    expect((await get(path)).data).toHaveLength(50)
    const [empty, fifty]: [number[], number[]] = [[], []]
    // By turns: what else runs on the machine slows both.
    for (let i = 0; i < 40; i++) {
      empty.push(await timed('/v2/health'))
      fifty.push(await timed(path))
    }
    for (const times of [empty, fifty]) times.sort((a, b) => a - b)
    const say = (of: number[]) => `p50 ${of[20]?.toFixed(1)} ms, p99 ${of[39]?.toFixed(1)} ms`
    console.info(
      `positions of 50 vaults: ${say(fifty)}; health, one question to each database: ${say(empty)}`,
    )
    expect(fifty[20]).toBeLessThan(20 * (empty[20] ?? 0) + 20)
  })
})

describe('idle assets', () => {
  const idle = async (wallet: string, query = '') => get(`/v2/portfolio/idle-assets/${wallet}${query}`)
  const symbols = (body: { data: { symbol: string }[] }) => body.data.map(({ symbol }) => symbol)

  it('are what the chain says, and networks that do not answer are named', async () => {
    const answer = await ask(`/v2/portfolio/idle-assets/${w.ALICE}`)
    // The share of the USD vault, an asset of the nested one, is a position and not idle.
    expect(symbols(answer.body).sort()).toEqual(['ETH', 'ODD', 'USDX', 'WETH'])
    expect(answer.body.errors).toEqual({
      unsupportedNetworks: [],
      unsupportedAssets: [],
      unreachableNetworks: ['base', 'optimism'],
    })
    const { number } = await node.head()
    expect(answer.headers['x-as-of-block']).toContain(`mainnet=${number}`)
    const weth = answer.body.data.find(({ symbol }: { symbol: string }) => symbol === 'WETH')
    expect(weth).toMatchObject({
      balanceNative: String(10n ** 24n),
      network: { name: 'mainnet', chainId: 1 },
    })
    expect(Number(weth.balanceUsd)).toBeCloseTo(1e6 * Number(weth.assetPriceInUsd), 2)
    expect(answer.body.data.find(({ symbol }: { symbol: string }) => symbol === 'ODD')).not.toHaveProperty(
      'balanceUsd',
    )
    const wei = await node.client.getBalance({ address: w.ALICE as `0x${string}` })
    expect(answer.body.data.find(({ symbol }: { symbol: string }) => symbol === 'ETH')).toMatchObject({
      address: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
      assetCaip: 'eip155:1/slip44:60',
      balanceNative: String(wei),
      // At the price of its wrapped form.
      assetPriceInUsd: weth.assetPriceInUsd,
    })
  })

  it('are filtered and sorted', async () => {
    expect(symbols(await idle(w.ALICE, '?allowedNetworks=mainnet&sortBy=balanceUsd'))).toEqual([
      'ETH',
      'USDX',
      'WETH',
      'ODD',
    ])
    expect(symbols(await idle(w.ALICE, '?allowedNetworks=mainnet&sortDirection=desc'))).toEqual([
      'WETH',
      'USDX',
      'ETH',
      'ODD',
    ])
    expect(symbols(await idle(w.ALICE, '?allowedNetworks=1,eip155:1&allowedAssets=weth,nope'))).toEqual([
      'WETH',
    ])
    const coin = await idle(w.ALICE, '?allowedNetworks=mainnet&allowedAssets=eth,nope')
    expect(symbols(coin)).toEqual(['ETH'])
    expect(coin.errors.unsupportedAssets).toEqual(['nope'])
    expect(symbols(await idle(w.ALICE, '?disallowedNetworks=base,optimism&disallowedAssets=WETH'))).toEqual([
      'ETH',
      'USDX',
      'ODD',
    ])
    expect(symbols(await idle(w.ALICE, '?minUsdAssetValueThreshold=5000000'))).toEqual(['WETH'])
    const none = await idle(p.numbered('de', 1), '?allowedNetworks=mainnet')
    expect(none).toEqual({ data: [], errors: { unsupportedNetworks: [], unsupportedAssets: [] } })
  })

  it('are 503 where no chain answers, never an empty wallet', async () => {
    const answer = await ask(`/v2/portfolio/idle-assets/${w.ALICE}?allowedNetworks=base`, 503)
    expect(answer.body.message).toContain('base')
    expect(answer.headers['retry-after']).toBeDefined()
    await ask(`/v2/portfolio/best-vault/${w.ALICE}?allowedNetworks=optimism,base`, 503)
  })
})

describe('deposit options', () => {
  it('are the vaults of each asset, without those that have a warning', async () => {
    const path = `/v2/portfolio/best-deposit-options/${w.ALICE}`
    const answer = await ask(path)
    const options = (body: {
      userBalances: { asset: { symbol: string }; depositOptions: { address: string }[] }[]
    }) =>
      body.userBalances.map(({ asset, depositOptions }) => [
        asset.symbol,
        depositOptions.map(o => lower(o.address)),
      ])
    expect(options(answer.body)).toEqual([
      ['WETH', []],
      ['USDX', [w.USD_VAULT]],
      // What is in it nobody can say in USD.
      ['ODD', []],
    ])
    expect(answer.headers['x-credits-used']).toBe('3')
    expect(options(await get(`${path}?allowVaultsWithWarnings=true&allowedAssets=WETH`))).toEqual([
      ['WETH', [w.ETH_VAULT]],
    ])
    const [usd] = (await get(`${path}?allowedAssets=USDX&apyInterval=30day`)).userBalances
    const [option] = usd.depositOptions
    expect(Number(option.projectedUsdAnnualEarnings)).toBeCloseTo(
      Number(usd.asset.balanceUsd) * option.apy.total,
      6,
    )
    expect(answer.body.requestedAddress.toLowerCase()).toBe(w.ALICE)
    expect(answer.body.errors.unreachableNetworks).toEqual(['base', 'optimism'])
  })

  it('earn what rewards yield, too', async () => {
    await api.recordFacts(
      [
        {
          subject: `vault:1:${w.USD_VAULT}`,
          kind: 'rewards',
          value: [
            {
              asset: { address: w.ETH_ASSET, name: 'Ether', symbol: 'WETH', decimals: 18 },
              amount: String(10n ** 17n),
              startDate: w.START,
              endDate: w.START + 2 * w.DAYS * w.DAY,
            },
          ],
        },
      ],
      w.START,
    )
    await api.catchUp()
    const { apy } = await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)
    expect(apy['30day'].reward).toBeGreaterThan(0)
    const options = '?allowedAssets=USDX&apyInterval=30day'
    const [usd] = (await get(`/v2/portfolio/best-deposit-options/${w.ALICE}${options}`)).userBalances
    expect(usd.depositOptions[0].apy).toEqual(apy['30day'])
    const between = `&minApy=${apy['30day'].base * 1.0001}&maxApy=${apy['30day'].total}`
    const best = await get(`/v2/portfolio/best-vault/${w.ALICE}${options}${between}`)
    expect(lower(best.vault.address)).toBe(w.USD_VAULT)
  })

  it('have the assets that were asked for also where there are none', async () => {
    const path = `/v2/portfolio/best-deposit-options/${p.numbered('de', 1)}?allowedNetworks=mainnet`
    expect((await get(path)).userBalances).toEqual([])
    const { userBalances } = await get(`${path}&alwaysReturnAssets=usdx&alwaysReturnAssets=${w.USD_VAULT}`)
    expect(
      userBalances.map((of: { asset: { symbol: string; balanceNative: string } }) => [
        of.asset.symbol,
        of.asset.balanceNative,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['USDX', '0'],
        ['sUSDX', '0'],
      ]),
    )
    // Always: whatever the filter of assets says.
    for (const filter of ['allowedAssets=WETH', 'disallowedAssets=USDX']) {
      const filtered = await get(`${path}&alwaysReturnAssets=USDX&${filter}`)
      expect(filtered.userBalances.map((of: { asset: { symbol: string } }) => of.asset.symbol)).toContain(
        'USDX',
      )
    }
    const unknown = await get(`${path}&alwaysReturnAssets=NOPE,usdx&alwaysReturnAssets=0x${'d1'.repeat(20)}`)
    expect(unknown.errors.unsupportedAssets).toEqual(['NOPE', `0x${'d1'.repeat(20)}`])
  })

  it('the best is the one that earns most, featured ones before others', async () => {
    const best = await get(`/v2/portfolio/best-vault/${w.ALICE}?allowVaultsWithWarnings=true`)
    expect(lower(best.vault.address)).toBe(w.USD_VAULT)
    expect(best.asset.symbol).toBe('USDX')
    const other = await get(
      `/v2/portfolio/best-vault/${w.ALICE}?allowedAssets=WETH&allowVaultsWithWarnings=true`,
    )
    expect(lower(other.vault.address)).toBe(w.ETH_VAULT)
    const none = await get(`/v2/portfolio/best-vault/${w.BOB}?allowedNetworks=mainnet`)
    expect(Object.keys(none).sort()).toEqual(['errors', 'requestedAddress'])
  })
})

describe('benchmarks', () => {
  const WINDOWS = ['1day', '7day', '30day'] as const
  const asked = (n: number) => p.SHELF[n]?.vault ?? ''

  it('weigh the five largest by their TVL', async () => {
    const body = await get('/v2/benchmarks/base?code=usd')
    expect(body.timestamp).toBe(p.END_OF_SHELF)
    // The n-th vault is larger than the one before it.
    const five = [49, 48, 47, 46, 45]
    const vaults = await Promise.all(five.map(n => get(`/v2/detailed-vaults/base/${asked(n)}`)))
    const tvl = (n: number) =>
      (Number(p.shelfShares(n)) / 1e18) * (Number(p.shelfPrice(n, p.SHELF_DAYS * 24 - 1)) / 1e6)
    const total = five.reduce((sum, n) => sum + tvl(n), 0)
    for (const window of WINDOWS) {
      const mean = five.reduce((sum, n, i) => sum + (tvl(n) / total) * vaults[i].apy[window].total, 0)
      expect(body.apy[window].total).toBeCloseTo(mean, 9)
    }
    expect(Object.keys(body.apy)).toEqual([...WINDOWS])
  })

  it('are null where no vault is large enough, also where nothing is indexed, and 400 without a code', async () => {
    expect((await get('/v2/benchmarks/base?code=eth')).apy).toBeNull()
    // The ETH vault of mainnet has 15 ETH.
    expect((await get('/v2/benchmarks/mainnet?code=eth')).apy).toBeNull()
    expect((await get('/v2/benchmarks/polygon?code=usd')).apy).toBeNull()
    expect(await get('/v2/historical-benchmarks/polygon?code=usd')).toMatchObject({
      itemsOnPage: 0,
      data: [],
    })
    await ask('/v2/benchmarks/base', 400)
    await ask('/v2/benchmarks/base?code=btc', 400)
  })

  it('by day are those of the first samples of the day', async () => {
    const { data, nextPage, itemsOnPage } = await get('/v2/historical-benchmarks/base?code=usd')
    expect([nextPage, itemsOnPage]).toEqual([null, p.SHELF_DAYS])
    // The first sample of all has no window behind it.
    expect(data[0]).toEqual({ apy: null, timestamp: w.START })
    for (let day = 1; day < p.SHELF_DAYS; day++) {
      const at = w.START + day * w.DAY
      const five = [49, 48, 47, 46, 45]
      const tvl = (n: number) => Number(p.shelfShares(n)) * Number(p.shelfPrice(n, day * 24))
      const total = five.reduce((sum, n) => sum + tvl(n), 0)
      // Supply never changed: growth from the sample a day before, compounded.
      const apy = (n: number, hours: number) =>
        (Number(p.shelfPrice(n, day * 24)) / Number(p.shelfPrice(n, day * 24 - hours))) ** (8_760 / hours) - 1
      const mean = (hours: number) => five.reduce((sum, n) => sum + (tvl(n) / total) * apy(n, hours), 0)
      expect(data[day].timestamp).toBe(at)
      expect(data[day].apy['1day'].base).toBeCloseTo(mean(24), 6)
      // A window longer than the vault's life has no value.
      expect(data[day].apy['30day'].base).toBe(0)
    }
    const later = await get(
      `/v2/historical-benchmarks/base?code=usd&fromTimestamp=${w.START + w.DAY}&perPage=1`,
    )
    expect(later.data).toEqual([data[1]])
    expect(later.nextPage).toBe(1)
    const eth = await get('/v2/historical-benchmarks/mainnet?code=eth&perPage=3')
    expect(eth.data.map(({ apy }: { apy: unknown }) => apy)).toEqual([null, null, null])
  })
})
