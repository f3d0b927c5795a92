import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beforePenalty, booksAt, ONE, penaltyOf, sharesWorth, worthOf } from '../../../abi/kamino/math.ts'
import {
  decodeConfig,
  decodeVault,
  type KaminoVault,
  LENDING_PROGRAM,
  VAULT_PROGRAM,
} from '../../../abi/kamino/vault.ts'
import { keyOf } from '../../../abi/svm/programs.ts'
import expected from './kamino-expected.json' with { type: 'json' }

/** What is done with a vault finds rewards handed out and fees charged; worked out by hand after kvault's vault_operations.rs. */
const bytes = Buffer.alloc(expected.vault.size)
for (const [at, hex] of expected.vault.bytes) bytes.write(String(hex), Number(at), 'hex')

function vaultOf(of: Partial<KaminoVault> = {}): KaminoVault {
  const vault = decodeVault(keyOf(expected.vault.address), VAULT_PROGRAM, bytes)
  if (!vault) throw new TypeError('no vault')
  return { ...vault, allocations: [], pendingFeesSf: 0n, available: 1_000n, sharesIssued: 500n, ...of }
}

it("fees and rewards read as Kamino's package has them", () => {
  const data = Buffer.from(bytes)
  const words = [11n, 1_760_000_001n, 33n]
  for (const [i, word] of words.entries()) data.writeBigUInt64LE(word, 58_744 + 8 * i)
  const vault = decodeVault(keyOf(expected.vault.address), VAULT_PROGRAM, data)
  expect(vault?.rewards).toEqual({ perSecond: 11n, issuedAt: 1_760_000_001n, left: 33n })
  expect(vault?.fees).toEqual({
    performanceBps: 1_000n,
    managementBps: 25n,
    chargedAt: 1_760_000_000n,
    assetsSf: 2n ** 100n + 5n,
  })
  const config = Buffer.alloc(1_032)
  config.write('95089ccaa0fcb0d9', 'hex')
  config.write('29000000000000002a', 72, 'hex')
  expect(decodeConfig(VAULT_PROGRAM, config)).toEqual({ penalty: 41n, penaltyBps: 42n })
  expect(decodeConfig(LENDING_PROGRAM, config)).toBeUndefined()
  expect(decodeConfig(VAULT_PROGRAM, config.subarray(1))).toBeUndefined()
})

describe('the books of a vault', () => {
  const YEAR = 31_556_926n
  const start = 1_760_000_000n
  const fees = { performanceBps: 1_000n, managementBps: 200n, chargedAt: start, assetsSf: 900n * ONE }
  const none = { perSecond: 0n, left: 0n, issuedAt: 0n }
  const whole = (of: Partial<KaminoVault>, time: bigint) => {
    const { assetsSf, available } = booksAt(vaultOf({ rewards: none, ...of }), new Map(), 0n, time)
    return [Number(assetsSf) / Number(ONE), available]
  }

  it('lose a tenth of what was earned, and two hundredths of what lay in it for a year', () => {
    const [assets] = whole({ fees }, start + YEAR)
    // 1,000 − 10 % of 100 − 2 % of 900
    expect(assets).toBeCloseTo(972, 9)
    expect(whole({ fees }, start)[0]).toBeCloseTo(990, 9)
    expect(whole({ fees: { ...fees, assetsSf: 1_000n * ONE } }, start - 5n)[0]).toBe(1_000)
    expect(whole({ fees: { ...fees, chargedAt: 0n } }, start + YEAR)[0]).toBe(1_000)
    expect(whole({ fees: { ...fees, managementBps: 10_000n } }, start + 9n * YEAR)[0]).toBe(0)
  })

  it('gain rewards by the second until none are left', () => {
    const rewards = { perSecond: 3n, left: 100n, issuedAt: start }
    const free = { ...fees, chargedAt: 0n }
    const at = (seconds: bigint) => whole({ fees: free, rewards }, start + seconds)
    expect([at(-1n), at(10n), at(50n)]).toEqual([
      [1_000, 1_000n],
      [1_030, 1_030n],
      [1_100, 1_100n],
    ])
    expect(whole({ fees: free, rewards: { ...rewards, issuedAt: 0n } }, start + 10n)[0]).toBe(1_000)
  })

  it('say the fewest shares that are worth an amount', () => {
    const any = fc.bigInt({ min: 1n, max: 10n ** 15n })
    fc.assert(
      fc.property(
        any,
        any,
        any,
        fc.bigInt({ min: 0n, max: ONE - 1n }),
        (assets, sharesIssued, wanted, part) => {
          const books = { assetsSf: assets * ONE + part, available: 0n, sharesIssued }
          const shares = sharesWorth(books, wanted) ?? 0n
          expect(worthOf(books, shares)).toBeGreaterThanOrEqual(wanted)
          expect(worthOf(books, shares - 1n)).toBeLessThan(wanted)
        },
      ),
    )
    expect(sharesWorth({ assetsSf: 0n, available: 0n, sharesIssued: 1n }, 1n)).toBeUndefined()
    expect(worthOf({ assetsSf: 5n * ONE, available: 0n, sharesIssued: 0n }, 1n)).toBe(0n)
  })
})

describe('what is kept of a withdrawal', () => {
  it('is the higher one of each, and rounded up', () => {
    const vault = { penalty: 5n, penaltyBps: 10n }
    const all = { penalty: 3n, penaltyBps: 25n }
    // 25 of 10,000 of 1,001 are 2.5025; 5 is more. Of 40,001 they are 100.0025.
    expect(penaltyOf(vault, all, 1_001n)).toBe(5n)
    expect(penaltyOf(vault, all, 40_001n)).toBe(101n)
    expect(penaltyOf({ penalty: 0n, penaltyBps: 0n }, { penalty: 0n, penaltyBps: 0n }, 7n)).toBe(0n)
  })

  it('leaves what was asked for, and one less does not', () => {
    const config = fc.record({
      penalty: fc.bigInt({ min: 0n, max: 10_000n }),
      penaltyBps: fc.bigInt({ min: 0n, max: 1_000n }),
    })
    fc.assert(
      fc.property(config, config, fc.bigInt({ min: 1n, max: 10n ** 15n }), (vault, all, net) => {
        const gross = beforePenalty(vault, all, net) ?? 0n
        const left = (of: bigint) => of - penaltyOf(vault, all, of)
        expect(left(gross)).toBeGreaterThanOrEqual(net)
        expect(left(gross - 1n)).toBeLessThan(net)
      }),
    )
    const whole = { penalty: 0n, penaltyBps: 10_000n }
    expect(beforePenalty(whole, whole, 1n)).toBeUndefined()
  })
})
