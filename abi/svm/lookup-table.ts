import { keyFrom } from './addresses.ts'
import { type Key, LOOKUP_TABLE_PROGRAM } from './programs.ts'

/** Addresses that a transaction may name by a byte each. What is in a table stays at its place. */
export interface LookupTable {
  address: Key
  /** Places by address. */
  keys: ReadonlyMap<Key, number>
}

/** @see solana-address-lookup-table-interface, state.rs */
const HEADER = 56
const MOST_KEYS = 256
const LOOKUP_TABLE_KIND = 1
const NEVER = 2n ** 64n - 1n

/**
 * Undefined where `owner` is not the program, or the table is being done away with.
 * @param slot what was added in it or later cannot be looked up yet
 */
export function decodeLookupTable(
  address: Key,
  owner: Key,
  data: Uint8Array,
  slot: bigint,
): LookupTable | undefined {
  if (owner !== LOOKUP_TABLE_PROGRAM || data.length < HEADER || (data.length - HEADER) % 32 !== 0)
    return undefined
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  if (bytes.readUInt32LE(0) !== LOOKUP_TABLE_KIND || bytes.readBigUInt64LE(4) !== NEVER) return undefined
  const [extendedIn, extendedFrom] = [bytes.readBigUInt64LE(12), bytes.readUInt8(20)]
  const all = (bytes.length - HEADER) / 32
  const usable = Math.min(MOST_KEYS, extendedIn < slot ? all : extendedFrom)
  const keys = new Map<Key, number>()
  for (let i = 0; i < usable; i++) {
    const key = keyFrom(bytes.subarray(HEADER + 32 * i, HEADER + 32 * (i + 1)))
    if (!keys.has(key)) keys.set(key, i)
  }
  return { address, keys }
}
