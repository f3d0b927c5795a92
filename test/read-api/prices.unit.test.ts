import { describe, expect, it } from 'vitest'
import { misspelt } from '../../db/process/nearest.ts'
import { FactBook } from '../../read-api/catalogue/facts.ts'
import { planPrice, planPrices, priceOf } from '../../read-api/catalogue/prices.ts'
import { decimalString, toWhole, usdString } from '../../read-api/http/amounts.ts'
import { lastAtOrBefore } from '../../read-api/vaults/price-history.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const book = (facts: [subject: string, kind: string, value: unknown][]) =>
  new FactBook().with(
    facts.map(([subject, kind, value]) => ({
      subject,
      kind,
      value: JSON.stringify(value),
      removed: 0,
      recorded_at: 1,
    })),
  )

describe('how a price is made', () => {
  const facts = book([
    [`asset:1:${address('a')}`, 'feed', { feed: address('f'), decimals: 8 }],
    [`asset:1:${address('b')}`, 'peg', { usd: '2' }],
    [`asset:1:${address('c')}`, 'peg', { of: address('a') }],
    [`asset:1:${address('8')}`, 'peg', { of: address('9') }],
    [`asset:1:${address('9')}`, 'peg', { of: address('8') }],
  ])
  // Vault d holds a; vault e holds d.
  // An aToken of a; a unit of it is a unit of a, whatever its shares are worth.
  const vaults: Record<string, { asset: string; protocol: string }> = {
    [address('d')]: { asset: address('a'), protocol: 'erc-4626' },
    [address('e')]: { asset: address('d'), protocol: 'erc-4626' },
    [address('6')]: { asset: address('a'), protocol: 'aave-v3' },
  }
  const vaultOf = (_: number, vault: string) => vaults[vault]
  const price = (asset: string) =>
    priceOf(
      planPrice(facts, vaultOf, 1, address(asset)),
      (_, vault) => (vault === address('d') ? 3 : 5),
      () => 100,
    )

  it.each([
    ['a', 100],
    ['b', 2],
    ['c', 100],
    ['d', 300],
    ['e', 1500],
    ['6', 100],
    ['7', undefined],
    ['8', undefined],
  ])('%s', (asset, expected) => {
    expect(price(asset)).toBe(expected)
  })

  it('is unknown when a part of it is', () => {
    const plan = planPrice(facts, vaultOf, 1, address('e'))
    expect(
      priceOf(
        plan,
        () => undefined,
        () => 100,
      ),
    ).toBeUndefined()
    expect(
      priceOf(
        plan,
        () => 3,
        () => undefined,
      ),
    ).toBeUndefined()
  })
})

describe('how prices were made over time', () => {
  const [a, b, f, g] = [address('a'), address('b'), address('f'), address('9')]
  const said = (recorded_at: number, subject: string, kind: string, value: unknown, removed = 0) => ({
    subject: `asset:1:${subject}`,
    kind,
    value: JSON.stringify(value),
    removed,
    recorded_at,
  })
  const facts = new FactBook()
    .with([said(100, a, 'feed', { feed: f }), said(100, b, 'peg', { of: a })])
    .with([said(200, a, 'feed', { feed: g }), said(250, a, 'group', 'USD')])
    .with([said(300, a, 'feed', null, 1), said(300, a, 'peg', { usd: '2' })])
  const ways = (asset: string, from: number, to: number) =>
    planPrices(facts, () => undefined, 1, asset, { from, to }).map(({ since, until, plan }) => [
      since,
      until,
      plan?.feed?.feed ?? plan?.constant,
    ])

  it.each([
    // What was said first holds for the time before.
    [0, 99, [[0, undefined, f]]],
    [
      0,
      199,
      [
        [0, 100, f],
        [100, undefined, f],
      ],
    ],
    [
      150,
      299,
      [
        [150, 200, f],
        [200, undefined, g],
      ],
    ],
    [200, 200, [[200, undefined, g]]],
    [
      250,
      900,
      [
        [250, 300, g],
        [300, undefined, 2],
      ],
    ],
    [300, 301, [[300, undefined, 2]]],
  ])('from %i to %i, also through a peg', (from, to, expected) => {
    expect(ways(a, from, to)).toEqual(expected)
    expect(ways(b, from, to)).toEqual(expected)
  })

  it('is one unknown way where nothing was ever said', () => {
    expect(ways(address('7'), 0, 900)).toEqual([[0, undefined, undefined]])
  })
})

