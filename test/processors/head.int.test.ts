import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { createPostgres } from '../databases.ts'
import { GeneratedChain } from '../faults/chain/generated-chain.ts'
import { startFaultyNode } from '../faults/chain/rpc-server.ts'
import { follower } from '../pipeline.ts'

const BLOCK_MS = 5_000
const BLOCKS = 6

// The look that finds a block, the block and its logs, and one look in vain, of which eight may be saved up; told of it: the last
// two. Beside them the height is asked for every twenty seconds. Evenly it were seven and eight.
test.concurrent.each([
  ['asked for', 'http', 4 + 8 / BLOCKS + 0.5],
  ['told of', 'ws', 2 + 0.5],
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
    await mine(6)
    const before = node.requests.flatMap(({ methods }) => methods).length
    await mine(BLOCKS)
    const requests = node.requests.flatMap(({ methods }) => methods).slice(before)
    await run.reached(chain.head.number)
    expect(requests.length / BLOCKS, requests.join()).toBeLessThanOrEqual(most)
    expect(requests.length).toBeGreaterThanOrEqual(BLOCKS)
  } finally {
    await run.stop()
    await node.stop()
    await postgres.drop()
  }
})
