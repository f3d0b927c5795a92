import type { CurvePoint, KaminoReserve } from './reserve.ts'
import type { KaminoConfig, KaminoVault } from './vault.ts'

/** Fractions ("Sf") have 60 fractional bits. Products and quotients of them are rounded down to one. */
const FRACTION_BITS = 60n
export const ONE = 1n << FRACTION_BITS
const MAX = (1n << 128n) - 1n
/** The program's reckoning: two slots a second, whatever the chain makes. */
export const SLOTS_PER_YEAR = 63_072_000n
const FULL_BPS = 10_000n
/** Of the fee for keeping a vault. @see kvault, consts.rs */
const SECONDS_PER_YEAR = 31_556_926n

const times = (a: bigint, b: bigint) => checked((a * b) >> FRACTION_BITS)
const ofBps = (bps: number | bigint) => (BigInt(bps) * ONE) / FULL_BPS
const sum = (...of: readonly bigint[]) => checked(of.reduce((total, each) => total + each, 0n))

/** The program stops where a fraction leaves its 128 bits. */
function checked(value: bigint): bigint {
  if (value < 0n || value > MAX) throw new RangeError('a fraction is negative or has more than 128 bits')
  return value
}

/** What part of what was supplied is borrowed. */
export function utilizationOf(reserve: KaminoReserve): bigint {
  const supplied = suppliedOf(reserve)
  return supplied === 0n ? 0n : (reserve.borrowedSf << FRACTION_BITS) / supplied
}

/** Asset base units that belong to who supplied them, as of the reserve's own slot. */
function suppliedOf(reserve: KaminoReserve): bigint {
  const { available, borrowedSf, protocolFeesSf, referrerFeesSf, pendingReferrerFeesSf } = reserve
  return sum(available << FRACTION_BITS, borrowedSf, -protocolFeesSf, -referrerFeesSf, -pendingReferrerFeesSf)
}

/**
 * What borrowers pay a year at a utilization, without the host's fixed part.
 * @throws RangeError where the curve is none: it has to grow, and reach 100 %
 * @see klend, borrow_rate_curve.rs
 */
export function borrowRate(curve: readonly CurvePoint[], utilization: bigint): bigint {
  const at = utilization > ONE ? ONE : utilization
  // A point is met where the utilization rounds to it.
  const bps = Number((at * FULL_BPS + ONE / 2n) >> FRACTION_BITS)
  const i = curve.findIndex((point, i) => {
    const next = curve[i + 1]
    return next && bps >= point.utilizationBps && bps <= next.utilizationBps
  })
  const [from, to] = [curve[i], curve[i + 1]]
  if (!from || !to) throw new RangeError('the curve of the rates does not reach the utilization')
  if (bps === from.utilizationBps) return ofBps(from.rateBps)
  if (bps === to.utilizationBps) return ofBps(to.rateBps)
  const rise = to.rateBps - from.rateBps
  if (rise < 0) throw new RangeError('the curve of the rates falls')
  const beyond = at - ofBps(from.utilizationBps)
  return (beyond * BigInt(rise)) / BigInt(to.utilizationBps - from.utilizationBps) + ofBps(from.rateBps)
}

/**
 * What 1 grows to in so many slots at a yearly rate: three terms of the binomial series, exact up to four slots.
 * @see klend, reserve.rs, approximate_compounded_interest
 */
export function compounded(rate: bigint, slots: bigint): bigint {
  const base = rate / SLOTS_PER_YEAR
  if (slots <= 4n) {
    const grown = ONE + base
    // As the program multiplies: the fourth power is the square of the square.
    const squared = times(grown, grown)
    const powers = [ONE, grown, squared, times(squared, grown), times(squared, squared)]
    return powers[Number(slots)] ?? ONE
  }
  const square = times(base, base)
  const cube = times(square, base)
  const second = (square * slots * (slots - 1n)) / 2n
  const third = (cube * slots * (slots - 1n) * (slots - 2n)) / 6n
  return sum(ONE, base * slots, second, third)
}

/**
 * Asset base units that belong to who supplied them, with the interest that has come since the reserve was last brought up to date.
 * The referrers' part is taken from the protocol's, so that it does not matter here.
 * @param slot no interest is reckoned back before the reserve's own slot
 * @see klend, reserve.rs, compound_interest
 */
export function suppliedAt(reserve: KaminoReserve, slot: bigint): bigint {
  const slots = slot - reserve.slot
  if (slots <= 0n) return suppliedOf(reserve)
  const { borrowedSf, hostFixedRateBps, takeRatePct } = reserve
  const fixed = ofBps(hostFixedRateBps)
  const rate = borrowRate(reserve.curve, utilizationOf(reserve)) + fixed
  const debt = times(borrowedSf, compounded(rate, slots))
  const hostFee = times(borrowedSf, compounded(fixed, slots)) - borrowedSf
  const interest = checked(debt - borrowedSf - hostFee)
  const protocolFee = times(interest, ofBps(takeRatePct * 100))
  return sum(suppliedOf(reserve), debt - borrowedSf, -hostFee, -protocolFee)
}

