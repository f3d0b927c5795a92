import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { log } from '../../db/process/log.ts'
import type { ReadModelGuard } from '../../db/read-models.ts'
import { IncompleteError } from '../http/errors.ts'
import { noteFilling } from '../moment/filling.ts'
import { forgetKept } from '../moment/kept.ts'
import { ask } from '../moment/query.ts'
import type { Moment } from '../moment/snapshot.ts'
import { EMPTY_MOMENT, readMoment, watchCheckpoints } from '../moment/snapshot.ts'
import { noteCompacted } from '../moment/visible.ts'
import { loadBacking } from './backing.ts'
import { advanceCatalogue } from './build.ts'
import type { CatalogueSource } from './catalogue.ts'
import { Catalogue } from './catalogue.ts'
import { loadChain } from './load.ts'
import { PART_TABLES } from './load-parts.ts'
import { registryFacts } from './queries.ts'
import { RawState } from './raw.ts'

export interface CatalogueKeeper extends CatalogueSource {
  /** Brings the catalogue to where the projections stand now. */
  refresh(): Promise<void>
  /** Keeps it fresh until stop(). */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Holds the catalogue of a process: empty until the first refresh. `transactsOn`: chains it has an RPC endpoint for.
 * While `guard` says that read models are not whole, there is no catalogue: `current` throws IncompleteError.
 */
export function createCatalogueKeeper(
  pool: pg.Pool,
  clickhouse: ClickHouseClient,
  transactsOn: ReadonlySet<number> = new Set(),
  guard?: Pick<ReadModelGuard, 'fault'>,
): CatalogueKeeper {
  let raw = new RawState()
  let catalogue = Catalogue.empty(transactsOn)
  let watch: { stop(): Promise<void> } | undefined
  let tail: Promise<void> = Promise.resolve()

  const advance = async () => {
    if (guard?.fault) {
      forgetKept(clickhouse)
      raw = new RawState()
      catalogue = Catalogue.empty(transactsOn)
      return
    }
    const moment = await readMoment(pool)
    const before = catalogue.moment
    noteFilling(clickhouse, moment.filling)
    noteCompacted(clickhouse, moment.compacted)
    if (wentBack(before, moment) || (before !== EMPTY_MOMENT && moment.replays !== before.replays)) {
      log.warn('a projection was replayed or stands further back than before: reading the catalogue anew')
      forgetKept(clickhouse)
      raw = new RawState()
      catalogue = await read(Catalogue.empty(transactsOn), EMPTY_MOMENT, moment)
      return
    }
    if (isSame(before, moment)) {
      if (!isSameElsewhere(before, moment))
        catalogue = catalogue.withMoment({ ...moment, chains: before.chains })
      return
    }
    catalogue = await read(catalogue, before, moment)
  }

  /**
   * Served chain by chain, those first that have the least to read: they need not wait for one with an hour's samples. What
   * is read from the beginning is served when it is whole.
   */
  const read = async (base: Catalogue, before: Moment, moment: Moment): Promise<Catalogue> => {
    const startedAt = performance.now()
    const facts =
      moment.registryPosition > before.registryPosition
        ? base.facts.with(
            await ask(clickhouse, registryFacts, {
              from: before.registryPosition,
              p: moment.registryPosition,
            }),
          )
        : base.facts
    const { moved, start } = movesBetween(before, moment)
    let reached = start
    let next = base
    const failures: unknown[] = []
    for (const { chainId, from, position, blockTime } of moved) {
      try {
        await loadChain(clickhouse, raw, chainId, from, position, blockTime)
        // What is behind found vaults is no part of the chain's own figures: without it they are believed less, for now.
        await loadBacking(clickhouse, raw, facts, chainId, moment).catch((err: unknown) => {
          log.error({ chainId, err }, 'what is behind found vaults of a chain cannot be read')
        })
      } catch (err) {
        // The others go on; this one is tried again at the next move.
        log.error({ chainId, err }, 'the catalogue of a chain cannot be brought forward')
        failures.push(err)
        continue
      }
      reached = withChain(reached, chainId, moment)
      if (before === EMPTY_MOMENT) continue
      next = advanceCatalogue(next, raw, facts, reached)
      catalogue = next
    }
    if (failures.length > 0 && failures.length === moved.length) throw failures[0]
    if (next === base) next = advanceCatalogue(base, raw, facts, reached)
    log.debug({ vaults: next.size, ms: Math.round(performance.now() - startedAt) }, 'catalogue moved')
    return next
  }

  const refresh = () => {
    const run = tail.then(advance)
    tail = run.catch(() => {})
    return run
  }

  return {
    get isServed() {
      return !guard?.fault
    },
    current() {
      if (guard?.fault) throw new IncompleteError(guard.fault)
      return catalogue
    },
    refresh,
    async start() {
      await refresh()
      watch = await watchCheckpoints(pool, refresh)
    },
    async stop() {
      await watch?.stop()
      await tail
    },
  }
}

interface Move {
  chainId: number
  /** Positions (from, position]. */
  from: number
  position: number
  /** Unix seconds. */
  blockTime: number
}

/** What is to be read between two moments, the least first; `start`: the later one, with these chains where they were. */
function movesBetween(before: Moment, moment: Moment): { moved: Move[]; start: Moment } {
  let start = moment
  const moved = [...moment.chains].flatMap(([chainId, { position, blockTime }]) => {
    const known = before.chains.get(chainId)
    const hasFilled = isFilled(before.filling.get(chainId), moment.filling.get(chainId))
    if (position <= (known?.position ?? 0) && !hasFilled) return []
    start = withChain(start, chainId, before)
    return [{ chainId, from: hasFilled ? 0 : (known?.position ?? 0), position, blockTime }]
  })
  return { moved: moved.sort((a, b) => a.position - a.from - (b.position - b.from)), start }
}

/** The moment, with one chain as it is in another. */
function withChain(moment: Moment, chainId: number, other: Moment): Moment {
  const [chains, filling] = [new Map(moment.chains), new Map(moment.filling)]
  const [chain, left] = [other.chains.get(chainId), other.filling.get(chainId)]
  if (chain) chains.set(chainId, chain)
  else chains.delete(chainId)
  if (left) filling.set(chainId, left)
  else filling.delete(chainId)
  return { ...moment, chains, filling }
}

/** Whether tables that the catalogue is made of have all their rows now and had a part of them before. */
function isFilled(before: ReadonlySet<string> = new Set(), now: ReadonlySet<string> = new Set()): boolean {
  return [...before].some(table => !now.has(table) && PART_TABLES.has(table))
}

/** Whether the core face stands where it did. */
function isSame(a: Moment, b: Moment): boolean {
  if ([...b.chains.keys()].some(chain => isFilled(a.filling.get(chain), b.filling.get(chain)))) return false
  if (a.registryPosition !== b.registryPosition || a.replays !== b.replays || a.chains.size !== b.chains.size)
    return false
  for (const [chainId, { position, blockNumber }] of b.chains) {
    const known = a.chains.get(chainId)
    if (known?.position !== position || known.blockNumber !== blockNumber) return false
  }
  return true
}

function isSameElsewhere(a: Moment, b: Moment): boolean {
  const places = ({ faces, filling }: Moment) =>
    JSON.stringify([
      [...faces].map(([face, chains]) => [face, [...chains]]),
      [...filling].map(([chain, tables]) => [chain, [...tables]]),
    ])
  return places(a) === places(b)
}

function wentBack(before: Moment, now: Moment): boolean {
  if (now.registryPosition < before.registryPosition) return true
  for (const [chainId, { position }] of before.chains)
    if ((now.chains.get(chainId)?.position ?? 0) < position) return true
  return false
}
