import { MarketUtils } from '@morpho-org/blue-sdk'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lentAssets } from '../../read-api/lending/lent.ts'
import { ask } from '../../read-api/moment/query.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import {
  ACCRUED_AT_HOUR,
  COMET,
  COMET_RATES,
  COMET_SAMPLED_AT_HOUR,
  COMET_TOTALS,
  EVK_AT_HOUR,
  EVK_COLLATERAL,
  EVK_DEBT,
  EVK_LENDER,
  EVK_RATE,
  LENT_ONLY,
  MORPHO_MARKET,
  MORPHO_PRICE,
  MORPHO_RATE,
  POOL,
} from './lending-world.ts'
import * as w from './world.ts'

/** Figures are reckoned here from the events of lending-world.ts, with blue-sdk where interest comes in. */

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
})
afterAll(() => api?.stop())

async function get(path: string, query: Record<string, string> = {}, status = 200) {
  const answer = await request(api.app).get(`/beta/borrow${path}`).query(query).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer.body
}

const world = w.makeWorld()
const lastAnswer = (feed: string) => world.answers.findLast(answer => answer.feed === feed)?.answer ?? 0n
const now = () => api.catalogue.current().chain(1)?.blockTime ?? 0
const accrued = (assets: bigint, at = now()) => {
  const elapsed = BigInt(at - (w.START + ACCRUED_AT_HOUR * w.HOUR))
  const totals = { totalSupplyAssets: 0n, totalSupplyShares: 0n, totalBorrowAssets: assets, fee: 0n }
  return assets + MarketUtils.getAccruedInterest(MORPHO_RATE, totals, elapsed).interest
}

/** From the sample of the Comet to the moment. */
const cometSeconds = () => BigInt(now() - (w.START + COMET_SAMPLED_AT_HOUR * w.HOUR))

