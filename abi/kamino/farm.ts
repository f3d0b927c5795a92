import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import type { Key } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'
import { FARMS_PROGRAM } from './vault.ts'

/** What a wallet has staked in a farm. `…Scaled`: token base units times 10^18. */
export interface FarmStake {
  farm: Key
  owner: Key
  activeScaled: bigint
  /** Paid in, and not counted by the farm yet. */
  pendingDepositScaled: bigint
  /** Unstaked, and not taken out yet. */
  pendingWithdrawalScaled: bigint
}

/** sha256 of "account:UserState", its first eight bytes. @see anchor-lang, discriminator */
const DISCRIMINATOR = '48b155f94ca7ba7e'
/** @see npm @kamino-finance/farms-sdk 4.0.1, accounts/userState: places of fields */
const AT = { farm: 16, owner: 48, active: 408, pendingDeposit: 424, pendingWithdrawal: 448 } as const
/** Bytes of such an account. */
export const FARM_STAKE_SIZE = 920
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
  const u128 = (at: number) => bytes.readBigUInt64LE(at) + (bytes.readBigUInt64LE(at + 8) << 64n)
  const [farm, wallet] = [key(AT.farm), key(AT.owner)]
  if (farmStakeOf(farm, wallet) !== account) return undefined
  return {
    farm,
    owner: wallet,
    activeScaled: u128(AT.active),
    pendingDepositScaled: u128(AT.pendingDeposit),
    pendingWithdrawalScaled: u128(AT.pendingWithdrawal),
  }
}

/** Token base units that the wallet has in the farm, rounded down. */
export const stakedIn = ({ activeScaled, pendingDepositScaled, pendingWithdrawalScaled }: FarmStake): bigint =>
  (activeScaled + pendingDepositScaled + pendingWithdrawalScaled) / SCALE
