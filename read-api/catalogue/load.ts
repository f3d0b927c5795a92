import type { ClickHouseClient } from '@clickhouse/client'
import { DAY } from '../../db/units.ts'
import { unfilledIn } from '../moment/filling.ts'
import { ask } from '../moment/query.ts'
import { noteRetractions } from '../moment/visible.ts'
import { catalogueParts } from './load-parts.ts'
import type { CataloguePart, Fold, Moves, Range } from './part.ts'
import * as queries from './queries.ts'
import type { RawState } from './raw.ts'

/** When more contracts than this moved, reading the whole range is cheaper than naming them. */
const MANY = 2_000

/** Price ranges look back seven days from a vault's last sample; one much older than this is stale anyway. */
const RANGE_DAYS = 10

/** The longest window that what rewards yield is said for. */
const STREAM_DAYS = 30

/**
 * Brings what is known of a chain from position `from` (0: nothing) to `to`. When blocks were retracted between, what
 * they touched is forgotten and read anew. `now`: the chain's time at `to`, unix seconds. A part whose read models are being
 * filled for the first time is left out: it is read when they are whole.
 */
export async function loadChain(
  clickhouse: ClickHouseClient,
  raw: RawState,
  chain: number,
  from: number,
  to: number,
  now: number,
): Promise<void> {
  const range: Range = {
    chain,
    from,
    p: to,
    rangeSince: Math.max(0, now - RANGE_DAYS * DAY),
    streamsSince: Math.max(0, now - STREAM_DAYS * DAY),
  }
  const parts = catalogueParts.filter(({ sql }) =>
    sql.every(of => unfilledIn(clickhouse, of, chain) === undefined),
  )
  const { forgotten, folds } =
    from === 0 ? await loadAll(clickhouse, parts, range) : await loadMoves(clickhouse, parts, range)
  // From here on nothing can fail: a reader of `raw` finds the old moment or the new one.
  for (const contract of forgotten) raw.forget(chain, contract)
  for (const fold of folds) fold(raw)
}

interface Loaded {
  forgotten: string[]
  folds: Fold[]
}

async function loadAll(
  clickhouse: ClickHouseClient,
  parts: readonly CataloguePart[],
  range: Range,
): Promise<Loaded> {
  const { chain, from, p: to } = range
  const [last] = await ask(clickhouse, queries.lastRetraction, { ...range })
  noteRetractions(clickhouse, chain, { from, to, last: last?.newest })
  return { forgotten: [], folds: await Promise.all(parts.map(part => part.readAll(clickhouse, range))) }
}

async function loadMoves(
  clickhouse: ClickHouseClient,
  parts: readonly CataloguePart[],
  range: Range,
): Promise<Loaded> {
  const { chain, from, p: to } = range
  const asked = { ...range }
  const all = await ask(clickhouse, queries.movedContracts, asked)
  const has = (...types: string[]) => all.some(row => types.some(type => row.types.includes(type)))
  const moved = all.filter(({ contract }) => contract !== '')
  const hasRetraction = has('BlockRetracted')
  const [last] = hasRetraction ? await ask(clickhouse, queries.lastRetraction, asked) : []
  noteRetractions(clickhouse, chain, { from, to, last: last?.newest })
  const touched = hasRetraction ? await ask(clickhouse, queries.retractedContracts, asked) : []
  const forgotten = touched.map(({ contract }) => contract)
  const isMany = moved.length > MANY
  const reported = !isMany && has('PriceReported') ? await ask(clickhouse, queries.reportedFeeds, asked) : []
  const moves: Moves = {
    has,
    having: (...types) =>
      moved.filter(row => row.types.some(type => types.includes(type))).map(({ contract }) => contract),
    feeds: reported.map(({ feed }) => feed),
    hasRetraction,
  }
  const since = Math.min(...moved.map(row => row.since))
  const folds = await Promise.all(
    parts.flatMap(part => readMoves(clickhouse, part, range, { moves, forgotten, since, isMany })),
  )
  return { forgotten, folds }
}

function readMoves(
  clickhouse: ClickHouseClient,
  part: CataloguePart,
  range: Range,
  { moves, forgotten, since, isMany }: { moves: Moves; forgotten: string[]; since: number; isMany: boolean },
): Promise<Fold>[] {
  const names = part.names(moves)
  if (part.isWhole) return names.length > 0 ? [part.readAll(clickhouse, range)] : []
  const again = forgotten.length > 0 ? [part.readThese(clickhouse, range, forgotten, 0)] : []
  if (isMany && !part.isByName) return [...again, part.readAll(clickhouse, range)]
  return names.length > 0 ? [...again, part.readThese(clickhouse, range, names, since)] : again
}
