import { describe, expect, test } from 'vitest'
import { withHeaders } from '../../processors/handling/headers.ts'
import type { BlockLogs } from '../../processors/source/rpc-logs.ts'
import { openToldTimes } from '../../processors/source/told-times.ts'

const hash = (number: number, branch = 0) => `0x${branch}${number.toString(16).padStart(63, '0')}`
const time = (number: number, branch = 0) => 1_700_000_000 + number * 12 + branch

function node(branchOf: (number: number) => number = () => 0) {
  const asked: number[] = []
  const rpc = {
    times: openToldTimes(),
    header: async (number: number) => {
      asked.push(number)
      return {
        number,
        hash: hash(number, branchOf(number)),
        parentHash: hash(number - 1),
        timestamp: time(number, branchOf(number)),
      }
    },
  }
  return { rpc, asked }
}

const blocks = (from: number, count: number, tells: (number: number) => number | undefined = time) =>
  Array.from({ length: count }, (_, i): BlockLogs => {
    const number = from + 3 * i
    return { number, hash: hash(number), toldTime: tells(number), logs: [] }
  })
const refsOf = (some: readonly BlockLogs[]) =>
  some.map(({ number }) => expect.objectContaining({ number, hash: hash(number), timestamp: time(number) }))
const told = (found: Awaited<ReturnType<typeof withHeaders>>) => found.map(({ ref }) => ref)

describe('logs with their blocks', () => {
  test('take a header for the first and the last of fifty that are final, once the node is believed', async () => {
    const { rpc, asked } = node()
    await withHeaders(blocks(1, 50), rpc, 10_000)
    expect(asked).toHaveLength(50)
    const some = blocks(1_000, 200)
    // In whatever order they came.
    expect(told(await withHeaders([...some].reverse(), rpc, 10_000))).toEqual(refsOf(some))
    expect(asked.slice(50)).toHaveLength(8)
  })

  test('take the header of each that is not final, and are refused where that is another block by now', async () => {
    const { rpc, asked } = node(number => (number === 2_300 ? 1 : 0))
    await withHeaders(blocks(1, 50), rpc, 10_000)
    const some = blocks(2_000, 50)
    expect(told(await withHeaders(some, rpc, 2_072))).toEqual(refsOf(some))
    expect(asked.slice(50)).toEqual([
      2_000,
      ...some.map(({ number }) => number).filter(number => number > 2_072),
    ])
    await expect(withHeaders(blocks(2_270, 20), rpc, 2_072)).rejects.toThrow('2300')
    // Which says nothing against the node's times.
    const before = asked.length
    await withHeaders(blocks(1_000, 50), rpc, 10_000)
    expect(asked.slice(before)).toHaveLength(2)
  })

  test.each([
    ['does not say it', () => undefined],
    ['says that of another day', (number: number) => time(number) - (number > 1_050 ? 86_400 : 0)],
  ])('have their own time where the node %s', async (_, tells) => {
    const { rpc, asked } = node()
    await withHeaders(blocks(1, 50, tells), rpc, 10_000)
    const some = blocks(1_000, 50, tells)
    expect(told(await withHeaders(some, rpc, 10_000))).toEqual(refsOf(some))
    expect(new Set(asked.slice(50)).size).toBe(50)
  })
})