describe('facts', () => {
  it('are replaced, removed, and left out when malformed', () => {
    const subject = `asset:1:${address('a')}`
    const one = book([[subject, 'group', 'ETH']])
    expect(one.asset(1, address('a')).group).toBe('ETH')
    const change = (value: string, removed: number) =>
      one.with([{ subject, kind: 'group', value, removed, recorded_at: 2 }]).asset(1, address('a')).group
    expect(change('"BTC"', 0)).toBe('BTC')
    expect(change('', 1)).toBeUndefined()
    expect(change('{"no":1}', 0)).toBeUndefined()
    expect(one.asset(1, address('a')).group).toBe('ETH')
  })
})

it('takes the last value at or before each moment', () => {
  const points = [
    { at: 10, value: 1 },
    { at: 20, value: 2 },
    { at: 30, value: 3 },
  ]
  expect(lastAtOrBefore(points, [5, 10, 19, 20, 31, 99])).toEqual([undefined, 1, 1, 2, 3, 3])
})

it('writes numbers without exponents', () => {
  expect(decimalString(1e-9)).toBe('0.000000001')
  expect(decimalString(1.5e21)).toBe('1500000000000000000000')
  expect(decimalString(-2.5)).toBe('-2.5')
  // Two figures that were served with what arithmetic left behind them.
  expect(decimalString(89.28800000000003)).toBe('89.288')
  expect(usdString(0.0000010009299599999999)).toBe('0.00000100092996')
  expect(usdString(undefined)).toBe('')
  expect(toWhole(123456789n, 6)).toBe(123.456789)
  expect(toWhole(5n, 18)).toBe(5e-18)
  expect(toWhole(-1500n, 3)).toBe(-1.5)
  expect(toWhole(7n, 0)).toBe(7)
})

it('suggests a name that is near, and none where nothing is', () => {
  const known = ['page', 'perPage', 'allowedAssets', 'minTvl']
  expect(misspelt('per_page', known)).toBe('perPage')
  expect(misspelt('allowedAsset', known)).toBe('allowedAssets')
  expect(misspelt('mintvl', known)).toBe('minTvl')
  for (const far of ['foo', '', 'sortOrder', 'x'.repeat(16_000)]) expect(misspelt(far, known)).toBeUndefined()
})

it('takes no value that is older than it may be', () => {
  const points = [
    { at: 10, value: 1 },
    { at: 50, value: 2 },
  ]
  expect(lastAtOrBefore(points, [10, 20, 31, 50, 70, 71], 20)).toEqual([1, 1, undefined, 2, 2, undefined])
})

it('a feed that missed three reports has no price: of its heartbeat, or of a day where none is said', () => {
  const facts = book([
    [`asset:1:${address('a')}`, 'feed', { feed: address('f') }],
    [`asset:1:${address('b')}`, 'feed', { feed: address('f'), heartbeat: 3_600 }],
  ])
  const priceAfter = (asset: string, age: number) =>
    priceOf(
      planPrice(facts, () => undefined, 1, asset),
      () => undefined,
      (_chain, _feed, greatest) => (age <= greatest ? 7 : undefined),
    )
  expect([priceAfter(address('a'), 259_200), priceAfter(address('a'), 259_201)]).toEqual([7, undefined])
  expect([priceAfter(address('b'), 10_800), priceAfter(address('b'), 10_801)]).toEqual([7, undefined])
})
