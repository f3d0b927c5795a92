import type { Key } from './programs.ts'

export interface AccountMeta {
  key: Key
  isSigner: boolean
  isWritable: boolean
}

export interface Instruction {
  program: Key
  accounts: readonly AccountMeta[]
  data: Uint8Array
}

export const reads = (key: Key): AccountMeta => ({ key, isSigner: false, isWritable: false })
export const writes = (key: Key): AccountMeta => ({ key, isSigner: false, isWritable: true })
export const signs = (key: Key): AccountMeta => ({ key, isSigner: true, isWritable: false })
export const signsAndWrites = (key: Key): AccountMeta => ({ key, isSigner: true, isWritable: true })

/** A number that says what is to be done, and a u64. */
export function withU64(tag: number, value: bigint): Uint8Array {
  const data = Buffer.alloc(9)
  data.writeUInt8(tag)
  data.writeBigUInt64LE(value, 1)
  return data
}
