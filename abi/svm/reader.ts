import { keyFrom } from './addresses.ts'
import type { Key } from './programs.ts'

/** Account data or arguments of an instruction, from the front: little endian, packed (borsh). Reading beyond the end throws a RangeError. */
export class ByteReader {
  private at = 0
  private readonly bytes: Buffer

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  u8(): number {
    const value = this.bytes.readUInt8(this.at)
    this.at += 1
    return value
  }

  u64(): bigint {
    const value = this.bytes.readBigUInt64LE(this.at)
    this.at += 8
    return value
  }

  u128(): bigint {
    const low = this.u64()
    return low + (this.u64() << 64n)
  }

  key(): Key {
    return keyFrom(this.take(32))
  }

  /** One byte says whether there is one. */
  option<T>(read: () => T): T | undefined {
    return this.u8() === 0 ? undefined : read()
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new RangeError(`${length} bytes more than there are`)
    const taken = this.bytes.subarray(this.at, this.at + length)
    this.at += length
    return taken
  }
}
