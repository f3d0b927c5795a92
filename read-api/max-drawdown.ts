import { keyOf } from './catalogue/catalogue.ts'
import type { Vault } from './catalogue/vault.ts'
import type { EndpointContext } from './endpoint.ts'
import { inHundreds } from './queries/chunks.ts'
import { drawdowns } from './queries/history.ts'
import { ask } from './queries/query.ts'
import { SECONDS_OF_DAY as DAY } from './time-range.ts'

const WINDOWS = { mdd30days: 30, mdd90days: 90, mdd365days: 365 } as const

export type MaxDrawdown = Record<keyof typeof WINDOWS, number>

/**
 * The largest falls over the samples of the last 30, 90 and 365 days, counted back from the moment of the chain; 0 for a
 * price that never fell. By `chain:address`.
 */
export async function maxDrawdowns(
  vaults: readonly Vault[],
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<string, MaxDrawdown>> {
  const results = new Map<string, MaxDrawdown>()
  const byChain = new Map<number, string[]>()
  for (const { state } of vaults) {
    results.set(keyOf(state.chainId, state.address), { mdd30days: 0, mdd90days: 0, mdd365days: 0 })
    const names = byChain.get(state.chainId)
    if (names) names.push(state.address)
    else byChain.set(state.chainId, [state.address])
  }
  const ofWindow = async (chain: number, names: string[], window: keyof typeof WINDOWS) => {
    const { position = 0, blockTime = 0 } = catalogue.chain(chain) ?? {}
    const start = Math.max(0, blockTime - WINDOWS[window] * DAY)
    const range = { chain, p: position, start, nextDay: Math.ceil(start / DAY) * DAY }
    for (const { vault, drawdown } of await ask(
      deps.clickhouse,
      drawdowns,
      { ...range, vaults: names },
      signal,
    )) {
      const result = results.get(keyOf(chain, vault))
      if (result) result[window] = drawdown
    }
  }
  await Promise.all(
    [...byChain].flatMap(([chain, names]) =>
      inHundreds(names).flatMap(part =>
        (Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]).map(window => ofWindow(chain, part, window)),
      ),
    ),
  )
  return results
}
