import type { Shown } from '../catalogue/catalogue.ts'
import { compileFilter } from '../catalogue/filter.ts'
import { sortBy, sortOrder, vaultFilter } from '../catalogue/filter-schema.ts'
import { byIdentity, compareFigures } from '../catalogue/orders.ts'
import type { Vault } from '../catalogue/vault.ts'
import { number } from '../http/parameters.ts'
import { z } from '../http/zod.ts'
import { apyInterval } from '../vaults/history.ts'
import type { ApyInterval } from '../vaults/history-queries.ts'

const sortKeys = [
  'balanceUsd',
  'tvl',
  'apy1Day',
  'apy7Day',
  'apy30Day',
  'apy1day',
  'apy7day',
  'apy30day',
] as const

const INTERVAL_OF = { apy1day: '1day', apy7day: '7day', apy30day: '30day' } as const

export const minUsdAssetValueThreshold = number({ min: 0 })
  .optional()
  .openapi({ default: 0, description: 'USD. Above 0, what has no known value does not pass.' })

/** What a list of positions can be narrowed by and sorted by. */
export const positionsQuery = z.object({
  ...vaultFilter,
  minUsdAssetValueThreshold,
  apyInterval,
  sortBy: sortBy(sortKeys),
  sortOrder,
})

/** The figures of a position that it is judged by: of now, or of a moment. */
export interface PositionFigures {
  vault: Vault
  tvlUsd: number | undefined
  valueUsd: number | undefined
  apys: Readonly<Record<ApyInterval, number | undefined>>
}

/** Those that pass the query, in its order; of unknown figure come last either way. */
export function selectPositions<T extends PositionFigures>(
  positions: readonly T[],
  query: z.output<typeof positionsQuery>,
  shownVaults: Shown,
) {
  const filter = compileFilter(query, shownVaults)
  const threshold = query.minUsdAssetValueThreshold ?? 0
  const shown = positions.filter(
    ({ vault, tvlUsd, valueUsd, apys }) =>
      filter.matches(vault, { tvlUsd, apy: apys[query.apyInterval] }) && reaches(valueUsd, threshold),
  )
  const sortKey = (query.sortBy ?? 'tvl').replace('Day', 'day') as
    | keyof typeof INTERVAL_OF
    | 'tvl'
    | 'balanceUsd'
  const figure = ({ tvlUsd, valueUsd, apys }: PositionFigures) =>
    sortKey === 'tvl' ? tvlUsd : sortKey === 'balanceUsd' ? valueUsd : apys[INTERVAL_OF[sortKey]]
  shown.sort((a, b) => compareFigures(figure(a), figure(b), query.sortOrder) || byIdentity(a.vault, b.vault))
  return { shown, errors: filter.errors, isLeftOut: filter.isLeftOut }
}

/** Whether a USD value passes a threshold: what is not known passes only where there is none. */
export function reaches(valueUsd: number | undefined, threshold: number): boolean {
  return threshold <= 0 || (valueUsd !== undefined && valueUsd >= threshold)
}
