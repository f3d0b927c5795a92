import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { calls } from '../test/chain/deploy.ts'
import { type Node, startNode } from '../test/chain/node.ts'
import { runScenario, type Scenario } from '../test/chain/scenario.ts'
import { start } from '../test/faults/command.ts'
import { endow } from '../test/faults/small-chain.ts'
import { scenarioContracts } from '../test/pipeline.ts'
import { type Bench, percentiles, type Result, type Stage, timed } from './bench.ts'

const BLOCKS = Number(process.env['BENCH_BLOCKS'] ?? 100)
const DAYS = Number(process.env['BENCH_DAYS'] ?? 300)
const BLOCK_MS = 500
/** As for a chain with a block every second or more often. */
const POLL_MS = 100
/** Mined while the processor is stopped, to be caught up with. */
const BEHIND = 4 * BLOCKS
const ROUNDS = 3
/** With fewer nothing can be said. */
const FEWEST = 20
const BUDGET = 1.2
const FINALITY = 20
/** More than what joins at once. */
const SPACE = 3_000

export const bench: Bench = {
  about:
    `An anvil with ${DAYS} days of vaults, Morpho Blue and Aave v3. A processor follows its vaults; then it is started again with ` +
    `Morpho and Aave added, whose history with its hours is fetched meanwhile. ${BLOCKS} blocks each, ${BLOCK_MS} ms apart, with a ` +
    'deposit: from the moment the block is mined until it is stored; and how long blocks take that were mined while the processor was stopped.',
  async run(stage) {
    const node = await startNode()
    stage.afterwards(() => node.stop())
    const scenario = await runScenario(node, { days: DAYS })
    await endowUser(node, scenario)
    await node.mineEmpty(SPACE)
    const chain = { node, scenario, folder: await mkdtemp(join(tmpdir(), 'vaultlog-added-')) }
    stage.afterwards(() => rm(chain.folder, { recursive: true, force: true }))
    const [followed, behind, behindAdding] = [
      await stage.postgres(),
      await stage.postgres(),
      await stage.postgres(),
    ]
    for (const { url, pool } of [followed, behind, behindAdding]) {
      const processor = await startProcessor(stage, chain, url, false)
      await untilStored(pool, (await node.head()).number)
      await processor.stop()
    }

    stage.say('blocks, one by one')
    const alone = await live(stage, chain, followed, false)
    const added = await live(stage, chain, followed, true)
    stage.say('blocks that were missed')
    let [missedAlone, missedAdded] = [0, 0]
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < BEHIND; i++) await mine(chain)
      missedAlone += (await catchUp(stage, chain, behind, false)) / ROUNDS
      missedAdded += (await catchUp(stage, chain, behindAdding, true)) / ROUNDS
    }

    const latency = (what: 'p50' | 'p99'): Result => ({
      what: `live block stored, ${what}, while a source is added`,
      ours: `${added[what].toFixed(0)} ms`,
      beside: `before it ${alone[what].toFixed(0)} ms`,
      ratio: alone[what] / added[what],
      ...(what === 'p50'
        ? { budget: `at most ${BUDGET} times`, holds: added.p50 <= BUDGET * alone.p50 }
        : {}),
    })
    return [
      latency('p50'),
      latency('p99'),
      {
        what: 'events of history stored meanwhile',
        ours: `${Math.round(added.history)}/s`,
      },
      {
        what: `${BEHIND} blocks that were missed, while a source is added`,
        ours: `${missedAdded.toFixed(0)} ms`,
        beside: `before it ${missedAlone.toFixed(0)} ms`,
        ratio: missedAlone / missedAdded,
        budget: `at most ${BUDGET} times`,
        holds: missedAdded <= BUDGET * missedAlone,
      },
    ]
  },
}

interface Chain {
  node: Node
  scenario: Scenario
  folder: string
}

interface Store {
  url: string
  pool: pg.Pool
}

