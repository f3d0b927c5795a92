import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type NetworkName, networks } from '../db/networks.ts'
import { loadProtocols } from '../processors/load-protocols.ts'
import type { Emitted } from '../test/faults/chain/blocks.ts'
import { GeneratedChain } from '../test/faults/chain/generated-chain.ts'
import { startFaultyNode } from '../test/faults/chain/rpc-server.ts'
import type { Result, Stage } from './bench.ts'
import { startCounter } from './counter.ts'
import { followChain } from './follower.ts'
import { RECORDINGS } from './recordings.ts'

const BLOCKS: [folder: string, network: NetworkName, numbers: number[]][] = [
  ['ethereum', 'mainnet', [1_000_000, 4_369_999, 18_000_000, 18_500_000]],
  ['polygon', 'polygon', [50_000_000]],
  ['arbitrum', 'arbitrum', [150_000_000]],
]

const hex = z.custom<`0x${string}`>(value => typeof value === 'string' && /^0x[0-9a-f]*$/.test(value))
const receipts = z.array(
  z.object({ logs: z.array(z.object({ address: hex, topics: z.array(hex), data: hex })) }),
)

/**
 * What a node is asked for by whole recorded blocks: their logs are mined on a generated chain, whose contracts have no code, with
 * everything followed that we know of the network. A block comes twice: contracts that are met for the first time are looked at.
 */
export async function recordedCosts(stage: Stage): Promise<Result[]> {
  const results: Result[] = []
  for (const [folder, name, numbers] of BLOCKS) {
    const { chainId, finality, blockTime } = networks[name]
    const startTime = Math.floor(Date.now() / 1000) - 100 * finality
    const chain = new GeneratedChain({ seed: 1, chainId, startTime, blockSeconds: Math.ceil(blockTime) })
    chain.mineEmpty(finality + 10)
    const node = await startFaultyNode(chain, { runsReader: true })
    stage.afterwards(() => node.stop())
    const counter = await startCounter(stage, node.url)
    const { pool } = await stage.postgres()
    const follower = followChain({
      network: networks[name],
      protocols: await loadProtocols(),
      pool,
      rpcUrls: [counter.url],
      pollInterval: 10,
    })
    await follower.reach(chain.head.number)
    for (const number of numbers) {
      const file = join(RECORDINGS, 'whole-blocks', folder, String(number), 'receipts.json')
      const transactions: Emitted[][] = receipts
        .parse(JSON.parse(readFileSync(file, 'utf8')))
        .map(({ logs }) => logs)
      const times: string[] = []
      for (let time = 0; time < 2; time++) {
        counter.counted.clear()
        await counter.holdWhile(async () => void chain.mine(transactions))
        await follower.reach(chain.head.number)
        times.push(words(counter.counted))
      }
      results.push({
        what: `block ${number.toLocaleString('en')} of ${name}, ${transactions.flat().length} logs`,
        ours: times[1] ?? '',
        beside: `the first time: ${times[0]}`,
      })
      stage.say(JSON.stringify(results.at(-1)))
    }
    await follower.stop()
  }
  return results
}

const words = (counts: ReadonlyMap<string, number>) =>
  [...counts]
    .filter(([method]) => !method.endsWith(' latest'))
    .map(([method, count]) => `${count} ${method}`)
    .join(', ') || 'nothing'
