import type { ChainProcessorOptions } from '../processors/chain-options.ts'
import { runChain } from '../processors/chain-processor.ts'

/** A processor in this process that follows a chain until it is stopped. */
export function followChain(options: Omit<ChainProcessorOptions, 'onCommit' | 'signal'>) {
  let stored = 0
  let wake = () => {}
  let failure: unknown
  const stop = new AbortController()
  const done = runChain({
    ...options,
    signal: stop.signal,
    onCommit({ headBlock }) {
      stored = headBlock
      wake()
    },
  }).catch(error => {
    failure = error
    wake()
  })
  return {
    /** Resolves when this block is stored; throws what the processor failed with. */
    async reach(block: number): Promise<void> {
      while (stored < block && !failure) await new Promise<void>(resolve => (wake = resolve))
      if (failure) throw failure
    },
    async stop(): Promise<void> {
      stop.abort()
      await done
    },
  }
}
