import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import { UnavailableError } from '../db/process/errors.ts'
import type { MirroredBatch } from './mirror.ts'

export interface Range {
  from: number
  to: number
  block: { number: number; time: number }
  types: ReadonlySet<string>
  /** Whether retractions in it take back events of it: rows are made without those, as if the fork had never been. */
  hasForks: boolean
  /** It was begun before: some of its rows may be there already. */
  isRepeated?: boolean
}

type FoundRange = Omit<Range, 'hasForks' | 'isRepeated'>

/** Up to where a range is wanted. */
interface Target {
  position: number
  block_number: number
  block_time: number
}

interface PlanOptions {
  /** It keeps its end, whatever was mirrored since: with other bounds its inserts would not deduplicate. */
  isBegun?: boolean
  /** Forks up to this position may be left out; by default none. */
  leaveOutTo?: number
  /** Positions at which somebody reads, or may yet: what was there for them is not left out. */
  readAt?: readonly number[]
}

/**
 * Where a batch ends: at a block boundary, and before a retraction that is not at its very beginning, unless all that came after
 * what it takes back is taken back with it: such a fork may be left out.
 */
export async function planRange(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  end: number,
  target: Target,
  { isBegun = false, leaveOutTo = 0, readAt = [] }: PlanOptions = {},
): Promise<Range> {
  const known = knownOf(clickhouse)
  // What was mirrored just now is the next batch as it is, whoever reads.
  const expected = known.expected.get(rangeKey(stream, from, end, target))
  if (expected && !isBegun && leaveOutTo < end) return expected
  // One that takes more than FAR with it is not left out: those behind need not be known.
  const until = isBegun ? end : Math.max(end, Math.min(leaveOutTo, end + FAR))
  const forks = await kept(known.forks, [stream, from, until].join(), () =>
    readForks(clickhouse, stream, from, until),
  )
  const cut = isBegun ? end : cutOf(forks, { from, end, leaveOutTo, readAt })
  const found = await kept(known.ranges, rangeKey(stream, from, cut, target, isBegun), () =>
    findRange(clickhouse, stream, from, cut, target, isBegun),
  )
  const hasForks = forks.some(({ at, first }) => first > from && at <= found.to)
  return { ...found, hasForks, isRepeated: isBegun }
}

/** What was found out about a database's events, which do not change: projections ask for the same, one after the other. */
interface Known {
  forks: LRUCache<string, Promise<Fork[]>>
  ranges: LRUCache<string, Promise<FoundRange>>
  /** What was mirrored and is to be asked for. */
  expected: LRUCache<string, Range>
}

const knownBy = new WeakMap<ClickHouseClient, Known>()

function knownOf(clickhouse: ClickHouseClient): Known {
  // Of a history of forks that cannot be left out there is a range for each of them.
  const known = knownBy.get(clickhouse) ?? {
    forks: new LRUCache<string, Promise<Fork[]>>({ max: 1_000 }),
    ranges: new LRUCache<string, Promise<FoundRange>>({ max: 10_000 }),
    expected: new LRUCache<string, Range>({ max: 1_000 }),
  }
  knownBy.set(clickhouse, known)
  return known
}

function kept<T extends object>(
  known: LRUCache<string, Promise<T>>,
  key: string,
  find: () => Promise<T>,
): Promise<T> {
  const value = known.get(key) ?? find()
  known.set(key, value)
  // What could not be found is asked for again.
  value.catch(() => known.delete(key))
  return value
}

const rangeKey = (
  stream: number,
  from: number,
  cut: number,
  { position, block_number }: Target,
  isBegun = false,
): string => [stream, from, cut, position, block_number, isBegun].join()

/** Keeps the plan of a range that was mirrored just now, so that no projection has to ask for it. */
export function expectRange(clickhouse: ClickHouseClient, stream: number, batch: MirroredBatch): void {
  const { from, to, block, types, isWhole } = batch
  if (!types || !isWhole) return
  const target = { position: to, block_number: block.number, block_time: block.time }
  knownOf(clickhouse).expected.set(rangeKey(stream, from, to, target), {
    from,
    to,
    block,
    types,
    hasForks: false,
  })
}

