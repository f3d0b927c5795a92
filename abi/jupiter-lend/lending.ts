import { createHash } from 'node:crypto'
import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import { type Key, keyOf } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'

/** @see npm @jup-ag/lend, addresses and interface of the lending program; the second one is that of a market beside it */
export const LENDING_PROGRAMS: readonly Key[] = [
  keyOf('jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9'),
  keyOf('jup97Zx1NixM8UJMQFw8TtKzqTiRT3ETAJR7cVx3PfQ'),
]

/** Of a share, in assets: a price of 1 is this. */
export const PRICE_PRECISION = 10n ** 12n

export interface Lending {
  mint: Key
  shareMint: Key
  decimals: number
  /** Assets for a share at `updatedAt`: it grows between. */
  price: bigint
  /** Unix seconds. */
  updatedAt: bigint
}

/** The first eight bytes of what Anchor's programs are told and of what they keep. @see anchor-lang, discriminator */
export const discriminator = (kind: 'global' | 'account', name: string): string =>
  createHash('sha256').update(`${kind}:${name}`).digest('hex').slice(0, 16)

const LENDING = discriminator('account', 'Lending')

/** Undefined where the bytes are no Lending. */
export function decodeLending(data: Uint8Array): Lending | undefined {
  const from = new ByteReader(data)
  try {
    if (Buffer.from(from.take(8)).toString('hex') !== LENDING) return undefined
    const [mint, shareMint] = [from.key(), from.key()]
    // Its number.
    from.take(2)
    const decimals = from.u8()
    // The model of its rewards; the price of what the liquidity layer holds for it.
    from.take(32 + 8)
    return { mint, shareMint, decimals, price: from.u64(), updatedAt: from.u64() }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

export const lendingOf = (program: Key, mint: Key, shareMint: Key): Key =>
  findProgramAddress([Buffer.from('lending'), bytesOf(mint), bytesOf(shareMint)], program)

export const lendingAdmin = (program: Key): Key =>
  findProgramAddress([Buffer.from('lending_admin')], program)
