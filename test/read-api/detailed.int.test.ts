import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { createCatalogueKeeper } from '../../read-api/catalogue/keeper.ts'
import { detailedOf } from '../../read-api/catalogue/wire.ts'
import { DetailedVault } from '../../read-api/vaults/schemas.ts'
import {
  ALICE,
  address,
  blockAt,
  DAY,
  discovered,
  E6,
  E18,
  FEED,
  FULL,
  HOLLOW,
  HOUR,
  JUMPY,
  log,
  MUTE,
  OUTER,
  OWN,
  REWARD,
  STALE,
  START,
  SUPPLY,
  samplesAt,
  USD,
  VAULTS,
} from './detailed-world.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'

/** The detailed vault in full: one chain of a few days, and what its events and the curated facts make of each vault. */

let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await api.recordFacts(
    [
      { subject: `asset:1:${USD}`, kind: 'feed', value: { feed: FEED, decimals: 8 } },
      { subject: `asset:1:${REWARD}`, kind: 'peg', value: { usd: '2' } },
      { subject: 'protocol:acme', kind: 'profile', value: { displayName: 'Acme' } },
      {
        subject: 'curator:jane',
        kind: 'profile',
        value: { displayName: 'Jane', websiteUrl: 'https://jane.example' },
      },
      {
        subject: `vault:1:${FULL}`,
        kind: 'listed',
        value: {
          protocol: 'acme',
          product: 'vaults',
          version: 'v2',
          name: 'Acme Dollars',
          description: 'Lends dollars.',
          lendUrl: 'https://acme.example/lend',
          protocolVaultUrl: '',
        },
      },
      { subject: `vault:1:${FULL}`, kind: 'tags', value: ['stablecoin'] },
      { subject: `vault:1:${FULL}`, kind: 'curator', value: 'jane' },
      { subject: `vault:1:${FULL}`, kind: 'fees', value: { performanceFee: 0.5, depositFee: 0.01 } },
      { subject: `vault:1:${FULL}`, kind: 'incentives', value: 'Acme points' },
      {
        subject: `vault:1:${FULL}`,
        kind: 'transactional',
        value: { depositStepsType: 'instant', redeemStepsType: 'complex', rewardsSupported: false },
      },
      {
        subject: `vault:1:${FULL}`,
        kind: 'flags',
        value: [
          { content: 'Oracle under review.', severity: 'warning', endDate: START + 80 * HOUR },
          { content: 'Not yet.', severity: 'critical', startDate: START + 200 * HOUR },
          { content: 'Was hacked.', severity: 'critical', resolution: 'Everybody was made whole.' },
        ],
      },
      {
        subject: `vault:1:${FULL}`,
        kind: 'rewards',
        value: [
          {
            asset: { address: REWARD, name: 'Reward', symbol: 'RWD', decimals: 18 },
            // 1,000 a day over ten days: 2,000 USD a day.
            amount: String(10_000n * E18),
            startDate: START,
            endDate: START + 10 * DAY,
          },
          {
            asset: { address: address('0b'), name: 'Odd', symbol: 'ODD', decimals: 18 },
            amount: '1',
            startDate: START,
            endDate: START + 10 * DAY,
          },
        ],
      },
    ],
    START,
  )
  const answer: DomainEvent = {
    type: 'PriceReported',
    contract: FEED,
    data: { source: 'chainlink', feed: FEED, answer: 100_000_000n, decimals: 8, reportedAt: START },
  }
  const blocks = [blockAt(0, [...VAULTS.map(discovered), answer, ...samplesAt(0)])]
  for (let hour = 1; hour <= 72; hour++)
    blocks.push(blockAt(hour, [...(OWN[hour] ?? []), ...samplesAt(hour)]))
  await api.append(1, 'mainnet', blocks)
  await api.catchUp()
})
afterAll(() => api?.stop())

async function detailed(vault: string) {
  const answer = await request(api.app)
    .get(`/v2/detailed-vaults/mainnet/${vault}`)
    .set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return DetailedVault.parse(answer.body)
}

