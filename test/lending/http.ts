import { MarketUtils } from '@morpho-org/blue-sdk'
import request from 'supertest'
import { type Address, encodeFunctionData, parseAbi, parseAbiItem } from 'viem'
import { expect } from 'vitest'
import type { z } from 'zod'
import { pageOf } from '../../read-api/http/shapes.ts'
import { BorrowEvents, BorrowPosition, Market, MarketPoint } from '../../read-api/lending/schemas.ts'
import { aaveAbi, morphoAbi } from '../chain/abis.ts'
import { type CometMarket, cometAbi } from '../chain/comet.ts'
import { type EvkMarket, evkAbi, evkCalls } from '../chain/evk.ts'
import { viewAbi } from '../chain/lending-walk.ts'
import { accruedTotals } from '../chain/morpho.ts'
import type { Call } from '../chain/node.ts'
import type { ApiHarness } from '../read-api/harness.ts'
import type { Walk } from './rows.ts'

interface Figures {
  supplied: bigint
  borrowed: bigint
}
/** What the contracts say; a protocol that says only whether a position can be liquidated has no figures. */
interface Health {
  ltv?: number
  healthFactor?: number
  isLiquidatable?: boolean
}
/** A market by its contracts; figures by marketAssetId in lower case. */
export interface Said {
  /** As the API names it. */
  protocol: string
  id: string
  totals: Record<string, Figures>
  /** What can be withdrawn or borrowed, by asset. */
  available?: Record<string, bigint>
  of(user: Address): Promise<{ assets: Record<string, Figures>; health: Health }>
}
export interface Others {
  comet: CometMarket
  evk: EvkMarket
}

const HOUR = 3_600
const oracleAbi = parseAbi(['function price() view returns (uint256)'])
const idle = (supplied: bigint): Figures => ({ supplied, borrowed: 0n })

/** Acts that change nothing but let interest in, after which oracles are asked. */
export function stirring({ world }: Walk, { evk }: Others): Call[] {
  const { morpho, actors } = world
  const accrue = morpho.markets.map(({ params }) => ({
    from: actors.admin,
    to: morpho.address,
    data: encodeFunctionData({ abi: morphoAbi, functionName: 'accrueInterest', args: [params] }),
  }))
  return [...accrue, evkCalls(evk).touch(actors.admin)]
}

/** What the API says of every market and of everyone in it, against the contracts at the block that the API is at. */
export async function compareHttp(walk: Walk, others: Others, api: ApiHarness): Promise<void> {
  await api.catalogue.refresh()
  const { blockNumber = 0 } = api.catalogue.current().chain(1) ?? {}
  const get = async <S extends z.ZodType>(path: string, shape: S): Promise<z.output<S>> => {
    const answer = await request(api.app).get(`/beta/borrow${path}`).set('x-api-key', api.apiKey)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(answer.headers['x-as-of-block']).toBe(`mainnet=${blockNumber}`)
    return shape.parse(answer.body)
  }
  const at = BigInt(blockNumber)
  for (const market of await allSaid(walk, others, at)) {
    const { assetsData } = await get(`/markets/mainnet/${market.id}`, Market)
    const totals = assetsData.map(({ marketAssetId, totalSupplied, totalBorrowed }) => [
      marketAssetId.toLowerCase(),
      { supplied: BigInt(totalSupplied.native), borrowed: BigInt(totalBorrowed.native) },
    ])
    expect(Object.fromEntries(totals), `${market.id} at ${at}`).toEqual(market.totals)
    walk.counted.values += 2 * totals.length
    for (const { marketAssetId, availableLiquidity } of market.available ? assetsData : [])
      expect(BigInt(availableLiquidity.native), `to be had of ${marketAssetId} at ${at}`).toBe(
        market.available?.[marketAssetId.toLowerCase()],
      )
    for (const user of walk.everyone) {
      const what = `${user} in ${market.id} at ${at}`
      const position = await get(`/portfolio/positions/${user}/mainnet/${market.id}`, BorrowPosition)
      const { assets, health } = await market.of(user)
      const held = Object.values(assets).filter(({ supplied, borrowed }) => supplied > 0n || borrowed > 0n)
      const found = position.assets.map(({ suppliedNative, borrowedNative }) => ({
        supplied: BigInt(suppliedNative),
        borrowed: BigInt(borrowedNative),
      }))
      expect(found, what).toEqual(held)
      walk.counted.values += 2 * Object.keys(assets).length + 2
      if (held.every(({ borrowed }) => borrowed === 0n)) {
        expect([position.ltv, position.healthFactor], what).toEqual([0, null])
        continue
      }
      const { ltv, healthFactor, isLiquidatable } = health
      if (ltv !== undefined)
        expect(position.ltv === null ? Infinity : position.ltv / ltv, what).toBeCloseTo(1, 9)
      if (healthFactor !== undefined) expect(position.healthFactor, what).toBeCloseTo(healthFactor, 9)
      if (isLiquidatable !== undefined && position.healthFactor !== null)
        expect(position.healthFactor < 1, what).toBe(isLiquidatable)
    }
  }
}

