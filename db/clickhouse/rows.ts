import { z } from 'zod'
import { COLUMNS } from './columns.ts'

/** The tables of ClickHouse. Their columns are declared by the migrations alone; `columns.ts` is written from them. */
export type Table = keyof typeof COLUMNS
type Column<T extends Table> = keyof (typeof COLUMNS)[T] & string

/** 64-bit integers are quoted or not, depending on the server. */
export const uint = z.union([z.number(), z.string()]).transform(Number)

type Schema<Type> = Type extends `Nullable(${infer Inner})`
  ? z.ZodNullable<Schema<Inner>>
  : Type extends 'UInt64'
    ? typeof uint
    : Type extends 'UInt8' | 'UInt16' | 'UInt32' | 'Int32' | 'Float64' | 'DateTime'
      ? z.ZodNumber
      : z.ZodString

type Shape<T extends Table, Names extends Record<string, Column<T>>> = {
  [Name in keyof Names]: Schema<(typeof COLUMNS)[T][Names[Name]]>
}

/** Columns of a table as a question reads them: integers wider than 64 bits as text, times in unix seconds. */
export interface Columns<Row extends z.ZodRawShape = z.ZodRawShape> {
  table: Table
  row: Row
  /** Them in a SELECT. `of`: what it calls the table, where anything else in it has such a name, or a condition takes one as it is stored. */
  select(of?: string): string
  /** As they are stored: for a tuple of them. */
  list(of?: string): string
  /** Them in a SELECT from such a tuple. `first`: place of the first in it. */
  fromTuple(tuple: string, first?: number): string
}

/** @param renamed further columns, by the names under which they are read */
export function columns<
  T extends Table,
  const C extends Column<T> = never,
  const R extends Record<string, Column<T>> = Record<never, never>,
>(table: T, names: readonly C[], renamed?: R): Columns<Shape<T, { [Name in C]: Name } & R>> {
  const types: Record<string, string> = COLUMNS[table]
  const picked = [...names.map(name => [name, name] as const), ...Object.entries(renamed ?? {})]
  const read = (value: string, type = '') =>
    /Int256|^Date$/.test(type)
      ? `toString(${value})`
      : /DateTime/.test(type)
        ? `toUnixTimestamp(${value})`
        : value
  const qualified = (column: string, of?: string) => (of ? `${of}.${column}` : column)
  return {
    table,
    row: Object.fromEntries(picked.map(([name, column]) => [name, schemaOf(types[column])])) as Shape<
      T,
      { [Name in C]: Name } & R
    >,
    select: of =>
      picked
        .map(([name, column]) => {
          const sql = read(qualified(column, of), types[column])
          return sql === name ? name : `${sql} AS ${name}`
        })
        .join(', '),
    list: of => picked.map(([, column]) => qualified(column, of)).join(', '),
    fromTuple: (tuple, first = 1) =>
      picked
        .map(([name, column], i) => `${read(`${tuple}.${first + i}`, types[column])} AS ${name}`)
        .join(', '),
  }
}

/** The row of a question that answers with these columns of a table. */
export const rowOf = <
  T extends Table,
  const C extends Column<T> = never,
  const R extends Record<string, Column<T>> = Record<never, never>,
>(
  table: T,
  names: readonly C[],
  renamed?: R,
) => z.object(columns(table, names, renamed).row)

function schemaOf(type = ''): z.ZodType {
  const inner = /^Nullable\((.*)\)$/.exec(type)?.[1]
  if (inner) return schemaOf(inner).nullable()
  if (type === 'UInt64') return uint
  return /^(U?Int(8|16|32)|Float64|DateTime)$/.test(type) ? z.number() : z.string()
}
