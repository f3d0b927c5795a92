import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { tiersOf } from '../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { parseStrictly } from '../../read-api/http/validation.ts'
import { declaredQueries, type Schema } from './declared-types.ts'

/** Whatever the types of the published client let a caller ask for is taken: every parameter, every value of a choice. */
const declarations = readFileSync(
  createRequire(import.meta.url)
    .resolve('@vaultsfyi/sdk')
    .replace(/\.js$/, '.d.ts'),
  'utf8',
)
const queries = declaredQueries(declarations)
const endpoints = (await loadEndpoints())
  .map(({ endpoint }) => endpoint)
  .filter(endpoint => endpoint.method === 'get' && tiersOf(endpoint).includes('v2'))

/** Values of a type, as the client writes them into a URL. */
function valuesOf(schema: Schema, name: string): (string | string[])[] {
  const { anyOf, items, type } = schema as { anyOf?: Schema[]; items?: Schema; type?: string }
  if ('const' in schema) return [String(schema['const'])]
  if (anyOf) return anyOf.flatMap(one => valuesOf(one, name))
  if (items) {
    const each = valuesOf(items, name).flat()
    return [...each.map(one => [one]), each]
  }
  if (type === 'number') return ['1']
  if (type === 'boolean') return ['true', 'false']
  if (name === 'assetAddress') return [`0x${'aB'.repeat(20)}`]
  return [name === 'amount' ? '1000000' : 'USDC']
}

describe('the query parameters that the published client declares', () => {
  it('are found for all its paths, and every path is served', () => {
    expect([...queries.keys()].sort()).toEqual(endpoints.map(({ path }) => `/v2${path}`).sort())
    expect(queries.get('/v2/health')).toEqual({ not: {} })
  })

  it.each([...queries].filter(([, query]) => query['properties']))('%s takes them all', (path, query) => {
    const endpoint = endpoints.find(one => `/v2${one.path}` === path)
    const { properties, required } = query as { properties: Record<string, Schema>; required: string[] }
    const given = Object.fromEntries(
      required.map(name => [name, valuesOf(properties[name] ?? {}, name)[0] ?? '']),
    )
    for (const [name, schema] of Object.entries(properties)) {
      for (const value of valuesOf(schema, name))
        expect(
          () => parseStrictly('query', endpoint?.query, { ...given, [name]: value }),
          `${name}=${value}`,
        ).not.toThrow()
    }
  })
})
