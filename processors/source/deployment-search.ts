import { isUnknownToNode } from '../../db/chain/errors.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import type { ContractCode } from './contract-code.ts'
import type { KeptState } from './kept-state.ts'
import type { LostState } from './lost-state.ts'
import type { RpcHeaders } from './rpc-headers.ts'

/** Blocks that most contracts are younger than when they are met: asked at once, so that few questions are left. */
const AGES = [1, 16, 256, 4_096, 65_536, 1_048_576, 16_777_216]

type Exists = (height: number) => Promise<boolean>

/** Finds the block in which a contract was made, number and unix seconds; undefined where the node cannot tell. */
export function openDeploymentSearch({
  headers,
  hasCode,
  kept,
  lost,
}: {
  headers: Pick<RpcHeaders, 'header'>
  hasCode: ContractCode['hasCode']
  kept: KeptState
  lost: LostState
}) {
  return async (
    contract: string,
    upTo: number,
  ): Promise<{ block: number; timestamp: number } | undefined> => {
    // A node without old states cannot tell: the block stays unknown (invariant 7). One that is out of reach may.
    if (lost.isAnyLost()) return undefined
    const exists: Exists = height => hasCode(contract, height)
    try {
      const about = await searchBack(exists, upTo)
      if (!about) return undefined
      const { absent, present } = await searchBetween(exists, about)
      if (absent >= 0 && !(await kept.isKept(absent))) return undefined
      const block = await headers.header(present)
      if (!block)
        throw new UnavailableError(`The node knows the state of block ${present}, and not the block.`)
      return { block: block.number, timestamp: block.timestamp }
    } catch (error) {
      if (isUnknownToNode(error)) return undefined
      throw error
    }
  }
}

/** Heights at which it does not exist, -1 where it does from the first block on, and at which it does. */
interface Between {
  absent: number
  present: number
}

/** From a height back; undefined where it does not exist there. */
async function searchBack(exists: Exists, upTo: number): Promise<Between | undefined> {
  const heights = [upTo, ...AGES.map(blocks => upTo - blocks).filter(height => height >= 0)]
  const found = await Promise.allSettled(heights.map(exists))
  let present = upTo
  for (const [i, height] of heights.entries()) {
    const answer = found[i]
    // What is asked of blocks before it was made does not matter.
    if (answer?.status === 'rejected') throw answer.reason
    if (answer?.value) present = height
    else return height === upTo ? undefined : { absent: height, present }
  }
  return { absent: -1, present }
}

/** The two blocks next to one another. */
async function searchBetween(exists: Exists, { absent, present }: Between): Promise<Between> {
  while (present - absent > 1) {
    const between = cutsOf(absent, present)
    const found = await Promise.all(between.map(exists))
    const first = found.indexOf(true)
    const [below, from] = [between[(first < 0 ? between.length : first) - 1], between[first]]
    absent = below ?? absent
    present = from ?? present
  }
  return { absent, present }
}

/** Heights that cut what lies between two into four: half as many round trips as halves take, for half as many questions more. */
const cutsOf = (absent: number, present: number): number[] => [
  ...new Set(
    [1, 2, 3]
      .map(n => absent + Math.floor(((present - absent) * n) / 4))
      .filter(height => height > absent && height < present),
  ),
]
