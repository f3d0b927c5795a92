import { expect, it } from 'vitest'
import { spoken, stateOf } from '../../db/chain-state.ts'
import type { StreamStatus } from '../../db/status.ts'
import { statusTable } from '../../jobs/watch.ts'

const stream = (more: Partial<StreamStatus> = {}): StreamStatus => ({
  stream: 10,
  name: 'optimism',
  kind: 'evm',
  head: 500,
  headBlock: 1_000,
  finalBlock: 990,
  retired: false,
  isFollowed: true,
  quiet: 1,
  age: 3,
  projections: [],
  backfills: [],
  olderLogs: 0,
  waitingContracts: 0,
  leftOut: 0,
  sampledInTurns: [],
  deadLetters: 0,
  withoutState: undefined,
  samplesSince: undefined,
  uncompared: 0,
  differing: 0,
  ...more,
})
const look = (at: number, one: StreamStatus, head?: number) => ({
  at,
  streams: [one],
  heads: new Map(head === undefined ? [] : [[one.name, head]]),
})
/** Cells of the only stream, by the names of their columns. */
function cells(text: string): Record<string, string> {
  const [names = '', rule = '', row = ''] = text.split('\n')
  const ends = [...rule.matchAll(/-+/g)].map(match => [match.index, match.index + match[0].length] as const)
  return Object.fromEntries(
    ends.map(([from, to]) => [names.slice(from, to).trim(), row.slice(from, to).trim()]),
  )
}

it('says how far a chain is behind its own head, how fast it goes and how long that takes', () => {
  const now = look(12_000, stream({ headBlock: 1_500 }), 73_500)
  expect(cells(statusTable(now, look(2_000, stream(), 73_490)))).toMatchObject({
    block: '1500',
    'chain at': '73500',
    behind: '72000',
    'blocks/s': '50',
    'time left': '24m',
    state: 'indexing',
  })
})

it('knows who follows, who waits and who is stuck', () => {
  expect(stateOf(stream(), 1_002)).toBe('live')
  expect(stateOf(stream(), 5_000)).toBe('indexing')
  expect(stateOf(stream({ isFollowed: false }), 5_000)).toBe('no processor')
  expect(stateOf(stream({ quiet: 600 }), 1_300)).toBe('STUCK 10m')
  // A chain without new blocks is not: nor is one whose node says nothing and whose head is young.
  expect(stateOf(stream({ quiet: 600 }), 1_000)).toBe('live')
  expect(stateOf(stream(), undefined)).toBe('node silent')
  expect(stateOf(stream({ quiet: 600, age: 700 }), undefined)).toBe('STUCK 10m')
  expect(stateOf(stream({ headBlock: -1 }), undefined)).toBe('indexing')
  // A balancer may answer by a node that is a few blocks behind.
  expect(stateOf(stream(), 980)).toBe('live')
  expect(stateOf(stream(), 979)).toBe('node behind')
  expect(stateOf(stream({ quiet: 600 }), 979)).toBe('node behind')
  expect(stateOf(stream({ retired: true, quiet: 9_000 }), 5_000)).toBe('retired')
  expect(stateOf(stream({ kind: 'registry', isFollowed: false }), undefined)).toBe('')
})

it('says what to do about a chain that is stuck', () => {
  const text = statusTable(look(0, stream({ quiet: 600 }), 1_300))
  expect(text).toContain('optimism: nothing was stored for 10m while the chain went on to block 1300.')
  expect(statusTable(look(0, stream(), 1_300))).not.toContain('nothing was stored')
})

it('says that a node has not got what is stored', () => {
  const text = statusTable(look(0, stream({ quiet: 600 }), 700))
  expect(text).toContain('optimism: the node is at block 700, 300 behind what is stored')
  expect(statusTable(look(0, stream(), 999))).not.toContain('behind what is stored')
})

it('speaks of time in one unit', () => {
  expect([0, 59, 60, 3_599, 3_600, 86_399, 86_400, 864_000].map(spoken)).toEqual([
    '0s',
    '59s',
    '1m',
    '59m',
    '1h',
    '23h',
    '1d',
    '10d',
  ])
})
