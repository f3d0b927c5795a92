import { keyFrom } from './addresses.ts'
import { type Key, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts'

/**
 * Accounts of the token programs. Token-2022 has the same fields first, then, from byte 165 on, the kind of account and a list
 * of extensions: type u16, length u16, value.
 * @see solana-program/token, state.rs; solana-program/token-2022, extension/mod.rs
 */
const MINT_LENGTH = 82
const ACCOUNT_LENGTH = 165
const MINT_KIND = 1
const ACCOUNT_KIND = 2

export const isTokenProgram = (key: Key): boolean => key === TOKEN_PROGRAM || key === TOKEN_2022_PROGRAM

export interface Mint {
  authority: Key | undefined
  supply: bigint
  decimals: number
  freezeAuthority: Key | undefined
  /** Numbers of the extensions that it has. */
  extensions: readonly number[]
  /** What is kept of each transfer, by the epoch from which on: the newest one that has begun holds. */
  transferFees: readonly TransferFee[]
}

export interface TransferFee {
  epoch: bigint
  /** Base units that are never exceeded. */
  most: bigint
  basisPoints: bigint
}

export interface TokenAccount {
  mint: Key
  owner: Key
  amount: bigint
  isFrozen: boolean
}

/** Extensions of a mint that change what a transfer does, or let somebody else move what a wallet holds. */
export const TRANSFER_FEE = 1
export const PERMANENT_DELEGATE = 12
export const TRANSFER_HOOK = 14

/** Undefined where it is no mint of a token program. */
export function decodeMint(owner: Key, data: Uint8Array): Mint | undefined {
  const extensions = extensionsOf(owner, data, MINT_LENGTH, MINT_KIND)
  if (!extensions || data[45] !== 1) return undefined
  const fee = extensions.get(TRANSFER_FEE)
  const bytes = Buffer.from(data)
  const maybe = (at: number) => (bytes.readUInt32LE(at) === 1 ? keyFrom(bytes.subarray(at + 4, at + 36)) : undefined)
  return {
    authority: maybe(0),
    supply: bytes.readBigUInt64LE(36),
    decimals: bytes.readUInt8(44),
    freezeAuthority: maybe(46),
    extensions: [...extensions.keys()],
    transferFees: fee && fee.length >= 108 ? [transferFeeAt(fee, 72), transferFeeAt(fee, 90)] : [],
  }
}

const transferFeeAt = (config: Buffer, at: number): TransferFee => ({
  epoch: config.readBigUInt64LE(at),
  most: config.readBigUInt64LE(at + 8),
  basisPoints: BigInt(config.readUInt16LE(at + 16)),
})

/** What a transfer of so much keeps in an epoch. @see solana-program/token-2022, extension/transfer_fee/mod.rs */
export function feeOfTransfer({ transferFees }: Mint, amount: bigint, epoch: bigint): bigint {
  const fee = transferFees.findLast(each => each.epoch <= epoch)
  if (!fee || fee.basisPoints === 0n) return 0n
  const kept = (amount * fee.basisPoints + 9_999n) / 10_000n
  return kept < fee.most ? kept : fee.most
}

/** The least whose transfer leaves at least so much; undefined where none would. */
export function beforeFee(mint: Mint, amount: bigint, epoch: bigint): bigint | undefined {
  const { basisPoints = 0n, most = 0n } = mint.transferFees.findLast(each => each.epoch <= epoch) ?? {}
  if (basisPoints === 0n || amount === 0n) return amount
  const capped = amount + most
  if (basisPoints >= 10_000n) return capped
  const proportional = (amount * 10_000n + (10_000n - basisPoints) - 1n) / (10_000n - basisPoints)
  return proportional < capped ? proportional : capped
}

/** Undefined where it is no token account that was set up. */
export function decodeTokenAccount(owner: Key, data: Uint8Array): TokenAccount | undefined {
  const state = data[108]
  if (!extensionsOf(owner, data, ACCOUNT_LENGTH, ACCOUNT_KIND) || (state !== 1 && state !== 2)) return undefined
  const bytes = Buffer.from(data)
  return {
    mint: keyFrom(bytes.subarray(0, 32)),
    owner: keyFrom(bytes.subarray(32, 64)),
    amount: bytes.readBigUInt64LE(64),
    isFrozen: state === 2,
  }
}

function extensionsOf(
  owner: Key,
  data: Uint8Array,
  length: number,
  kind: number,
): ReadonlyMap<number, Buffer> | undefined {
  if (!isTokenProgram(owner)) return undefined
  if (data.length === length) return new Map()
  if (owner !== TOKEN_2022_PROGRAM || data.length <= ACCOUNT_LENGTH || data[ACCOUNT_LENGTH] !== kind)
    return undefined
  const bytes = Buffer.from(data)
  const found = new Map<number, Buffer>()
  for (let at = ACCOUNT_LENGTH + 1; at + 4 <= bytes.length; at += 4 + bytes.readUInt16LE(at + 2)) {
    const type = bytes.readUInt16LE(at)
    if (type === 0) break
    found.set(type, bytes.subarray(at + 4, at + 4 + bytes.readUInt16LE(at + 2)))
  }
  return found
}
