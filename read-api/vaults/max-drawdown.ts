import { keyOf } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import { inBatches } from '../catalogue/vault-batches.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { SECONDS_OF_DAY as DAY } from '../moment/time-range.ts'
import { drawdowns } from './history-queries.ts'

const WINDOWS = { mdd30days: 30, mdd90days: 90, mdd365days: 365 } as const
const names = Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]

const dayOf = (second: number) => new Date(second * 1000).toISOString().slice(0, 10)

export type MaxDrawdown = Record<keyof typeof WINDOWS, number>

/**
 * The largest falls over the samples of the last 30, 90 and 365 days, counted back from the moment of the chain; 0 for a
 * price that never fell. By `chain:address`.
 */
export async function maxDrawdowns(
  vaults: readonly Vault[],
  context: EndpointContext,
): Promise<Map<string, MaxDrawdown>> {
  const { deps, signal } = context
  const results = new Map<string, MaxDrawdown>(
    vaults.map(({ state }) => [
      keyOf(state.chainId, state.address),
      { mdd30days: 0, mdd90days: 0, mdd365days: 0 },
    ]),
  )
  await Promise.all(
    inBatches(vaults, context).map(async ({ chain, pinned }) => {
      const starts = names.map(window => Math.max(0, chain.blockTime - WINDOWS[window] * DAY))
      for (const { vault, start, drawdown } of await ask(
        deps.clickhouse,
        drawdowns,
        { ...pinned, starts, days: starts.map(dayOf), since: Math.min(...starts) },
        signal,
      )) {
        const result = results.get(keyOf(pinned.chain, vault))
        if (!result) continue
        // Of a chain younger than a window two windows have one start.
        for (const [i, window] of names.entries()) if (starts[i] === start) result[window] = drawdown
      }
    }),
  )
  return results
}
