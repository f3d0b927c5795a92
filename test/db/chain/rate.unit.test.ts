import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRate } from '../../../db/chain/rate.ts'
import { steadyNow } from '../../../db/process/steady.ts'

let passed = 0
beforeEach(() => {
  passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => passed)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** Milliseconds for an answer, and after a refusal. */
const AWAY = 40
const PAUSE = 250

/** A minute with a node that takes so many calls a second and refuses the rest, each asked of it at the pace that was found. */
function live(perSecond: (second: number) => number) {
  const rate = openRate(Number.POSITIVE_INFINITY)
  const taken: number[] = []
  const coming: { at: number; sentAt: number; isTaken: boolean }[] = []
  const seconds: { answered: number; refused: number }[] = []
  let nextAt = 0
  const start = steadyNow()
  for (let now = 0; now < 60_000; now += 2) {
    passed = now
    const second = Math.floor(now / 1000)
    seconds[second] ??= { answered: 0, refused: 0 }
    const count = seconds[second]
    while (coming[0] && coming[0].at <= now) {
      const { sentAt, isTaken } = coming.shift() as (typeof coming)[number]
      if (isTaken) rate.answered(1)
      else {
        rate.refused(start + sentAt)
        nextAt = Math.max(nextAt, now + PAUSE)
      }
      count[isTaken ? 'answered' : 'refused']++
    }
    while (nextAt <= now && coming.length < 16) {
      while (taken[0] !== undefined && taken[0] <= now - 1000) taken.shift()
      const isTaken = taken.length < perSecond(second)
      if (isTaken) taken.push(now)
      coming.push({ at: now + AWAY, sentAt: now, isTaken })
      nextAt = Math.max(nextAt, now) + 1000 / rate.now()
    }
  }
  const sum = (what: 'answered' | 'refused', from: number, to: number) =>
    seconds.slice(from, to).reduce((all, one) => all + one[what], 0)
  return { sum, rate }
}

test.each([5, 50, 200])('of %i calls a second most are used, and few are refused', perSecond => {
  const { sum } = live(() => perSecond)
  expect(sum('answered', 5, 60)).toBeGreaterThan(55 * perSecond * 0.6)
  expect(sum('refused', 5, 60)).toBeLessThan(sum('answered', 5, 60) / 5)
})

test('what a node takes later is found out, more or less of it', () => {
  const { sum } = live(second => (second < 20 ? 50 : second < 40 ? 10 : 200))
  expect(sum('answered', 25, 40)).toBeGreaterThan(15 * 10 * 0.5)
  expect(sum('refused', 25, 40)).toBeLessThan(15 * 10)
  expect(sum('answered', 50, 60)).toBeGreaterThan(10 * 100)
})

test('a node that refuses everything is asked ever less', () => {
  const { sum, rate } = live(() => 0)
  expect(rate.now()).toBe(0.5)
  expect(sum('refused', 20, 60)).toBeLessThan(40)
})

test('one that refused everything for a while is asked as before soon after', () => {
  const { sum } = live(second => (second >= 10 && second < 40 ? 0 : 100))
  expect(sum('answered', 46, 60)).toBeGreaterThan(14 * 100 * 0.6)
})

test('one refusal of a few calls, for whatever reason, does not slow down what comes then', () => {
  const rate = openRate(Number.POSITIVE_INFINITY)
  passed = 1_000_000
  rate.answered(2)
  passed += 300
  rate.refused(steadyNow() - 100)
  expect(rate.now()).toBeGreaterThanOrEqual(20)
})
