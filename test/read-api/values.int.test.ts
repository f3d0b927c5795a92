import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { detailedOf } from '../../read-api/catalogue/wire.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import * as w from './world.ts'

/** Figures of the API against the list of what happened, reckoned here in the plainest way. */

const world = w.makeWorld()
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, world)
})
afterAll(() => api?.stop())

async function get(path: string) {
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
  expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(200)
  return answer.body
}

/** Samples are put in the block of their time: block n at START + 600 (n - 1). */
const blockTime = (at: number) => w.START + (w.blockAt(at) - 1) * 600
const balanceOf = (vault: string, account: string, at: number) =>
  world.moves
    .filter(move => move.vault === vault && blockTime(move.at) <= at)
    .reduce(
      (sum, { from, to, shares }) => sum + (to === account ? shares : 0n) - (from === account ? shares : 0n),
      0n,
    )
const samplesOf = (vault: string, to = Number.POSITIVE_INFINITY) =>
  world.samples.filter(sample => sample.vault === vault && blockTime(sample.at) <= to)
const feedAt = (feed: string, at: number) =>
  Number(world.answers.filter(a => a.feed === feed && blockTime(a.at) <= at).at(-1)?.answer) / 1e8
const lower = (address: string) => address.toLowerCase()

describe('detailed vaults', () => {
  it('has the last sample, the price of the moment and the holders', async () => {
    const vault = await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)
    const last = samplesOf(w.USD_VAULT).at(-1)
    expect(vault.tvl.native).toBe(String(last?.assets))
    expect(Number(vault.tvl.usd)).toBeCloseTo((Number(last?.assets) / 1e6) * feedAt(w.USD_FEED, Infinity), 6)
    expect(vault.lastUpdateTimestamp).toBe(blockTime(last?.at ?? 0))
    expect(vault.tags).toEqual(['Stable', 'core'])
    expect(vault.curator).toEqual({ name: 'acme', displayName: 'Acme Capital' })
    const holders = [w.ALICE, w.BOB, w.CAROL]
      .map(account => ({ account, balance: balanceOf(w.USD_VAULT, account, Infinity) }))
      .sort((a, b) => (a.balance > b.balance ? -1 : 1))
    expect(
      vault.holdersData.topHolders.map((h: { address: string; lpTokenBalance: string }) => [
        lower(h.address),
        h.lpTokenBalance,
      ]),
    ).toEqual(holders.map(({ account, balance }) => [account, String(balance)]))
    expect(vault.holdersData.totalBalance).toBe(String(last?.supply))
  })

  it('prices a nested vault by the share price of the inner one, and compounds what both earn', async () => {
    const vault = await get(`/v2/detailed-vaults/mainnet/${w.NESTED_VAULT}`)
    const inner = Number(samplesOf(w.USD_VAULT).at(-1)?.price) / 1e6
    expect(Number(vault.asset.assetPriceInUsd)).toBeCloseTo(inner * feedAt(w.USD_FEED, Infinity), 9)
    const { totalApy, intrinsicApy } = vault.apyComposite
    expect(totalApy['7day'].total).toBeCloseTo(
      (1 + vault.apy['7day'].total) * (1 + intrinsicApy['7day'].total) - 1,
      9,
    )
    // 1.0001 a day, whatever the window.
    expect(intrinsicApy['7day'].base).toBeCloseTo(1.0001 ** 365 - 1, 3)
  })

  it('says how it is dealt with where its factory tells, and nothing where it does not', async () => {
    // The world's factory of Morpho made one of them.
    expect((await get(`/v2/detailed-vaults/mainnet/${w.ETH_VAULT}`)).transactionalProperties).toEqual({
      depositStepsType: 'instant',
      redeemStepsType: 'instant',
      rewardsSupported: false,
    })
    expect(await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)).not.toHaveProperty(
      'transactionalProperties',
    )
  })

  it('does not make up a price', async () => {
    const vault = await get(`/v2/detailed-vaults/mainnet/${w.ODD_VAULT}`)
    expect(vault.tvl.usd).toBe('')
    expect(vault.tvl.native).toBe(String(samplesOf(w.ODD_VAULT).at(-1)?.assets))
    expect(vault.asset).not.toHaveProperty('assetPriceInUsd')
    expect(vault.warnings.join()).toContain('no price for ODD')
    // Nothing is worth nothing, whatever the price: the first shares came in the third hour.
    const { data } = await get(`/v2/historical/mainnet/${w.ODD_VAULT}/tvl?perPage=3`)
    expect(data.map(({ tvl }: { tvl: { usd: string } }) => tvl.usd)).toEqual(['0', '0', ''])
    const worth = async (account: string) =>
      (await get(`/v2/portfolio/positions/${account}/mainnet/${w.ODD_VAULT}`)).lpToken.balanceUsd
    expect([await worth(w.ALICE), await worth(w.BOB)]).toEqual([undefined, '0'])
  })
})

