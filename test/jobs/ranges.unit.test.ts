import { describe, expect, it } from 'vitest'
import { cutOf, type Fork } from '../../jobs/ranges.ts'

const cut = (
  forks: Fork[],
  { from = 0, end = 100, leaveOutTo = 1_000, readAt = [] as number[] } = {},
): number => cutOf(forks, { from, end, leaveOutTo, readAt })

/** Takes back all from `first` up to itself, but for `taken` positions. */
const fork = (first: number, at: number, taken = 0): Fork => ({ at, first, count: at - first - taken })

describe('a batch', () => {
  it('ends where it would without forks', () => {
    expect(cut([])).toBe(100)
    expect(cut([fork(150, 160)])).toBe(100)
  })

  it('goes over a fork of which nothing is left', () => {
    expect(cut([fork(20, 30), fork(50, 52)])).toBe(100)
  })

  it('ends before a fork that is too new to be left out', () => {
    expect(cut([fork(20, 30), fork(50, 52)], { leaveOutTo: 0 })).toBe(29)
    expect(cut([fork(20, 30), fork(50, 52)], { leaveOutTo: 51 })).toBe(51)
  })

  it('begins with retractions of what earlier batches made, and ends before the next of that kind', () => {
    expect(cut([fork(20, 30), fork(15, 31, 1)], { from: 29 })).toBe(100)
    expect(cut([fork(20, 30), fork(15, 40)], { from: 29 })).toBe(39)
  })

  it('ends before a fork amid which somebody reads, but not where the reader sees none of it or all', () => {
    expect(cut([fork(20, 30)], { readAt: [25] })).toBe(29)
    expect(cut([fork(20, 30)], { readAt: [20] })).toBe(29)
    expect(cut([fork(20, 30)], { readAt: [29] })).toBe(29)
    expect(cut([fork(20, 30)], { readAt: [19, 30] })).toBe(100)
  })

  it('does not end amid a fork that is left out', () => {
    expect(cut([fork(90, 110)])).toBe(89)
    // Blocks of 95 to 99 and of 90 to 94 are taken back one after the other, the newest first.
    expect(
      cut([
        { at: 101, first: 95, count: 6 },
        { at: 102, first: 90, count: 5 },
      ]),
    ).toBe(89)
    expect(cut([fork(90, 110)], { end: 95 })).toBe(89)
  })

  it('ends behind a fork that it begins with', () => {
    expect(cut([fork(1, 110)])).toBe(110)
    const blocks = [
      { at: 110, first: 50, count: 60 },
      { at: 111, first: 1, count: 49 },
    ]
    expect(cut(blocks)).toBe(111)
    // Of the fork of 1 to 110 somebody has seen 1 to 20: it may not be left out.
    expect(cut(blocks, { from: 20 })).toBe(49)
    expect(cut(blocks, { from: 49 })).toBe(110)
  })

  it('takes a fork of many blocks as one', () => {
    const blocks: Fork[] = [
      { at: 60, first: 50, count: 10 },
      { at: 61, first: 45, count: 5 },
      { at: 62, first: 40, count: 5 },
    ]
    expect(cut(blocks)).toBe(100)
    expect(cut(blocks, { readAt: [47] })).toBe(60)
    expect(cut(blocks, { readAt: [42] })).toBe(61)
  })

  it('ends before a fork amid which something stays', () => {
    // Position 27 is an older block of a vault found later.
    expect(cut([fork(20, 30, 1)])).toBe(29)
    // A fork within a fork: 30 took back 25 to 29, and 41 all the rest.
    expect(
      cut([
        { at: 30, first: 25, count: 5 },
        { at: 41, first: 20, count: 15 },
      ]),
    ).toBe(100)
    // Not all of what 30 should take back is gone by then: the batch ends there, once nothing else is amid.
    const nested = [
      { at: 30, first: 25, count: 4 },
      { at: 41, first: 20, count: 16 },
    ]
    expect(cut(nested)).toBe(19)
    expect(cut(nested, { from: 19 })).toBe(29)
  })

  it('ends before a fork that reaches far back', () => {
    expect(cut([fork(1_000, 50_000)], { end: 60_000, leaveOutTo: 90_000 })).toBe(49_999)
  })
})
