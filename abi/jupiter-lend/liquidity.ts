import { bytesOf, findProgramAddress, keyFrom } from '../svm/addresses.ts'
import { discriminator } from '../svm/discriminator.ts'
import type { Key } from '../svm/programs.ts'

/**
 * Accounts of the liquidity layer and of the model of rewards, packed behind eight bytes that say what they are.
 * @see npm @jup-ag/lend, interface; Instadapp/fluid-solana-programs, token_reserve.rs, user_supply_position.rs, lendingRewardRateModel/state.rs
 */
export interface TokenReserve {
  mint: Key
  /** Token account of what nobody has borrowed. */
  vault: Key
  /** Hundredths of a percent a year, and of the interest. */
  borrowRate: bigint
  feeOnInterest: bigint
  /** Hundredths of a percent. */
  utilization: bigint
  updatedAt: bigint
  /** In 1e12. */
  supplyPrice: bigint
  supplyWithInterest: bigint
  supplyInterestFree: bigint
  borrowWithInterest: bigint
  borrowInterestFree: bigint
}

export interface SupplyPosition {
  withInterest: boolean
  /** To be multiplied by the supply price where it is with interest; so are the limits. */
  amount: bigint
  /** What has to stay, as of `updatedAt`; 0: nothing has to. */
  withdrawalLimit: bigint
  updatedAt: bigint
  /** How much less has to stay after `expandDuration` seconds, in hundredths of a percent of the amount. */
  expandPercent: bigint
  expandDuration: bigint
}

/** Rewards of one phase, and of the one that follows it. */
export interface RewardsModel {
  mint: Key
  /** Assets below which nothing is paid. */
  startTvl: bigint
  duration: bigint
  startTime: bigint
  yearlyReward: bigint
  nextDuration: bigint
  nextRewardAmount: bigint
}

const RESERVE = { tag: discriminator('account', 'TokenReserve'), length: 192 }
const POSITION = { tag: discriminator('account', 'UserSupplyPosition'), length: 124 }
const REWARDS = { tag: discriminator('account', 'LendingRewardsRateModel'), length: 89 }

/** Undefined where the bytes are of another kind. */
function bytesOfKind(data: Uint8Array, { tag, length }: { tag: string; length: number }): Buffer | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return bytes.length >= length && bytes.toString('hex', 0, 8) === tag ? bytes : undefined
}

export function decodeReserve(data: Uint8Array): TokenReserve | undefined {
  const bytes = bytesOfKind(data, RESERVE)
  if (!bytes) return undefined
  const u64 = (at: number) => bytes.readBigUInt64LE(at)
  const u16 = (at: number) => BigInt(bytes.readUInt16LE(at))
  return {
    mint: keyFrom(bytes.subarray(8, 40)),
    vault: keyFrom(bytes.subarray(40, 72)),
    borrowRate: u16(72),
    feeOnInterest: u16(74),
    utilization: u16(76),
    updatedAt: u64(78),
    supplyPrice: u64(86),
    supplyWithInterest: u64(104),
    supplyInterestFree: u64(112),
    borrowWithInterest: u64(120),
    borrowInterestFree: u64(128),
  }
}

export function decodeSupplyPosition(data: Uint8Array): SupplyPosition | undefined {
  const bytes = bytesOfKind(data, POSITION)
  if (!bytes) return undefined
  const u64 = (at: number) => bytes.readBigUInt64LE(at)
  return {
    withInterest: bytes[72] === 1,
    amount: u64(73),
    withdrawalLimit: u64(81) + (u64(89) << 64n),
    updatedAt: u64(97),
    expandPercent: BigInt(bytes.readUInt16LE(105)),
    expandDuration: u64(107),
  }
}

export function decodeRewardsModel(data: Uint8Array): RewardsModel | undefined {
  const bytes = bytesOfKind(data, REWARDS)
  if (!bytes) return undefined
  const u64 = (at: number) => bytes.readBigUInt64LE(at)
  return {
    mint: keyFrom(bytes.subarray(8, 40)),
    startTvl: u64(40),
    duration: u64(48),
    startTime: u64(56),
    yearlyReward: u64(64),
    nextDuration: u64(72),
    nextRewardAmount: u64(80),
  }
}

const derived = (program: Key, word: string, ...keys: readonly Key[]): Key =>
  findProgramAddress([Buffer.from(word), ...keys.map(bytesOf)], program)

export const reserveOf = (liquidity: Key, mint: Key): Key => derived(liquidity, 'reserve', mint)
export const rateModelOf = (liquidity: Key, mint: Key): Key => derived(liquidity, 'rate_model', mint)
export const liquidityAccountOf = (liquidity: Key): Key => derived(liquidity, 'liquidity')
export const supplyPositionOf = (liquidity: Key, mint: Key, lending: Key): Key =>
  derived(liquidity, 'user_supply_position', mint, lending)
export const claimAccountOf = (liquidity: Key, admin: Key, mint: Key): Key =>
  derived(liquidity, 'user_claim', admin, mint)
export const rewardsModelOf = (rewards: Key, mint: Key): Key =>
  derived(rewards, 'lending_rewards_rate_model', mint)
