import type { Node } from './node.ts'
import type { Day } from './play.ts'

/** What it takes to deploy a protocol, a block a second. */
const NEEDS_SECONDS = 60

/** Whether a protocol can be deployed before the first block of a day. */
export async function hasTimeBefore(node: Node, day: Day): Promise<boolean> {
  const { timestamp } = await node.head()
  return (day.times[0] ?? 0) - timestamp > NEEDS_SECONDS
}

/** The node, with a block a second where no time is asked for. */
export const quickly = (node: Node): Node =>
  Object.create(node, {
    mine: { value: async (at?: number) => node.mine(at ?? (await node.head()).timestamp + 1) },
  })
