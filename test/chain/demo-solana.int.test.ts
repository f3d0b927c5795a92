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
    [...solana.pools.map(({ pool }) => pool), solana.lending.lending, solana.kamino.is.vault]
      .map(each => fromBase58(each))
      .sort(),
  )
  for (const { vault, hours, price, apy } of rows) {
    const pool = solana.pools.find(each => fromBase58(each.pool) === vault)
    const isKamino = fromBase58(solana.kamino.is.vault) === vault
    const [worth, shares] = isKamino ? [solana.kamino.worth(), solana.kamino.state().issued << 60n] : []
    const { lamports, supply } = pool?.state() ?? {
      lamports: worth ?? solana.lending.price(),
      supply: shares ?? 10n ** 12n,
    }
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

it('counts shares that are staked to who staked them, and none to the farm', async () => {
  const { kamino, wallets } = solana
  const held = await pipeline.rows<{ holder: string; shares: string; staked: string }>(
    `SELECT holder, toString(shares_raw) AS shares, toString(staked_raw) AS staked FROM svm_positions
     WHERE vault = '${fromBase58(kamino.is.vault)}' ORDER BY holder`,
  )
  const expected = await Promise.all(
    wallets.map(async ({ address }) => ({
      holder: fromBase58(address),
      ...(await kamino.sharesOf(address)),
    })),
  )
  expect(held).toEqual(
    expected
      .filter(({ held, staked }) => held + staked > 0n)
      .map(({ holder, held, staked }) => ({ holder, shares: `${held + staked}`, staked: `${staked}` }))
      .sort((a, b) => ((a.holder ?? '') < (b.holder ?? '') ? -1 : 1)),
  )
  expect(held.length).toBe(6)
  expect(held.filter(({ staked }) => staked === '0').length).toBe(1)
  const total = held.reduce((sum, { shares }) => sum + BigInt(shares), 0n)
  expect(total).toBe(kamino.state().issued)
})
