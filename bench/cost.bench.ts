import { encodeFunctionData, type Hex, parseAbi, toEventSelector } from 'viem'
import type { BlockEvents } from '../db/events/event-store.ts'
import { networks } from '../db/networks.ts'
import { HOUR } from '../db/units.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import { WITHIN } from '../processors/samples/spread.ts'
import { type Node, startNode } from '../test/chain/node.ts'
import { seededRandom } from '../test/chain/random.ts'
import { appendBlocks } from '../test/read-api/append.ts'
import type { Bench, Result, Stage } from './bench.ts'
import { startCounter } from './counter.ts'
import { followChain } from './follower.ts'
import { recordedCosts } from './recorded-costs.ts'
import { NOW, recordedVaults } from './recorded-vaults.ts'

const { chainId: MAINNET, blockTime, name } = networks.mainnet
const HOURS = Number(process.env['BENCH_HOURS'] ?? 2)
/** Deposits and redemptions of a block of mainnet: 10.5 million in 2025, of the recorded vaults. */
const DEPOSITS = 4
/** Vaults that these are of. */
const BUSY = 200
/**
 * Looks for a block besides the request of its logs: by `npm run bench head` for blocks as often as mainnet's, and at most, with
 * HEAD_LOOKS_MAINNET=1.2. With 0.5 every second block is looked for, and two are taken together.
 */
const EAGERNESS = [
  { setting: 'as it comes', looks: 1.6, together: 1 },
  { setting: 'HEAD_LOOKS_MAINNET=1.2', looks: 1.2, together: 1 },
  { setting: 'HEAD_LOOKS_MAINNET=0.5', looks: 0.5, together: 2 },
]
const BLOCKS_A_DAY = 86_400 / blockTime
const DAYS = 30

/** What providers count for a call, and what their free plans have. */
const PRICES = [
  {
    // alchemy.com/docs/reference/compute-unit-costs
    of: 'Alchemy, compute units a month',
    days: DAYS,
    free: 30_000_000,
    costs: { eth_getLogs: 60, eth_call: 26, eth_blockNumber: 10, eth_chainId: 0 } as Record<string, number>,
    otherwise: 20,
  },
  {
    // docs.metamask.io/services/get-started/pricing/credit-cost
    of: 'Infura, credits a day',
    days: 1,
    free: 3_000_000,
    costs: { eth_getLogs: 255, eth_chainId: 5 } as Record<string, number>,
    otherwise: 80,
  },
]

/** Answers 10^18 to whatever it is asked; deposit(uint256,address) logs one of as much. */
const ONE = '670de0b6b3a7640000'
const CODE: Hex = `0x60003560e01c636e553f6514602057${ONE}60005260206000f35b${ONE}600052${ONE}6020523333${push(
  'Deposit(address,address,uint256,uint256)',
)}60406000a3336000${push('Transfer(address,address,uint256)')}60206000a360206000f3`

function push(event: string): string {
  return `7f${toEventSelector(event).slice(2)}`
}

interface Counts {
  /** Requests by method of a block without hourly samples, in the mean. */
  block: Map<string, number>
  /** What the blocks of an hour's first minutes, in which it has its samples, have more together. */
  hour: Map<string, number>
}

