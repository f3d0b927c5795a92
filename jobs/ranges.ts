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
}

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
export function planRange(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  end: number,
  target: Target,
  options: PlanOptions = {},
): Promise<Range> {
  const known = plansOf(clickhouse)
  const key = planKey(stream, from, end, target, options)
  const plan = known.get(key) ?? findRange(clickhouse, stream, from, end, target, options)
  known.set(key, plan)
  // What could not be found is asked for again.
  plan.catch(() => known.delete(key))
  return plan
}

/** Plans by database: after each block every projection asks for the same one. Events do not change. */
const plans = new WeakMap<ClickHouseClient, LRUCache<string, Promise<Range>>>()

function plansOf(clickhouse: ClickHouseClient): LRUCache<string, Promise<Range>> {
  // A history of forks that cannot be left out has a range for each of them, and projections go through it one after the other.
  const known = plans.get(clickhouse) ?? new LRUCache<string, Promise<Range>>({ max: 10_000 })
  plans.set(clickhouse, known)
  return known
}

const planKey = (
  stream: number,
  from: number,
  end: number,
  { position, block_number }: Target,
  { isBegun = false, leaveOutTo = 0, readAt = [] }: PlanOptions,
): string => {
  const within = readAt.filter(at => at > from)
  return [stream, from, end, position, block_number, isBegun, Math.max(leaveOutTo, from), ...within].join()
}

/** Keeps the plan of a range that was mirrored just now, so that no projection has to ask for it. */
export function expectRange(clickhouse: ClickHouseClient, stream: number, batch: MirroredBatch): void {
  const { from, to, block, types, isWhole } = batch
  if (!types || !isWhole) return
  const target = { position: to, block_number: block.number, block_time: block.time }
  plansOf(clickhouse).set(
    planKey(stream, from, to, target, {}),
    Promise.resolve({ from, to, block, types, hasForks: false }),
  )
}

async function findRange(
  clickhouse: ClickHouseClient,
  stream: number,
  from: number,
  end: number,
  target: Target,
  { isBegun = false, leaveOutTo = 0, readAt = [] }: PlanOptions,
): Promise<Range> {
  // One that takes more than FAR with it is not left out: those behind need not be known.
  const known = Math.max(end, Math.min(leaveOutTo, end + FAR))
  const cut = isBegun
    ? end
    : cutOf(await readForks(clickhouse, stream, from, known), { from, end, leaveOutTo, readAt })
  const answer = await clickhouse.query({
    // ORDER BY … LIMIT 1 stops at the first hit; min() would read the rest of the stream for every batch.
    query: `
      WITH
        (SELECT block_hash FROM event WHERE stream = {stream:Int32} AND position = {cut:UInt64} LIMIT 1) AS cut_hash,
        ifNull((
          SELECT position FROM event
          WHERE stream = {stream:Int32} AND position > {cut:UInt64} AND position <= {last:UInt64} AND (block_hash != cut_hash OR type = 'BlockRetracted')
          ORDER BY stream, position LIMIT 1
          SETTINGS max_threads = 1, optimize_read_in_order = 1), 0) AS after_block,
        toUInt64(multiIf({begun:Bool}, {cut:UInt64}, after_block > 0, after_block - 1, {last:UInt64})) AS end
      SELECT
        end AS to,
        argMax(block_number, position) AS number,
        toUnixTimestamp(argMax(timestamp, position)) AS time,
        groupUniqArray(type) AS types,
        count() AS rows,
        (SELECT count() FROM retracted WHERE stream = {stream:Int32} AND position > {from:UInt64} AND retracted_by <= end) > 0 AS forks
      FROM event WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= end`,
    query_params: { stream, from, cut, last: target.position, begun: isBegun },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'plan range', output_format_json_quote_64bit_integers: 0 },
  })
  const [row] = await answer.json<{
    to: number
    number: number
    time: number
    types: string[]
    rows: number
    forks: boolean | number
  }>()
  const to = row?.to ?? end
  // Positions have no gaps: fewer are still to come from another replica, more are a copy that will be merged.
  if (row?.rows !== to - from)
    throw new UnavailableError(
      `ClickHouse has ${row?.rows ?? 0} events of positions ${from + 1} to ${to} of stream ${stream}, not ${to - from}.`,
    )
  const block =
    to >= target.position
      ? { number: target.block_number, time: target.block_time }
      : { number: row.number, time: row.time }
  return { from, to, block, types: new Set(row.types), hasForks: Boolean(row.forks) }
}

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
    query: `SELECT retracted_by AS at, min(position) AS first, uniqExact(position) AS count FROM retracted
      WHERE stream = {stream:Int32} AND retracted_by > {from:UInt64} AND retracted_by <= {to:UInt64} GROUP BY at ORDER BY at`,
    query_params: { stream, from, to },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'plan range', output_format_json_quote_64bit_integers: 0 },
  })
  return answer.json<Fork>()
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
