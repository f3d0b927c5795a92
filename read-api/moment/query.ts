import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client'
import { z } from 'zod'
import { DependencyDownError } from '../http/errors.ts'
import { timeQuery } from '../http/metrics.ts'
import { withoutUnfilled } from './filling.ts'
import { withoutRetractions } from './visible.ts'

export { columns, rowOf, uint } from '../../db/clickhouse/rows.ts'
export { z }

/** A named question to ClickHouse. Placeholders are typed; the row schema is what each answer is held to. */
export interface NamedQuery<R extends z.ZodType> {
  name: string
  sql: string
  row: R
}

export function defineQuery<R extends z.ZodType>(query: NamedQuery<R>): NamedQuery<R> {
  return query
}

/** Asks and parses. A server that does not answer is a DependencyDownError. */
export async function ask<R extends z.ZodType>(
  clickhouse: ClickHouseClient,
  query: NamedQuery<R>,
  parameters: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<z.output<R>[]> {
  let rows: unknown[]
  const asked = withoutUnfilled(clickhouse, query.sql, parameters)
  const stop = timeQuery(query.name)
  try {
    const answer = await clickhouse.query({
      query: withoutRetractions(query.sql, asked, clickhouse),
      query_params: asked,
      format: 'JSONEachRow',
      abort_signal: signal,
      clickhouse_settings: {
        log_comment: query.name,
        output_format_json_quote_64bit_integers: 1,
        output_format_json_quote_denormals: 0,
      },
    })
    rows = await answer.json()
  } catch (error) {
    if (!signal?.aborted && isUnavailable(error))
      throw new DependencyDownError('ClickHouse', { cause: error })
    throw error
  } finally {
    stop()
  }
  return rows.map(row => query.row.parse(row))
}

/** Answers of a server that says nothing about the question: it starts, stops, is too busy, or has lost the tables. */
const OF_THE_SERVER = new Set([
  'UNKNOWN_TABLE',
  'UNKNOWN_DATABASE',
  'TABLE_IS_DROPPED',
  'TABLE_IS_READ_ONLY',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'MEMORY_LIMIT_EXCEEDED',
  'NETWORK_ERROR',
  'SOCKET_TIMEOUT',
  'ALL_CONNECTION_TRIES_FAILED',
  'ALL_REPLICAS_ARE_STALE',
  'KEEPER_EXCEPTION',
  'ABORTED',
  'QUERY_WAS_CANCELLED',
])

/** The client gives an error of ClickHouse's own where it can read one: any other answer is not ClickHouse's. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ClickHouseError ? OF_THE_SERVER.has(error.type ?? '') : true
}

const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  'EAI_AGAIN',
])

export function isConnectionError(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: string; message?: string }
  return (
    CONNECTION_CODES.has(code ?? '') ||
    /socket hang up|connection terminated|timeout error|connect timeout|query read timeout|timeout exceeded/i.test(
      message ?? '',
    )
  )
}
