import { describe, expect, test } from 'vitest'
import { Rhythm } from '../../processors/source/rhythm.ts'
import { seededRandom } from '../chain/random.ts'

interface Run {
  /** Milliseconds between blocks, one after the other. */
  gaps: (i: number) => number
  blocks: number
  /** What the table of networks says. */
  blockTime: number
  looks?: number
  /** Milliseconds by which a block, and a look, may come later than it should: no network and no timer is exact. */
  noise?: () => number
  /** The same of blocks alone. */
  late?: () => number
  /** Blocks that are not counted: until a rhythm is known they are looked for closely. */
  unknown?: number
}

/** Looks at a chain when the rhythm says: requests for a block (looks, and one for its logs), and how late it was seen. */
function follow({
  gaps,
  blocks,
  blockTime,
  looks,
  noise = () => 0,
  late: lateness = noise,
  unknown = 30,
}: Run) {
  const slots: number[] = [5_000]
  for (let i = 1; i < blocks; i++) slots.push((slots[i - 1] ?? 0) + gaps(i))
  const born = slots.map(slot => slot + lateness())
  const rhythm = new Rhythm(blockTime, looks)
  const late: number[] = []
  let requests = 0
  let seen = 0
  let from = 0
  for (let at = 5_000; seen < blocks; at = Math.max(at + 1, rhythm.next(false) + noise())) {
    let newest = seen
    while (newest < blocks && (born[newest] ?? 0) <= at) newest++
    if (seen > unknown) requests++
    else from = newest
    if (newest > seen && seen > unknown) {
      requests += newest - seen
      late.push(...born.slice(seen, newest).map(time => at - time))
    }
    seen = newest
    rhythm.saw({ at, height: newest })
  }
  late.sort((a, b) => a - b)
  const part = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? 0
  return { requestsPerBlock: requests / (blocks - from), p50: part(0.5), p90: part(0.9), p99: part(0.99) }
}

describe('looks for new blocks', () => {
  test.each([12_000, 5_000, 2_000, 1_000, 250, 100])(
    'every %i ms: at most three requests a block, a tenth of a block late',
    gap => {
      const { requestsPerBlock, p50, p99 } = follow({ gaps: () => gap, blocks: 2_000, blockTime: gap })
      const step = Math.max(100, Math.min(1_000, gap / 10))
      expect(requestsPerBlock).toBeLessThanOrEqual(3)
      expect(p50).toBeLessThanOrEqual(step)
      expect(p99).toBeLessThanOrEqual(1.5 * step)
    },
  )

  test('of another rhythm than the table says', () => {
    const { requestsPerBlock, p99 } = follow({ gaps: () => 2_000, blocks: 2_000, blockTime: 12_000 })
    expect(requestsPerBlock).toBeLessThanOrEqual(3)
    expect(p99).toBeLessThanOrEqual(300)
  })

  test('that come when they like are no more either, nor are those that pause', () => {
    const random = seededRandom(7)
    const jitter = follow({ gaps: () => 1_600 + 800 * random.next(), blocks: 3_000, blockTime: 2_000 })
    expect(jitter.requestsPerBlock).toBeLessThanOrEqual(3)
    expect(jitter.p50).toBeLessThanOrEqual(600)
    const missed = follow({
      gaps: () => (random.chance(0.02) ? 24_000 : 12_000),
      blocks: 3_000,
      blockTime: 12_000,
    })
    expect(missed.requestsPerBlock).toBeLessThanOrEqual(3)
    expect(missed.p50).toBeLessThanOrEqual(1_000)
    // The block after a slot that was passed over is no later than others, nor are those after it.
    expect(missed.p90).toBeLessThanOrEqual(1_000)
    expect(missed.p99).toBeLessThanOrEqual(2_500)
    const wild = follow({ gaps: () => -2_000 * Math.log(1 - random.next()), blocks: 3_000, blockTime: 2_000 })
    expect(wild.requestsPerBlock).toBeLessThanOrEqual(3.1)
  })

  test('that waver are found as soon as those that do not', () => {
    const random = seededRandom(8)
    const gaps = () => 12_000 * (0.95 + 0.1 * random.next())
    const { requestsPerBlock, p50, p99 } = follow({ gaps, blocks: 2_000, blockTime: 12_000 })
    expect(requestsPerBlock).toBeLessThanOrEqual(3)
    expect(p50).toBeLessThanOrEqual(600)
    expect(p99).toBeLessThanOrEqual(2_000)
  })

  test.each([12_000, 5_000, 2_000])('every %i ms, give or take a few, are found in time', gap => {
    const random = seededRandom(10)
    const run = { gaps: () => gap, blockTime: gap, noise: () => 50 * random.next() }
    const { requestsPerBlock, p99 } = follow({ ...run, blocks: 2_000 })
    expect(requestsPerBlock).toBeLessThanOrEqual(3)
    expect(p99).toBeLessThanOrEqual(1_500)
    // Nor is most of a block lost while little is known of them.
    const begun = follow({ ...run, blocks: 75, unknown: 5 })
    expect(begun.requestsPerBlock).toBeLessThanOrEqual(3.5)
    expect(begun.p90).toBeLessThanOrEqual(gap / 4)
  })

  test('that take up to a second to arrive, one slot in fifty without any, are found as soon as can be', () => {
    const random = seededRandom(11)
    const gaps = () => (random.chance(0.02) ? 24_000 : 12_000)
    const run = { gaps, blocks: 3_000, blockTime: 12_000, late: () => 1_000 * random.next() }
    const { requestsPerBlock, p50, p90, p99 } = follow(run)
    expect(requestsPerBlock).toBeLessThanOrEqual(3)
    expect(p50).toBeLessThanOrEqual(500)
    expect(p90).toBeLessThanOrEqual(1_500)
    expect(p99).toBeLessThanOrEqual(3_500)
  })

  test.each([2, 10, 40])(
    'of a chain that stands still after %i of them are looked for about once a block',
    blocks => {
      const rhythm = new Rhythm(12_000)
      let at = 0
      for (let height = 1; height <= blocks; height++, at += 12_000) rhythm.saw({ at, height })
      const looks: number[] = []
      for (const from = at; at < from + 3_600_000; ) {
        rhythm.saw({ at, height: blocks })
        looks.push(at)
        at = rhythm.next()
      }
      // 300 blocks are due in that hour, and the first are looked for more closely; every second until there is any rhythm.
      expect(looks.length).toBeLessThanOrEqual(blocks > 4 ? 400 : 3_600)
    },
  )

  test('are as eager as is asked for', () => {
    const random = seededRandom(9)
    const run = { gaps: () => 1_600 + 800 * random.next(), blocks: 3_000, blockTime: 2_000 }
    const usual = follow(run)
    const eager = follow({ ...run, looks: 6 })
    expect(eager.p50).toBeLessThan(0.6 * usual.p50)
    expect(eager.requestsPerBlock).toBeLessThanOrEqual(7)
    const sparing = follow({ ...run, looks: 1.2 })
    expect(sparing.requestsPerBlock).toBeLessThanOrEqual(2.21)
    const rare = follow({ ...run, looks: 0.2 })
    expect(rare.requestsPerBlock).toBeLessThanOrEqual(1.21)
    expect(rare.p99).toBeLessThanOrEqual(11_000)
  })
})
