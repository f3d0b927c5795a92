import type { ClickHouseClient } from '@clickhouse/client'
import { FillingError } from '../http/errors.ts'

/** Tables that are being filled for the first time, by chain: a part of their rows is not served for the whole. */
const filling = new WeakMap<ClickHouseClient, ReadonlyMap<number, ReadonlySet<string>>>()

export function noteFilling(
  clickhouse: ClickHouseClient,
  tables: ReadonlyMap<number, ReadonlySet<string>>,
): void {
  filling.set(clickhouse, tables)
}

/** What a question reads: names behind FROM and JOIN. */
export const tablesIn = (sql: string): string[] =>
  [...sql.matchAll(/\b(?:FROM|JOIN)\s+([a-z]\w*)/g)].map(([, name = '']) => name)

/** The first table of a question that has not all its rows of a chain. */
export function unfilledIn(clickhouse: ClickHouseClient, sql: string, chain: number): string | undefined {
  const tables = filling.get(clickhouse)?.get(chain)
  return tables?.size ? tablesIn(sql).find(name => tables.has(name)) : undefined
}

/**
 * A question about several chains leaves out those of which it would see a part: for who has to have them all.
 * @throws FillingError
 */
export function refuseUnfilled(clickhouse: ClickHouseClient, sql: string, chains: Iterable<number>): void {
  for (const chain of chains) {
    const table = unfilledIn(clickhouse, sql, chain)
    if (table !== undefined) throw new FillingError(table, chain)
  }
}

/**
 * The parameters of a question without the chains of which it would see a part; one of these chains alone is refused. What
 * looks at no position at all sees nothing either way.
 * @throws FillingError
 */
export function withoutUnfilled<P extends Record<string, unknown>>(
  clickhouse: ClickHouseClient,
  sql: string,
  parameters: P,
): P {
  if (!filling.get(clickhouse)?.size) return parameters
  const { chain, p, as_of } = parameters
  if (typeof chain === 'number' && p !== 0) refuseUnfilled(clickhouse, sql, [chain])
  if (!(as_of instanceof Map)) return parameters
  const whole = [...as_of].filter(([id]) => unfilledIn(clickhouse, sql, Number(id)) === undefined)
  return whole.length === as_of.size ? parameters : { ...parameters, as_of: new Map(whole) }
}
