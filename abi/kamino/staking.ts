import { associatedTokenAccount, bytesOf, findProgramAddress } from '../svm/addresses.ts'
import { type Instruction, reads, signs, signsAndWrites, writes } from '../svm/instruction.ts'
import { type Key, keyOf, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'
import { decodeFarmTotals, type FarmTotals, farmStakeOf, farmVaultOf } from './farm.ts'
import { FARMS_PROGRAM } from './vault.ts'

/** Where shares are staked. */
export interface KaminoFarm extends FarmTotals {
  farm: Key
  /** Of oracles; undefined where it asks none. */
  prices: Key | undefined
  /** Takes nothing any more. */
  isFrozen: boolean
  /** Only another than the owner may stake and unstake. */
  isDelegated: boolean
  /** Somebody may take out what others staked. */
  canBeTaken: boolean
  /** Seconds until a stake counts, and until what was unstaked can be taken out. */
  warmup: number
  cooldown: number
  /** Stakes cannot be taken out, or not without a loss, until a moment. */
  isLocked: boolean
  /** Token base units that it takes at most, all together; 0: any. */
  cap: bigint
}

/** @see npm @kamino-finance/farms-sdk 4.0.1, accounts/farmState: places of fields */
const AT = {
  tokenProgram: 112,
  vault: 7_256,
  authority: 7_288,
  frozen: 7_361,
  delegated: 7_362,
  withdrawAuthority: 7_368,
  warmup: 7_400,
  cooldown: 7_404,
  locking: 7_496,
  cap: 7_528,
  prices: 7_536,
} as const

/**
 * Undefined where `owner` is not the program, the bytes are no farm of a token of SPL Token, or where an account that the program
 * derives from the farm's address is another one.
 */
export function decodeFarm(farm: Key, owner: Key, data: Uint8Array): KaminoFarm | undefined {
  const totals = decodeFarmTotals(owner, data)
  if (!totals) return undefined
  const { mint } = totals
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  const key = (at: number) => new ByteReader(bytes.subarray(at)).key()
  const prices = key(AT.prices)
  if (key(AT.tokenProgram) !== TOKEN_PROGRAM) return undefined
  if (key(AT.vault) !== farmVaultOf(farm, mint) || key(AT.authority) !== farmAuthority(farm)) return undefined
  return {
    ...totals,
    farm,
    prices: prices === SYSTEM_PROGRAM ? undefined : prices,
    isFrozen: bytes.readUInt8(AT.frozen) !== 0,
    isDelegated: bytes.readUInt8(AT.delegated) !== 0,
    canBeTaken: key(AT.withdrawAuthority) !== SYSTEM_PROGRAM,
    warmup: bytes.readUInt32LE(AT.warmup),
    cooldown: bytes.readUInt32LE(AT.cooldown),
    isLocked: bytes.readBigUInt64LE(AT.locking) !== 0n,
    cap: bytes.readBigUInt64LE(AT.cap),
  }
}

const farmAuthority = (farm: Key): Key =>
  findProgramAddress([Buffer.from('authority'), bytesOf(farm)], FARMS_PROGRAM)

/** Whether what is staked can be had back at any moment, by its owner alone. */
export const givesBack = ({ warmup, cooldown, isLocked, isFrozen, canBeTaken }: KaminoFarm): boolean =>
  warmup === 0 && cooldown === 0 && !isLocked && !isFrozen && !canBeTaken

/** @see solana-sysvar, rent */
const RENT = keyOf('SysvarRent111111111111111111111111111111111')

type At = Pick<KaminoFarm, 'farm' | 'mint' | 'prices'>

/** Makes the account of a wallet's stake, at its own cost. It fails where there is one. */
export const openStake = ({ farm }: Pick<At, 'farm'>, user: Key): Instruction => ({
  program: FARMS_PROGRAM,
  accounts: [
    signs(user),
    signsAndWrites(user),
    reads(user),
    reads(user),
    writes(farmStakeOf(farm, user)),
    writes(farm),
    reads(SYSTEM_PROGRAM),
    reads(RENT),
  ],
  data: Buffer.from('6f11b9fa3c7a26fe', 'hex'),
})

/** Stakes so much of what is in the wallet's token account, or all that there is. */
export const stake = ({ farm, mint, prices }: At, user: Key, amount: bigint): Instruction => ({
  program: FARMS_PROGRAM,
  accounts: [
    signs(user),
    writes(farmStakeOf(farm, user)),
    writes(farm),
    writes(farmVaultOf(farm, mint)),
    writes(associatedTokenAccount(user, mint, TOKEN_PROGRAM)),
    reads(mint),
    // The program itself stands for an account that is left out.
    reads(prices ?? FARMS_PROGRAM),
    reads(TOKEN_PROGRAM),
  ],
  data: told('ceb0ca12c8d1b36c', 8, amount),
})

/** Ends so many parts of a stake: what they are worth can be taken out after the farm's time for that. */
export const unstake = ({ farm, prices }: Omit<At, 'mint'>, user: Key, parts: bigint): Instruction => ({
  program: FARMS_PROGRAM,
  accounts: [
    signsAndWrites(user),
    writes(farmStakeOf(farm, user)),
    writes(farm),
    reads(prices ?? FARMS_PROGRAM),
  ],
  data: told('5a5f6b2acd7c32e1', 16, parts),
})

/** Takes all that was unstaked into the wallet's token account. */
export const takeUnstaked = ({ farm, mint }: Omit<At, 'prices'>, user: Key): Instruction => ({
  program: FARMS_PROGRAM,
  accounts: [
    signsAndWrites(user),
    writes(farmStakeOf(farm, user)),
    writes(farm),
    writes(associatedTokenAccount(user, mint, TOKEN_PROGRAM)),
    writes(farmVaultOf(farm, mint)),
    reads(farmAuthority(farm)),
    reads(TOKEN_PROGRAM),
  ],
  data: Buffer.from('2466bb31dc248443', 'hex'),
})

/** @param bytes of the amount: 8 or 16 */
function told(discriminator: string, bytes: 8 | 16, amount: bigint): Uint8Array {
  const data = Buffer.alloc(8 + bytes)
  data.write(discriminator, 'hex')
  data.writeBigUInt64LE(amount & (2n ** 64n - 1n), 8)
  if (bytes === 16) data.writeBigUInt64LE(amount >> 64n, 16)
  return data
}
