import { isSynchronous } from '../../db/protocols.ts'
import type { FeesFact, FlagFact, TransactionalFact } from '../../db/registry/kinds.ts'
import type { Settings, Standing, VaultState } from './vault-state.ts'

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

/** No token has so many units: what vaults without a limit answer is this or more. */
const UNLIMITED = 2n ** 128n - 1n

export interface Capacity {
  maxCapacity?: string
  remainingCapacity?: string
}

/**
 * What a vault takes at most and what of it is left, asset base units; empty where there is no limit or none is known.
 * The limit is the deposit cap that its own events tell, else what it holds with what it still takes (maxDeposit, in
 * which MetaMorpho counts the caps of its supply queue less what lies in those markets), else the sum of its markets'
 * caps. A maxDeposit of zero counts only where a cap or a pause explains it: vaults whose deposits are requested first,
 * or that do not say, answer zero too.
 */
export function capacityOf(
  settings: Settings | undefined,
  sample: { totalAssets: bigint | undefined; maxDeposit: bigint | undefined } | undefined,
): Capacity {
  const cap = limit(settings?.['cap:deposit'])
  const marketCaps = limit(settings?.['cap:markets'])
  const { totalAssets, maxDeposit } = sample ?? {}
  const isPaused = settings?.['paused'] === '1'
  const explained = cap !== undefined || marketCaps !== undefined || isPaused
  const room = maxDeposit !== undefined && (maxDeposit > 0n || explained) ? maxDeposit : undefined
  if (room !== undefined && room >= UNLIMITED && cap === undefined) return {}

  const most =
    cap ??
    (room !== undefined && totalAssets !== undefined && !(room === 0n && isPaused)
      ? totalAssets + room
      : marketCaps)
  const below = most !== undefined && totalAssets !== undefined ? atLeastZero(most - totalAssets) : undefined
  const left = room === undefined ? below : below === undefined || room < below ? room : below
  return {
    ...(most === undefined ? {} : { maxCapacity: String(most) }),
    ...(left === undefined ? {} : { remainingCapacity: String(left) }),
  }
}

function limit(value: string | null | undefined): bigint | undefined {
  if (value === undefined || value === null) return undefined
  const cap = BigInt(value)
  return cap >= UNLIMITED ? undefined : cap
}

const atLeastZero = (value: bigint) => (value > 0n ? value : 0n)

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

/**
 * What a curated fact says of a vault's transactions, else what follows from the factory that made it, else what its own
 * contract says where somebody vouches for it: ERC-4626 deposits and redeems in one transaction, ERC-7540 and cooldowns do not.
 */
export function transactionsOf(
  { protocol, async }: Pick<VaultState, 'protocol' | 'async'>,
  standing: Standing,
  curated: TransactionalFact | undefined,
): TransactionalFact | undefined {
  if (curated) return curated
  if (isSynchronous(protocol)) return stepsOf({ deposits: false, redemptions: false })
  return protocol === 'erc-4626' && async && standing !== 'found' ? stepsOf(async) : undefined
}

const stepsOf = ({ deposits, redemptions }: NonNullable<VaultState['async']>): TransactionalFact => ({
  depositStepsType: deposits ? 'complex' : 'instant',
  redeemStepsType: redemptions ? 'complex' : 'instant',
  rewardsSupported: false,
})