describe('a vault of which everything is known', () => {
  it('says what the registry says', async () => {
    const vault = await detailed(FULL)
    expect(vault).toMatchObject({
      name: 'Acme Dollars',
      description: 'Lends dollars.',
      lendUrl: 'https://acme.example/lend',
      protocolVaultUrl: '',
      tags: ['stablecoin'],
      curator: { name: 'jane', displayName: 'Jane', websiteUrl: 'https://jane.example' },
      protocol: {
        name: 'acme',
        displayName: 'Acme',
        product: 'vaults',
        version: 'v2',
        protocolId: 'acme-vaults-v2',
      },
      additionalIncentives: 'Acme points',
      isTransactional: true,
      transactionalProperties: {
        depositStepsType: 'instant',
        redeemStepsType: 'complex',
        rewardsSupported: false,
      },
      creationData: { deploymentTimestamp: START },
      userEventsIndexed: true,
      isCorrupted: false,
    })
  })

  it('has the fees and the cap of its own events, and curated fees for the rest', async () => {
    const vault = await detailed(FULL)
    expect(vault.fees).toEqual({ performanceFee: 0.05, depositFee: 0.01 })
    expect(vault.maxCapacity).toBe(String(5_000_000n * E6))
    expect(vault.remainingCapacity).toBe(String(3_000_000n * E6))
  })

  it('shows rewards with what they yield, and warns of those it cannot price', async () => {
    const vault = await detailed(FULL)
    // 2,000 USD a day for 2,000,000 USD: 0.365 a year; three days of thirty.
    expect(vault.rewards.map(({ asset }) => asset.symbol)).toEqual(['RWD'])
    expect(vault.rewards[0]?.apy['1day']).toBeCloseTo(0.365, 9)
    expect(vault.rewards[0]?.apy['30day']).toBeCloseTo(0.0365, 9)
    expect(vault.apy['1day']).toEqual({
      base: 0,
      reward: vault.rewards[0]?.apy['1day'],
      total: vault.rewards[0]?.apy['1day'],
    })
    expect(vault.warnings.join()).toContain('ODD')
  })

  it('yields as much in the position of a holder and in the benchmark', async () => {
    const vault = await detailed(FULL)
    const get = async (path: string) =>
      (await request(api.app).get(path).set('x-api-key', api.apiKey)).body as Record<string, never>
    const { data } = (await get(
      `/v2/portfolio/positions/${ALICE}?apyInterval=1day&minApy=0.3`,
    )) as unknown as {
      data: { apy: unknown; asset: { balanceNative: string } }[]
    }
    expect(data.map(({ apy }) => apy)).toEqual([vault.apy['1day']])
    expect(vault.apy['30day'].reward).toBeCloseTo(0.0365, 9)
    // 72 hours of samples: a longer window has no value, whatever is paid.
    expect(vault.warnings.join()).toContain('APY of 7day, 30day is unknown')
    expect(data[0]?.asset.balanceNative).toBe('')
    // Of sound vaults there are FULL and STALE, of the same size; what STALE paid has ended.
    const { apy } = (await get('/v2/benchmarks/mainnet?code=usd')) as unknown as { apy: typeof vault.apy }
    expect(apy['1day'].base).toBe(0)
    expect(apy['1day'].reward).toBeCloseTo(0.365 / 2, 9)
    expect(apy['1day'].total).toBe(apy['1day'].reward)
  })

  it('scores by the formula', async () => {
    const { score, flags } = await detailed(FULL)
    expect(flags.map(({ content }) => content)).toEqual(['Oracle under review.', 'Was hacked.'])
    // Sound vaults of the protocol: FULL, 2,000,000 USD over 72 hours, and STALE, the same over 29. OUTER holds FULL's.
    const scaled = (points: number, value: number, floor: number, ceiling: number) =>
      (points * Math.log10(value / floor)) / Math.log10(ceiling / floor)
    const one = 2_000_000 * 72 * HOUR
    const protocol = Math.round(scaled(40, (one / 72) * (72 + 29), 1e6, 1e15) * 10) / 10
    const own = Math.round(scaled(20, one, 1e5, 1e15) * 100) / 100
    const asset = Math.round(scaled(25, 4_000_000, 1e5, 1e10) * 10) / 10
    expect(score).toMatchObject({
      protocolTvlScore: protocol,
      vaultTvlScore: own,
      // One holder is the floor.
      holderScore: 0,
      assetScore: asset,
      totalScorePenalty: 0.2,
      penaltyComponents: [
        {
          type: 'flag',
          value: 0.2,
          content: 'Oracle under review.',
          severity: 'warning',
          endDate: START + 80 * HOUR,
        },
        {
          type: 'flag',
          value: 0,
          content: 'Was hacked.',
          // Nobody wrote down when it ends: the end of the year 9999.
          endDate: Date.UTC(9999, 11, 31, 23, 59, 59) / 1000,
          resolution: 'Everybody was made whole.',
        },
      ],
    })
    expect(score?.vaultScore).toBeCloseTo((protocol + own + asset) * 0.8, 2)
  })

  it('has been paused for a third of its life, by Paused and Unpaused', async () => {
    const ratioOf = async (vault: string) => {
      const { body } = await request(api.app)
        .post(`/beta/advanced-analytics/mainnet/${vault}`)
        .set('x-api-key', api.apiKey)
        .send({ select: { withdrawalPauseRatio: true } })
      return body.withdrawalPauseRatio
    }
    expect(await ratioOf(FULL)).toEqual({ value: 24 / 72, from: START, to: START + 72 * HOUR })
    expect((await ratioOf(OUTER)).value).toBeNull()
    // It was paused for two days, and nothing is known of the first of its life.
    expect(await ratioOf(HOLLOW)).toEqual({ value: null, from: START - DAY, to: START + 72 * HOUR })

    await api.pool.query(`INSERT INTO watched_source (stream, kind, contract, from_block, cursor)
      VALUES (1, 'vault', '', 0, 10)`)
    expect((await ratioOf(FULL)).value).toBeNull()
    await api.pool.query('UPDATE watched_source SET cursor = NULL')
    expect((await ratioOf(FULL)).value).toBe(24 / 72)
  })
})

