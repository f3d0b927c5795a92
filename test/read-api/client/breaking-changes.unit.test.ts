import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { OpenApiDocument } from '../../../read-api/client/document.ts'
import { breakingChanges } from './breaking-changes.ts'

const read = (path: string) =>
  JSON.parse(
    readFileSync(new URL(`../../../docs/openapi/${path}`, import.meta.url), 'utf8'),
  ) as OpenApiDocument

const released = read('released/v2.json')

/** A release writes it anew: `cp docs/openapi/v2.json docs/openapi/released/v2.json`. */
it('nothing in v2 breaks callers of the last release: a change that does belongs into another tier', () => {
  expect(Object.keys(released.paths).length).toBeGreaterThan(30)
  expect(breakingChanges(released, read('v2.json'))).toEqual([])
})

describe('what breaks a caller is named', () => {
  const path = '/v2/historical/{network}/{vaultId}/apy'
  type Json = Record<string, unknown>
  const at = (document: object, ...keys: string[]) =>
    keys.reduce<Json>((of, key) => of[key] as Json, document as Json)
  const parameters = (of: OpenApiDocument) =>
    at(of, 'paths', path, 'get')['parameters'] as { name: string; required?: boolean; schema: Json }[]
  const parameter = (of: OpenApiDocument, name: string) => {
    const found = parameters(of).find(one => one.name === name)
    if (!found) throw new Error(`no ${name}`)
    return found
  }
  const schema = (of: OpenApiDocument, name: string) => at(of, 'components', 'schemas', name)

  it.each<[string, (of: OpenApiDocument) => void, string | undefined]>([
    ['a path', of => delete at(of, 'paths')[path], `GET ${path} is gone.`],
    ['a parameter', of => parameters(of).splice(2, 1), 'the query parameter "fromTimestamp" is gone.'],
    [
      'a parameter that is wanted',
      of => (parameter(of, 'granularity').required = true),
      'the query parameter "granularity" is required now.',
    ],
    [
      'a choice',
      of => (parameter(of, 'granularity').schema['enum'] as string[]).pop(),
      'the query parameter "granularity" does not take "1week" any more.',
    ],
    [
      'a bound',
      of => (parameter(of, 'perPage').schema['maximum'] = 10),
      'the query parameter "perPage" must be at most 10 now.',
    ],
    [
      'a type',
      of => (parameter(of, 'page').schema['type'] = 'boolean'),
      'the query parameter "page" was integer and is boolean.',
    ],
    ['a field', of => delete at(schema(of, 'Asset'), 'properties')['symbol'], '.asset.symbol is gone.'],
    [
      'a field that may be left out',
      of => (schema(of, 'Asset')['required'] = []),
      '.asset.symbol may be left out now.',
    ],
    [
      'the type of a field',
      of => (at(schema(of, 'Asset'), 'properties', 'decimals')['type'] = 'string'),
      '.asset.decimals was integer and is string.',
    ],
    [
      'a field that may be null',
      of => (at(schema(of, 'Asset'), 'properties', 'symbol')['type'] = ['string', 'null']),
      '.asset.symbol was string and is null or string.',
    ],
    // What a caller does not notice.
    ['a new path', of => (at(of, 'paths')['/v2/more'] = at(of, 'paths', path)), undefined],
    [
      'a choice more',
      of => (parameter(of, 'granularity').schema['enum'] as string[]).push('1month'),
      undefined,
    ],
    ['a field more', of => (at(schema(of, 'Asset'), 'properties')['colour'] = { type: 'string' }), undefined],
    ['other words', of => (schema(of, 'Asset')['description'] = 'Words.'), undefined],
  ])('%s', (_, change, said) => {
    const changed = structuredClone(released)
    change(changed)
    const changes = breakingChanges(released, changed)
    if (said === undefined) expect(changes).toEqual([])
    else
      expect(
        changes.some(one => one.includes(said)),
        changes.slice(0, 5).join('\n'),
      ).toBe(true)
  })
})
