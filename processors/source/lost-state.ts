import { StateMissingError } from '../../db/chain/errors.ts'
import type { StrangerReader } from '../../db/chain/stranger-reader.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { steadyNow } from '../../db/process/steady.ts'
import type { KeptState } from './kept-state.ts'
import type { RpcHeaders } from './rpc-headers.ts'

/** Milliseconds after which a node that had no state is asked for it again. */
const AGAIN = 600_000

/** What is known of the state that a node dropped: all below a height. */
export interface LostState {
  /** Whether the node had no state of a block when it was last asked. */
  isLost(height: number): boolean
  /** Whether it lacks any. */
  isAnyLost(): boolean
  /** For a block whose state is lost. */
  missing(height: number): StateMissingError
  /** The node had none of this block: finds how far up it has none, so that not each block above has to be asked for, and says it in the error. */
  note(block: BlockRef, error: StateMissingError): Promise<void>
}

export function openLostState({
  headers,
  strangers,
  kept,
}: {
  headers: Pick<RpcHeaders, 'head' | 'header'>
  strangers: Pick<StrangerReader, 'stand'>
  kept: KeptState
}): LostState {
  let lost = { below: -1, at: 0 }
  let searching: Promise<void> | undefined
  const isLost = (height: number) => height <= lost.below && steadyNow() - lost.at < AGAIN

  async function hasState(height: number): Promise<boolean> {
    const block = await headers.header(height)
    if (!block) throw new UnavailableError(`The node does not have block ${height}, below its head.`)
    try {
      await strangers.stand({ blockHash: block.hash })
      await kept.assertKept(height)
      return true
    } catch (error) {
      if (error instanceof StateMissingError) return false
      throw error
    }
  }

  const search = async (from: number) => {
    let absent = from
    let present = (await headers.head()).number
    // Most keep a little below their head, and what is lost is slow to be sure of: in longer steps down from the head first.
    for (let step = 1; present - step > absent; step *= 2) {
      if (await hasState(present - step)) present -= step
      else absent = present - step
    }
    while (present - absent > 1) {
      const middle = Math.floor((absent + present) / 2)
      if (await hasState(middle)) present = middle
      else absent = middle
    }
    lost = { below: Math.max(lost.below, absent), at: steadyNow() }
  }

  return {
    isLost,
    isAnyLost: () => isLost(lost.below),
    missing(height) {
      const error = new StateMissingError(`block ${height}`)
      error.keptFrom = lost.below + 1
      return error
    },
    async note(block, error) {
      // A block that was replaced has no state either, and says nothing of those before it.
      if ((await headers.header(block.number))?.hash !== block.hash) return
      if (isLost(block.number)) return
      if (!isLost(lost.below))
        log.warn(
          { block: block.number, error: error.message },
          'the node keeps no state of old blocks: nothing is sampled there, and contracts are looked at as they are now',
        )
      lost = { below: Math.max(lost.below, block.number), at: steadyNow() }
      searching ??= search(lost.below).finally(() => {
        searching = undefined
      })
      await searching
      error.keptFrom = lost.below + 1
    },
  }
}
