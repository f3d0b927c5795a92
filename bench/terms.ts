import { networks } from '../db/networks.ts'
import { type Node, startNode } from '../test/chain/node.ts'
import { seededRandom } from '../test/chain/random.ts'
import { Wanderers } from '../test/pendle/wanderers.ts'
import { buildPendleWorld, contractsOf } from '../test/pendle/world.ts'

const BLOCKS = 400
const ACTS = 10

/** A chain on which users wander over markets of Pendle's own contracts, ten acts a block, all of it final. */
export async function wanderOverTerms(): Promise<{
  node: Node
  contracts: Record<string, readonly string[]>
  last: number
}> {
  const node = await startNode({ hardfork: 'cancun' })
  const world = await buildPendleWorld(node)
  const random = seededRandom(3)
  const wanderers = new Wanderers(node, world, random, world.users)
  for (let block = 0; block < BLOCKS; block++) {
    for (let act = 0; act < ACTS; act++) {
      const [, calls] = await wanderers.next(act % 3 === 0 ? world.long : world.short, false)
      for (const call of calls) await node.send(call)
    }
    await node.mine()
  }
  const { number } = await node.head()
  await node.mineEmpty(networks.mainnet.finality)
  return { node, contracts: contractsOf(world), last: number }
}