export const allSaid = async (walk: Walk, { comet, evk }: Others, at: bigint): Promise<Said[]> => [
  ...(await morphoSaid(walk, at)),
  await aaveSaid(walk, at),
  await cometSaid(walk, comet, at),
  await evkSaid(walk, evk, at),
]

/** The history of every asset has a point for each of the hours before `time`, and what it says of that hour is the contracts'. */
export async function compareHistory(
  walk: Walk,
  others: Others,
  api: ApiHarness,
  { number, timestamp }: { number: number; timestamp: number },
): Promise<void> {
  await api.catalogue.refresh()
  for (const { id, totals } of await allSaid(walk, others, BigInt(number))) {
    for (const [asset, figures] of Object.entries(totals)) {
      const answer = await request(api.app)
        .get(`/beta/borrow/markets/historical/mainnet/${id}/${asset}`)
        .query({ fromTimestamp: timestamp - 5 * HOUR })
        .set('x-api-key', api.apiKey)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      const points = pageOf(MarketPoint).parse(answer.body).data
      expect(points.map(point => point.timestamp)).toEqual(
        [5, 4, 3, 2, 1, 0].map(ago => timestamp - ago * HOUR),
      )
      const last = points.at(-1)
      const found = { supplied: last?.totalSupplied.native, borrowed: last?.totalBorrowed.native }
      const expected = { supplied: `${figures.supplied}`, borrowed: `${figures.borrowed}` }
      expect(found, `${asset} of ${id} at ${number}`).toEqual(expected)
      walk.counted.values += 2
    }
  }
}

/** Morpho keeps no sum of collateral: it is everyone's. */
function morphoSaid({ node, world, everyone }: Walk, blockNumber: bigint): Promise<Said[]> {
  const { address, markets } = world.morpho
  return Promise.all(
    markets.map(async ({ id, params, loan, collateral }) => {
      const totals = await accruedTotals(node, address, { id, params }, blockNumber)
      const price = await node.client.readContract({
        address: params.oracle,
        abi: oracleAbi,
        functionName: 'price',
        blockNumber,
      })
      const position = (user: Address) =>
        node.client.readContract({
          address,
          abi: morphoAbi,
          functionName: 'position',
          args: [id, user],
          blockNumber,
        })
      const secured = await Promise.all(everyone.map(position))
      const [loanId, collateralId] = [`${loan.address}-loan`, `${collateral.address}-collateral`]
      return {
        protocol: 'morpho',
        id,
        totals: {
          [loanId]: { supplied: totals.totalSupplyAssets, borrowed: totals.totalBorrowAssets },
          [collateralId]: idle(secured.reduce((sum, of) => sum + of[2], 0n)),
        },
        async of(user) {
          const [supplyShares, borrowShares, held] = await position(user)
          const borrowed = MarketUtils.toBorrowAssets(borrowShares, totals)
          const worth = MarketUtils.getCollateralValue(held, { price }) ?? 0n
          const limit = MarketUtils.getMaxBorrowAssets(held, { price }, { lltv: params.lltv }) ?? 0n
          return {
            assets: {
              [loanId]: { supplied: MarketUtils.toSupplyAssets(supplyShares, totals), borrowed },
              [collateralId]: idle(held),
            },
            health: {
              ...(worth > 0n ? { ltv: Number(borrowed) / Number(worth) } : {}),
              healthFactor: Number(limit) / Number(borrowed),
            },
          }
        },
      }
    }),
  )
}

async function aaveSaid({ node, world }: Walk, blockNumber: bigint): Promise<Said> {
  const { pool, reserves } = world.aave
  const read = (address: Address, functionName: 'totalSupply' | 'balanceOf', args: readonly Address[] = []) =>
    node.client.readContract({ address, abi: viewAbi, functionName, args, blockNumber } as Parameters<
      typeof node.client.readContract
    >[0]) as Promise<bigint>
  const figures = async (functionName: 'totalSupply' | 'balanceOf', args?: readonly Address[]) => {
    const entries = reserves.map(async ({ asset, aToken, variableDebtToken }) => [
      asset.address,
      {
        supplied: await read(aToken, functionName, args),
        borrowed: await read(variableDebtToken, functionName, args),
      },
    ])
    return Object.fromEntries((await Promise.all(entries)).sort()) as Record<string, Figures>
  }
  return {
    protocol: 'aave',
    id: pool,
    totals: await figures('totalSupply'),
    available: Object.fromEntries(
      await Promise.all(
        reserves.map(async ({ asset, aToken }) => [
          asset.address,
          await read(asset.address, 'balanceOf', [aToken]),
        ]),
      ),
    ),
    async of(user) {
      const [collateral, debt, , , , health] = await node.client.readContract({
        address: pool,
        abi: aaveAbi,
        functionName: 'getUserAccountData',
        args: [user],
        blockNumber,
      })
      return {
        assets: await figures('balanceOf', [user]),
        health: {
          ...(collateral > 0n ? { ltv: Number(debt) / Number(collateral) } : {}),
          healthFactor: Number(health) / 1e18,
        },
      }
    },
  }
}

