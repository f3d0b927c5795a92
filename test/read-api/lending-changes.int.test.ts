import request from 'supertest'
import { maxUint256 } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type ApiHarness, startApi } from './harness.ts'
import {
  COMET,
  COMET_TOTALS,
  CONFIGURATOR,
  EVK_AT_HOUR,
  EVK_LENDER,
  LENT_ONLY,
  POOL,
} from './lending-world.ts'
import * as w from './world.ts'

/** What happens in the lending markets of lending-world.ts after it ends; each test goes on from the one before. */

let api: ApiHarness
let append: ReturnType<typeof w.laterBlocks>
beforeAll(async () => {
  api = await startApi()
  const world = w.makeWorld()
  await w.seed(api, world)
  append = w.laterBlocks(api, world)
})
afterAll(() => api?.stop())

async function get(path: string) {
  const answer = await request(api.app).get(`/beta/borrow${path}`).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}
const assetsOf = async (market: string) => (await get(`/markets/mainnet/${market}`)).assetsData
const told = (contract: string, event: Pick<DomainEvent, 'type' | 'data'>) =>
  ({ protocol: protocolOf(contract), contract, ...event }) as DomainEvent
function protocolOf(contract: string) {
  if (contract === LENDER || contract === SECURES) return 'euler-v2'
  return contract === POOL || contract === CONFIGURATOR ? 'aave-v3' : 'compound-v3'
}

const address = (byte: string) => `0x${byte.repeat(20)}`
const [LENDER, SECURES] = [w.ETH_VAULT, w.USD_VAULT]
const EULER = `${LENDER}-${SECURES}`
const RAY = 10n ** 27n
const status = (totals: typeof EVK_LENDER, accumulatorRay: bigint) =>
  told(LENDER, {
    type: 'VaultStatusChanged',
    data: {
      market: LENDER,
      ...totals,
      accumulatedFees: 0n,
      accumulatorRay,
      interestRateRay: RAY / 10n ** 9n,
    },
  })

it('a cap of nothing is told from no cap', async () => {
  const capsOf = async (market: string, n: number) => {
    const { assetConfig, availableToBorrow } = (await assetsOf(market))[n]
    const { borrowCap, supplyCap, isBorrowEnabled } = assetConfig
    return [supplyCap, borrowCap, isBorrowEnabled, availableToBorrow.native]
  }
  const none = maxUint256.toString()
  expect(await capsOf(EULER, 0)).toEqual([none, none, true, EVK_LENDER.cash.toString()])
  expect((await capsOf(POOL, 1)).slice(0, 2)).toEqual([none, none])
  expect((await capsOf(POOL, 0)).slice(0, 2)).toEqual([none, '5000000000'])
  expect((await capsOf(COMET, 1))[0]).toBe((1_000n * 10n ** 18n).toString())
  const unit = 10n ** 18n
  await append([
    told(LENDER, { type: 'CapChanged', data: { kind: 'deposit', cap: 7n } }),
    told(LENDER, { type: 'CapChanged', data: { kind: 'borrow', cap: 0n } }),
    told(COMET, {
      type: 'CometAssetConfigured',
      data: {
        market: COMET,
        asset: LENT_ONLY,
        offset: 0,
        oracle: w.USD_FEED,
        scale: unit,
        borrowCollateralFactorWad: 0n,
        liquidateCollateralFactorWad: (85n * unit) / 100n,
        liquidationFactorWad: (93n * unit) / 100n,
        supplyCap: 0n,
      },
    }),
  ])
  expect(await capsOf(EULER, 0)).toEqual(['7', '0', false, '0'])
  expect((await capsOf(COMET, 1))[0]).toBe('0')
})

it('the history of a vault has the fee of its time', async () => {
  await append([
    status(EVK_LENDER, 2n * RAY),
    told(LENDER, { type: 'FeeChanged', data: { kind: 'reserve', feeWad: 5n * 10n ** 17n } }),
  ])
  const [{ marketAssetId }] = await assetsOf(EULER)
  const { data } = await get(`/markets/historical/mainnet/${EULER}/${marketAssetId}?perPage=2000`)
  type Rates = Record<'supplyRate' | 'borrowRate' | 'utilizationRate', number>
  const kept = ({ supplyRate, borrowRate, utilizationRate }: Rates) =>
    supplyRate / (borrowRate * utilizationRate)
  expect(data[0].timestamp).toBe(w.START + EVK_AT_HOUR * w.HOUR)
  expect(kept(data[1])).toBeCloseTo(0.9, 9)
  expect(kept(data.at(-2))).toBeCloseTo(0.9, 9)
  expect(kept(data.at(-1))).toBeCloseTo(0.5, 9)
})

