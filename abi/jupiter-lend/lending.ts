import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import { discriminator } from '../svm/discriminator.ts'
import { type Key, keyOf } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'

/** @see npm @jup-ag/lend, addresses and interface of the lending program; the second one is that of a market beside it */
export const LENDING_PROGRAMS: readonly Key[] = [
  keyOf('jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9'),
  keyOf('jup97Zx1NixM8UJMQFw8TtKzqTiRT3ETAJR7cVx3PfQ'),
]

/** Whose books the lending program's assets are in, and who says what is paid besides the interest. */
const LIQUIDITY_PROGRAMS: readonly Key[] = [
  keyOf('jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC'),
  keyOf('jup6QF1sNDGpkkcu6F4qaFHcRBmnSS1VgyB4uFbBvNS'),
]
export const REWARDS_PROGRAM = keyOf('jup7TthsMgcR9Y3L277b8Eo9uboVSmu1utkuXHNUKar')

/** @throws TypeError where it is none of the lending programs */
export function liquidityOf(program: Key): Key {
  const found = LIQUIDITY_PROGRAMS[LENDING_PROGRAMS.indexOf(program)]
  if (!found) throw new TypeError(`${program} is no lending program`)
  return found
}

/** Of a share, in assets: a price of 1 is this. */
export const PRICE_PRECISION = 10n ** 12n

export interface Lending {
  mint: Key
  shareMint: Key
  decimals: number
  rewardsModel: Key
  /** What the liquidity layer's price of a supply was at `updatedAt`. */
  liquidityPrice: bigint
  /** Assets for a share at `updatedAt`: it grows between. */
  price: bigint
  /** Unix seconds. */
  updatedAt: bigint
  /** Of the liquidity layer: the asset's reserve, and what it holds of it for this vault. */
  reserve: Key
  supplyPosition: Key
}

const LENDING = discriminator('account', 'Lending')

/** Undefined where the bytes are no Lending. */
export function decodeLending(data: Uint8Array): Lending | undefined {
  const from = new ByteReader(data)
  try {
    if (Buffer.from(from.take(8)).toString('hex') !== LENDING) return undefined
    const [mint, shareMint] = [from.key(), from.key()]
    // Its number.
    from.take(2)
    return {
      mint,
      shareMint,
      decimals: from.u8(),
      rewardsModel: from.key(),
      liquidityPrice: from.u64(),
      price: from.u64(),
      updatedAt: from.u64(),
      reserve: from.key(),
      supplyPosition: from.key(),
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

export const lendingOf = (program: Key, mint: Key, shareMint: Key): Key =>
  findProgramAddress([Buffer.from('lending'), bytesOf(mint), bytesOf(shareMint)], program)

export const lendingAdmin = (program: Key): Key =>
  findProgramAddress([Buffer.from('lending_admin')], program)
