import { createReadStream } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordFacts } from '../../db/registry/registry.ts'
import { exportParquet } from '../../jobs/export.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'

let pipeline: Pipeline
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-export-'))
  pipeline = await createPipeline()
  const facts = ['stable', 'a tag with "quotes", commas\nand ünïcode'].map((tag, i) => ({
    subject: `vault:${i}`,
    kind: 'tag' as const,
    value: { tag },
  }))
  await recordFacts(pipeline.postgres.pool, facts, 1000)
  await pipeline.project()
})
afterAll(async () => {
  await pipeline?.drop()
  await rm(folder, { recursive: true, force: true })
})

test('a Parquet file holds the rows of the table: read back they are the same', async () => {
  const { clickhouse } = pipeline
  const to = join(folder, 'facts.parquet')
  expect(await exportParquet(clickhouse, { from: 'event', where: 'stream = 0', to })).toBeGreaterThan(100)
  await clickhouse.command('test', 'CREATE TABLE back AS event')
  await clickhouse.client.insert({ table: 'back', values: createReadStream(to), format: 'Parquet' })
  const [there, back] = await Promise.all(
    ['event', 'back'].map(table => pipeline.rows(`SELECT * FROM ${table} ORDER BY stream, position`)),
  )
  expect(there).toHaveLength(2)
  expect(back).toEqual(there)
})

test('amounts are decimal strings, and doubles in whole units beside where asked for', async () => {
  const { clickhouse } = pipeline
  const exact = '123456789012345678901234567890'
  await clickhouse.command(
    'test',
    `INSERT INTO vault (chain_id, vault, position, decimals, asset_decimals) VALUES (1, '0xa', 1, 18, 6)`,
  )
  await clickhouse.command(
    'test',
    `INSERT INTO flow (chain_id, vault, account, position, assets, shares) VALUES
      (1, '0xa', '0xb', 2, ${exact}, 2500000000000000000), (1, '0xunknown', '0xb', 3, 7, 7)`,
  )
  await clickhouse.command(
    'test',
    'CREATE TABLE exported (vault String, assets String, shares String, assets_whole Nullable(Float64), shares_whole Nullable(Float64)) ENGINE = Memory',
  )
  const to = join(folder, 'flow.parquet')
  await exportParquet(clickhouse, { from: 'flow', to, whole: true })
  await clickhouse.client.insert({ table: 'exported', values: createReadStream(to), format: 'Parquet' })
  expect(await pipeline.rows('SELECT * FROM exported ORDER BY vault')).toEqual([
    {
      vault: '0xa',
      assets: exact,
      shares: '2500000000000000000',
      assets_whole: Number(exact) / 1e6,
      shares_whole: 2.5,
    },
    { vault: '0xunknown', assets: '7', shares: '7', assets_whole: null, shares_whole: null },
  ])
  // Without, and of a table that has no vault.
  for (const from of ['flow', 'registry_fact']) {
    expect(await exportParquet(clickhouse, { from, to, whole: from !== 'flow' })).toBeGreaterThan(100)
  }
})

test('numbers of 128 bits, which are no amounts, are decimal strings too', async () => {
  const { clickhouse } = pipeline
  const largest = String(2n ** 128n - 1n)
  await clickhouse.command(
    'test',
    `INSERT INTO holder (chain_id, vault, holder_key) VALUES (1, '0xa', ${largest})`,
  )
  await clickhouse.command('test', 'CREATE TABLE heads (vault String, holder_key String) ENGINE = Memory')
  const to = join(folder, 'holder.parquet')
  await exportParquet(clickhouse, { from: 'holder', to, whole: true })
  await clickhouse.client.insert({ table: 'heads', values: createReadStream(to), format: 'Parquet' })
  expect(await pipeline.rows('SELECT * FROM heads')).toEqual([{ vault: '0xa', holder_key: largest }])
})

test('what fails leaves no file, and says what there is', async () => {
  const to = join(folder, 'nothing.parquet')
  const { clickhouse } = pipeline
  await expect(exportParquet(clickhouse, { from: 'nothing', to })).rejects.toThrow(
    /no table or view nothing.*vaults/s,
  )
  await expect(exportParquet(clickhouse, { from: 'event; DROP TABLE event', to })).rejects.toThrow(
    /no table or view/,
  )
  await expect(exportParquet(clickhouse, { from: 'event', where: 'no_such_column = 1', to })).rejects.toThrow(
    /no_such_column/,
  )
  await expect(access(to)).rejects.toThrow()
  await expect(access(`${to}.part`)).rejects.toThrow()
})
