import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Job } from '../../db/wake-ups.ts'
import { Pace } from '../../jobs/pace.ts'
import { dealt } from '../../jobs/process-groups.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const job = (to: number, stream = 1): Job => ({ projection: 'event', stream, to })

test('what comes while a stream is at work or at rest is given once, the newest, after a rest as long as the work', () => {
  const given: Job[] = []
  const pace = new Pace(again => given.push(again))
  expect(pace.begin(job(10))).toBe(true)
  expect(pace.begin(job(11))).toBe(false)
  expect(pace.begin(job(5, 2))).toBe(true)
  vi.advanceTimersByTime(300)
  pace.end(1, 300)
  expect(pace.begin(job(12))).toBe(false)
  vi.advanceTimersByTime(299)
  expect(given).toEqual([])
  vi.advanceTimersByTime(1)
  expect(given).toEqual([job(12)])
  expect(pace.begin(job(12))).toBe(true)
})

test('however long a batch took, a stream rests for a second at most, and one that rested begins at once', () => {
  const given: Job[] = []
  const pace = new Pace(again => given.push(again))
  expect(pace.begin(job(10))).toBe(true)
  pace.end(1, 60_000)
  expect(pace.begin(job(11))).toBe(false)
  vi.advanceTimersByTime(1_000)
  expect(given).toEqual([job(11)])
  pace.begin(job(11))
  pace.end(1, 5)
  vi.advanceTimersByTime(5)
  expect(pace.begin(job(12))).toBe(true)
  // Another worker holds it: looked at again though nobody says so.
  pace.end(1, 250, job(12))
  vi.advanceTimersByTime(250)
  expect(given).toEqual([job(11), job(12)])
})

test('networks share so many processes, those with the most blocks each in another one', () => {
  expect(dealt(['mainnet', 'arbitrum', 'gnosis', 'robinhood', 'base'], 2)).toEqual([
    ['robinhood', 'base', 'mainnet'],
    ['arbitrum', 'gnosis'],
  ])
  expect(dealt(['mainnet'], 4)).toEqual([['mainnet']])
})
