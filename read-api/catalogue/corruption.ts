import { HOUR } from '../../db/units.ts'
import type { Standing, VaultState } from './vault-state.ts'

/**
 * A state older than this, reckoned from the time of the chain, is not the present one: samples of listed vaults come
 * hourly, those of others in turns, a week at most between two where nobody holds anything.
 */
export const staleAfter = (standing: Standing) => (standing === 'listed' ? 48 : 9 * 24) * HOUR
/** A share does not become worth ten times as much, or a tenth, within seven days. */
export const IMPOSSIBLE_RATIO = 10
/** Base units of an asset that are more than what rounding leaves behind. */
const MATTERS = 10_000n

/** Base units that no token has. */
const TOO_LARGE = 2n ** 192n

/** Why the figures of a vault cannot be believed; the first that applies, in this order. */
export type Corruption =
  | 'unsampled'
  | 'unanswered'
  | 'beyond'
  | 'hollow'
  | 'ownerless'
  | 'stale'
  | 'jump'
  | 'unbacked'
  | 'unledgered'

export const CORRUPTIONS: Record<Corruption, string> = {
  unsampled: 'The state of this vault has not been read yet.',
  unanswered: 'The vault does not answer totalAssets() or convertToAssets().',
  beyond: 'The vault tells of more assets or shares than any token has.',
  hollow: 'Shares exist, but no assets behind them.',
  ownerless: 'Assets exist, but no shares that they belong to.',
  stale:
    'The state of this vault has not been read for more than 48 hours, or nine days where the registry does not list it.',
  jump: 'The share price moved more than tenfold within seven days.',
  unbacked: 'The vault says that it has more than is seen behind it.',
  unledgered: 'The balances that follow from its events do not add up to its total supply.',
}

/**
 * What makes a vault corrupted, as of a moment of its chain (`now`, unix seconds), from projections alone:
 * unsampled: no state was ever read; unanswered: the last sample lacks total assets or share price; beyond: there are
 * 2^192 assets or shares, whose logs are not believed; hollow: it has shares and no assets, or shares worth nothing;
 * ownerless: it has assets and next to no shares; stale: the last sample is older than 48 hours, or nine days where the vault is not listed; jump: in the seven days up
 * to the last sample the highest share price was more than ten times the lowest.
 */
export function corruptionOf(
  { sample, range }: Pick<VaultState, 'sample' | 'range'>,
  now: number,
  standing: Standing,
): Corruption | undefined {
  if (!sample) return 'unsampled'
  const { totalAssets, totalSupply = 0n } = sample
  const { sharePrice = sample.sharePriceRaw } = sample
  if (totalAssets === undefined || sharePrice === undefined) return 'unanswered'
  if (totalAssets >= TOO_LARGE || totalSupply >= TOO_LARGE) return 'beyond'
  if (totalSupply > 0n && (totalAssets === 0n || sharePrice === 0)) return 'hollow'
  if (sample.sharePrice === undefined && totalAssets >= MATTERS) return 'ownerless'
  if (now - sample.at > staleAfter(standing)) return 'stale'
  if (range && range.high > range.low * IMPOSSIBLE_RATIO) return 'jump'
  return undefined
}

/** By how much the word of a found vault may go beyond what is seen, in percent: markets owe interest that is not reckoned yet. */
const LEEWAY = 5n

/**
 * What makes a found vault corrupted besides: unbacked: it claims more than what it holds, has in vaults that somebody
 * vouches for and has lent in known markets; unledgered: its shares do not add up.
 */
export function claimCorruptionOf({
  claimed = 0n,
  backing,
  isLedgerWhole,
}: {
  claimed: bigint | undefined
  backing: bigint
  isLedgerWhole: boolean
}): Corruption | undefined {
  if (claimed * 100n > backing * (100n + LEEWAY)) return 'unbacked'
  return isLedgerWhole ? undefined : 'unledgered'
}
