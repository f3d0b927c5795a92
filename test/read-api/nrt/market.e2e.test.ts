import { afterAll, beforeAll, expect, test } from 'vitest'
import { aaveAbi } from '../../chain/abis.ts'
import { type Lending, startLending } from '../transactions/borrow-stage.ts'

/** What markets say of themselves now, held against the contracts' views at the block that the figures name. */

let on: Lending
beforeAll(async () => {
  on = await startLending()
  await on.wait(20 * 86_400)
})
afterAll(() => on?.node.stop())

test('Aave v3: totals, rates and indexes of one block', async () => {
  const { market, asset } = on.inAave(on.tokens.usdc)
  const figures = await on.borrowing.figures(market, asset)
  if (!figures) throw new Error('no figures')
  const data = await on.node.client.readContract({
    address: on.aave.dataProvider,
    abi: aaveAbi,
    functionName: 'getReserveData',
    args: [on.tokens.usdc.address],
    blockNumber: figures.block.number,
  })
  const [, , supplied, , borrowed, liquidityRate, variableRate, , , liquidityIndex, variableIndex] = data
  expect([figures.supplied, figures.borrowed]).toEqual([supplied, borrowed])
  const yearly = (ray: bigint) => (1 + Number(ray) / 1e27 / 31_536_000) ** 31_536_000 - 1
  expect(figures.supplyRate).toBeCloseTo(yearly(liquidityRate), 6)
  expect(figures.borrowRate).toBeCloseTo(yearly(variableRate), 6)
  // Indexes go on from the last update: what was supplied and owed then has grown by them.
  const years = (20 * 86_400) / 31_536_000
  expect(figures.supplyIndex / (Number(liquidityIndex) / 1e27)).toBeCloseTo(
    1 + (Number(liquidityRate) / 1e27) * years,
    4,
  )
  expect(figures.borrowIndex / (Number(variableIndex) / 1e27)).toBeCloseTo(
    Math.exp((Number(variableRate) / 1e27) * years),
    4,
  )
})

test('Morpho Blue: with the interest that the contract itself accrues', async () => {
  const place = on.inMorpho('loan')
  const figures = await on.borrowing.figures(place.market, place.asset)
  if (!figures) throw new Error('no figures')
  const totals = await on.accrued(place, figures.block.number)
  expect([figures.supplied, figures.borrowed]).toEqual([totals.totalSupplyAssets, totals.totalBorrowAssets])
  // The rate model of the market: as much a year as is lent out.
  const utilization = Number(totals.totalBorrowAssets) / Number(totals.totalSupplyAssets)
  expect(figures.borrowRate).toBeCloseTo(Math.expm1(utilization), 1)
  expect(figures.supplyRate).toBeCloseTo((figures.borrowRate ?? 0) * utilization, 9)
  const index = Number((totals.totalBorrowAssets * 10n ** 15n) / totals.totalBorrowShares) / 1e9
  expect(figures.borrowIndex).toBeCloseTo(index, 6)
  expect(await on.borrowing.figures(place.market, on.inMorpho('collateral').asset)).toBeUndefined()
})
