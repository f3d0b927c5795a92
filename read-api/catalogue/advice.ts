import { WEEK } from '../../db/units.ts'
import type { ApyInterval } from '../vaults/history-queries.ts'
import type { Vault } from './vault.ts'

/** USD. Less than this is nobody's proof that a vault works. */
export const LEAST_ADVISED_USD = 1_000
/** A vault younger than this has shown nothing yet, seconds. */
const LEAST_AGE = WEEK
/** What a share price alone may yield a year; more is an accident or a trick. Rewards explain themselves. */
export const MOST_UNEXPLAINED_APY = 1

/**
 * Whether a deposit may be advised, whoever vouches for the vault: it takes deposits, its TVL is known and reaches
 * the floor, it is a week old, and its APY is known and explained. `now`: the time of its chain, unix seconds.
 */
export function isAdvisable(vault: Vault, interval: ApyInterval, now: number): boolean {
  const { state, tvlUsd, apy, isPaused, capacity } = vault
  const base = apy[interval]
  return (
    (state.sample?.totalSupply ?? 0n) > 0n &&
    !isPaused &&
    capacity.remainingCapacity !== '0' &&
    tvlUsd !== undefined &&
    tvlUsd >= LEAST_ADVISED_USD &&
    now - (state.deployedAt ?? state.seenAt) >= LEAST_AGE &&
    base !== undefined &&
    base <= MOST_UNEXPLAINED_APY
  )
}
