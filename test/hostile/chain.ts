import type { Address } from 'viem'
import { type Node, startNode } from '../chain/node.ts'
import { type Companions, runScenario, type Scenario } from '../chain/scenario.ts'
import { openStage } from './stage.ts'
import type { Arrived, Stranger } from './strangers.ts'

/** Days of the scenario; the last ones are lived through while processes follow the chain. */
const DAYS = 20
const DAYS_AT_HEAD = 3
const SEED = 7

export interface StrangeChain {
  node: Node
  scenario: Scenario
  /** Contracts of strangers. */
  contracts: readonly Address[]
}

/**
 * A chain of honest people, and strangers in the same blocks behind them. What the honest send, and when, is the same
 * whoever else is there. `atHead` runs when history ends; the rest of the chain is lived through after it, a block after what it
 * gives has ended for the one before: a node that makes a block answers for the last one with the state of that.
 */
export async function liveWith(
  strangers: readonly Stranger[],
  atHead: (
    node: Node,
    scenario: Pick<Scenario, 'morpho' | 'aave' | 'feeds' | 'vaults' | 'start'>,
  ) => Promise<(block: number) => Promise<void>>,
  days = DAYS,
): Promise<StrangeChain> {
  const node = await startNode()
  const contracts: Address[] = []
  let arrived: Arrived[] = []
  let afterBlock: ((block: number) => Promise<void>) | undefined
  const companions: Companions = {
    vaults: [],
    async onDay({ world, vaults }, { index, plan, start }) {
      if (index === 0) {
        const stage = await openStage(node, world)
        arrived = strangers.map(stranger => stranger.come(stage))
        contracts.push(...arrived.flatMap(({ contracts: of }) => of))
        plan[1]?.push(...stage.take())
      } else {
        for (const [i, { act }] of arrived.entries()) plan[(i * 7 + index) % plan.length]?.push(...act(index))
      }
      if (index === days - DAYS_AT_HEAD) {
        const { assets, morpho, aave } = world
        const feeds = Object.values(assets).map(({ feed, token }) => ({ ...feed, asset: token }))
        afterBlock = await atHead(node, {
          morpho,
          aave,
          feeds,
          vaults,
          start: start - index * 86_400,
        })
      }
    },
  }
  const waiting: Node = {
    ...node,
    async mine(timestamp) {
      const block = await node.mine(timestamp)
      await afterBlock?.(block.number)
      return block
    },
  }
  try {
    const scenario = await runScenario(waiting, { days, seed: SEED, companions: [companions] })
    return { node, scenario, contracts }
  } catch (error) {
    await node.stop()
    throw error
  }
}
