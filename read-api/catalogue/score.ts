import type { FlagFact } from '../../db/registry/kinds.ts'

/**
 * The reputation score of a vault, 0 to 100.
 *
 *   score = (protocol + vault + holders + asset) × (1 − penalty)
 *
 *   part      points  what is scaled                                                     floor   ceiling
 *   protocol  40      TVL of all vaults of the protocol over time, USD·seconds           1e6     1e15
 *   vault     20      TVL of the vault over time, USD·seconds                            1e5     1e15
 *   holders   15      accounts that hold shares                                          1       10,000
 *   asset     25      USD of this asset in all vaults of the chain, now                  1e5     1e10
 *
 * Each part is points × log(x / floor) / log(ceiling / floor), 0 at the floor and below, full at the ceiling and above.
 * TVL over time is the sum over consecutive samples of the smaller total assets of the two × the seconds between
 * them, valued at the price of the moment. A vault that holds shares of another of its protocol (network) adds nothing
 * to that sum, nor does a corrupted one. What is summed over several vaults (protocol, asset, network) is rounded to
 * tenths of a point, so that a vault's score does not change with every block of another's.
 *
 * penalty: of every flag in force, critical 0.5, warning 0.2, info 0.05, that nobody vouches for a vault among them; a flag with a resolution is shown with 0; a
 * corrupted vault 1. The strongest counts in full, the others are added to it, 1 at most.
 * networkScore is the network's TVL over time on the protocol's scale, 0 to 10. It is diagnostic: no part of the score.
 */
export const PARTS = {
  protocol: { points: 40, floor: 1e6, ceiling: 1e15 },
  vault: { points: 20, floor: 1e5, ceiling: 1e15 },
  holders: { points: 15, floor: 1, ceiling: 1e4 },
  asset: { points: 25, floor: 1e5, ceiling: 1e10 },
  network: { points: 10, floor: 1e6, ceiling: 1e15 },
} as const

export const PENALTIES = { critical: 0.5, warning: 0.2, info: 0.05 } as const

/** Stands as long as nobody lists a vault that was found by its shape. */
export const UNVOUCHED: FlagFact = {
  content:
    'Nobody vouches for this vault: it was found by its shape, and what is said of it is its own word.',
  severity: 'warning',
}

export interface Score {
  vaultScore: number
  vaultTvlScore: number
  protocolTvlScore: number
  holderScore: number
  networkScore: number
  assetScore: number
  totalScorePenalty: number
  penaltyComponents: PenaltyComponent[]
}

export type PenaltyComponent =
  | {
      type: 'flag'
      value: number
      content: string
      severity: FlagFact['severity']
      endDate: number
      resolution?: string
    }
  | { type: 'corrupted'; value: number }

/** Points of what is shared by several vaults, rounded to tenths by sharedPoints. */
export interface SharedPoints {
  protocol: number
  asset: number
  network: number
}

export interface ScoreInputs {
  usdSeconds: number
  holders: number
  shared: SharedPoints
  /** Those in force. */
  flags: readonly FlagFact[]
  isCorrupted: boolean
}

/** Points of one part: logarithmic between floor and ceiling, never outside 0..points. */
export function pointsOf(part: keyof typeof PARTS, value: number): number {
  const { points, floor, ceiling } = PARTS[part]
  if (!(value > floor)) return 0
  if (value >= ceiling) return points
  return (points * Math.log(value / floor)) / Math.log(ceiling / floor)
}

/** The same in tenths of a point. */
export function sharedPoints(part: keyof typeof PARTS, value: number): number {
  return Math.round(pointsOf(part, value) * 10) / 10
}

export function scoreOf({ usdSeconds, holders, shared, flags, isCorrupted }: ScoreInputs): Score {
  const penaltyComponents: PenaltyComponent[] = flags.map(flag => ({
    type: 'flag',
    value: flag.resolution === undefined ? PENALTIES[flag.severity] : 0,
    ...wireFlag(flag),
  }))
  if (isCorrupted) penaltyComponents.push({ type: 'corrupted', value: 1 })
  penaltyComponents.sort((a, b) => b.value - a.value)
  const totalScorePenalty = rounded(
    Math.min(
      1,
      penaltyComponents.reduce((sum, { value }) => sum + value, 0),
    ),
  )
  const vaultTvlScore = rounded(pointsOf('vault', usdSeconds))
  const holderScore = rounded(pointsOf('holders', holders))
  const sum = shared.protocol + vaultTvlScore + holderScore + shared.asset
  return {
    vaultScore: rounded(sum * (1 - totalScorePenalty)),
    vaultTvlScore,
    protocolTvlScore: shared.protocol,
    holderScore,
    networkScore: shared.network,
    assetScore: shared.asset,
    totalScorePenalty,
    penaltyComponents,
  }
}

/** The end of the year 9999: when a flag ends that stands until it is taken off. The wire wants an end of each. */
export const NO_END = 253_402_300_799

/** A flag as the wire has it. */
export function wireFlag({ content, severity, endDate = NO_END, resolution }: FlagFact) {
  return {
    content,
    severity,
    endDate,
    ...(resolution === undefined ? {} : { resolution }),
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
