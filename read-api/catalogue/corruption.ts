import type { VaultState } from './vault.ts'

/** A state older than this, reckoned from the time of the chain, is not the present one: samples come hourly. */
export const STALE_AFTER = 48 * 3600
/** A share does not become worth ten times as much, or a tenth, within seven days. */
export const IMPOSSIBLE_RATIO = 10

/** Why the figures of a vault cannot be believed; the first that applies, in this order. */
export type Corruption = 'unsampled' | 'unanswered' | 'hollow' | 'stale' | 'jump'

export const CORRUPTIONS: Record<Corruption, string> = {
  unsampled: 'The state of this vault has not been read yet.',
  unanswered: 'The vault does not answer totalAssets() or convertToAssets().',
  hollow: 'Shares exist, but no assets behind them.',
  stale: 'The state of this vault could not be read for more than 48 hours.',
  jump: 'The share price moved more than tenfold within seven days.',
}

/**
 * What makes a vault corrupted, as of a moment of its chain (`now`, unix seconds), from projections alone:
 * unsampled: no state was ever read; unanswered: the last sample lacks total assets or share price; hollow: it has
 * shares and no assets, or shares worth nothing; stale: the last sample is older than 48 hours; jump: in the seven
 * days up to the last sample the highest share price was more than ten times the lowest.
 */
export function corruptionOf(
  { sample, range }: Pick<VaultState, 'sample' | 'range'>,
  now: number,
): Corruption | undefined {
  if (!sample) return 'unsampled'
  if (sample.totalAssets === undefined || sample.sharePrice === undefined) return 'unanswered'
  if ((sample.totalSupply ?? 0n) > 0n && (sample.totalAssets === 0n || sample.sharePrice === 0))
    return 'hollow'
  if (now - sample.at > STALE_AFTER) return 'stale'
  if (range && range.high > range.low * IMPOSSIBLE_RATIO) return 'jump'
  return undefined
}