describe('borrow markets', () => {
  it('lists all families with their totals', async () => {
    const { data, nextPage } = await get('/markets')
    expect(nextPage).toBeNull()
    expect(data.map((market: { protocol: { name: string } }) => market.protocol.name)).toEqual([
      'aave',
      'compound',
      'euler',
      'morpho',
    ])
    const [pool, , , market] = data
    const [usd, eth] = pool.assetsData
    expect(pool.marketId.toLowerCase()).toBe(POOL)
    expect([usd.totalSupplied.native, usd.totalBorrowed.native]).toEqual(['3300000000', '1200000000'])
    expect(usd.utilizationRate).toBeCloseTo(12 / 33, 12)
    expect(usd.availableToBorrow.native).toBe('2100000000')
    expect(usd.assetConfig.borrowCap).toBe('5000000000')
    expect(eth.defaultRiskParameters).toEqual({
      maxLtv: 0.8,
      liquidationThreshold: 0.825,
      liquidationPenalty: 0.05,
    })
    const [loan, collateral] = market.assetsData
    const owed = accrued(400_007_200n - 100_000_000n)
    expect(loan.totalBorrowed.native).toBe(owed.toString())
    expect(loan.totalSupplied.native).toBe((1_000_007_200n + owed - 300_007_200n).toString())
    expect(loan.borrowRate).toBeCloseTo(Math.expm1((Number(MORPHO_RATE) / 1e18) * 31_536_000), 12)
    expect(collateral.totalSupplied.native).toBe((10n ** 18n).toString())
    expect(loan.pairRiskParameters).toEqual([
      { collateralMarketAssetId: collateral.marketAssetId, ...collateral.defaultRiskParameters },
    ])
    // 1 / (1 − 0.3 × 0.14) − 1
    expect(collateral.defaultRiskParameters.liquidationPenalty).toBeCloseTo(1 / 0.958 - 1, 12)
  })

  it('knows a Comet as its sample, grown by its rates to the moment, and a token of no vault', async () => {
    const { data } = await get('/markets', { allowedProtocols: 'compound-v3' })
    const [base, collateral] = data[0].assetsData
    const grown = (index: bigint, rate: bigint) => index + (index * rate * cometSeconds()) / 10n ** 18n
    const supplied = (10_000_000_000n * grown(COMET_TOTALS.supplyIndex, COMET_RATES.supply)) / 10n ** 15n
    const borrowed = (1_000_000_000n * grown(COMET_TOTALS.borrowIndex, COMET_RATES.borrow)) / 10n ** 15n
    expect([base.totalSupplied.native, base.totalBorrowed.native]).toEqual([`${supplied}`, `${borrowed}`])
    // Cash is what reserves are more than supply less debt, and does not move with interest.
    expect(base.availableLiquidity.native).toBe((7n + 11_000_000_000n - 1_200_000_000n).toString())
    expect(base.borrowRate).toBeCloseTo(Math.expm1((Number(COMET_RATES.borrow) / 1e18) * 31_536_000), 12)
    expect(collateral.asset).toMatchObject({ symbol: 'LENT', decimals: 18 })
    // It has no price, and nothing of it is worth nothing.
    expect(collateral.totalSupplied).toEqual({ native: (3n * 10n ** 18n).toString(), usd: '' })
    expect(collateral.totalBorrowed).toEqual({ native: '0', usd: '0' })
    expect(collateral.defaultRiskParameters.liquidationPenalty).toBeCloseTo(0.07, 12)
    expect(base.pairRiskParameters).toEqual([
      { collateralMarketAssetId: collateral.marketAssetId, ...collateral.defaultRiskParameters },
    ])
    // What no vault has is no asset of the vaults' own list.
    const assets = await request(api.app).get('/v2/assets').set('x-api-key', api.apiKey)
    expect(assets.body.data.map((asset: { symbol: string }) => asset.symbol)).not.toContain('LENT')
  })

  it('knows a pair of Euler vaults, the debt of one and the shares of the other', async () => {
    const { data } = await get('/markets', { allowedProtocols: 'euler' })
    expect(data).toHaveLength(1)
    const [loan, collateral] = data[0].assetsData
    expect([loan.asset.symbol, collateral.asset.symbol]).toEqual(['WETH', 'USDX'])
    // Compounded by the second: e^(rate × seconds).
    const seconds = now() - (w.START + EVK_AT_HOUR * w.HOUR)
    const growth = Math.exp((Number(EVK_RATE) / 1e27) * seconds)
    expect(Number(loan.totalBorrowed.native) / Number(EVK_LENDER.totalBorrows)).toBeCloseTo(growth, 9)
    expect(BigInt(loan.totalSupplied.native) - BigInt(loan.totalBorrowed.native)).toBe(EVK_LENDER.cash)
    expect(loan.borrowRate).toBeCloseTo(Math.expm1((Number(EVK_RATE) / 1e27) * 31_536_000), 9)
    expect(loan.supplyRate).toBeCloseTo(loan.borrowRate * loan.utilizationRate * 0.9, 9)
    expect(collateral.defaultRiskParameters).toEqual({
      maxLtv: 0.8,
      liquidationThreshold: 0.85,
      liquidationPenalty: expect.closeTo(0.15 / 0.85, 12),
    })
    const position = await get(`/portfolio/positions/${w.CAROL}/mainnet/${data[0].marketId}`)
    const [debt, shares] = position.assets
    expect(Number(debt.borrowedNative) / Number(EVK_DEBT)).toBeCloseTo(growth, 9)
    expect(shares.suppliedNative).toBe(
      ((1_234n * (EVK_COLLATERAL.cash + 1_000_000n)) / (EVK_COLLATERAL.totalShares + 1_000_000n)).toString(),
    )
    const owes = (Number(debt.borrowedNative) / 1e18) * 3_000
    const secured = Number(shares.suppliedNative) / 1e6
    expect(shares.collateralEnabled).toBe(true)
    expect(position.ltv / (owes / secured)).toBeCloseTo(1, 12)
    expect(position.healthFactor / ((secured * 0.85) / owes)).toBeCloseTo(1, 4)
    const events = await get(`/portfolio/events/${w.CAROL}/mainnet/${data[0].marketId}/${loan.marketAssetId}`)
    expect(events.data.map((event: { eventType: string }) => event.eventType)).toEqual(['borrow'])
  })

  it('narrows by every filter', async () => {
    const count = async (query: Record<string, string>) => (await get('/markets', query)).data.length
    expect(await count({ allowedProtocols: 'morpho' })).toBe(1)
    expect(await count({ disallowedProtocols: 'aave-v3,compound' })).toBe(2)
    expect(await count({ allowedCollateralAssets: 'usdx' })).toBe(2)
    expect(await count({ disallowedCollateralAssets: 'WETH' })).toBe(3)
    expect(await count({ allowedBorrowAssets: 'WETH' })).toBe(2)
    expect(await count({ disallowedBorrowAssets: 'USDX' })).toBe(2)
    expect(await count({ allowedCollateralAssets: 'lent' })).toBe(1)
    expect(await count({ allowedNetworks: 'base' })).toBe(0)
    expect(await count({ disallowedNetworks: 'mainnet' })).toBe(0)
    expect(await count({ minTvl: '1000000000' })).toBe(0)
    expect(await count({ minTvl: '0' })).toBe(4)
    expect((await get('/markets/mainnet', { allowedBorrowAssets: 'WETH' })).data).toHaveLength(2)
  })

  it('names every asset so that its id stands in a path as it is, and leads back to it', async () => {
    const { data } = await get('/markets')
    const ids = new Set<string>()
    const positions = new Set<string>()
    for (const { marketId, assetsData } of data) {
      for (const { marketAssetId, asset } of assetsData) {
        expect(encodeURIComponent(marketAssetId)).toBe(marketAssetId)
        ids.add(`${marketId} ${marketAssetId}`)
        for (const market of [marketId, marketId.toLowerCase()]) {
          const path = `/portfolio/positions/${w.ALICE}/mainnet/${market}/${marketAssetId.toUpperCase().replace('0X', '0x')}`
          const position = await get(path)
          expect([position.marketId, position.asset.asset.address]).toEqual([marketId, asset.address])
          positions.add(position.asset.positionId)
        }
      }
    }
    expect(ids.size).toBeGreaterThan(3)
    expect(positions.size).toBe(ids.size)
  })

  it('leads from the address of an asset, as older routes had it, to its id', async () => {
    const path = `/portfolio/positions/${w.ALICE}/mainnet/${MORPHO_MARKET}`
    const byId = await get(`${path}/${w.ETH_ASSET}-collateral`)
    expect(byId.asset.suppliedNative).toBe((10n ** 18n).toString())
    const routes = [
      [path, ''],
      [`/markets/historical/mainnet/${MORPHO_MARKET}`, '?granularity=1day&page=0'],
      [`/portfolio/events/${w.ALICE}/eip155%3A1/${MORPHO_MARKET}`, ''],
      [`/markets/transactions/supply/${w.ALICE}/mainnet/${MORPHO_MARKET}`, '?amount=5'],
      [`/markets/historical/mainnet/${MORPHO_MARKET}`, '/?page=0'],
    ]
    for (const [route, query] of routes) {
      const older = `/beta/borrow${route}/${w.ETH_ASSET.toUpperCase().replace('0X', '0x')}${query}`
      const answer = await request(api.app).get(older).set('x-api-key', api.apiKey)
      expect(answer.status, JSON.stringify(answer.body)).toBe(308)
      const target = new URL(answer.headers['location'] ?? '', `http://api${older}`)
      expect(target.pathname + target.search).toBe(
        `/beta/borrow${route}/${w.ETH_ASSET}-collateral${query?.replace(/^\//, '')}`,
      )
      expect(answer.headers['x-credits-used']).toBe('0')
    }
    // A pool has an asset once: its id is the address, in any case.
    const pool = `/portfolio/positions/${w.ALICE}/mainnet/${POOL}`
    expect(await get(`${pool}/${w.ETH_ASSET.toUpperCase().replace('0X', '0x')}`)).toEqual(
      await get(`${pool}/${w.ETH_ASSET}`),
    )
    await get(`${path}/${w.ODD_ASSET}`, {}, 404)
  })
})