/** The reward of each bucket of a day, of the window of a day. */
async function pastRewards(vault: string, path = '', query = '') {
  const { body } = await request(api.app)
    .get(`/v2/historical/mainnet/${vault}${path}?granularity=1day&apyInterval=1day${query}`)
    .set('x-api-key', api.apiKey)
  return body.data.map(({ apy }: { apy: { reward: number } }) => apy.reward) as number[]
}

describe('rewards of the past', () => {
  it('are in the history of a vault', async () => {
    for (const path of ['', '/apy']) {
      const rewards = await pastRewards(FULL, path)
      expect(rewards).toHaveLength(3)
      for (const reward of rewards) expect(reward).toBeCloseTo(0.365, 9)
    }
    expect(await pastRewards(FULL, '/apy', `&fromTimestamp=${START + DAY}&perPage=1`)).toEqual([
      expect.closeTo(0.365, 9),
    ])
  })

  it('are there also where the vault itself paid them, and no longer does', async () => {
    // 0.01 a second at 2 USD, for 23 hours of the day.
    const yearly = ((0.01 * 2 * 23 * HOUR) / DAY / 2_000_000) * 365 * DAY
    expect(await pastRewards(STALE)).toEqual([expect.closeTo(yearly, 9)])
    expect((await detailed(STALE)).rewards).toEqual([])
    const { body } = await request(api.app)
      .get('/v2/historical-benchmarks/mainnet?code=usd')
      .set('x-api-key', api.apiKey)
    // Of five vaults of the same size two are sound, and both paid. One of the others grew elevenfold on the last day.
    expect(body.data[1].apy['1day'].reward).toBeCloseTo((0.365 + yearly) / 2, 9)
    expect(body.data[3].apy['1day'].base).toBe(0)
  })

  it('are in a balance of then', async () => {
    const { body } = await request(api.app)
      .get(`/alpha/historical-balances/${ALICE}/${START + 30 * HOUR}?apyInterval=7day`)
      .set('x-api-key', api.apiKey)
    // 30 hours of the seven days.
    const yearly = (0.365 * 30) / (7 * 24)
    expect(body.data[0].apy).toEqual({
      base: 0,
      reward: expect.closeTo(yearly, 9),
      total: expect.closeTo(yearly, 9),
    })
    const passing = await request(api.app)
      .get(
        `/alpha/historical-balances/${ALICE}/${START + 30 * HOUR}?apyInterval=1day&minApy=0.36&maxApy=0.37`,
      )
      .set('x-api-key', api.apiKey)
    expect(passing.body.data).toHaveLength(1)
  })
})

it('names the inner vault of a nested one, and what both earn', async () => {
  const outer = await detailed(OUTER)
  const inner = await detailed(FULL)
  expect(outer.childrenVaults).toEqual([
    { vaultId: inner.vaultId, address: inner.address, asset: inner.asset, lpToken: inner.lpToken },
  ])
  expect(outer.apyComposite?.totalApy['1day'].total).toBeCloseTo(0.365, 9)
  expect(inner.childrenVaults).toBeUndefined()
})

it('says what of a nested vault lies in the inner one', async () => {
  const transfer = log({
    type: 'ShareTransferred',
    data: { from: ALICE, to: OUTER, shares: SUPPLY / 4n },
  } as DomainEvent)
  await api.append(1, 'mainnet', [blockAt(73, [transfer])])
  await api.catchUp()
  const { body } = await request(api.app)
    .post(`/beta/advanced-analytics/mainnet/${OUTER}`)
    .set('x-api-key', api.apiKey)
    .send({ select: { composition: true } })
  expect(body.composition).toEqual({
    items: [
      {
        name: 'Acme Dollars',
        address: (await detailed(FULL)).address,
        network: 'mainnet',
        // The amount is in shares of the inner vault, and so is the total.
        assetSymbol: 'V',
        allocation: 0.25,
        valueNative: String(SUPPLY / 4n),
        kind: 'deployed',
      },
    ],
    totalAssetsNative: String(SUPPLY),
  })
})

