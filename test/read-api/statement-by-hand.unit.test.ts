import { describe, expect, it } from 'vitest'
import {
  accountOf,
  type Ledger,
  type Method,
  type Movement,
  opposite,
  totalOf,
  usdText,
  usdUnits,
} from '../../read-api/portfolio/statement.ts'

const HOUR = 3_600
const DAY = 86_400
const START = 1_735_689_600

/** Statements whose every figure is reckoned by hand. */

describe('by hand', () => {
  /** 100 shares for 100.00, 100 more for 150.00; 150 are redeemed for 300.00; the other 50 are worth 125.00 at the end. */
  const movement = (day: number, of: Partial<Movement>): Movement => ({
    at: START + day * DAY + HOUR,
    minted: 0n,
    burned: 0n,
    deposited: 0n,
    withdrawn: 0n,
    sent: 0n,
    sentWorth: 0n,
    price: 1,
    ...of,
  })
  const movements = [
    movement(0, { minted: 100n, deposited: 10_000n }),
    movement(1, { minted: 100n, deposited: 15_000n }),
    movement(2, { burned: 150n, withdrawn: 30_000n }),
  ]
  const mark = (day: number, value: bigint | undefined, price: number | undefined = 1) => ({
    at: START + day * DAY,
    value,
    price,
  })
  const ledger: Ledger = {
    assetDecimals: 2,
    movements,
    opening: mark(0, 0n),
    closing: mark(3, 12_500n),
    midnights: [mark(0, 0n), mark(1, 12_000n), mark(2, 36_000n)],
  }

  it.each<[Method, bigint, bigint]>([
    // 300 less 100 less half of 150; 125 less the other half.
    ['fifo', 12_500n, 5_000n],
    // 300 less three quarters of 250; 125 less the last quarter.
    ['average', 11_250n, 6_250n],
  ])('%s', (method, realised, unrealised) => {
    const { native, usd } = accountOf(ledger, method)
    expect(native).toEqual({
      opening: 0n,
      deposits: 25_000n,
      withdrawals: 30_000n,
      transfersIn: 0n,
      transfersOut: 0n,
      gain: 17_500n,
      yield: 17_500n,
      priceEffect: 0n,
      closing: 12_500n,
      realised,
      unrealisedOpening: 0n,
      unrealisedClosing: unrealised,
    })
    expect(usdText(usd.yield)).toBe('175')
    expect(usdText(usd.priceEffect)).toBe('0')
    expect(usdText(usd.realised)).toBe(String(Number(realised) / 100))
  })

  it('tells what the price did from what was earned', () => {
    // 100.00 lie a day at 1 dollar and a day at 2; on the second they earn 10.00, worth 20 dollars at its end.
    const { usd } = accountOf(
      {
        assetDecimals: 2,
        movements: [],
        opening: mark(0, 10_000n),
        midnights: [mark(0, 10_000n), mark(1, 10_000n, 2)],
        closing: mark(2, 11_000n, 2),
      },
      'fifo',
    )
    expect([usd.opening, usd.yield, usd.priceEffect, usd.closing].map(usdText)).toEqual([
      '100',
      '20',
      '100',
      '220',
    ])
  })

  it('passes over days without a price, of a week at most', () => {
    const unpriced = (day: number, value: bigint) => ({ ...mark(day, value), price: undefined })
    const over = (days: number) =>
      accountOf(
        {
          assetDecimals: 2,
          movements: [],
          opening: mark(0, 10_000n),
          // The price is two dollars again when it is known again.
          midnights: Array.from({ length: days }, (_, day) =>
            day === 0 ? mark(0, 10_000n) : unpriced(day, 10_000n + BigInt(day)),
          ),
          closing: mark(days, 11_000n, 2),
        },
        'fifo',
      )
    expect(usdText(over(7).usd.yield)).toBe('20')
    expect(over(7).unknown).toEqual([])
    expect(over(8).usd.yield).toBeUndefined()
    expect(over(8).unknown).toEqual(['price'])
  })

  it('says nothing that an unknown price or worth would be in, and all else', () => {
    const unpriced = accountOf({ ...ledger, closing: mark(3, 12_500n, Number.NaN) }, 'fifo')
    expect(unpriced.usd).toMatchObject({
      closing: undefined,
      yield: undefined,
      priceEffect: undefined,
      unrealisedClosing: undefined,
    })
    expect(usdText(unpriced.usd.deposits)).toBe('250')
    expect(usdText(unpriced.usd.realised)).toBe('125')
    expect(unpriced.native.yield).toBe(17_500n)
    const [first, ...others] = movements
    const old = accountOf(
      { ...ledger, movements: [{ ...(first as Movement), price: undefined }, ...others] },
      'fifo',
    )
    expect(old.usd.realised).toBeUndefined()
    expect(old.usd.deposits).toBeUndefined()
    expect([unpriced.unknown, old.unknown, accountOf(ledger, 'fifo').unknown]).toEqual([
      ['price'],
      ['price'],
      [],
    ])
    const lost = accountOf({ ...ledger, closing: mark(3, undefined) }, 'fifo')
    expect(lost.unknown).toEqual(['worth'])
    const unsaid = { ...(first as Movement), deposited: undefined }
    expect(accountOf({ ...ledger, movements: [unsaid, ...others] }, 'fifo').unknown).toEqual(['paid'])
    expect([lost.native.yield, lost.usd.yield, lost.native.realised]).toEqual([undefined, undefined, 12_500n])
    expect(totalOf([unpriced.usd, accountOf(ledger, 'fifo').usd])).toMatchObject({
      yield: undefined,
      withdrawals: usdUnits(60_000n, 1, 2),
    })
  })

  it('a debt is below zero, what is borrowed is paid out of it, and interest is a loss', () => {
    // 100.00 are borrowed and become 110.00, of which half is repaid; what is left becomes 60.00.
    const owed = [
      movement(0, { minted: 100n, deposited: 10_000n }),
      movement(1, { burned: 50n, withdrawn: 5_500n }),
    ]
    const { native } = opposite(
      accountOf(
        {
          assetDecimals: 2,
          movements: owed,
          opening: mark(0, 0n),
          closing: mark(2, 6_000n),
          midnights: [mark(0, 0n), mark(1, 10_400n)],
        },
        'fifo',
      ),
    )
    expect(native).toMatchObject({
      opening: 0n,
      deposits: 5_500n,
      withdrawals: 10_000n,
      closing: -6_000n,
      gain: -1_500n,
      yield: -1_500n,
      realised: -500n,
      unrealisedClosing: -1_000n,
    })
  })

  it('writes USD to the last digit', () => {
    expect(usdText(-1n)).toBe('-0.000000000001')
    expect(usdText(undefined)).toBe('')
    expect(usdText(usdUnits(1n, 1, 18))).toBe('0')
    expect(usdText(usdUnits(123_456_789n, 0.1, 6))).toBe('12.3456789')
    expect(usdText(usdUnits(10n ** 30n, 1.5e-12, 18))).toBe('1.5')
  })
})