describe('the list and its filters', () => {
  const list = async (query: string) =>
    (await get(`/v2/detailed-vaults?${query}`)) as {
      data: { address: string; tvl: { usd: string } }[]
      errors: { unsupportedAssets: string[]; unsupportedNetworks: string[]; unsupportedProtocols: string[] }
    }
  const addresses = async (query: string) =>
    (await list(query)).data.map(({ address }) => lower(address)).sort()
  const all = [w.USD_VAULT, w.ETH_VAULT, w.NESTED_VAULT, w.ODD_VAULT].sort()

  it.each([
    ['', all],
    ['allowedNetworks=mainnet', all],
    ['allowedNetworks=eip155:1&allowedNetworks=base', all],
    ['allowedNetworks=base', []],
    ['disallowedNetworks=eip155:1', []],
    ['allowedNetworks=mainnet&disallowedNetworks=mainnet', all],
    ['allowedAssets=weth,usdx', [w.USD_VAULT, w.ETH_VAULT]],
    ['allowedAssets=WETH&allowedAssets=ODD', [w.ETH_VAULT, w.ODD_VAULT]],
    ['disallowedAssets=WETH', [w.USD_VAULT, w.NESTED_VAULT, w.ODD_VAULT]],
    ['allowedProtocols=morpho', [w.ETH_VAULT]],
    ['allowedProtocols=morpho-blue-v1', [w.ETH_VAULT]],
    ['disallowedProtocols=morpho', [w.USD_VAULT, w.NESTED_VAULT, w.ODD_VAULT]],
    ['minTvl=0', [w.USD_VAULT, w.ETH_VAULT, w.NESTED_VAULT]],
    ['maxTvl=0', []],
    ['minTvl=1000', [w.USD_VAULT, w.ETH_VAULT]],
    ['maxTvl=1000', [w.NESTED_VAULT]],
    ['maxApy=0', [w.ODD_VAULT]],
    ['minApy=0.6', [w.ETH_VAULT]],
    ['tags=core', [w.USD_VAULT]],
    ['curators=acme', [w.USD_VAULT]],
    ['onlyAppFeatured=true', [w.USD_VAULT]],
    ['onlyAppFeatured=false', all],
    ['onlyTransactional=true', []],
    ['allowVaultsWithWarnings=false', [w.USD_VAULT, w.NESTED_VAULT, w.ODD_VAULT]],
    ['minVaultScore=10', [w.USD_VAULT, w.ETH_VAULT, w.NESTED_VAULT]],
    ['minVaultScore=100', []],
  ])('?%s', async (query, expected) => {
    expect(await addresses(query)).toEqual([...expected].sort())
  })

  it('names what it does not know and does not fail', async () => {
    const { errors, data } = await list(
      'allowedNetworks=atlantis,mainnet&allowedAssets=NOPE,WETH&disallowedProtocols=who',
    )
    expect(errors).toEqual({
      unsupportedNetworks: ['atlantis'],
      unsupportedAssets: ['NOPE'],
      unsupportedProtocols: ['who'],
    })
    expect(data.map(({ address }) => lower(address))).toEqual([w.ETH_VAULT])
  })

  it('sorts both ways, the unknown last', async () => {
    const up = (await list('sortBy=tvl&sortOrder=asc')).data.map(({ tvl }) => tvl.usd)
    const down = (await list('sortBy=tvl&sortOrder=desc')).data.map(({ tvl }) => tvl.usd)
    expect(up.at(-1)).toBe('')
    expect(down.at(-1)).toBe('')
    const known = up.slice(0, -1).map(Number)
    expect(known).toEqual([...known].sort((a, b) => a - b))
    expect(down.slice(0, -1)).toEqual(up.slice(0, -1).reverse())
    expect((await list('')).data.map(({ tvl }) => tvl.usd)).toEqual(up)
  })
})

