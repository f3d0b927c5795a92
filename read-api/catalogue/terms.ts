import type { FeesFact, FlagFact } from '../../db/registry/kinds.ts'

/** setting → value as vault_setting holds it. */
export type Settings = Readonly<Record<string, string | null>>

const NO_CAP = 2n ** 256n - 1n

const FEES = {
  performanceFee: 'fee:performance',
  managementFee: 'fee:management',
  withdrawalFee: 'fee:withdrawal',
  depositFee: 'fee:deposit',
} as const

/** Fees as fractions: what the vault's own events say, and curated facts where they say nothing. */
export function feesOf(settings: Settings | undefined, curated: FeesFact | undefined): FeesFact | undefined {
  const fees: FeesFact = { ...curated }
  for (const [fee, setting] of Object.entries(FEES) as [keyof typeof FEES, string][]) {
    const wad = settings?.[setting]
    // Changed to an unknown value: what was curated before may be wrong now.
    if (wad === null) delete fees[fee]
    else if (wad !== undefined) fees[fee] = Number(wad) / 1e18
  }
  return Object.keys(fees).length > 0 ? fees : undefined
}

/** Deposit cap of the whole vault and what is left below it, asset base units. Empty where there is none or it is not known. */
export function capacityOf(
  settings: Settings | undefined,
  totalAssets: bigint | undefined,
): { maxCapacity?: string; remainingCapacity?: string } {
  const cap = settings?.['cap:deposit']
  if (cap === undefined || cap === null || BigInt(cap) >= NO_CAP) return {}
  if (totalAssets === undefined) return { maxCapacity: cap }
  const left = BigInt(cap) - totalAssets
  return { maxCapacity: cap, remainingCapacity: String(left > 0n ? left : 0n) }
}

/** The flags in force at `now`. */
export function activeFlags(flags: readonly FlagFact[] | undefined, now: number): FlagFact[] {
  return (flags ?? []).filter(
    ({ startDate, endDate }) => (startDate ?? 0) <= now && (endDate === undefined || now < endDate),
  )
}

/** The stretch of time around `now` in which none of these moments passes: [from, until). */
export function stretchAround(moments: readonly number[], now: number): { from: number; until: number } {
  let from = Number.NEGATIVE_INFINITY
  let until = Number.POSITIVE_INFINITY
  for (const moment of moments) {
    if (moment <= now) from = Math.max(from, moment)
    else until = Math.min(until, moment)
  }
  return { from, until }
}
