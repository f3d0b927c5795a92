import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PARTS, pointsOf, scoreOf, sharedPoints } from '../../../read-api/catalogue/score.ts'

const full = { protocol: 40, asset: 25, network: 10 }
const base = { usdSeconds: 1e15, holders: 10_000, shared: full, flags: [], isCorrupted: false }
const flag = (severity: 'info' | 'warning' | 'critical', more = {}) => ({
  content: severity,
  severity,
  ...more,
})

describe('a part of the score', () => {
  const parts = Object.keys(PARTS) as (keyof typeof PARTS)[]

  it.each(parts)('%s is 0 at its floor and below, full at its ceiling and above', part => {
    const { floor, ceiling, points } = PARTS[part]
    for (const value of [0, -1, floor / 2, floor, Number.NaN]) expect(pointsOf(part, value)).toBe(0)
    for (const value of [ceiling, ceiling * 2, Infinity]) expect(pointsOf(part, value)).toBe(points)
  })

  it('is half at the geometric middle', () => {
    // √(1e6 · 1e15) and √(1 · 1e4), by hand.
    expect(pointsOf('protocol', 10 ** 10.5)).toBeCloseTo(20, 9)
    expect(pointsOf('holders', 100)).toBeCloseTo(7.5, 9)
    expect(pointsOf('vault', 1e10)).toBeCloseTo(10, 9)
  })

  it('never falls as its figure grows, and stays within its points', () => {
    const value = fc.double({ min: 0, max: 1e20, noNaN: true })
    fc.assert(
      fc.property(fc.constantFrom(...parts), value, value, (part, a, b) => {
        const [less, more] = [pointsOf(part, Math.min(a, b)), pointsOf(part, Math.max(a, b))]
        return less <= more && less >= 0 && more <= PARTS[part].points
      }),
    )
  })

  it('is rounded to tenths where vaults share it', () => {
    expect(sharedPoints('protocol', 10 ** 10.5)).toBe(20)
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e20, noNaN: true }), value => {
        const tenths = sharedPoints('asset', value) * 10
        return Math.abs(tenths - Math.round(tenths)) < 1e-9
      }),
    )
  })
})

describe('the score', () => {
  it('is 100 for a vault that has everything, 0 for one that has nothing', () => {
    expect(scoreOf(base).vaultScore).toBe(100)
    const nothing = { usdSeconds: 0, holders: 0, shared: { protocol: 0, asset: 0, network: 0 } }
    expect(scoreOf({ ...base, ...nothing }).vaultScore).toBe(0)
  })

  it('adds its four parts; the network is no part of it', () => {
    const score = scoreOf({
      ...base,
      usdSeconds: 1e10,
      holders: 100,
      shared: { protocol: 12.3, asset: 4.5, network: 9 },
    })
    expect(score).toMatchObject({
      vaultTvlScore: 10,
      holderScore: 7.5,
      protocolTvlScore: 12.3,
      assetScore: 4.5,
      networkScore: 9,
      vaultScore: 34.3,
    })
  })

  it.each([
    ['no flag', [], 0, 100],
    ['info', [flag('info')], 0.05, 95],
    ['warning', [flag('warning')], 0.2, 80],
    ['critical', [flag('critical')], 0.5, 50],
    ['critical and warning', [flag('warning'), flag('critical')], 0.7, 30],
    ['two criticals', [flag('critical'), flag('critical')], 1, 0],
    ['more than everything', [flag('critical'), flag('critical'), flag('warning')], 1, 0],
    ['a resolved one', [flag('critical', { resolution: 'Repaid.' })], 0, 100],
  ] as const)('less penalties: %s', (_, flags, penalty, left) => {
    const score = scoreOf({ ...base, flags })
    expect(score.totalScorePenalty).toBe(penalty)
    expect(score.vaultScore).toBe(left)
    expect(score.penaltyComponents).toHaveLength(flags.length)
  })

  it('lists the strongest penalty first, with what the flag says and how it ended', () => {
    const { penaltyComponents } = scoreOf({
      ...base,
      flags: [flag('info', { endDate: 9 }), flag('warning', { resolution: 'Fixed.' }), flag('critical')],
    })
    // The end of the year 9999 where nobody wrote down when it ends.
    const endDate = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000
    expect(penaltyComponents).toEqual([
      { type: 'flag', value: 0.5, content: 'critical', severity: 'critical', endDate },
      { type: 'flag', value: 0.05, content: 'info', severity: 'info', endDate: 9 },
      { type: 'flag', value: 0, content: 'warning', severity: 'warning', endDate, resolution: 'Fixed.' },
    ])
  })

  it('is nothing for a corrupted vault', () => {
    const score = scoreOf({ ...base, isCorrupted: true })
    expect(score.vaultScore).toBe(0)
    expect(score.penaltyComponents).toEqual([{ type: 'corrupted', value: 1 }])
  })

  it('stays within 0 and 100, and no flag raises it', () => {
    const flags = fc.array(fc.constantFrom('info', 'warning', 'critical').map(severity => flag(severity)))
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e20, noNaN: true }),
        fc.nat(),
        flags,
        fc.constantFrom('info', 'warning', 'critical'),
        (usdSeconds, holders, some, more) => {
          const before = scoreOf({ ...base, usdSeconds, holders, flags: some }).vaultScore
          const after = scoreOf({ ...base, usdSeconds, holders, flags: [...some, flag(more)] }).vaultScore
          return before >= 0 && before <= 100 && after <= before
        },
      ),
    )
  })
})
