import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import { ASSOCIATED_TOKEN_PROGRAM, type Key } from './programs.ts'

export const bytesOf = (key: Key): Uint8Array => Buffer.from(key.slice(2), 'hex')
export const keyFrom = (bytes: Uint8Array): Key => `0x${Buffer.from(bytes).toString('hex')}`

/** Whether somebody may have a private key for it: a point of the curve. */
function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(bytes)
    return true
  } catch {
    return false
  }
}

/**
 * The address that a program derives from seeds, and for which it alone can sign: the first one off the curve, counted down
 * from 255.
 * @see solana-pubkey, Pubkey::find_program_address
 */
export function findProgramAddress(seeds: readonly Uint8Array[], program: Key): Key {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const seed of seeds) hash.update(seed)
    const bytes = hash.update(Uint8Array.of(bump)).update(bytesOf(program)).update(MARK).digest()
    if (!isOnCurve(bytes)) return keyFrom(bytes)
  }
  throw new RangeError('no address can be derived from these seeds')
}

const MARK = 'ProgramDerivedAddress'

/** The token account that a wallet has for a mint unless it made others. */
export function associatedTokenAccount(owner: Key, mint: Key, tokenProgram: Key): Key {
  return findProgramAddress([bytesOf(owner), bytesOf(tokenProgram), bytesOf(mint)], ASSOCIATED_TOKEN_PROGRAM)
}
