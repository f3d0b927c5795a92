import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { log } from '../../db/process/log.ts'
import type { ReadModelGuard } from '../../db/read-models.ts'
import { IncompleteError } from '../http/errors.ts'
import { ask } from '../moment/query.ts'
import type { Moment } from '../moment/snapshot.ts'
import { EMPTY_MOMENT, readMoment, watchCheckpoints } from '../moment/snapshot.ts'
import { loadBacking } from './backing.ts'
import { advanceCatalogue } from './build.ts'
import type { CatalogueSource } from './catalogue.ts'
import { Catalogue } from './catalogue.ts'
import { loadChain } from './load.ts'
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
      raw = new RawState()
      catalogue = Catalogue.empty(transactsOn)
      return
    }
    const moment = await readMoment(pool)
    const before = catalogue.moment
    if (wentBack(before, moment) || (before !== EMPTY_MOMENT && moment.replays !== before.replays)) {
      log.warn('a projection was replayed or stands further back than before: reading the catalogue anew')
      raw = new RawState()
      catalogue = await read(Catalogue.empty(transactsOn), EMPTY_MOMENT, moment)
      return
    }
    if (isSame(before, moment)) return
    catalogue = await read(catalogue, before, moment)
  }

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
    const chains = new Map(moment.chains)
    const failures: unknown[] = []
    let moved = 0
    for (const [chainId, { position, blockTime }] of moment.chains) {
      const known = before.chains.get(chainId)
      if (position <= (known?.position ?? 0)) continue
      moved++
      try {
        await loadChain(clickhouse, raw, chainId, known?.position ?? 0, position, blockTime)
        await loadBacking(clickhouse, raw, facts, chainId, position)
      } catch (err) {
        // The others go on; this one stays where it is, and is tried again at the next move.
        log.error({ chainId, err }, 'the catalogue of a chain cannot be brought forward')
        failures.push(err)
        if (known) chains.set(chainId, known)
        else chains.delete(chainId)
      }
    }
    if (failures.length > 0 && failures.length === moved) throw failures[0]
    const next = advanceCatalogue(base, raw, facts, { ...moment, chains })
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

function isSame(a: Moment, b: Moment): boolean {
  if (a.registryPosition !== b.registryPosition || a.replays !== b.replays || a.chains.size !== b.chains.size)
    return false
  for (const [chainId, { position, blockNumber }] of b.chains) {
    const known = a.chains.get(chainId)
    if (known?.position !== position || known.blockNumber !== blockNumber) return false
  }
  return true
}

function wentBack(before: Moment, now: Moment): boolean {
  if (now.registryPosition < before.registryPosition) return true
  for (const [chainId, { position }] of before.chains)
    if ((now.chains.get(chainId)?.position ?? 0) < position) return true
  return false
}