it('what is owed to a vault is of its last status, where the sum with its fraction is of an earlier one', async () => {
  await append([status({ ...EVK_LENDER, totalBorrows: 7n * 10n ** 18n }, 3n * RAY)])
  const [loan] = await assetsOf(EULER)
  expect(loan.totalBorrowed.native).toBe((7n * 10n ** 18n).toString())
})

it('a debt is told after its lender takes no collateral any more; a pair without debts is gone', async () => {
  const cleared = (lender: string, collateral: string) =>
    told(lender, {
      type: 'LtvChanged',
      data: {
        market: lender,
        collateral,
        borrowLtvBps: 0,
        liquidationLtvBps: 0,
        initialLiquidationLtvBps: 0,
        targetAt: 0,
        rampSeconds: 0,
      },
    })
  await append([cleared(LENDER, SECURES), cleared(SECURES, LENDER)])
  const { data } = await get('/markets?allowedProtocols=euler')
  expect(data.map((market: { marketId: string }) => market.marketId.toLowerCase())).toEqual([EULER])
  const [loan] = data[0].assetsData
  expect(loan.assetConfig.isBorrowEnabled).toBe(false)
  const positions = await get(`/portfolio/positions/${w.CAROL}`)
  const [{ assets, healthFactor, ltv }] = positions.data
  expect(assets[0].borrowedNative).not.toBe('0')
  expect([healthFactor, ltv]).toEqual([0, null])
})

it('a liquidation that took the asset it repaid is told by both amounts', async () => {
  const [, { marketAssetId }] = await assetsOf(POOL)
  const taken = {
    market: w.ETH_ASSET,
    collateralMarket: w.ETH_ASSET,
    liquidator: w.BOB,
    borrower: w.ALICE,
    repaidAssets: 70n,
    seizedAssets: 73n,
  }
  await append([told(POOL, { type: 'Liquidated', data: taken })])
  const { data } = await get(`/portfolio/events/${w.ALICE}/mainnet/${POOL}/${marketAssetId}`)
  const liquidations = data.filter((event: { eventType: string }) => event.eventType === 'liquidation')
  expect(liquidations.map((event: { assetAmountNative: string }) => event.assetAmountNative)).toEqual([
    '70',
    '73',
  ])
})

it('a reserve that was dropped is of the pool no more, until it is listed again', async () => {
  const symbols = async () =>
    (await assetsOf(POOL)).map(({ asset }: { asset: { symbol: string } }) => asset.symbol)
  expect(await symbols()).toEqual(['USDX', 'WETH'])
  const drop = { market: w.ETH_ASSET, flag: 'dropped', enabled: true }
  await append([told(CONFIGURATOR, { type: 'ReserveFlagChanged', data: drop })])
  expect(await symbols()).toEqual(['USDX'])
  const [aToken, variableDebtToken] = ['e1', 'e2'].map(byte => `0x${byte.repeat(20)}`) as [string, string]
  const listed = { market: w.ETH_ASSET, asset: w.ETH_ASSET, aToken, variableDebtToken }
  await append([told(CONFIGURATOR, { type: 'ReserveListed', data: listed })])
  expect(await symbols()).toEqual(['USDX', 'WETH'])
})

it('a token that is described while the API runs is among the assets of its market', async () => {
  const token = `0x${'9e'.repeat(20)}`
  const unit = 10n ** 18n
  await append([
    told(token, {
      type: 'AssetDescribed',
      data: { asset: token, name: 'Listed later', symbol: 'LATE', decimals: 18 },
    }),
    told(COMET, {
      type: 'CometAssetConfigured',
      data: {
        market: COMET,
        asset: token,
        offset: 1,
        oracle: w.USD_FEED,
        scale: unit,
        borrowCollateralFactorWad: (80n * unit) / 100n,
        liquidateCollateralFactorWad: (85n * unit) / 100n,
        liquidationFactorWad: (93n * unit) / 100n,
        supplyCap: unit,
      },
    }),
  ])
  const names = (await assetsOf(COMET)).map(({ asset }: { asset: { name: string } }) => asset.name)
  expect(names).toContain('Listed later')
})

