import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import type { Key } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'
import { LENDING_PROGRAM } from './vault.ts'

/** Hundredths of a percent: at a utilization, the yearly rate that borrowers pay. */
export interface CurvePoint {
  utilizationBps: number
  rateBps: number
}

/** A reserve of a lending market. `…Sf`: asset base units with 60 fractional bits. */
export interface KaminoReserve {
  /** Slot that interest is accrued to. */
  slot: bigint
  lendingMarket: Key
  tokenMint: Key
  supplyVault: Key
  /** Asset base units that nobody borrows. */
  available: bigint
  borrowedSf: bigint
  protocolFeesSf: bigint
  referrerFeesSf: bigint
  pendingReferrerFeesSf: bigint
  ctokenMint: Key
  ctokenSupply: bigint
  hostFixedRateBps: number
  takeRatePct: number
  /** Eleven points: the last one is repeated. */
  curve: readonly CurvePoint[]
}

/** sha256 of "account:Reserve", its first eight bytes. @see anchor-lang, discriminator */
const DISCRIMINATOR = '2bf2ccca1af73b7f'
const SIZE = 8_624
const CURVE_POINTS = 11
/** @see npm @kamino-finance/klend-sdk 8.0.2, klend.json, Reserve: places of fields */
const AT = {
  slot: 16,
  lendingMarket: 32,
  tokenMint: 128,
  supplyVault: 160,
  available: 224,
  borrowed: 232,
  protocolFees: 344,
  referrerFees: 360,
  pendingReferrerFees: 376,
  ctokenMint: 2_560,
  ctokenSupply: 2_592,
  hostFixedRate: 4_858,
  takeRate: 4_870,
  curve: 4_920,
} as const

/** Reads an account of a reserve. Undefined where `owner` is not the program of the lending markets, or the bytes are no reserve. */
export function decodeReserve(owner: Key, data: Uint8Array): KaminoReserve | undefined {
  if (owner !== LENDING_PROGRAM || data.length !== SIZE) return undefined
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (bytes.toString('hex', 0, 8) !== DISCRIMINATOR) return undefined
  const key = (at: number) => new ByteReader(bytes.subarray(at)).key()
  const u64 = (at: number) => bytes.readBigUInt64LE(at)
  const u128 = (at: number) => new ByteReader(bytes.subarray(at)).u128()
  return {
    slot: u64(AT.slot),
    lendingMarket: key(AT.lendingMarket),
    tokenMint: key(AT.tokenMint),
    supplyVault: key(AT.supplyVault),
    available: u64(AT.available),
    borrowedSf: u128(AT.borrowed),
    protocolFeesSf: u128(AT.protocolFees),
    referrerFeesSf: u128(AT.referrerFees),
    pendingReferrerFeesSf: u128(AT.pendingReferrerFees),
    ctokenMint: key(AT.ctokenMint),
    ctokenSupply: u64(AT.ctokenSupply),
    hostFixedRateBps: bytes.readUInt16LE(AT.hostFixedRate),
    takeRatePct: bytes.readUInt8(AT.takeRate),
    curve: Array.from({ length: CURVE_POINTS }, (_, i) => ({
      utilizationBps: bytes.readUInt32LE(AT.curve + 8 * i),
      rateBps: bytes.readUInt32LE(AT.curve + 8 * i + 4),
    })),
  }
}

/** Signs for all reserves of a lending market. */
export const marketAuthority = (lendingMarket: Key): Key =>
  findProgramAddress([Buffer.from('lma'), bytesOf(lendingMarket)], LENDING_PROGRAM)