async function startProcessor(
  stage: Stage,
  { node, scenario, folder }: Chain,
  url: string,
  isAdded: boolean,
) {
  const file = join(folder, `${isAdded}.json`)
  const { 'chainlink-feed': feeds, ...added } = scenarioContracts(scenario)
  const contracts = { 'chainlink-feed': feeds, ...(isAdded ? added : {}) }
  await writeFile(file, JSON.stringify({ mainnet: contracts }))
  const processor = start(['processors/main.ts', 'mainnet'], {
    DATABASE_URL: url,
    RPC_MAINNET: node.rpcUrl,
    FINALITY_MAINNET: String(FINALITY),
    POLL_INTERVAL_MS: String(POLL_MS),
    CONTRACTS_FILE: file,
    RECHECK_MINUTES: '0',
    PROCESSOR_METRICS_PORT: 'off',
  })
  const stop = async () => {
    processor.child.kill('SIGTERM')
    await processor.ended
  }
  stage.afterwards(stop)
  return { until: processor.until, stop }
}

/** Milliseconds from mining to store of each block, and events of history that were stored in a second. */
async function live(stage: Stage, chain: Chain, { url, pool }: Store, isAdded: boolean) {
  const processor = await startProcessor(stage, chain, url, isAdded)
  const delays: number[] = []
  let before = 0
  const started = performance.now()
  for (let i = -5; i < BLOCKS; i++) {
    const began = performance.now()
    const number = await mine(chain)
    const mined = performance.now()
    await untilStored(pool, number)
    const stored = performance.now()
    if (isAdded && !(await isAdding(pool))) break
    // The first ones wait for the processor to start.
    if (i === 0) before = await countHistory(pool)
    if (i >= 0) delays.push(stored - mined)
    // Every phase of the processor's looks at the chain comes up.
    const pace = BLOCK_MS + (((i + 5) * 37) % POLL_MS)
    await new Promise(resolve => setTimeout(resolve, Math.max(0, pace - (performance.now() - began))))
  }
  if (delays.length < FEWEST) throw new RangeError(`the history was complete after ${delays.length} blocks`)
  const history = ((await countHistory(pool)) - before) / ((performance.now() - started) / 1000)
  await processor.stop()
  stage.say(delays.map(delay => delay.toFixed(0)).join(' '))
  return { ...percentiles(delays), history }
}

/** Milliseconds that a processor takes from its start to the chain's head. */
async function catchUp(stage: Stage, chain: Chain, { url, pool }: Store, isAdded: boolean): Promise<number> {
  const { number } = await chain.node.head()
  const processor = await startProcessor(stage, chain, url, isAdded)
  await processor.until(/processor runs/)
  const { ms } = await timed(() => untilStored(pool, number))
  if (isAdded && !(await isAdding(pool))) throw new RangeError('the history was complete before the blocks')
  await processor.stop()
  stage.say(`${isAdded ? 'added' : 'alone'}: ${ms.toFixed(0)} ms`)
  return ms
}

async function endowUser(node: Node, { vaults: [vault], users: [user] }: Scenario): Promise<void> {
  if (!vault || !user) throw new TypeError('a chain without vaults or users')
  await endow(node, vault, user)
  await node.mine()
}

async function mine({ node, scenario }: Chain): Promise<number> {
  const [vault] = scenario.vaults
  const [user] = scenario.users
  if (!vault || !user) throw new TypeError('a chain without vaults or users')
  await node.send(calls.deposit(user, vault.address, 10n ** BigInt(vault.asset.decimals)))
  return (await node.mine()).number
}

async function untilStored(pool: pg.Pool, block: number): Promise<void> {
  while (true) {
    const { rows } = await pool.query<{ head_height: number }>('SELECT head_height FROM stream WHERE id = 1')
    if ((rows[0]?.head_height ?? -1) >= block) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

async function isAdding(pool: pg.Pool): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM watched_source WHERE cursor IS NOT NULL LIMIT 1')
  return rowCount === 1
}

/** Events of blocks far below those that were stored at the same time. */
async function countHistory(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM event_log, stream WHERE stream = id AND id = 1 AND block_number < head_height - $1`,
    [SPACE / 2],
  )
  return rows[0]?.count ?? 0
}
