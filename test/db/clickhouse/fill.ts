import { SOLANA as chain, type StreamKind } from '../../../db/streams.ts'
import { loadProjections } from '../../../jobs/projection.ts'
import { planRange } from '../../../jobs/ranges.ts'
import { applyRange } from '../../../jobs/runner.ts'
import type { Engine } from '../../jobs/engine.ts'
import { type Positioned, store } from '../../jobs/streams.ts'

/** A stated fact of the registry's stream. */
export function fact(position: number, subject: string, kind: string, value: unknown): Positioned {
  return {
    position,
    block: { number: position, hash: `0x${'0'.repeat(64)}`, timestamp: 1_700_000_000 },
    event: { type: 'FactRecorded', contract: '', data: { subject, kind, value: JSON.stringify(value) } },
  }
}

export const { id: SOLANA } = chain

const kindOf = (stream: number): StreamKind => (stream === 0 ? 'registry' : stream === SOLANA ? 'svm' : 'evm')

/** Stores streams, the registry as 0 and Solana by its number, and makes every read model of them. */
export async function fill(
  engine: Engine,
  streams: readonly (readonly [number, readonly Positioned[]])[],
): Promise<void> {
  for (const [stream, log] of streams) {
    await store(engine, stream, log)
    for (const projection of await loadProjections()) {
      if (projection.streams !== kindOf(stream)) continue
      for (let from = 0; from < log.length; ) {
        const range = await planRange(engine.client, stream, from, log.length, {
          position: log.length,
          block_number: 0,
          block_time: 0,
        })
        await applyRange(engine.client, projection, stream, range)
        from = range.to
      }
    }
  }
}
