import type { ClickHouseClient } from '@clickhouse/client'
import type { Catalogue } from './catalogue.ts'

/** What read models are read with, below whatever it is that asks. */
export interface Reading {
  deps: { readonly clickhouse: ClickHouseClient }
  /** As of the moment of which rows are read. */
  catalogue: Catalogue
  signal?: AbortSignal
}

/** The same for an answer, which says of which chains it is. */
export interface AnswerReading extends Reading {
  touch(...chainIds: number[]): void
}
