import { afterAll, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { DemoSolana } from './demo-solana.ts'

const DAYS = 5
let solana: DemoSolana
let pipeline: Pipeline
afterAll(async () => {
  await solana.stop()
  await pipeline.drop()
})

it('has lived up to now, with prices of every hour of the last day and yields that are those of its epochs', async () => {
  solana = await DemoSolana.create(DAYS)
  pipeline = await createPipeline()
  await solana.live(pipeline.postgres.pool, DAYS)
  expect(Math.abs(solana.chain.time - Date.now() / 1000)).toBeLessThan(2 * 3600)
  await pipeline.project()
  const rows = await pipeline.rows<{ vault: string; hours: string; price: number; apy: number }>(
    `SELECT vault, count() AS hours, argMax(share_price, position) AS price, argMax(apy_1d, position) AS apy
     FROM svm_vault_hourly FINAL GROUP BY vault`,
  )
  expect(rows.map(({ vault }) => vault).sort()).toEqual(
    [...solana.pools.map(({ pool }) => pool), solana.lending.lending].map(each => fromBase58(each)).sort(),
  )
  for (const { vault, hours, price, apy } of rows) {
    const pool = solana.pools.find(each => fromBase58(each.pool) === vault)
    const { lamports, supply } = pool?.state() ?? { lamports: solana.lending.price(), supply: 10n ** 12n }
    expect(Number(hours)).toBeGreaterThan(26)
    expect(price).toBeCloseTo(Number(lamports) / Number(supply), 12)
    expect(price).toBeGreaterThan(1)
    expect(apy).toBeGreaterThanOrEqual(0)
  }
})

it('has a dozen people in the lending vault, and prices that it wrote down itself', async () => {
  const held = await pipeline.rows<{ holders: string }>(
    `SELECT uniqExact(holder) AS holders FROM svm_positions WHERE vault = '${fromBase58(solana.lending.lending)}'`,
  )
  expect(held).toEqual([{ holders: '12' }])
  const [last] = await pipeline.rows<{ price: string; written: string }>(
    `SELECT toString(argMax(price_assets, position)) AS price, count() AS written FROM svm_price`,
  )
  expect(last?.price).toBe(`${solana.lending.price()}`)
  // Twelve who came, days of borrowing, and the last update.
  expect(Number(last?.written)).toBeGreaterThan(12 + DAYS - 2)
})
