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
 * whoever else is there. `atHead` runs when history ends; the rest of the chain is lived through after it, each block after
 * `eachBlock`.
 */
export async function liveWith(
  strangers: readonly Stranger[],
  atHead: (
    node: Node,
    scenario: Pick<Scenario, 'morpho' | 'aave' | 'feeds' | 'vaults' | 'start'>,
  ) => Promise<void>,
  days = DAYS,
): Promise<StrangeChain> {
  const node = await startNode()
  const contracts: Address[] = []
  let arrived: Arrived[] = []
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
        await atHead(node, {
          morpho,
          aave,
          feeds,
          vaults,
          start: start - index * 86_400,
        })
      }
    },
  }
  try {
    const scenario = await runScenario(node, { days, seed: SEED, companions: [companions] })
    return { node, scenario, contracts }
  } catch (error) {
    await node.stop()
    throw error
  }
}
