import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { SOLANA } from '../../db/streams.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { verify } from '../../jobs/verify.ts'
import { vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { standsOn } from './programs/dumps.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'
import { STAKE_POOL_PROGRAM } from './stake-pool.ts'
import { SvmWorld } from './world.ts'

standsOn(STAKE_POOL_PROGRAM)

/** The processor's own process, killed again and again, and the read models that follow from what it stored. */

const hex = (address: string, bytes = 32) => fromBase58(address, bytes) ?? ''
const world = new SvmWorld(5)
let node: RpcNode
let pipeline: Pipeline
let running: ChildProcess | undefined
/** What each wallet had of each mint when a slot was over. */
const history: { slot: number; balances: Record<string, string> }[] = []

beforeAll(async () => {
  await world.begin(2, 5)
  node = await serveRpc(world.chain)
  pipeline = await createPipeline()
})
afterAll(async () => {
  running?.kill('SIGKILL')
  await node.close()
  await pipeline.drop()
})

function start(): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', 'processors/main.ts', 'solana'], {
    env: {
      ...process.env,
      DATABASE_URL: pipeline.postgres.url,
      RPC_SOLANA: node.url,
      START_BLOCK_SOLANA: String(world.chain.blocks[0]?.slot),
      POLL_INTERVAL_MS: '50',
      PROCESSOR_METRICS_PORT: 'off',
    },
    stdio: process.env['SHOW_OUTPUT'] ? 'inherit' : 'ignore',
  })
}

async function stored(): Promise<number> {
  const { rows } = await pipeline.postgres.pool.query('SELECT final_height FROM stream WHERE id = $1', [
    SOLANA.id,
  ])
  return rows[0]?.final_height ?? -1
}

async function remember(): Promise<void> {
  const balances: Record<string, string> = {}
  for (const pool of world.pools)
    for (const { address } of world.wallets) {
      const amount = await pool.balanceOf(address)
      if (amount > 0n) balances[`${hex(pool.mint)} ${hex(address)}`] = `${amount}`
    }
  history.push({ slot: world.chain.slot, balances })
}

it('is killed while the chain goes on, and loses and doubles nothing', async () => {
  for (let i = 0; i < 5; i++) {
    running = start()
    for (let step = 0; step < 8; step++) {
      await world.grow(2)
      await remember()
      await sleep(200 + 60 * i)
    }
    if (i < 4) running.kill('SIGKILL')
    if (i % 2 === 0) await pipeline.project()
  }
  world.chain.mine([], 3600)
  await expect.poll(stored, { timeout: 30_000, interval: 100 }).toBe(world.chain.slot)
  await sleep(300)
  running?.kill('SIGTERM')
  await pipeline.project()

  for (const { slot, balances } of history) {
    const rows = await pipeline.rows<{ key: string; total: string }>(
      `SELECT concat(mint, ' ', holder) AS key, toString(sum(amount)) AS total FROM (
         SELECT mint, holder, token_account, argMax(amount, position) AS amount FROM svm_balance
         WHERE chain_id = ${SOLANA.id} AND block_number <= ${slot} GROUP BY mint, holder, token_account)
       WHERE holder IN (${world.wallets.map(({ address }) => `'${hex(address)}'`).join(', ')})
       GROUP BY key HAVING sum(amount) > 0`,
    )
    expect(Object.fromEntries(rows.map(({ key, total }) => [key, total])), `slot ${slot}`).toEqual(balances)
  }
  const flows = await pipeline.rows<{ tx_hash: string; assets: string; shares: string }>(
    `SELECT tx_hash, toString(sum(f.assets)) AS assets, toString(sum(f.shares)) AS shares FROM svm_flow AS f
     GROUP BY tx_hash ORDER BY min(position)`,
  )
  expect(flows).toEqual(
    world.done.map(({ signature, assets, shares }) => ({
      tx_hash: hex(signature, 64),
      assets: `${assets}`,
      shares: `${shares}`,
    })),
  )
  expect(flows.length).toBeGreaterThan(10)

  // Of each pool the last sample has what the accounts have.
  const samples = await pipeline.rows<{ vault: string; assets: string; supply: string }>(
    `SELECT vault, toString(argMax(total_assets, position)) AS assets, toString(argMax(total_supply, position)) AS supply
     FROM svm_vault_sample GROUP BY vault`,
  )
  const expected = world.pools.map(pool => {
    const { lamports, supply } = pool.state()
    return { vault: hex(pool.pool), assets: `${lamports}`, supply: `${supply}` }
  })
  expect(samples.sort((a, b) => (a.vault < b.vault ? -1 : 1))).toEqual(
    expected.sort((a, b) => (a.vault < b.vault ? -1 : 1)),
  )

  const comparisons = await verify({
    pool: pipeline.postgres.pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    streams: await listStreams(pipeline.postgres.pool),
    progress: { start: () => ({ update() {}, finish() {} }), close() {} },
  })
  expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  expect(comparisons.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['svm_balance', 'svm_flow', 'svm_vault', 'svm_vault_hourly', 'svm_mint']),
  )
  const status = await vaultlog(
    {
      DATABASE_URL: pipeline.postgres.url,
      CLICKHOUSE_URL: inject('clickhouseUrl'),
      CLICKHOUSE_DATABASE: pipeline.clickhouse.database,
    },
    'status',
  )
  expect(status.stdout).toMatch(new RegExp(`solana.*${world.chain.slot}`))
})