/** The range that ends with the block that holds `cut`. */
async function findRange(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  cut: number,
  target: Target,
  isBegun: boolean,
): Promise<FoundRange> {
  const answer = await clickhouse.query({
    // ORDER BY … LIMIT 1 stops at the first hit; min() would read the rest of the stream for every batch.
    query: `
      WITH
        (SELECT block_hash FROM event WHERE stream = {stream:Int32} AND position = {cut:UInt64} LIMIT 1) AS cut_hash,
        ifNull((
          SELECT position FROM event
          WHERE stream = {stream:Int32} AND position > {cut:UInt64} AND position <= {last:UInt64} AND (block_hash != cut_hash OR type = 'BlockRetracted')
          ORDER BY stream, position LIMIT 1
          SETTINGS max_threads = 1, optimize_read_in_order = 1), 0) AS after_block
      SELECT
        toUInt64(multiIf({begun:Bool}, {cut:UInt64}, after_block > 0, after_block - 1, {last:UInt64})) AS to,
        argMax(block_number, position) AS number,
        toUnixTimestamp(argMax(timestamp, position)) AS time,
        groupUniqArray(type) AS types,
        count() AS rows
      FROM event WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= to`,
    query_params: { stream, from, cut, last: target.position, begun: isBegun },
    format: 'JSONEachRow',
    clickhouse_settings: SETTINGS,
  })
  const [row] = await answer.json<{
    to: number
    number: number
    time: number
    types: string[]
    rows: number
  }>()
  const to = row?.to ?? cut
  assertAll(row, { stream, from, to })
  const block =
    to >= target.position
      ? { number: target.block_number, time: target.block_time }
      : { number: row.number, time: row.time }
  return { from, to, block, types: new Set(row.types) }
}

const SETTINGS = { log_comment: 'plan range', output_format_json_quote_64bit_integers: 0 } as const

/** A retraction, by its position, and what it takes back: `count` positions from `first` on. */
export interface Fork {
  at: number
  first: number
  count: number
}

/** The retractions at positions (from, to], in their order. */
async function readForks(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  to: number,
): Promise<Fork[]> {
  const answer = await clickhouse.query({
    query: `
      SELECT groupArray(CAST((at, first, count), 'Tuple(at UInt64, first UInt64, count UInt64)')) AS forks,
        (SELECT count() FROM event WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}) AS rows
      FROM (
        SELECT DISTINCT position AS at, JSONExtractUInt(data, 'fromPosition') AS first,
          JSONExtractUInt(data, 'toPosition') + 1 - first AS count
        FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'BlockRetracted'
        ORDER BY at)`,
    query_params: { stream, from, to },
    format: 'JSONEachRow',
    clickhouse_settings: SETTINGS,
  })
  const [row] = await answer.json<{ forks: Fork[]; rows: number }>()
  assertAll(row, { stream, from, to })
  return row.forks
}

/** Positions have no gaps: fewer are still to come from another replica, more are a copy that will be merged. */
function assertAll<Row extends { rows: number }>(
  row: Row | undefined,
  { stream, from, to }: { stream: number; from: number; to: number },
): asserts row is Row {
  if (row?.rows !== to - from)
    throw new UnavailableError(
      `ClickHouse has ${row?.rows ?? 0} events of positions ${from + 1} to ${to} of stream ${stream}, not ${to - from}.`,
    )
}

/** What takes back more than this many positions ends a batch: it would be far from the size that it is to have. */
const FAR = 10_000

/**
 * Where a batch from `from` to about `end` has to end at the latest.
 *
 * @param forks the retractions behind `from`, in their order
 */
export function cutOf(
  forks: readonly Fork[],
  { from, end, leaveOutTo, readAt }: { from: number; end: number } & Required<Omit<PlanOptions, 'isBegun'>>,
): number {
  const canLeaveOut = ({ at, first }: Fork, n: number) =>
    at <= leaveOutTo &&
    first > from &&
    at - first <= FAR &&
    !readAt.some(position => position >= first && position < at) &&
    isAllGone(forks, n)
  const leftOut = new Set(forks.filter(canLeaveOut))
  // Those at the very beginning take back what earlier batches made.
  const positions = new Set(forks.map(({ at }) => at))
  let begins = from
  while (positions.has(begins + 1)) begins++
  const next = forks.find(fork => fork.at > begins && !leftOut.has(fork))
  const most = (next?.at ?? Number.POSITIVE_INFINITY) - 1
  const latest = Math.min(end, most)
  // Not amid a fork that is left out: who reads at that end would miss in other tables what is in this one. It ends before the fork,
  // or, where the batch begins with it, behind.
  let before = latest
  for (const { at, first } of [...leftOut].toReversed())
    if (first <= before && before < at) before = first - 1
  if (before > from) return before
  let behind = latest
  for (const { at, first } of leftOut) if (first <= behind && behind < at) behind = at
  return Math.min(behind, most)
}

/** Whether all that stands between what a retraction takes back and itself is taken back as well. */
function isAllGone(forks: readonly Fork[], n: number): boolean {
  const fork = forks[n]
  if (!fork) return false
  let gone = fork.count
  for (let i = n - 1; i >= 0; i--) {
    const other = forks[i]
    if (!other || other.at < fork.first) break
    gone += 1 + (other.first >= fork.first ? other.count : 0)
  }
  return gone === fork.at - fork.first
}
