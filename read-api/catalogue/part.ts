import type { ClickHouseClient } from '@clickhouse/client'
import type { z } from 'zod'
import { tablesIn } from '../moment/filling.ts'
import { ask, type NamedQuery } from '../moment/query.ts'
import type { RawState } from './raw.ts'

/** Positions (from, p] of a chain, and how far back rows are worth reading: unix seconds. */
export interface Range {
  chain: number
  from: number
  p: number
  /** Of share prices. */
  rangeSince: number
  /** Of rewards. */
  streamsSince: number
}

/** What the events of a range touched. */
export interface Moves {
  /** Contracts with events of any of these types. */
  having(...types: string[]): string[]
  has(...types: string[]): boolean
  /** Feeds that were reported on. */
  feeds: readonly string[]
  /** Whether blocks were retracted. */
  hasRetraction: boolean
}

/** What was read, to be put into the state of the catalogue once everything has been. */
export type Fold = (raw: RawState) => void

/** One part of what is known of vaults: what is asked for it and how the answers are put together. */
export interface CataloguePart {
  /** Lower ones are folded first: others stand on them. */
  rank: number
  /** Of the read models that it asks: while one of them is being filled on a chain, the part is not read there. */
  tables: readonly string[]
  sql: readonly string[]
  /** It is read as a whole where anything of it changed. */
  isWhole: boolean
  /** It is read by name however many moved. */
  isByName: boolean
  /** Contracts of which it has to be read again. */
  names(moves: Moves): readonly string[]
  readAll(clickhouse: ClickHouseClient, range: Range): Promise<Fold>
  /** What is newest of named contracts, looking no further back than `since`. */
  readThese(
    clickhouse: ClickHouseClient,
    range: Range,
    names: readonly string[],
    since: number,
  ): Promise<Fold>
}

/** Asks one question; the parameters that every question of the catalogue may use are given with it. */
export type Ask = <R extends z.ZodType>(
  query: NamedQuery<R>,
  parameters?: Record<string, unknown>,
) => Promise<z.output<R>[]>

interface PartDefinition<R> {
  rank?: number
  isWhole?: true
  isByName?: true
  queries: readonly Pick<NamedQuery<z.ZodType>, 'sql'>[]
  names(moves: Moves): readonly string[]
  all(ask: Ask, range: Range): Promise<readonly R[]>
  these(ask: Ask, names: readonly string[], since: number, range: Range): Promise<readonly R[]>
  /** `asked`: the contracts that were named, which may have no row; undefined: all. */
  fold(raw: RawState, chain: number, rows: readonly R[], asked: readonly string[] | undefined): void
}

export function definePart<R>(part: PartDefinition<R>): CataloguePart {
  const asker =
    (clickhouse: ClickHouseClient, range: Range): Ask =>
    (query, parameters) =>
      ask(clickhouse, query, { ...range, ...parameters })
  return {
    rank: part.rank ?? 9,
    isWhole: part.isWhole ?? false,
    isByName: part.isByName ?? false,
    sql: part.queries.map(({ sql }) => sql),
    tables: [...new Set(part.queries.flatMap(({ sql }) => tablesIn(sql)))],
    names: moves => part.names(moves),
    async readAll(clickhouse, range) {
      const rows = await part.all(asker(clickhouse, range), range)
      return raw => part.fold(raw, range.chain, rows, undefined)
    },
    async readThese(clickhouse, range, names, since) {
      const rows = await part.these(asker(clickhouse, range), names, since, range)
      return raw => part.fold(raw, range.chain, rows, names)
    },
  }
}
