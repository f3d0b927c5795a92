import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { readStatus } from '../../db/status.ts'
import { SOLANA } from '../../db/streams.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { verify } from '../../jobs/verify.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import { seededRandom } from '../chain/random.ts'
import { type Running, start } from '../faults/command.ts'
import { createPipeline, type Pipeline, quiet, visibleSumsOf } from '../pipeline.ts'
import { startPortal, type TestPortal } from '../portal/server.ts'
import { ACTS, Crowd } from './crowd.ts'
import { indexSolana } from './index-solana.ts'
import { svmDataset } from './portal-server.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'

/** Processor and worker, killed at random moments while the chain goes on: by node and by Portal. */

const SEED = Number(process.env['TEST_SEED'] ?? 88)
const KILLS = 14
const random = seededRandom(SEED)
const hex = (address: string, bytes = 32) => fromBase58(address, bytes) ?? ''

let crowd: Crowd
let node: RpcNode
let portal: TestPortal
let pipeline: Pipeline
let clean: Pipeline
/** By slot: what each pool was, as the accounts had it when the slot was over. */
const pools = new Map<string, { totalAssets: string; totalSupply: string }>()
/** By slot: shares of everybody, in token accounts and in the farm. */
const held = new Map<number, Record<string, string>>()

beforeAll(async () => {
  crowd = await Crowd.gather(5)
  node = await serveRpc(crowd.chain)
  portal = await startPortal(svmDataset(crowd.chain), { mostChunks: 3 })
  ;[pipeline, clean] = await Promise.all([createPipeline(), createPipeline()])
})
afterAll(async () => {
  for (const { child } of running.values()) child.kill('SIGKILL')
  await node?.close()
  await portal?.close()
  await pipeline?.drop()
  await clean?.drop()
})

/** Something happens: nobody can ask in between what is put there past the rules and the slot with it. */
async function live(): Promise<void> {
  const { chain, wallets, kamino } = crowd
  const wallet = random.pick(wallets)
  const kind = random.pick(ACTS)
  if (!wallet || !kind) return expect.unreachable()
  if (random.chance(0.1)) chain.skip(1 + random.below(4))
  const dice = random.below(10)
  if (dice === 0) {
    const updates = await chain.transaction(
      wallet,
      crowd.pools.map(pool => pool.update()),
    )
    for (const pool of crowd.pools) pool.earn(BigInt(random.below(1e6)))
    chain.nextEpoch()
    chain.mine([updates])
  } else if (dice === 1) chain.mine([], 3_600)
  else await chain.send(wallet, await crowd.act(kind, wallet, BigInt(1 + random.below(1e6))))
  for (const pool of crowd.pools) {
    const { lamports, supply } = pool.state()
    pools.set(`${chain.slot} ${hex(pool.pool)}`, { totalAssets: `${lamports}`, totalSupply: `${supply}` })
  }
  const all: Record<string, string> = {}
  for (const { address } of wallets) {
    const shares = await kamino.sharesOf(address)
    const own = [
      ...(await Promise.all(
        crowd.pools.map(async pool => [pool.mint, await pool.balanceOf(address)] as const),
      )),
      [
        crowd.lending.shareMint,
        crowd.lending.amountOf(await crowd.lending.tokenAccountOf(address, crowd.lending.shareMint)),
      ] as const,
      [kamino.is.shareMint, shares.held] as const,
    ]
    for (const [mint, amount] of own) if (amount > 0n) all[`${hex(mint)} ${hex(address)}`] = `${amount}`
  }
  held.set(chain.slot, all)
}

function traffic(): () => Promise<void> {
  let going = true
  const loop = (async () => {
    while (going) {
      await live()
      await sleep(100)
    }
  })()
  return async () => {
    going = false
    await loop
  }
}

type Name = 'processor' | 'worker'
const running = new Map<Name, Running>()
const ARGS: Record<Name, string[]> = { processor: ['processors/main.ts', 'solana'], worker: ['jobs/main.ts'] }

function begin(name: Name, PORTAL_SOLANA: string): void {
  const env = {
    ...pipeline.env(),
    REDIS_URL: '',
    RPC_SOLANA: node.url,
    PORTAL_SOLANA,
    START_BLOCK_SOLANA: String(crowd.chain.blocks[0]?.slot),
    POLL_INTERVAL_MS: '50',
  }
  running.set(name, start(ARGS[name], env))
}

async function end(name: Name, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  running.get(name)?.child.kill(signal)
  await running.get(name)?.ended
}

/** How far the processor's store and the slowest read model are. */
async function progress(): Promise<Record<Name, number>> {
  const solana = (await readStatus(pipeline.postgres.pool)).find(({ name }) => name === SOLANA.name)
  const positions = solana?.projections.map(({ position }) => position) ?? []
  return { processor: solana?.headBlock ?? -1, worker: Math.min(...positions, solana?.head ?? 0) }
}

const samples = async () =>
  (await readEvents(pipeline.postgres.pool, SOLANA.id, { after: 0, types: ['SvmVaultSampled'] })).length

/** Until it has come further by so much. */
async function advance(name: Name, by: number): Promise<void> {
  const { [name]: before } = await progress()
  const hasCome = async () => (await progress())[name] >= before + by
  await expect.poll(hasCome, { timeout: 120_000, interval: 20 }).toBe(true)
}