/** Follows a chain in whose blocks these vaults are used, block by block, and counts what its node is asked. */
async function follow(
  stage: Stage,
  { history, isListed, together }: { history: BlockEvents[]; isListed: boolean; together: number },
): Promise<Counts> {
  const vaults = (history[0]?.events ?? []).map(({ contract }) => contract)
  const node = await startNode({ timestamp: NOW })
  stage.afterwards(() => node.stop())
  await give(node, vaults)
  await node.mineEmpty(history.length + 2 * networks.mainnet.finality, blockTime)
  const counter = await startCounter(stage, node.rpcUrl)
  const { pool } = await stage.postgres()
  await appendBlocks(pool, MAINNET, name, history)
  const follower = followChain({
    network: networks.mainnet,
    protocols: await loadProtocols(),
    contracts: { 'chainlink-feed': [] },
    pool,
    rpcUrls: [counter.url],
    pollInterval: 10,
    listedVaults: isListed ? vaults : [],
  })
  try {
    await follower.reach((await node.head()).number)
    const random = seededRandom(12)
    const sums = { block: new Map<string, number>(), hour: new Map<string, number>() }
    const blocks = { block: 0, hour: 0 }
    const mine = async () => {
      for (let n = 0; n < DEPOSITS; n++)
        await node.send({
          from: random.pick(node.accounts) ?? '0x',
          to: random.pick(vaults.slice(0, BUSY)) as Hex,
          data: DEPOSIT,
        })
      await node.mine((await node.head()).timestamp + blockTime)
    }
    for (let i = 0; i < (HOURS * HOUR) / blockTime; i += together) {
      counter.counted.clear()
      await counter.holdWhile(async () => {
        for (let n = 0; n < together; n++) await mine()
      })
      const { number, timestamp } = await node.head()
      await follower.reach(number)
      // A block later: those that are taken together end after the one that has samples.
      const when = timestamp % HOUR < WITHIN + 2 * blockTime ? 'hour' : 'block'
      blocks[when] += together
      for (const [method, count] of counter.counted)
        if (!method.endsWith(' latest')) add(sums[when], method, count)
    }
    for (const [method, count] of sums.block) sums.block.set(method, count / blocks.block)
    // Whole hours have as many first minutes, wherever they begin.
    for (const [method, count] of sums.hour)
      sums.hour.set(method, (count - blocks.hour * (sums.block.get(method) ?? 0)) / HOURS)
    return sums
  } finally {
    await follower.stop()
  }
}

const DEPOSIT = encodeFunctionData({
  abi: parseAbi(['function deposit(uint256 assets, address receiver)']),
  args: [10n ** 18n, '0x0000000000000000000000000000000000000001'],
})

const add = (sums: Map<string, number>, method: string, count: number) =>
  sums.set(method, (sums.get(method) ?? 0) + count)

async function give(node: Node, vaults: readonly string[]): Promise<void> {
  for (let i = 0; i < vaults.length; i += 500)
    await Promise.all(vaults.slice(i, i + 500).map(vault => node.rpc('anvil_setCode', [vault, CODE])))
}

const words = (counts: Map<string, number>) =>
  [...counts]
    .filter(([, count]) => count > 0.005)
    .map(([method, count]) => `${count.toFixed(2)} ${method}`)
    .join(', ')

export const bench: Bench = {
  about:
    `What a chain like mainnet asks of its node at the head: ${HOURS} hours of blocks ${blockTime} s apart with ${DEPOSITS} deposits each, in transactions of ` +
    `their own, into ${BUSY} of the recorded vaults, which are as many as mainnet has, or all of them, on a local anvil; requests counted block by block, ` +
    "what those of an hour's first minutes have more apart. To them come looks for the head. Beside it what two providers count for that at their published prices, and " +
    'what their free plans have. Last, six blocks as they were recorded whole, on a generated chain whose contracts have no code: what each takes once its ' +
    'contracts are known, and the first time.',
  async run(stage) {
    const recorded = await recordedVaults()
    const own = recorded.get(MAINNET) ?? []
    const all = own.map(({ block }, i) => ({
      block,
      events: [...recorded.values()].flatMap(blocks => blocks[i]?.events ?? []),
    }))
    const results: Result[] = []
    for (const { history, isListed, together } of [
      { history: own, isListed: true, together: 1 },
      { history: own, isListed: true, together: 2 },
      { history: all, isListed: true, together: 1 },
      { history: all, isListed: false, together: 1 },
    ]) {
      const vaults = `${(history[0]?.events.length ?? 0).toLocaleString('en')} vaults, ${isListed ? 'all listed' : 'found by their shape'}`
      stage.say(`${vaults}, blocks by ${together}`)
      const { block, hour } = await follow(stage, { history, isListed, together })
      for (const { setting, looks } of EAGERNESS.filter(of => of.together === together)) {
        results.push({
          what: `${vaults}; ${setting}`,
          ours: `a block: ${words(block)}, ${looks} looks; an hour: ${words(hour)}`,
        })
        for (const { of, days, free, costs, otherwise } of PRICES) {
          const price = (counts: Map<string, number>) =>
            [...counts].reduce((sum, [method, count]) => sum + count * (costs[method] ?? otherwise), 0)
          const day = (price(block) + looks * otherwise) * BLOCKS_A_DAY + price(hour) * 24
          results.push({
            what: of,
            ours: Math.round(day * days).toLocaleString('en'),
            beside: `free: ${free.toLocaleString('en')}`,
            ratio: free / (day * days),
          })
        }
      }
    }
    return [...results, ...(await recordedCosts(stage))]
  },
}
