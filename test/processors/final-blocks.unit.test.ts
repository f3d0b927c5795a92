import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FinalSource, finalBlocks } from '../../processors/final-blocks.ts'
import type { RpcBlock } from '../../processors/rpc-block.ts'

const TOPIC = `0x${'d'.repeat(64)}`
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

interface Chain {
  /** Heights of the finalized head, one for each time it is asked for; the last one stays. */
  heads: number[]
  logs?: number
  /** More blocks at once are refused, at the n-th request. */
  limit?: (n: number) => number
  /** From this block on there is nothing. */
  broken?: number
  /** Milliseconds that a request takes. */
  takes?: (from: number) => number
}

/** A node with so many logs in every block, and the ranges that it was asked for. */
function node({
  heads,
  logs = 0,
  limit = () => 1000,
  broken = Number.POSITIVE_INFINITY,
  takes = () => 0,
}: Chain) {
  const asked: { from: number; to: number }[] = []
  const blockOf = (height: number): RpcBlock => ({
    height,
    block: { hash: hash(height), parentHash: hash(height + 1), timestamp: '0x1', transactions: [] },
    logs: Array.from({ length: logs }, (_, i) => ({
      address: '0xa',
      topics: [TOPIC],
      data: '0x',
      logIndex: `0x${i.toString(16)}`,
      transactionHash: '0x1',
    })),
  })
  const source: FinalSource = {
    getFinalizedHeight: async () => (heads.length > 1 ? heads.shift() : heads[0]) ?? 0,
    rpc: {
      withPriority: () => ({
        async getColdSplit({ range: { from, to } }) {
          asked.push({ from, to })
          await sleep(takes(from))
          if (to - from + 1 > limit(asked.length) || to >= broken)
            throw new Error(`refused: ${from} to ${to}`)
          return Array.from({ length: to - from + 1 }, (_, i) => blockOf(from + i))
        },
      }),
    },
  }
  return { source, asked, sizes: () => asked.map(({ from, to }) => to - from + 1) }
}

/** Heights of the blocks of each batch; `handling` takes as long as the caller wants. */
async function batches(
  { source }: ReturnType<typeof node>,
  { from = 0, to, stopOnHead = true }: { from?: number; to?: number; stopOnHead?: boolean } = {},
  handling: () => Promise<unknown> = async () => {},
) {
  const found: number[][] = []
  for await (const { blocks } of finalBlocks(source, [{ topic0: [TOPIC] }], [{ from, to }], {
    stopOnHead,
    pollInterval: 20,
  })) {
    found.push(blocks.map(({ header }) => header.height))
    await handling()
  }
  return found
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe('final blocks', () => {
  test('come once and in order, whatever the node takes and refuses', () =>
    fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 50 }),
        fc.nat({ max: 600 }),
        fc.integer({ min: 10, max: 120 }),
        fc.constantFrom(0, 3, 30, 300),
        fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 9 }),
        async (from, more, limit, logs, delays) => {
          const to = from + more
          const takes = (at: number) => delays[at % delays.length] ?? 0
          const chain = node({ heads: [to], logs, limit: () => limit, takes })
          expect((await batches(chain, { from })).flat()).toEqual(range(from, to))
        },
      ),
      { numRuns: 40 },
    ))

  test('that came while others were handled come together', async () => {
    const found = await batches(node({ heads: [99], logs: 100 }), {}, () => sleep(20))
    expect(found.flat()).toEqual(range(0, 99))
    // Of ten times ten blocks.
    expect(found.length).toBeLessThanOrEqual(4)
  })

  test('are asked for a hundred at once where they hold little, and ten at once where they hold much', async () => {
    const quiet = node({ heads: [2000] })
    await batches(quiet)
    expect(Math.max(...quiet.sizes())).toBe(100)
    const busy = node({ heads: [300], logs: 100 })
    await batches(busy)
    expect(new Set(busy.sizes())).toEqual(new Set([10, 1]))
    const middling = node({ heads: [2000], logs: 20 })
    await batches(middling)
    expect(Math.max(...middling.sizes())).toBe(50)
  })

  test('that a node refuses at once are asked for in smaller ranges from then on', async () => {
    const chain = node({ heads: [5000], limit: () => 60 })
    expect((await batches(chain)).flat()).toEqual(range(0, 5000))
    const refused = chain.sizes().filter(size => size > 60)
    expect(refused.length).toBeGreaterThan(0)
    // Asked for once more now and then: it may have been another failure.
    expect(refused.length).toBeLessThan(chain.asked.length / 10)
  })

  test('are asked for in ranges as wide as before some time after a failure', async () => {
    const chain = node({ heads: [9000], limit: n => (n > 20 && n < 30 ? 10 : 1000) })
    expect((await batches(chain)).flat()).toEqual(range(0, 9000))
    expect(chain.sizes().slice(-20)).toContain(100)
  })

  test('before one that cannot be had are handed out first', async () => {
    const found: number[] = []
    const reading = async () => {
      const { source } = node({ heads: [99], logs: 100, broken: 35 })
      for await (const { blocks } of finalBlocks(source, [{}], [{ from: 0 }], {
        stopOnHead: true,
        pollInterval: 20,
      })) {
        found.push(...blocks.map(({ header }) => header.height))
        await sleep(10)
      }
    }
    await expect(reading()).rejects.toThrow('refused: 30 to 39')
    expect(found).toEqual(range(0, 29))
  })

  test('end at the head, or go on with it up to the last one that is wanted', async () => {
    const grown = await batches(node({ heads: [120, 125], logs: 100 }), {}, () => sleep(30))
    expect(grown.flat()).toEqual(range(0, 125))
    const waited = await batches(node({ heads: [2, 2, 2, 5, 9, 30] }), { to: 20, stopOnHead: false })
    expect(waited.flat()).toEqual(range(0, 20))
    expect(await batches(node({ heads: [3] }), { from: 4 })).toEqual([])
  })
})
