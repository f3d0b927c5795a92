import type { BoundedAnswer } from '../../db/chain/bounded-reader.ts'
import { StateMissingError } from '../../db/chain/errors.ts'
import type { StrangerReader } from '../../db/chain/stranger-reader.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import type { StateCall } from '../protocol.ts'
import type { KeptState } from './kept-state.ts'
import type { LostState } from './lost-state.ts'

type OnTrouble = (contract: string, trouble: string) => void
/** Told what each call used; 0 where the node does not say. */
type OnUsed = (gas: readonly number[]) => void

export interface ContractCalls {
  /** @throws StateMissingError */
  answers(calls: readonly StateCall[], block: BlockRef, gas?: number): Promise<BoundedAnswer[]>
  /**
   * eth_calls at one block; undefined for a call that is not answered. `onTrouble` is told of contracts that neither answer
   * nor revert; each has so much gas.
   *
   * @throws StateMissingError
   */
  calls(
    calls: readonly StateCall[],
    block: BlockRef,
    onTrouble?: OnTrouble,
    gas?: number,
    onUsed?: OnUsed,
  ): Promise<(string | undefined)[]>
}

export function openContractCalls({
  strangers,
  kept,
  lost,
}: {
  strangers: StrangerReader
  kept: KeptState
  lost: LostState
}): ContractCalls {
  const answers: ContractCalls['answers'] = async (calls, block, gas) => {
    if (calls.length === 0) return []
    if (lost.isLost(block.number)) throw lost.missing(block.number)
    try {
      const found = await strangers.read(calls, { blockHash: block.hash }, gas)
      if (found.every(({ data, trouble }) => !data && !trouble)) await kept.assertKept(block.number)
      return found
    } catch (error) {
      if (error instanceof StateMissingError) await lost.note(block, error)
      throw error
    }
  }

  return {
    answers,
    async calls(calls, block, onTrouble, gas, onUsed) {
      const found = await answers(calls, block, gas)
      onUsed?.(found.map(({ gas: used = 0 }) => used))
      for (const [i, { trouble }] of found.entries()) if (trouble) onTrouble?.(calls[i]?.to ?? '', trouble)
      return found.map(({ data }) => data)
    },
  }
}
