import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { NamedQuery } from '../../read-api/moment/query.ts'
import { Engine } from '../jobs/engine.ts'

const folder = join(import.meta.dirname, '../../read-api')
const modules = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  file => file.endsWith('.ts') && /\bdefineQuery\(/.test(readFileSync(join(folder, file), 'utf8')),
)
const exported: unknown[] = await Promise.all(modules.map(file => import(join(folder, file))))

const isQuery = (value: object): value is NamedQuery<z.ZodObject> =>
  'name' in value && 'sql' in value && 'row' in value
const queriesIn = (value: unknown): NamedQuery<z.ZodObject>[] => {
  if (typeof value !== 'object' || value === null) return []
  return isQuery(value) ? [value] : Object.values(value).flatMap(queriesIn)
}
const queries = exported.flatMap(queriesIn)

/** Something of each type that questions are asked with. */
const VALUES: Record<string, unknown> = {
  String: 'x',
  UInt8: 1,
  UInt32: 1,
  UInt64: 1,
  UInt256: '1',
  'Array(String)': ['x'],
  'Array(UInt32)': [1],
  'Array(UInt64)': [1],
  'Array(Date)': ['2024-01-01'],
  'Map(UInt32, UInt64)': new Map([[1, 1]]),
}

/** As what a column of a type stands in JSON. */
function jsonOf(type: string): string[] {
  const inner = /^(Nullable|LowCardinality)\((.*)\)$/.exec(type)
  if (inner) return [...jsonOf(inner[2] ?? ''), ...(inner[1] === 'Nullable' ? ['null'] : [])]
  if (/^U?Int64$/.test(type)) return ['number', 'string']
  if (/^(U?Int(8|16|32)|Float64)$/.test(type)) return ['number']
  if (/^(String|Date)$/.test(type)) return ['string']
  if (type === 'Bool') return ['boolean']
  if (type.startsWith('Array')) return ['array']
  if (type.startsWith('Map')) return ['object']
  // A wider integer is rounded by JavaScript, a time comes in words.
  return [`${type} as it is`]
}

/** Of what is coerced: undefined, it takes anything. */
function takenBy(schema: z.ZodType): (string | undefined)[] | undefined {
  if ('coerce' in schema.def && schema.def.coerce) return undefined
  const { type, anyOf } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return [type, ...(anyOf ?? []).map(one => one.type)].flat()
}

let engine: Engine
beforeAll(async () => {
  engine = await Engine.create()
})
afterAll(() => engine.drop())

it('finds the questions', () => {
  expect(new Set(queries.map(({ name }) => name)).size).toBeGreaterThan(90)
})

it.each(queries)('$name takes all that its columns can be', async ({ sql, row }) => {
  const parameters = [...sql.matchAll(/\{(\w+):([^}]+)\}/g)].map(([, name = '', type = '']) => {
    if (!(type in VALUES)) throw new TypeError(`no value of ${type}`)
    return [name, VALUES[type]]
  })
  const found = await engine.rows<{ name: string; type: string }>(
    `DESCRIBE (${sql})`,
    Object.fromEntries(parameters),
  )
  const types = new Map(found.map(({ name, type }) => [name, type]))
  for (const [name, schema] of Object.entries(row.shape)) {
    const taken = takenBy(schema as z.ZodType)
    const type = types.get(name) ?? 'no such column'
    if (taken) expect(taken, `${name} ${type}`).toEqual(expect.arrayContaining(jsonOf(type)))
  }
})
