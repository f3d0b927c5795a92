import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import type { Key } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'
import { FARMS_PROGRAM } from './vault.ts'

/**
 * What a wallet has staked in a farm. `…Scaled`: parts of what the farm has, times 10^18; a part is a token base unit as long as the farm's authority
 * took nothing out of it.
 */
export interface FarmStake {
  farm: Key
  owner: Key
  activeScaled: bigint
  /** Paid in, and not counted by the farm yet. */
  pendingDepositScaled: bigint
  /** Unstaked, and not taken out yet. */
  pendingWithdrawalScaled: bigint
}

/** What all stakes of a farm are parts of. */
export interface FarmTotals {
  mint: Key
  /** Token base units that active stakes are worth together, and the sum of their parts. */
  activeAmount: bigint
  activeScaled: bigint
  /** The same of all that waits to count, or to be taken out. */
  pendingAmount: bigint
  pendingScaled: bigint
}

/** sha256 of "account:UserState", its first eight bytes. @see anchor-lang, discriminator */
const DISCRIMINATOR = '48b155f94ca7ba7e'
/** @see npm @kamino-finance/farms-sdk 4.0.1, accounts/userState: places of fields */
export const STAKE_AT = {
  farm: 16,
  owner: 48,
  active: 408,
  pendingDeposit: 424,
  pendingWithdrawal: 448,
  delegatee: 480,
} as const
/** Bytes of such an account. */
export const FARM_STAKE_SIZE = 920
/** sha256 of "account:FarmState", its first eight bytes. */
const FARM_DISCRIMINATOR = 'c666d84a3f42a3be'
const FARM_SIZE = 8_336
/** @see npm @kamino-finance/farms-sdk 4.0.1, accounts/farmState: places of fields */
const FARM_AT = { mint: 72, active: 7_248, activeParts: 7_408, pendingParts: 7_424, pending: 7_440 } as const
const SCALE = 10n ** 18n

/** Where a farm keeps what a wallet staked of its own. */
export const farmStakeOf = (farm: Key, wallet: Key): Key =>
  findProgramAddress([Buffer.from('user'), bytesOf(farm), bytesOf(wallet)], FARMS_PROGRAM)

/** The token account in which lies what was staked in a farm. */
export const farmVaultOf = (farm: Key, mint: Key): Key =>
  findProgramAddress([Buffer.from('fvault'), bytesOf(farm), bytesOf(mint)], FARMS_PROGRAM)

/** Undefined where `owner` is not the program, or `account` is not where the farm keeps what the wallet in it staked. */
export function decodeFarmStake(account: Key, owner: Key, data: Uint8Array): FarmStake | undefined {
  if (owner !== FARMS_PROGRAM || data.length !== FARM_STAKE_SIZE) return undefined
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (bytes.toString('hex', 0, 8) !== DISCRIMINATOR) return undefined
  const key = (at: number) => new ByteReader(bytes.subarray(at)).key()
  const u128 = (at: number) => new ByteReader(bytes.subarray(at)).u128()
  const [farm, wallet] = [key(STAKE_AT.farm), key(STAKE_AT.owner)]
  // It stays where it was opened when it is given to another owner.
  if (farmStakeOf(farm, key(STAKE_AT.delegatee)) !== account) return undefined
  return {
    farm,
    owner: wallet,
    activeScaled: u128(STAKE_AT.active),
    pendingDepositScaled: u128(STAKE_AT.pendingDeposit),
    pendingWithdrawalScaled: u128(STAKE_AT.pendingWithdrawal),
  }
}

/** Undefined where it is no farm. */
export function decodeFarmTotals(owner: Key, data: Uint8Array): FarmTotals | undefined {
  if (owner !== FARMS_PROGRAM || data.length !== FARM_SIZE) return undefined
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (bytes.toString('hex', 0, 8) !== FARM_DISCRIMINATOR) return undefined
  const read = (at: number) => new ByteReader(bytes.subarray(at))
  return {
    mint: read(FARM_AT.mint).key(),
    activeAmount: read(FARM_AT.active).u64(),
    activeScaled: read(FARM_AT.activeParts).u128(),
    pendingAmount: read(FARM_AT.pending).u64(),
    pendingScaled: read(FARM_AT.pendingParts).u128(),
  }
}

/** Token base units that parts of a farm are worth, rounded down. Of what nobody has a part yet, a part is a unit. */
const worth = (parts: bigint, amount: bigint, all: bigint) =>
  all === 0n ? parts / SCALE : (parts * amount) / all

/** What a wallet has in a farm, token base units, each rounded down: what counts, what is to count, and what was unstaked and not taken out. */
export function stakedIn(
  stake: FarmStake,
  { activeAmount, activeScaled, pendingAmount, pendingScaled }: FarmTotals,
): { active: bigint; waiting: bigint; unstaked: bigint } {
  return {
    active: worth(stake.activeScaled, activeAmount, activeScaled),
    waiting: worth(stake.pendingDepositScaled, pendingAmount, pendingScaled),
    unstaked: worth(stake.pendingWithdrawalScaled, pendingAmount, pendingScaled),
  }
}

/** All of that. */
export function wholeStake(stake: FarmStake, farm: FarmTotals): bigint {
  const { active, waiting, unstaked } = stakedIn(stake, farm)
  return active + waiting + unstaked
}

/**
 * Parts that have to be unstaked for so many token base units, rounded up.
 * @throws RangeError where the farm has nothing left
 */
export function partsFor(amount: bigint, { activeAmount, activeScaled }: FarmTotals): bigint {
  if (activeAmount === 0n) throw new RangeError('nothing is left in the farm')
  return (amount * activeScaled + activeAmount - 1n) / activeAmount
}
