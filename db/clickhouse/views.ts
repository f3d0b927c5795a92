import type { ClickHouseClient } from '@clickhouse/client'
import { databaseOf, isOnCluster } from './client.ts'
import { identifier, internalOf, internalView } from './migrate.ts'

/** Values of a view's parameters: whole numbers. */
type Parameters = Readonly<Record<string, string | number>>

const definitions = new WeakMap<ClickHouseClient, Promise<ReadonlyMap<string, string>>>()

/**
 * What is selected from, for the rows of an internal view: its definition, with those of the views that it stands on, written out. The
 * engine analyses a view wherever it is mentioned, more than once, and those below it for each time: written out, a small batch takes two thirds
 * of the time.
 *
 * Definitions are read once for each client: where a view is replaced, a new client has the new one.
 */
export async function rowsOfView(
  client: ClickHouseClient,
  view: string,
  parameters: Parameters,
): Promise<string> {
  const called = `${internalView(client, view)}(${Object.entries(parameters)
    .map(([name, value]) => `${identifier(name)} = ${value}`)
    .join(', ')})`
  // A view's joins were made for shards when it was; what is around it was not.
  if (isOnCluster(client)) return called
  const known = definitions.get(client) ?? readDefinitions(client)
  definitions.set(client, known)
  let written: string | undefined
  try {
    written = writeOut(await known, internalOf(databaseOf(client)), view, parameters)
  } finally {
    // What could not be read, or was not there yet, is read again.
    if (written === undefined) definitions.delete(client)
  }
  return written === undefined ? called : `(${written})`
}

async function readDefinitions(client: ClickHouseClient): Promise<Map<string, string>> {
  const answer = await client.query({
    query: 'SELECT name, as_select AS sql FROM system.tables WHERE database = {database:String}',
    query_params: { database: internalOf(databaseOf(client)) },
    format: 'JSONEachRow',
    clickhouse_settings: { log_comment: 'definitions of views' },
  })
  const rows = await answer.json<{ name: string; sql: string }>()
  return new Map(rows.map(({ name, sql }) => [name, sql]))
}

/** Undefined where a view is not known. */
export function writeOut(
  known: ReadonlyMap<string, string>,
  database: string,
  view: string,
  parameters: Parameters,
): string | undefined {
  const sql = known.get(view)?.replace(/\{(\w+):(\w+)\}/g, (_, name: string, type: string) => {
    const value = parameters[name]
    if (value === undefined) throw new TypeError(`the view ${view} is not given ${name}`)
    return `_CAST(${value}, '${type}')`
  })
  if (sql === undefined) return undefined
  const called = new RegExp(`\`${database}\\.(\\w+)\`\\(`, 'g')
  let written = ''
  let at = 0
  for (let match = called.exec(sql); match; match = called.exec(sql)) {
    const end = endOf(sql, called.lastIndex)
    const inner = writeOut(known, database, match[1] ?? '', parametersOf(sql.slice(called.lastIndex, end)))
    if (inner === undefined) return undefined
    written += `${sql.slice(at, match.index)}(${inner})`
    at = end + 1
    called.lastIndex = at
  }
  return written + sql.slice(at)
}

/** Where the parenthesis ends that is open at `start`: what a view is given are numbers, none of them in quotes. */
function endOf(sql: string, start: number): number {
  let open = 1
  for (let i = start; i < sql.length; i++) {
    if (sql[i] === '(') open++
    else if (sql[i] === ')' && --open === 0) return i
  }
  throw new TypeError(`a parenthesis is left open: ${sql}`)
}

function parametersOf(list: string): Parameters {
  const found = [...list.matchAll(/`?(\w+)`? = (?:_CAST\((\w+), '\w+'\)|(\w+))(?:, |$)/g)]
  return Object.fromEntries(found.map(([, name = '', given, number = '']) => [name, given ?? number]))
}
