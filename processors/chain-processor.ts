import { setTimeout as sleep } from 'node:timers/promises'
import { ForkedWhileOfflineError, StoppedError } from '../db/events/chain-errors.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import type { ChainProcessorOptions } from './chain-options.ts'
import { type Kept, runOnce } from './chain-run.ts'
import { explain, isRetryable } from './failures.ts'
import { DeadLetterBox } from './handling/dead-letters.ts'
import { sourceRestarts } from './metrics.ts'
import { evenPace } from './source/head.ts'
import { Rhythm } from './source/rhythm.ts'
import { WrongChainError } from './source/right-chain.ts'
import { FilterExtended } from './source/source.ts'

/** Milliseconds between attempts at most: a chain is to be fresh again soon after its node is. */
const LONGEST_PAUSE = 10_000

/**
 * Follows one chain for ever (or to endBlock): a run of the source, and another one when contracts were discovered,
 * a fork happened while stopped, or a dependency failed. Throws only what a restart cannot mend.
 */
export async function runChain(options: ChainProcessorOptions): Promise<void> {
  const { network, pool, signal } = options
  let failures = 0
  const kept: Kept = { isRight: false, deadLetters: new DeadLetterBox(pool, network) }
  const pace = options.pollInterval
    ? evenPace(options.pollInterval)
    : new Rhythm(network.blockTime * 1000, options.headLooks)
  while (!signal?.aborted) {
    // After a failure the next endpoint has its turn.
    const turn = failures % Math.max(1, options.rpcUrls.length)
    const rpcUrls = [...options.rpcUrls.slice(turn), ...options.rpcUrls.slice(0, turn)]
    try {
      await runOnce({ ...options, rpcUrls }, kept, pace, () => {
        failures = 0
      })
      return
    } catch (error) {
      if (error instanceof StoppedError || signal?.aborted) return
      const mapped = await explain(options, error)
      if (!isRetryable(mapped)) throw mapped
      const reason = mapped instanceof VaultlogError ? mapped.code.toLowerCase() : 'unavailable'
      sourceRestarts.inc({ chain: network.name, reason })
      if (mapped instanceof FilterExtended || mapped instanceof ForkedWhileOfflineError) {
        log.info({ network: network.name }, mapped.message)
        continue
      }
      const pause = Math.min(LONGEST_PAUSE, 250 * 2 ** Math.min(++failures, 7))
      log[mapped instanceof WrongChainError ? 'error' : 'warn'](
        { network: network.name, error: mapped.message, pause, attempt: failures },
        'processor run failed, trying again',
      )
      // A stop does not wait for the pause.
      await sleep(pause, undefined, { signal }).catch(() => {})
      if (signal?.aborted) return
      await pool.query('SELECT 1').catch(() => {})
    }
  }
}