async function cometSaid({ node }: Walk, comet: CometMarket, blockNumber: bigint): Promise<Said> {
  const { address, base, collaterals } = comet
  const read = <T>(functionName: string, ...args: readonly Address[]) =>
    node.client.readContract({ address, abi: cometAbi, functionName, args, blockNumber } as Parameters<
      typeof node.client.readContract
    >[0]) as Promise<T>
  const secured = async (of: (asset: Address) => Promise<bigint>) =>
    Object.fromEntries(
      await Promise.all(collaterals.map(async ({ token }) => [token.address, idle(await of(token.address))])),
    ) as Record<string, Figures>
  return {
    protocol: 'compound',
    id: address,
    totals: {
      [base.token.address]: { supplied: await read('totalSupply'), borrowed: await read('totalBorrow') },
      ...(await secured(asset => read('totalsCollateral', asset))),
    },
    async of(user) {
      return {
        assets: {
          [base.token.address]: {
            supplied: await read('balanceOf', user),
            borrowed: await read('borrowBalanceOf', user),
          },
          ...(await secured(asset => read('collateralBalanceOf', user, asset))),
        },
        health: { isLiquidatable: await read('isLiquidatable', user) },
      }
    },
  }
}

async function evkSaid(
  { node }: Walk,
  { lender, collateral }: EvkMarket,
  blockNumber: bigint,
): Promise<Said> {
  const read = <T = bigint>(address: Address, functionName: string, args: readonly unknown[] = []) =>
    node.client.readContract({ address, abi: evkAbi, functionName, args, blockNumber } as Parameters<
      typeof node.client.readContract
    >[0]) as Promise<T>
  const [loanId, collateralId] = [`${lender.address}-loan`, `${collateral.address}-collateral`]
  const [l, c] = [lender.address, collateral.address]
  const liquidationBps = await read<number>(l, 'LTVLiquidation', [c])
  const worthOf = async (vault: Address, user: Address) =>
    read(vault, 'convertToAssets', [await read(vault, 'balanceOf', [user])])
  return {
    protocol: 'euler',
    id: `${l}-${c}`,
    totals: {
      [loanId]: { supplied: await read(l, 'totalAssets'), borrowed: await read(l, 'totalBorrows') },
      [collateralId]: { supplied: await read(c, 'totalAssets'), borrowed: await read(c, 'totalBorrows') },
    },
    async of(user) {
      const borrowed = await read(l, 'debtOf', [user])
      // Without a controller the vault refuses to weigh an account.
      const [covered = 0n, owes = 0n] =
        borrowed === 0n ? [] : await read<readonly bigint[]>(l, 'accountLiquidity', [user, true])
      const [limit, debt] = [Number(covered), Number(owes)]
      return {
        assets: {
          [loanId]: { supplied: await worthOf(l, user), borrowed },
          [collateralId]: idle(await worthOf(c, user)),
        },
        health: {
          ...(limit > 0 ? { ltv: (debt / limit) * (liquidationBps / 10_000) } : {}),
          healthFactor: limit / debt,
        },
      }
    },
  }
}

const liquidated = parseAbiItem(
  'event Liquidate(address indexed liquidator, address indexed violator, address collateral, uint256 repayAssets, uint256 yieldBalance)',
)

/** Liquidations in the Euler vault as the API tells them, once each, against their logs; shares by what they were worth. */
export async function compareSeizures(
  { node, counted }: Walk,
  { evk }: Others,
  api: ApiHarness,
): Promise<number> {
  await api.catalogue.refresh()
  const { lender, collateral } = evk
  const logs = await node.client.getLogs({
    address: lender.address,
    event: liquidated,
    fromBlock: 0n,
    strict: true,
  })
  for (const { args, blockNumber, transactionHash } of logs) {
    const told = async (asset: string) => {
      const path = `/portfolio/events/${args.violator}/mainnet/${lender.address}-${collateral.address}/${asset}`
      const answer = await request(api.app).get(`/beta/borrow${path}`).set('x-api-key', api.apiKey)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      const { data } = BorrowEvents.parse(answer.body)
      return data
        .filter(of => of.transactionHash === transactionHash)
        .map(of => [of.eventType, BigInt(of.assetAmountNative)])
    }
    const worth = await node.client.readContract({
      address: collateral.address,
      abi: evkAbi,
      functionName: 'convertToAssets',
      args: [args.yieldBalance],
      blockNumber,
    })
    expect(await told(`${collateral.address}-collateral`)).toEqual([['liquidation', worth]])
    // Neither what the liquidator took over nor what was given up with it was repaid.
    expect(await told(`${lender.address}-loan`)).toEqual([['liquidation', args.repayAssets]])
    counted.values += 2
  }
  return logs.length
}