it('loses nothing, doubles nothing, and says of no slot what was not so', async () => {
  const stop = traffic()
  for (const source of ['', portal.url]) {
    const before = await samples()
    begin('processor', source)
    begin('worker', source)
    for (let i = 0; i < KILLS / 2; i++) {
      const name = random.pick(['processor', 'worker'] as const)
      if (!name) return expect.unreachable()
      // Some amid their start, others amid their work.
      if (i % 3 === 0) await sleep(random.between(50, 1_500))
      else await advance(name, 1 + random.below(25))
      await end(name, 'SIGKILL')
      begin(name, source)
    }
    // Near the head the node is asked what is so now.
    await expect.poll(samples, { timeout: 120_000, interval: 200 }).toBeGreaterThan(before + 10)
    await advance('worker', 1)
    await Promise.all([end('processor', 'SIGTERM'), end('worker', 'SIGTERM')])
  }
  await stop()
  const { chain } = crowd
  chain.mine([], 3_600)
  begin('processor', portal.url)
  begin('worker', portal.url)
  const behind = async () => {
    const solana = (await readStatus(pipeline.postgres.pool)).find(({ name }) => name === SOLANA.name)
    const waiting = solana?.projections.filter(projection => projection.behind > 0 || projection.applying)
    return [solana?.headBlock, waiting?.length]
  }
  await expect.poll(behind, { timeout: 120_000, interval: 200 }).toEqual([chain.slot, 0])
  await Promise.all([end('processor', 'SIGTERM'), end('worker', 'SIGTERM')])

  const events = await readEvents(pipeline.postgres.pool, SOLANA.id, { after: 0 })
  expect(events.map(({ position }) => position)).toEqual(events.map((_, i) => i + 1))
  await expectLikeCleanRun(events)
  const compared = expectTrueSamples(events)
  await expectHeld()
  const comparisons = await verify({
    pool: pipeline.postgres.pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections,
    streams: await listStreams(pipeline.postgres.pool),
    progress: quiet,
  })
  expect(comparisons.filter(({ equal }) => !equal)).toEqual([])
  const { rows: letters } = await pipeline.postgres.pool.query('SELECT stage, reason FROM dead_letter')
  expect(letters).toEqual([])
  console.info(
    `seed ${SEED}: ${KILLS} kills, ${held.size} slots, ${events.length} events, ${compared} samples, ${comparisons.length} tables`,
  )
}, 600_000)

/** What blocks tell is what somebody reads who begins now and is not disturbed; so are the tables that follow from it. */
async function expectLikeCleanRun(events: readonly StoredEvent[]): Promise<void> {
  const { chain } = crowd
  const source = openRpcSource(openFailover([node.url]))
  await indexSolana(clean.postgres.pool, { chain, source })
  await clean.project()
  const ofBlocks = (all: readonly StoredEvent[]) =>
    all
      .filter(({ log_index }) => log_index !== null)
      .map(({ block_number, log_index, type, contract, tx_hash, data }) => [
        block_number,
        log_index,
        type,
        contract,
        tx_hash,
        data,
      ])
  const expected = ofBlocks(await readEvents(clean.postgres.pool, SOLANA.id, { after: 0 }))
  expect(ofBlocks(events)).toEqual(expected)
  expect(expected.length).toBeGreaterThan(300)
  // svm_balance has what a node once told besides: `expectHeld`.
  for (const table of ['svm_flow', 'svm_price']) {
    const only = pipeline.projections.filter(({ name }) => name === table)
    const sums = await visibleSumsOf(pipeline.clickhouse, only, 'svm')
    expect(sums, table).toEqual(await visibleSumsOf(clean.clickhouse, only, 'svm'))
    expect(sums[table]?.rows, table).toBeGreaterThan(20)
  }
}

/** What a node said of a moment was so; gives how many were compared. */
function expectTrueSamples(events: readonly StoredEvent[]): number {
  let compared = 0
  for (const { type, block_number, contract, data } of events) {
    const then = type === 'SvmVaultSampled' ? pools.get(`${block_number} ${contract}`) : undefined
    if (!then) continue
    expect(data, `slot ${block_number}`).toMatchObject(then)
    compared++
  }
  expect(compared).toBeGreaterThan(10)
  return compared
}

/** Everybody has at every slot what the token accounts had then. */
async function expectHeld(): Promise<void> {
  const people = crowd.wallets.map(({ address }) => `'${hex(address)}'`).join(', ')
  for (const [slot, all] of held) {
    const rows = await pipeline.rows<{ key: string; total: string }>(
      `SELECT concat(mint, ' ', holder) AS key, toString(sum(amount)) AS total FROM (
         SELECT mint, holder, token_account, argMax(amount, position) AS amount FROM svm_balance
         WHERE chain_id = ${SOLANA.id} AND block_number <= ${slot} GROUP BY mint, holder, token_account)
       WHERE holder IN (${people}) GROUP BY key HAVING sum(amount) > 0`,
    )
    expect(Object.fromEntries(rows.map(({ key, total }) => [key, total])), `slot ${slot}`).toEqual(all)
  }
}