describe('history', () => {
  it('has the first sample of each day, and none for the day without', async () => {
    const { data } = await get(`/v2/historical/mainnet/${w.ETH_VAULT}?granularity=1day&perPage=100`)
    const firsts = new Map<number, w.Sample>()
    for (const sample of samplesOf(w.ETH_VAULT)) {
      const day = Math.floor(sample.at / w.DAY) * w.DAY
      if (!firsts.has(day)) firsts.set(day, sample)
    }
    // The APY of seven days has no value before there are seven.
    expect(data).toHaveLength(w.DAYS - 1 - 7)
    expect(data.map((point: { timestamp: number }) => point.timestamp)).toEqual([...firsts.keys()].slice(7))
    for (const point of data) {
      const sample = firsts.get(point.timestamp)
      expect(point.sharePrice).toBe(Number(sample?.price) / 1e18)
      expect(point.blockNumber).toBe(String(w.blockAt(sample?.at ?? 0)))
      expect(point.tvl.native).toBe(String(sample?.assets))
      const usd = (Number(sample?.assets) / 1e18) * feedAt(w.ETH_FEED, blockTime(sample?.at ?? 0))
      expect(Number(point.tvl.usd)).toBeCloseTo(usd, 6)
    }
  })

  it('keeps to the window, in buckets of a week aligned to epoch 0', async () => {
    const from = w.START + 8 * w.DAY
    const { data } = await get(
      `/v2/historical/mainnet/${w.USD_VAULT}/sharePrice?granularity=1week&fromTimestamp=${from}&toTimestamp=${from + 20 * w.DAY}`,
    )
    const weeks = data.map((point: { timestamp: number }) => point.timestamp)
    expect(weeks).toEqual(
      Array.from({ length: 10 }, (_, i) => (Math.ceil(from / 604_800) + i) * 604_800).filter(
        week => week <= from + 20 * w.DAY,
      ),
    )
    for (const point of data) {
      const first = world.samples.find(s => s.vault === w.USD_VAULT && s.at >= point.timestamp)
      expect(point.sharePrice).toBe(Number(first?.price) / 1e6)
    }
  })

  it('annualises growth over the interval asked for', async () => {
    const at = w.START + 12 * w.DAY
    const { data } = await get(
      `/v2/historical/mainnet/${w.USD_VAULT}/apy?apyInterval=1day&fromTimestamp=${at}&toTimestamp=${at}`,
    )
    const price = (t: number) =>
      Number(world.samples.find(s => s.vault === w.USD_VAULT && s.at === t + 10)?.price)
    expect(data).toHaveLength(1)
    expect(data[0].apy.base).toBeCloseTo((price(at) / price(at - w.DAY)) ** 365 - 1, 4)
    expect(data[0].apy.total).toBe(data[0].apy.base + data[0].apy.reward)
  })

  it('prices a share over time by its parts at each moment', async () => {
    const { data } = await get(
      `/v2/historical/asset-prices/mainnet/${w.USD_VAULT}?granularity=1day&perPage=100`,
    )
    expect(data).toHaveLength(w.DAYS - 1)
    for (const point of data) {
      // Before the first deposit there is no share that has a price.
      const sample = world.samples.find(
        s => s.vault === w.USD_VAULT && s.at >= point.timestamp && s.supply > 0n,
      )
      const expected = (Number(sample?.price) / 1e6) * feedAt(w.USD_FEED, blockTime(sample?.at ?? 0))
      expect(Number(point.priceInUsd)).toBeCloseTo(expected, 9)
    }
    expect((await get(`/v2/historical/asset-prices/mainnet/${w.ODD_ASSET}`)).data).toEqual([])
  })

  it('counts what went in and out by day, days without a flow too', async () => {
    const { data } = await get(
      `/alpha/historical/mainnet/${w.USD_VAULT}/daily-flows?fromDate=2024-12-25&toDate=2025-12-31`,
    )
    expect(data).toHaveLength(w.DAYS)
    expect(data[0].date).toBe('2025-01-01')
    for (const flow of data) {
      const begin = Date.parse(flow.date) / 1000
      const of = (kind: string) =>
        world.moves.filter(
          move =>
            move.vault === w.USD_VAULT && move.kind === kind && move.at >= begin && move.at < begin + w.DAY,
        )
      const sum = (moves: w.Move[]) => String(moves.reduce((total, { assets }) => total + assets, 0n))
      expect(flow).toEqual({
        date: flow.date,
        totalDeposits: sum(of('deposit')),
        totalRedemptions: sum(of('redeem')),
        depositCount: of('deposit').length,
        redemptionCount: of('redeem').length,
        uniqueDepositors: new Set(of('deposit').map(({ to }) => to)).size,
        uniqueRedeemers: new Set(of('redeem').map(({ from }) => from)).size,
      })
    }
  })

  it('finds the largest fall in each window', async () => {
    const answer = await request(api.app)
      .post(`/alpha/advanced-analytics/mainnet/${w.ETH_VAULT}`)
      .set('x-api-key', api.apiKey)
      .send({ select: { maxDrawdown: true, detailedVault: true } })
    expect(answer.headers['x-credits-used']).toBe('6')
    expect(Object.keys(answer.body).sort()).toEqual(['detailedVault', 'maxDrawdown', 'network', 'vaultId'])
    const now = blockTime(world.samples.at(-1)?.at ?? 0)
    const naive = (days: number) => {
      let peak = 0
      let worst = 0
      for (const { at, price } of samplesOf(w.ETH_VAULT)) {
        if (blockTime(at) < now - days * w.DAY) continue
        peak = Math.max(peak, Number(price))
        worst = Math.max(worst, 1 - Number(price) / peak)
      }
      return worst
    }
    expect(naive(30)).toBeGreaterThan(0.09)
    for (const days of [30, 90, 365])
      expect(answer.body.maxDrawdown[`mdd${days}days`]).toBeCloseTo(naive(days), 12)
  })
})