it('the history of a Comet begins with its configuration, and goes on page by page', async () => {
  const market = address('c8')
  const unit = 10n ** 18n
  const rates = (side: 'supply' | 'borrow') => ({
    [`${side}KinkWad`]: unit,
    [`${side}RateBaseWad`]: 0n,
    [`${side}RateSlopeLowWad`]: 0n,
    [`${side}RateSlopeHighWad`]: 0n,
  })
  const now = () => api.catalogue.current().chain(1)?.blockTime ?? 0
  const sample = () =>
    told(market, {
      type: 'CometStateSampled',
      data: { market, ...COMET_TOTALS, updatedAt: now() + w.HOUR, pauseFlags: 0, reserves: 0n },
    })
  await append([sample()])
  await append([sample()])
  const data = {
    market,
    baseAsset: w.USD_ASSET,
    baseOracle: w.USD_FEED,
    baseScale: 10n ** 6n,
    baseBorrowMin: 0n,
    targetReserves: 0n,
    storeFrontPriceFactorWad: unit,
    ...rates('supply'),
    ...rates('borrow'),
    assetCount: 0,
  } as DomainEvent<'CometConfigured'>['data']
  await append([told(market, { type: 'CometConfigured', data })])
  const configured = now()
  await append([sample()])
  const page = async (n: number) => {
    const path = `/markets/historical/mainnet/${market}/${w.USD_ASSET}?perPage=1&page=${n}`
    const { itemsOnPage, nextPage, data } = await get(path)
    return [itemsOnPage, nextPage, data[0]?.timestamp]
  }
  expect([await page(0), await page(1)]).toEqual([
    [1, 1, configured],
    [1, null, configured + w.HOUR],
  ])
})

it('a debtor whose oracle does not answer is told of as that, and sorts as the one in most danger', async () => {
  const sample = (oracle: string, price?: bigint) =>
    told(POOL, {
      type: 'OraclePriceSampled',
      data: { market: w.ETH_ASSET, asset: w.ETH_ASSET, oracle, ...(price === undefined ? {} : { price }) },
    })
  type Position = { protocol: { name: string }; ltv: number; healthFactor: number; warnings?: string[] }
  const sorted = async (order: string, key = 'healthFactor') =>
    (await get(`/portfolio/positions/${w.ALICE}?sortBy=${key}&sortOrder=${order}`)).data.map(
      (position: Position) => position.protocol.name,
    ) as string[]
  const ofPool = (): Promise<Position> => get(`/portfolio/positions/${w.ALICE}/mainnet/${POOL}`)
  expect(await ofPool()).toMatchObject({ healthFactor: expect.any(Number), ltv: expect.any(Number) })
  expect(await ofPool()).not.toHaveProperty('warnings')

  await append([sample(w.ETH_FEED)])
  expect(await ofPool()).toMatchObject({
    healthFactor: null,
    ltv: null,
    warnings: [expect.stringContaining('open to liquidation')],
  })
  expect((await sorted('asc'))[0]).toBe('aave')
  expect((await sorted('desc')).at(-1)).toBe('aave')
  expect((await sorted('desc', 'ltv'))[0]).toBe('aave')
  const free = await get(`/portfolio/positions/${w.BOB}/mainnet/${POOL}`)
  expect(free).toMatchObject({ ltv: 0, healthFactor: null })
  expect(free).not.toHaveProperty('warnings')

  // An adapter: it has no logs, and no feed of ours has its price.
  const adapter = address('ad')
  await append([sample(adapter, 500n * 10n ** 8n)])
  const { healthFactor } = await ofPool()
  const lastUsd = w.makeWorld().answers.findLast(({ feed }) => feed === w.USD_FEED)?.answer ?? 0n
  const owed = (1_200_000_000n * lastUsd) / 10n ** 6n
  expect(healthFactor).toBeCloseTo((2 * 500e8 * 0.825) / Number(owed), 6)
})