describe('corrupted vaults', () => {
  it.each([
    [JUMPY, 'tenfold'],
    [HOLLOW, 'no assets behind'],
    [MUTE, 'does not answer'],
  ])('%s: %s', async (vault, why) => {
    const body = await detailed(vault)
    expect(body.isCorrupted).toBe(true)
    expect(body.warnings.join()).toContain(why)
    if (body.score) expect(body.score).toMatchObject({ vaultScore: 0, totalScorePenalty: 1 })
  })

  it('are left out of the list unless asked for', async () => {
    const list = async (query: string) =>
      (await request(api.app).get(`/v2/vaults?${query}`).set('x-api-key', api.apiKey)).body.data.map(
        (vault: { address: string }) => vault.address.toLowerCase(),
      )
    // STALE was last read 43 hours ago: not yet.
    expect((await list('')).sort()).toEqual([FULL, OUTER, STALE])
    expect(await list('allowCorrupted=true')).toHaveLength(6)
  })
})

describe('time alone', () => {
  it('ends flags and makes old states stale, in a catalogue that moves as in one read anew', async () => {
    const before = (await detailed(FULL)).score
    expect((await detailed(STALE)).isCorrupted).toBe(false)
    const later: DomainEvent = {
      type: 'PriceReported',
      contract: address('f9'),
      data: { source: 'chainlink', feed: address('f9'), answer: 1n, decimals: 8, reportedAt: START },
    }
    await api.append(1, 'mainnet', [blockAt(81, [later])])
    await api.catchUp()
    expect((await detailed(FULL)).warnings.join()).toContain('its feed has not reported for 3 days')
    const again: DomainEvent = {
      ...later,
      data: { ...later.data, feed: FEED, answer: 100_000_000n },
    } as DomainEvent
    await api.append(1, 'mainnet', [blockAt(82, [again])])
    await api.catchUp()
    const after = await detailed(FULL)
    expect(after.flags.map(({ content }) => content)).toEqual(['Was hacked.'])
    expect(after.score?.totalScorePenalty).toBe(0)
    expect(after.score?.vaultScore).toBeGreaterThan(before?.vaultScore ?? 0)
    const stale = await detailed(STALE)
    expect(stale.isCorrupted).toBe(true)
    expect(stale.warnings.join()).toContain('48 hours')

    const fresh = createCatalogueKeeper(api.pool, api.clickhouse)
    await fresh.refresh()
    expect(fresh.current().identity.map(detailedOf)).toEqual(api.catalogue.current().identity.map(detailedOf))
    await fresh.stop()
  })

  it('leaves the rewards of the past as they were, whatever is said of them now', async () => {
    await api.recordFacts([{ subject: `vault:1:${FULL}`, kind: 'rewards', value: [] }], START + 90 * HOUR)
    const later: DomainEvent = {
      type: 'PriceReported',
      contract: address('f9'),
      data: { source: 'chainlink', feed: address('f9'), answer: 2n, decimals: 8, reportedAt: START },
    }
    await api.append(1, 'mainnet', [blockAt(40 * 24, [later])])
    const [full, stale] = [await pastRewards(FULL), await pastRewards(STALE)]
    await api.catchUp()
    expect((await detailed(FULL)).rewards).toEqual([])
    expect(await pastRewards(FULL)).toEqual(full)
    expect(await pastRewards(STALE)).toEqual(stale)
    expect(full.every(reward => reward > 0.3)).toBe(true)
    // One that is read anew knows of it, too.
    const fresh = createCatalogueKeeper(api.pool, api.clickhouse)
    await fresh.refresh()
    expect(fresh.current().find(1, STALE)?.state.streams).toEqual([])
    expect(fresh.current().find(1, OUTER)?.state.streams).toBeUndefined()
    const told = (keeper: typeof fresh) => keeper.current().facts.rewardsAt(1, FULL, START + DAY)
    expect(told(fresh)).toHaveLength(2)
    expect(told(fresh)).toEqual(told(api.catalogue))
    await fresh.stop()
  })

  it('is followed by facts: a flag taken back is gone', async () => {
    await api.recordFacts([{ subject: `vault:1:${FULL}`, kind: 'flags', value: [] }], START + 82 * HOUR)
    await api.catchUp()
    expect((await detailed(FULL)).flags).toEqual([])
  })

  it('brings no price: that comes from the aggregator, whatever its address', async () => {
    const report: DomainEvent = {
      type: 'PriceReported',
      contract: address('a9'),
      data: {
        source: 'chainlink',
        feed: FEED,
        answer: 250_000_000n,
        decimals: 8,
        reportedAt: START + 41 * DAY,
      },
    }
    await api.append(1, 'mainnet', [blockAt(41 * 24, [report])])
    await api.catchUp()
    expect((await detailed(FULL)).asset.assetPriceInUsd).toBe('2.5')
  })
})