describe('accounts', () => {
  const moments = [0, 1, 2, 29, 30, 31, 99, 100, 244, 245, 246, 287, 288, 700, 720, 721, 959].map(
    hour => w.START + hour * w.HOUR,
  )

  it.each([w.ALICE, w.BOB, w.CAROL])(
    'knows every balance of %s at every moment, to the unit',
    async account => {
      for (const moment of moments.flatMap(at => [at - 1, at, at + 700])) {
        const { data, timestamp } = await get(`/alpha/historical-balances/${account}/${moment}`)
        expect(timestamp).toBe(moment)
        const held = Object.fromEntries(
          data.map((p: { address: string; lpToken: { balanceNative: string } }) => [
            lower(p.address),
            p.lpToken.balanceNative,
          ]),
        )
        const expected = Object.fromEntries(
          world.vaults
            .map(({ vault }) => [vault, balanceOf(vault, account, moment)] as const)
            .filter(([, balance]) => balance > 0n)
            .map(([vault, balance]) => [vault, String(balance)]),
        )
        expect(held).toEqual(expected)
      }
    },
  )

  it('values a balance by the figures of that moment', async () => {
    const moment = w.START + 20 * w.DAY + 3 * w.HOUR + 5
    const { data } = await get(`/alpha/historical-balances/${w.BOB}/${moment}`)
    expect(data).toHaveLength(1)
    const [position] = data
    const sample = samplesOf(w.ETH_VAULT, moment).at(-1)
    const balance = balanceOf(w.ETH_VAULT, w.BOB, moment)
    expect(position.sharePrice).toBe(Number(sample?.price) / 1e18)
    expect(position.lpToken.positionValueInAsset).toBe(String((balance * (sample?.price ?? 0n)) / 10n ** 18n))
    expect(Number(position.asset.assetPriceInUsd)).toBeCloseTo(feedAt(w.ETH_FEED, moment), 9)
    expect(position.blockNumber).toBe(String(w.blockAt(sample?.at ?? 0)))
    const { data: none } = await get(
      `/alpha/historical-balances/${w.BOB}/${moment}?minUsdAssetValueThreshold=1000000`,
    )
    expect(none).toEqual([])
  })

  it('says what was held in a window', async () => {
    const held = async (from: number, to: number) => {
      const { historicalPositions } = await get(
        `/alpha/historical-positions/${w.BOB}?fromTimestamp=${from}&toTimestamp=${to}`,
      )
      return Object.fromEntries(
        historicalPositions.map((p: { address: string; active: boolean }) => [lower(p.address), p.active]),
      )
    }
    // Bob left the USD vault on day 10 and came back on day 30.
    expect(await held(w.START, w.START + w.HOUR - 1)).toEqual({})
    expect(await held(w.START + 5 * w.DAY, w.START + 6 * w.DAY)).toEqual({
      [w.USD_VAULT]: true,
      [w.ETH_VAULT]: true,
    })
    expect(await held(w.START + 11 * w.DAY, w.START + 20 * w.DAY)).toEqual({ [w.ETH_VAULT]: true })
    expect(await held(w.START + 11 * w.DAY, w.START + 31 * w.DAY)).toEqual({
      [w.USD_VAULT]: true,
      [w.ETH_VAULT]: true,
    })
  })

  it('ranks holders', async () => {
    const { data, totalCount, totalBalance } = await get(`/alpha/mainnet/${w.USD_VAULT}/holders`)
    const expected = [w.ALICE, w.BOB, w.CAROL]
      .map(account => [account, balanceOf(w.USD_VAULT, account, Infinity)] as const)
      .sort(([, a], [, b]) => (a > b ? -1 : 1))
    expect(
      data.map((h: { address: string; lpTokenBalance: string }) => [lower(h.address), h.lpTokenBalance]),
    ).toEqual(expected.map(([account, balance]) => [account, String(balance)]))
    const total = expected.reduce((sum, [, balance]) => sum + balance, 0n)
    expect(totalCount).toBe(3)
    expect(totalBalance).toBe(String(total))
    expect(data[0].share).toBeCloseTo(Number(expected[0]?.[1]) / Number(total), 12)
    for (const { address, balanceUsd } of data) {
      const { lpToken } = await get(`/v2/portfolio/positions/${address}/mainnet/${w.USD_VAULT}`)
      expect(balanceUsd).toBe(lpToken.balanceUsd)
    }
  })
})

