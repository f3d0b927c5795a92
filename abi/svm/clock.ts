/** The cluster's clock. @see solana-clock, Clock */
export interface Clock {
  epoch: bigint
  /** Unix seconds, as the cluster reckons them. */
  time: bigint
}

/** Undefined where the account is none. */
export function decodeClock(data: Uint8Array | undefined): Clock | undefined {
  if (!data || data.length < 40) return undefined
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return { epoch: bytes.readBigUInt64LE(16), time: bytes.readBigInt64LE(32) }
}
