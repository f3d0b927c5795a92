import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ONE } from '../../../abi/kamino/math.ts'
import type { KaminoReserve } from '../../../abi/kamino/reserve.ts'
import type { Key } from '../../../abi/svm/programs.ts'
import { partsOf, payablesOf } from '../../../read-api/protocols/kamino/redemption.ts'

/** Which withdrawals a redemption takes, against the rules of kvault's program carried out one after the other. */
const key = (name: string): Key => `0x${createHash('sha256').update(name).digest('hex')}`
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b

const amount = (max: bigint) => fc.bigInt({ min: 0n, max })
const free = { penalty: 0n, penaltyBps: 0n, minWithdrawal: 0n }

describe('a redemption', () => {
  it('burns all its shares for all that they are worth, in as few withdrawals as there can be', () => {
    let several = 0
    fc.assert(
      fc.property(
        fc.array(amount(10n ** 12n), { maxLength: 6 }),
        amount(10n ** 12n),
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        fc.bigInt({ min: 1n, max: 10_000n }),
        fc.record({
          penalty: amount(100n),
          penaltyBps: amount(1_000n),
          minWithdrawal: fc.constantFrom(0n, 1_000n),
        }),
        (lent, available, sharesIssued, part, terms) => {
          const assets = lent.reduce((sum, each) => sum + each, available)
          const shares = ceil(sharesIssued * part, 10_000n)
          // A unit more than can be counted on: what a withdrawal is rounded up by.
          const reserves = lent
            .map((of, i) => ({ reserve: key(`${i}`), assets: of }))
            .filter(of => of.assets > 1n)
          const payables = reserves
            .map(of => ({ ...of, assets: of.assets - 1n }))
            .sort((a, b) => Number(b.assets - a.assets))
          const books = { assetsSf: assets * ONE, available, sharesIssued }
          const parts = partsOf(books, { vault: terms, all: free }, payables, shares)

          const worth = (of: bigint) => (assets * of) / sharesIssued
          const kept = (of: bigint) => {
            const share = ceil(worth(of) * terms.penaltyBps, 10_000n)
            return share > terms.penalty ? share : terms.penalty
          }
          const paidFor = (of: bigint) => (worth(of) > kept(of) ? worth(of) - kept(of) : 0n)
          const most = payables.reduce((sum, each) => sum + each.assets, available)
          if (!parts) {
            // Each withdrawal is of whole shares.
            expect(
              paidFor(shares) + BigInt(lent.length) * (worth(1n) + 2n * terms.minWithdrawal + 200n),
            ).toBeGreaterThan(most - kept(shares))
            return
          }
          expect(parts.reduce((sum, each) => sum + each.shares, 0n)).toBe(shares)
          expect(parts.every(each => each.shares > 0n || shares === 0n)).toBe(true)
          expect(new Set(parts.map(({ reserve }) => reserve)).size).toBe(parts.length)
          // Each gets what it asks for: first what lies idle, then the one reserve.
          let idle = available
          for (const [i, each] of parts.entries()) {
            const paid = paidFor(each.shares)
            const fromIdle = least(idle, paid)
            idle -= fromIdle
            const reserve = payables.find(of => of.reserve === each.reserve)
            expect(paid - fromIdle).toBeLessThanOrEqual(reserve?.assets ?? 0n)
            if (parts.length > 1) expect(paid).toBeGreaterThan(terms.minWithdrawal)
            if (i > 0) expect(reserve?.assets).toBeLessThanOrEqual(payables[i - 1]?.assets ?? 0n)
          }
          if (parts.length > 1) several++
          if (paidFor(shares) <= available) expect(parts).toEqual([{ reserve: undefined, shares }])
        },
      ),
      { numRuns: 1_000 },
    )
    expect(several).toBeGreaterThan(50)
  })

  it('leaves for the last withdrawal as much as is paid at least', () => {
    const books = { assetsSf: 10_000n * ONE, available: 0n, sharesIssued: 10_000n }
    const payables = [
      { reserve: key('a'), assets: 5_000n },
      { reserve: key('b'), assets: 4_000n },
    ]
    const of = (minWithdrawal: bigint) =>
      partsOf(books, { vault: { ...free, minWithdrawal }, all: free }, payables, 5_500n)?.map(
        each => each.shares,
      )
    expect(of(499n)).toEqual([5_000n, 500n])
    expect(of(1_000n)).toEqual([4_499n, 1_001n])
  })

  it('is not to be had where the reserves have lent it all on', () => {
    const books = { assetsSf: 1_000n * ONE, available: 10n, sharesIssued: 1_000n }
    const penalties = { vault: free, all: free }
    const payables = [{ reserve: key('a'), assets: 500n }]
    expect(partsOf(books, penalties, payables, 511n)).toBeUndefined()
    expect(partsOf(books, penalties, payables, 510n)).toEqual([{ reserve: key('a'), shares: 510n }])
    expect(partsOf(books, penalties, [], 11n)).toBeUndefined()
    expect(partsOf(books, penalties, [], 10n)).toEqual([{ reserve: undefined, shares: 10n }])
  })
})

it('a reserve pays what was lent to it as far as it has not lent it on, less a unit', () => {
  const reserve = (available: bigint): KaminoReserve => ({
    slot: 0n,
    lendingMarket: key('market'),
    tokenMint: key('mint'),
    supplyVault: key('supply'),
    available,
    borrowedSf: 4_000n * ONE - available * ONE,
    protocolFeesSf: 0n,
    referrerFeesSf: 0n,
    pendingReferrerFeesSf: 0n,
    ctokenMint: key('ctoken'),
    ctokenSupply: 2_000n,
    hostFixedRateBps: 0,
    takeRatePct: 0,
    curve: [],
  })
  const of = (name: string, ctokens: bigint) => ({ reserve: key(name), ctokenVault: key('unused'), ctokens })
  const allocations = [of('a', 100n), of('b', 300n), of('c', 500n), of('d', 0n), of('e', 9n)]
  const reserves = new Map(
    Object.entries({ a: 3_000n, b: 3_000n, c: 50n, d: 3_000n }).map(([name, available]) => [
      key(name) as string,
      reserve(available),
    ]),
  )
  // Each cToken is worth two.
  expect(payablesOf({ allocations, minWithdrawal: 0n }, reserves, 0n)).toEqual([
    { reserve: key('b'), assets: 599n },
    { reserve: key('a'), assets: 199n },
    { reserve: key('c'), assets: 49n },
  ])
  const enough = payablesOf({ allocations, minWithdrawal: 198n }, reserves, 0n)
  expect(enough.map(of => of.reserve)).toEqual([key('b'), key('a')])
  expect(payablesOf({ allocations, minWithdrawal: 199n }, reserves, 0n).length).toBe(1)
})
