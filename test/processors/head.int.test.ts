import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { createPostgres } from '../databases.ts'
import { GeneratedChain } from '../faults/chain/generated-chain.ts'
import { startFaultyNode } from '../faults/chain/rpc-server.ts'
import { follower } from '../pipeline.ts'

const BLOCK_MS = 1_000
const BLOCKS = 40
/** Looks in vain that may have been saved up, and taken in advance (rhythm.ts). */
const SAVED = 16

// The look that finds a block, one in vain in the mean, and the block's logs. Told of it: its logs, and a look where the node is
// quiet for long.
test.concurrent.each([
  ['asked for', 'http', 3 * BLOCKS + SAVED],
  ['told of', 'ws', 1.2 * BLOCKS],
] as const)('a head that is %s costs a few requests a block', async (_, scheme, most) => {
  const chain = new GeneratedChain({ seed: 5, chainId: 1 })
  chain.mineEmpty(20, 12)
  const node = await startFaultyNode(chain)
  const postgres = await createPostgres()
  const run = follower(
    postgres.pool,
    await loadProtocols(),
  )({
    rpcUrl: node.url.replace('http', scheme),
    finality: 5,
    contracts: { 'chainlink-feed': [] },
    pollInterval: undefined,
  })
  try {
    const mine = async (blocks: number) => {
      for (let i = 0; i < blocks; i++) {
        chain.mineEmpty(1, 1)
        await sleep(BLOCK_MS)
      }
    }
    await mine(8)
    const before = node.requests.flatMap(({ methods }) => methods).length
    await mine(BLOCKS)
    await run.reached(chain.head.number)
    const requests = node.requests.flatMap(({ methods }) => methods).slice(before)
    expect(requests.length, requests.join()).toBeLessThanOrEqual(most)
    const logs = requests.filter(method => method === 'eth_getLogs')
    expect(logs.length).toBeGreaterThan(0)
    // The logs of the last block before may come after it.
    expect(logs.length).toBeLessThanOrEqual(BLOCKS + 1)
    // Nothing else: a block that was looked at is not asked for again.
    const others = requests.filter(
      method => !['eth_getLogs', 'eth_getBlockByNumber', 'net_version'].includes(method),
    )
    expect(others).toEqual([])
  } finally {
    await run.stop()
    await node.stop()
    await postgres.drop()
  }
})