/** Per year, without compounding, what suppliers earn. */
export function supplyRate(reserve: KaminoReserve): bigint {
  const utilization = utilizationOf(reserve)
  const kept = ofBps(FULL_BPS - BigInt(reserve.takeRatePct) * 100n)
  return times(times(utilization, borrowRate(reserve.curve, utilization)), kept)
}

/** Asset base units, with 60 fractional bits, that so many cTokens of a reserve pay; a reserve without any pays one for one. */
export function liquidityOf(ctokens: bigint, reserve: KaminoReserve, slot: bigint): bigint {
  const supplied = suppliedAt(reserve, slot)
  if (supplied === 0n || reserve.ctokenSupply === 0n) return ctokens << FRACTION_BITS
  return (ctokens * supplied) / reserve.ctokenSupply
}

/**
 * What belongs to the holders of a vault's shares, asset base units with 60 fractional bits.
 * @param reserves those of the vault's allocations, by address
 * @throws RangeError where one of them is missing, or of another asset: a part of a sum is no sum
 */
export function vaultAssets(
  vault: Pick<KaminoVault, 'available' | 'allocations' | 'pendingFeesSf' | 'tokenMint'>,
  reserves: ReadonlyMap<string, KaminoReserve>,
  slot: bigint,
): bigint {
  const invested = vault.allocations.map(({ reserve: address, ctokens }) => {
    const reserve = reserves.get(address)
    if (!reserve) throw new RangeError(`the reserve ${address} of the vault is none`)
    if (reserve.tokenMint !== vault.tokenMint)
      throw new RangeError(`the reserve ${address} of the vault is of another asset, ${reserve.tokenMint}`)
    return liquidityOf(ctokens, reserve, slot)
  })
  return sum(vault.available << FRACTION_BITS, ...invested, -vault.pendingFeesSf)
}

/** A vault as whatever is done with it finds it: rewards are handed out and fees charged before. */
export interface KaminoBooks {
  /** What belongs to the holders, asset base units with 60 fractional bits. */
  assetsSf: bigint
  /** Asset base units that lie in no reserve. */
  available: bigint
  sharesIssued: bigint
}

/**
 * @param time unix seconds
 * @throws RangeError as `vaultAssets` does
 * @see kvault, vault_operations.rs, refresh_rewards and charge_fees
 */
export function booksAt(
  vault: KaminoVault,
  reserves: ReadonlyMap<string, KaminoReserve>,
  slot: bigint,
  time: bigint,
): KaminoBooks {
  const available = vault.available + rewardsAt(vault, time)
  const assetsSf = vaultAssets({ ...vault, available }, reserves, slot)
  const { performanceBps, managementBps, chargedAt, assetsSf: before } = vault.fees
  const { sharesIssued } = vault
  if (chargedAt === 0n) return { assetsSf, available, sharesIssued }
  const seconds = time > chargedAt ? time - chargedAt : 0n
  const kept = times(before, (ofBps(managementBps) * seconds) / SECONDS_PER_YEAR)
  const earned = assetsSf > before ? assetsSf - before : 0n
  const fees = kept + times(ofBps(performanceBps), earned)
  return { assetsSf: assetsSf > fees ? assetsSf - fees : 0n, available, sharesIssued }
}

function rewardsAt({ rewards: { perSecond, left, issuedAt } }: KaminoVault, time: bigint): bigint {
  if (issuedAt === 0n || time <= issuedAt) return 0n
  const due = perSecond * (time - issuedAt)
  return due < left ? due : left
}

/** Asset base units that shares are worth, before what is kept of a withdrawal; 0 where no share is issued. */
export function worthOf({ assetsSf, sharesIssued }: KaminoBooks, shares: bigint): bigint {
  return sharesIssued === 0n ? 0n : (assetsSf * shares) / sharesIssued >> FRACTION_BITS
}

/** The fewest shares that are worth so many assets; undefined where none would be. */
export function sharesWorth({ assetsSf, sharesIssued }: KaminoBooks, assets: bigint): bigint | undefined {
  if (assetsSf === 0n || sharesIssued === 0n) return undefined
  return ((assets << FRACTION_BITS) * sharesIssued + assetsSf - 1n) / assetsSf
}

/** What is kept of a withdrawal: the higher one of what the vault and the program say, in each of its two parts. */
export function penaltyOf(vault: KaminoConfig, all: KaminoConfig, assets: bigint): bigint {
  const bps = greater(vault.penaltyBps, all.penaltyBps)
  return greater(greater(vault.penalty, all.penalty), (assets * bps + FULL_BPS - 1n) / FULL_BPS)
}

/** The least of which so much is left when the penalty is kept; undefined where none is. */
export function beforePenalty(vault: KaminoConfig, all: KaminoConfig, assets: bigint): bigint | undefined {
  const bps = greater(vault.penaltyBps, all.penaltyBps)
  if (bps >= FULL_BPS) return undefined
  const byPart = (assets * FULL_BPS + (FULL_BPS - bps) - 1n) / (FULL_BPS - bps)
  return greater(byPart, assets + greater(vault.penalty, all.penalty))
}

const greater = (a: bigint, b: bigint) => (a > b ? a : b)
