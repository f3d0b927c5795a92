import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { DependencyDownError } from '../errors.ts'
import { timeQuery } from '../metrics.ts'
import { withoutRetractions } from './visible.ts'

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

/** Wide integers are sent as text by the queries themselves; 64-bit ones are quoted or not, depending on the server. */
export const uint = z.union([z.number(), z.string()]).transform(Number)

/** Asks and parses. A server that does not answer is a DependencyDownError. */
export async function ask<R extends z.ZodType>(
  clickhouse: ClickHouseClient,
  query: NamedQuery<R>,
  parameters: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<z.output<R>[]> {
  let rows: unknown[]
  const stop = timeQuery(query.name)
  try {
    const answer = await clickhouse.query({
      query: withoutRetractions(query.sql, parameters, clickhouse),
      query_params: parameters,
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
    if (isConnectionError(error)) throw new DependencyDownError('ClickHouse', { cause: error })
    throw error
  } finally {
    stop()
  }
  return rows.map(row => query.row.parse(row))
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