describe('borrow positions', () => {
  it('are exact with interest, and healthy by the protocol’s own oracle', async () => {
    const { data, errors } = await get(`/portfolio/positions/${w.ALICE}`, { allowedAssets: 'USDX,WETH,NOPE' })
    expect(errors).toEqual({ unsupportedNetworks: [], unsupportedAssets: ['NOPE'] })
    expect(data).toHaveLength(3)
    const [aave, comet, morpho] = data
    const index = COMET_TOTALS.borrowIndex
    const owed = index + (index * COMET_RATES.borrow * cometSeconds()) / 10n ** 18n
    expect(comet.assets[0].borrowedNative).toBe(((1_000_000_000n * owed) / 10n ** 15n).toString())
    const owedUsd = (Number(comet.assets[0].borrowedNative) / 1e6) * (Number(lastAnswer(w.USD_FEED)) / 1e8)
    expect(comet.ltv).toBeCloseTo(owedUsd / 3_000, 9)
    expect(comet.healthFactor).toBeCloseTo((3_000 * 0.85) / owedUsd, 6)
    const eth = lastAnswer(w.ETH_FEED)
    const usd = lastAnswer(w.USD_FEED)
    const collateral = Number(2n * eth)
    const debt = (Number(usd) * 1_200_000_000) / 1e6
    expect(aave.ltv).toBeCloseTo(debt / collateral, 9)
    expect(aave.healthFactor).toBeCloseTo((collateral * 0.825) / debt, 6)
    expect(aave.assets.map((a: { suppliedNative: string }) => a.suppliedNative)).toEqual([
      '0',
      (2n * 10n ** 18n).toString(),
    ])
    const [loan] = morpho.assets
    const shares = 400_000_000_000_000n - 99_998_200_000_000n
    const total = accrued(300_007_200n) + 1n
    const virtual = shares + 1_000_000n
    expect(loan.borrowedNative).toBe(((shares * total + virtual - 1n) / virtual).toString())
    const market = { collateral: 10n ** 18n, price: MORPHO_PRICE, lltv: 86n * 10n ** 16n }
    const owed6 = BigInt(loan.borrowedNative)
    const worth = MarketUtils.getCollateralValue(market.collateral, market) ?? 0n
    const limit = MarketUtils.getMaxBorrowAssets(market.collateral, market, market) ?? 0n
    expect(morpho.ltv).toBeCloseTo(Number(owed6) / Number(worth), 12)
    expect(morpho.healthFactor).toBeCloseTo(Number(limit) / Number(owed6), 12)
    const ids = data.flatMap((position: { assets: { positionId: string }[] }) =>
      position.assets.map(({ positionId }) => positionId),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('lose a market with its collateral when the debt asset is filtered out', async () => {
    const path = `/portfolio/positions/${w.ALICE}`
    expect((await get(path, { disallowedAssets: 'USDX' })).data).toEqual([])
    const { data } = await get(path, { disallowedAssets: 'WETH' })
    expect(data).toHaveLength(3)
    expect(data[0].assets).toHaveLength(1)
    expect((await get(path, { minUsdAssetValueThreshold: '1000' })).data).toHaveLength(2)
    expect((await get(path, { minUsdAssetValueThreshold: '100000' })).data).toEqual([])
    const sorted = await get(path, { sortBy: 'borrowedUsd', sortOrder: 'desc' })
    expect(sorted.data.map((p: { protocol: { name: string } }) => p.protocol.name)).toEqual([
      'compound',
      'aave',
      'morpho',
    ])
  })

  it('without debt are read by market, and not in the wallet-wide list', async () => {
    expect((await get(`/portfolio/positions/${w.BOB}`)).data).toEqual([])
    for (const market of [MORPHO_MARKET, POOL, COMET]) {
      const position = await get(`/portfolio/positions/${w.BOB}/mainnet/${market}`)
      expect([position.ltv, position.healthFactor, position.assets.length]).toEqual([0, null, 1])
    }
    const { assets } = await get(`/portfolio/positions/${w.ALICE}/mainnet/${COMET}`)
    expect(assets[1]).toMatchObject({ suppliedUsd: null, borrowedUsd: 0, balanceUsd: null })
    const nobody = await get(`/portfolio/positions/${w.CAROL}/mainnet/${POOL}`)
    expect([nobody.ltv, nobody.healthFactor, nobody.assets]).toEqual([0, null, []])
  })

  it('have their events, oldest first', async () => {
    const of = async (market: string, asset: string) =>
      (await get(`/portfolio/events/${w.ALICE}/mainnet/${market}/${asset}`)).data.map(
        (event: { eventType: string; assetAmountNative: string }) =>
          `${event.eventType} ${event.assetAmountNative}`,
      )
    expect(await of(MORPHO_MARKET, `${w.USD_ASSET}-loan`)).toEqual(['borrow 400000000', 'repay 100000000'])
    expect(await of(MORPHO_MARKET, `${w.ETH_ASSET}-collateral`)).toEqual(['supply 1000000000000000000'])
    expect(await of(POOL, w.USD_ASSET)).toEqual(['borrow 1200000000'])
    expect(await of(COMET, w.USD_ASSET)).toEqual(['borrow 1200000000'])
    expect(await of(COMET, LENT_ONLY)).toEqual(['supply 3000000000000000000'])
  })
})

interface Point {
  timestamp: number
  blockNumber: string
  totalSupplied: { native: string }
  totalBorrowed: { native: string }
  borrowIndex: number
}

describe('what accounts have lent', () => {
  it('is what shares and scaled balances were worth when each market last reckoned its interest', async () => {
    const { position: p = 0 } = api.catalogue.current().chain(1) ?? {}
    const accounts = [w.ALICE, w.BOB, w.CAROL]
    const rows = await ask(api.clickhouse, lentAssets, { chain: 1, p, accounts })
    const shares = 1_000_000_000n * 1_000_000n
    const totals = { totalSupplyAssets: 1_000_000_000n + 7_200n, totalSupplyShares: shares }
    const inMorpho = MarketUtils.toSupplyAssets(shares, totals)
    const found = rows.filter(({ amount }) => amount !== '0')
    expect(found.length).toBe(3)
    expect(found).toEqual(
      expect.arrayContaining([
        { account: w.BOB, asset: w.USD_ASSET, market: MORPHO_MARKET, amount: `${inMorpho}` },
        { account: w.BOB, asset: w.USD_ASSET, market: '', amount: '3300000000' },
        { account: w.ALICE, asset: w.ETH_ASSET, market: '', amount: `${2n * 10n ** 18n}` },
      ]),
    )
  })
})

describe('borrow history', () => {
  const historyOf = async (path: string, query: Record<string, string> = {}): Promise<Point[]> =>
    (await get(`/markets/historical/mainnet/${path}`, { perPage: '2000', ...query })).data
  const hours = (points: readonly Point[]) => points.map(({ timestamp }) => (timestamp - w.START) / w.HOUR)
  const hoursFrom = (hour: number) =>
    Array.from({ length: Math.floor((now() - w.START) / w.HOUR) - hour + 1 }, (_, i) => hour + i)
  const timeOf = (hour: number) => w.START + hour * w.HOUR

  it('has a point for each bucket since the market began, with the interest of quiet ones', async () => {
    const points = await historyOf(`${MORPHO_MARKET}/${w.USD_ASSET}-loan`)
    expect(hours(points)).toEqual(hoursFrom(3))
    const owed = (hour: number) => points[hour - 3]?.totalBorrowed.native
    // Before a rate was told nothing is known to have accrued.
    expect([3, 4, 5, 9].map(owed)).toEqual(['0', '0', '400000000', '400000000'])
    for (const hour of [ACCRUED_AT_HOUR, ACCRUED_AT_HOUR + 1, 100, 800])
      expect(owed(hour)).toBe(`${accrued(300_007_200n, timeOf(hour))}`)
    // Named is the last update, of many hours ago.
    expect(points[800]?.blockNumber).toBe(points[ACCRUED_AT_HOUR - 3]?.blockNumber)

    const pages = await Promise.all(
      [0, 1].map(page =>
        get(`/markets/historical/mainnet/${MORPHO_MARKET}/${w.USD_ASSET}-loan`, {
          page: `${page}`,
          perPage: '20',
        }),
      ),
    )
    expect(pages.flatMap(page => page.data)).toEqual(points.slice(0, 40))
    expect(pages[0].nextPage).toBe(1)
    const window = { fromTimestamp: `${timeOf(90) + 1}`, toTimestamp: `${timeOf(95)}` }
    expect(hours(await historyOf(`${MORPHO_MARKET}/${w.USD_ASSET}-loan`, window))).toEqual([
      91, 92, 93, 94, 95,
    ])
    expect(await historyOf(`${MORPHO_MARKET}/${w.USD_ASSET}-loan`, { toTimestamp: `${timeOf(2)}` })).toEqual(
      [],
    )
  })

  it('of a Comet grows by its rates, of its collateral stays', async () => {
    const points = await historyOf(`${COMET}/${w.USD_ASSET}`)
    expect(hours(points)).toEqual(hoursFrom(COMET_SAMPLED_AT_HOUR))
    expect(points[0]).toMatchObject({ supplyIndex: 1.1, borrowIndex: 1.2, blockNumber: '73' })
    expect(points[0]?.totalSupplied.native).toBe('11000000000')
    const grown =
      COMET_TOTALS.borrowIndex + (COMET_TOTALS.borrowIndex * COMET_RATES.borrow * 360_000n) / 10n ** 18n
    expect(points[100]?.totalBorrowed.native).toBe(`${(1_000_000_000n * grown) / 10n ** 15n}`)
    const lent = await historyOf(`${COMET}/${LENT_ONLY}`)
    expect(new Set(lent.map(({ totalSupplied }) => totalSupplied.native))).toEqual(
      new Set([(3n * 10n ** 18n).toString()]),
    )
    expect(lent[0]?.totalSupplied).not.toHaveProperty('usd')
    expect(lent[0]).toMatchObject({ totalBorrowed: { usd: 0 } })
    expect(hours(lent)).toEqual(hoursFrom(COMET_SAMPLED_AT_HOUR))
  })

  it('of a reserve and a vault, by days and weeks as well', async () => {
    const daily = await historyOf(`${POOL}/${w.USD_ASSET}`, { granularity: '1day' })
    expect(daily.map(({ timestamp }) => (timestamp - w.START) / w.DAY)).toEqual(
      Array.from({ length: Math.floor((now() - w.START) / w.DAY) }, (_, day) => day + 1),
    )
    expect(daily[0]).toMatchObject({ supplyIndex: 1.1, borrowIndex: 1.2, supplyRate: 0 })
    // The market began within the day before: no figure is told of a moment at which there was none.
    expect(daily[0]?.totalSupplied.native).toBe('3300000000')
    expect(Number(daily[0]?.blockNumber)).toBeGreaterThan(0)
    const weekly = await historyOf(`${POOL}/${w.USD_ASSET}`, { granularity: '1week' })
    expect(weekly.every(({ timestamp }) => timestamp % (7 * w.DAY) === 0)).toBe(true)
    expect(weekly.length).toBe(Math.floor(now() / (7 * w.DAY)) - Math.floor(timeOf(3) / (7 * w.DAY)))

    const { data } = await get('/markets', { allowedProtocols: 'euler' })
    const [{ marketId, assetsData }] = data
    const points = await historyOf(`${marketId}/${assetsData[0].marketAssetId}`)
    expect(hours(points)).toEqual(hoursFrom(EVK_AT_HOUR))
    expect(points[0]?.borrowIndex).toBe(2)
    const perSecond = Math.log1p(Number(EVK_RATE) / 1e27)
    expect(points[500]?.borrowIndex).toBeCloseTo(2 * Math.exp(perSecond * 500 * w.HOUR), 10)
  })
})
