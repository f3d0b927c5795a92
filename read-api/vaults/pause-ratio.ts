import { isBackfilling } from '../../db/events/watched-sources.ts'
import { groupBy } from '../../db/group-by.ts'
import { YEAR } from '../../db/units.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { firstStored, pauses } from '../catalogue/settings-queries.ts'
import type { Vault } from '../catalogue/vault.ts'
import { inBatches } from '../catalogue/vault-batches.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'

/** Two years. */
const WINDOW = 2 * YEAR

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

export interface PauseRatio {
  value: number | null
  /** Unix seconds. */
  from: number
  to: number
}

/**
 * Of the last two years up to the moment of the chain, or of a vault's life where that is shorter; null also where the
 * chain's history was not stored from then on, or is being fetched for what was added later. By `chain:address`.
 */
export async function withdrawalPauseRatios(
  vaults: readonly Vault[],
  context: EndpointContext,
): Promise<Map<string, PauseRatio>> {
  const { deps, signal } = context
  const batches = await Promise.all(
    inBatches(vaults, context).map(async ({ vaults: asked, chain, pinned }) => {
      const changes = groupBy(await ask(deps.clickhouse, pauses, pinned, signal), ({ vault }) => vault)
      const to = chain.blockTime
      const since = changes.size === 0 ? 0 : await completeSince(pinned.chain, context)
      return asked.map(({ state }): [string, PauseRatio] => {
        const from = Math.min(to, Math.max(0, to - WINDOW, state.deployedAt ?? 0))
        const ratio = pauseRatio(
          (changes.get(state.address) ?? []).map(({ at, paused }) => ({ at, paused: paused === 1 })),
          from,
          to,
        )
        return [keyOf(state.chainId, state.address), { value: from < since ? null : ratio, from, to }]
      })
    }),
  )
  return new Map(batches.flat())
}

/** Unix seconds from which on everything of a chain is stored. */
async function completeSince(
  chain: number,
  { deps, signal }: Pick<EndpointContext, 'deps' | 'signal'>,
): Promise<number> {
  const [[first], isPartial] = await Promise.all([
    ask(deps.clickhouse, firstStored, { chain }, signal),
    isBackfilling(deps.pool, chain),
  ])
  return isPartial || !first ? Number.POSITIVE_INFINITY : first.at
}
