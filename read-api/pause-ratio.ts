import type { EndpointContext } from './endpoint.ts'
import type { FoundVault } from './find-vault.ts'
import { ask } from './queries/query.ts'
import { pauses } from './queries/settings.ts'

/** Two years. */
const WINDOW = 2 * 365 * 86_400

/** A vault was paused, or not, from `at` (unix seconds) on. */
export interface PauseChange {
  at: number
  paused: boolean
}

/**
 * The share of [from, to] in which withdrawals were paused, 0 to 1. `changes`: all there ever were, oldest first; the
 * vault begins unpaused. Null where it never emitted one: then nothing says that it could.
 */
export function pauseRatio(changes: readonly PauseChange[], from: number, to: number): number | null {
  if (changes.length === 0 || to <= from) return null
  let paused = false
  let since = from
  let total = 0
  for (const change of changes) {
    const at = Math.min(to, Math.max(from, change.at))
    if (paused) total += at - since
    since = at
    paused = change.paused
  }
  if (paused) total += to - since
  return total / (to - from)
}

/** Of the last two years up to the moment of the chain, or of the vault's life where that is shorter. */
export async function withdrawalPauseRatio(
  { vault, chain, pinned }: FoundVault,
  { deps, signal }: EndpointContext,
): Promise<{ value: number | null; from: number; to: number }> {
  const to = chain.blockTime
  const from = Math.min(to, Math.max(0, to - WINDOW, vault.state.deployedAt ?? 0))
  const changes = await ask(deps.clickhouse, pauses, pinned, signal)
  const value = pauseRatio(
    changes.map(({ at, paused }) => ({ at, paused: paused === 1 })),
    from,
    to,
  )
  return { value, from, to }
}