describe('a fork', () => {
  it('takes back what was in a retracted block, in a catalogue that moves and in one read anew', async () => {
    const before = await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)
    const at = w.START + w.DAYS * w.DAY
    const number = w.blockAt(at)
    const hash = (fill: string) => `0x${fill.repeat(64)}`
    const mint = (shares: bigint, index: number) => ({
      type: 'ShareTransferred' as const,
      contract: w.USD_VAULT,
      transactionHash: hash('7'),
      logIndex: index,
      data: { from: `0x${'0'.repeat(40)}`, to: w.CAROL, shares },
    })
    const sampled = (totalAssets: bigint) => ({
      type: 'StateSampled' as const,
      contract: w.USD_VAULT,
      data: {
        vault: w.USD_VAULT,
        reason: 'activity' as const,
        totalAssets,
        totalSupply: totalAssets,
        sharePrice: 2_000_000n,
        decimals: 18,
        assetDecimals: 6,
      },
    })
    await api.append(1, 'mainnet', [
      { block: { number, hash: hash('a'), timestamp: at }, events: [mint(77n, 0), sampled(9_999_999n)] },
    ])
    await api.catchUp()
    const forked = await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)
    expect(forked.tvl.native).toBe('9999999')
    expect(BigInt(forked.holdersData.totalBalance)).toBe(BigInt(before.holdersData.totalBalance) + 77n)

    const { rows } = await api.pool.query<{ head: number }>('SELECT head FROM stream WHERE id = 1')
    const head = rows[0]?.head ?? 0
    await api.append(1, 'mainnet', [
      {
        block: { number, hash: hash('b'), timestamp: at },
        events: [
          {
            type: 'BlockRetracted',
            contract: '',
            data: { blockNumber: number, blockHash: hash('a'), fromPosition: head - 1, toPosition: head },
          },
        ],
      },
    ])
    await api.catchUp()
    expect(await get(`/v2/detailed-vaults/mainnet/${w.USD_VAULT}`)).toEqual(before)
    const { data } = await get(`/alpha/historical-balances/${w.CAROL}/${at}`)
    expect(data[0].lpToken.balanceNative).toBe(String(balanceOf(w.USD_VAULT, w.CAROL, at)))

    const anew = createCatalogueKeeper(api.pool, api.clickhouse)
    await anew.refresh()
    const everything = (keeper: typeof anew) => keeper.current().identity.map(detailedOf)
    expect(everything(api.catalogue)).toEqual(everything(anew))
  })
})

describe('health', () => {
  it('is 503 with the error body when ClickHouse is down', async () => {
    const { createApp } = await import('../../read-api/app.ts')
    const { openClickHouse } = await import('../../db/clickhouse/client.ts')
    const down = openClickHouse({ url: 'http://127.0.0.1:9', database: 'vaultlog' }).client
    const answer = await request(await createApp({ ...api.deps, clickhouse: down })).get('/v2/health')
    expect(answer.status).toBe(503)
    expect(answer.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable' })
    expect(answer.headers['retry-after']).toBe('5')
    await down.close()
  })
})
