import type { Address } from 'viem'
import { openStage } from '../hostile/stage.ts'
import { type Arrived, strangers } from '../hostile/strangers.ts'
import { ScenarioError } from './errors.ts'
import type { Node } from './node.ts'
import type { Companions } from './scenario.ts'

/** A small choice of what anybody can deploy; test/hostile has all of it. */
const shown = [
  'a vault rich by its own word, under another’s name, with 2,000 invented holders and airdrops',
  'words of 2.5 MB',
  'an endless loop, asked for its state',
  'a name that turns the text about',
  'a supply that its logs contradict, and deposits for nobody',
  'two vaults, each the asset of the other',
  'good in simulation only',
]

/** Strangers of the demo: kept out of its lists, sums and advice, and answered for when asked for by address. */
export interface Gallery extends Companions {
  strangers: { address: Address; what: string }[]
}

const COMES = 20
const ACTS_EVERY = 9

export function createGallery(node: Node): Gallery {
  const chosen = strangers.filter(({ name }) => shown.includes(name))
  if (chosen.length < shown.length)
    throw new ScenarioError('A stranger of the gallery is not in test/hostile')
  let arrived: { name: string; of: Arrived }[] = []
  return {
    vaults: [],
    get strangers() {
      return arrived.flatMap(({ name, of }) => of.contracts.map(address => ({ address, what: name })))
    },
    async onDay({ world }, { index, plan }) {
      const since = index - COMES
      const last = plan.at(-1)
      if (since === 0) {
        const stage = await openStage(node, world)
        arrived = chosen.map(stranger => ({ name: stranger.name, of: stranger.come(stage) }))
        last?.push(...stage.take())
      } else if (since > 0 && since % ACTS_EVERY === 1) {
        for (const { of } of arrived) last?.push(...of.act(1 + Math.floor(since / ACTS_EVERY)))
      }
    },
  }
}
