import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { createPostgres } from '../databases.ts'
import { GeneratedChain } from '../faults/chain/generated-chain.ts'
import { startFaultyNode } from '../faults/chain/rpc-server.ts'
import { follower } from '../pipeline.ts'

const BLOCK_MS = 2_000
const BLOCKS = 15

// The look that finds a block, one in vain, and the block's logs. Told of it: its logs alone, and a look where the node is quiet.
test.concurrent.each([
  ['asked for', 'http', 3],
  ['told of', 'ws', 1.2],
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
    expect(requests.length / BLOCKS, requests.join()).toBeLessThanOrEqual(most)
    expect(requests.length).toBeGreaterThanOrEqual(BLOCKS)
  } finally {
    await run.stop()
    await node.stop()
    await postgres.drop()
  }
})
