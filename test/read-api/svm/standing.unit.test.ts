import { expect, it } from 'vitest'
import { standingOf } from '../../../read-api/svm/book.ts'

const asset = { mint: '0x', name: '', symbol: 'USDX', decimals: 6, logo: undefined, price: 1 } as never
const usd = (whole: bigint) => `${whole * 10n ** 6n}`

it.each([
  ['kamino', { total: 30_000n, idle: 30_000n }, 'made'],
  // A maker can lend to himself over and over: what is lent says nothing.
  ['kamino', { total: 1_000_000_000n, idle: 24_999n }, 'found'],
  ['kamino', { total: 1_000_000_000n, idle: undefined }, 'found'],
  ['nobody', { total: 1_000_000_000n, idle: 1_000_000_000n }, 'found'],
])('a vault of %s with %o is %s', (protocol, { total, idle }, standing) => {
  const row = { protocol, idle_assets: idle === undefined ? null : usd(idle) }
  expect(standingOf(row, BigInt(usd(total)), asset)).toBe(standing)
  // Of an asset without a price nothing is known.
  expect(standingOf(row, BigInt(usd(total)), { ...(asset as object), price: undefined } as never)).toBe(
    'found',
  )
})
