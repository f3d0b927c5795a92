import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../../read-api/http/documentation.ts'
import { tiersOf } from '../../read-api/http/endpoint.ts'
import { InvalidRequestError, RefusedError } from '../../read-api/http/errors.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { parseStrictly } from '../../read-api/http/validation.ts'

/** What holds for every parameter of every endpoint. */

const endpoints = await loadEndpoints()
const queries = endpoints
  .map(({ endpoint }) => endpoint)
  .flatMap(({ method, path, query, example }) => (query ? [{ method, path, query, example }] : []))

/** A query that can be read, with what its schema wants at least. */
const REQUIRED: Record<string, string> = {
  amount0: '1',
  assetAddress0: `0x${'ab'.repeat(20)}`,
  assetAddress: `0x${'ab'.repeat(20)}`,
  burnTxHash: `0x${'ab'.repeat(32)}`,
  claimIds: 'x',
  code: 'usd',
  srcNetwork: 'mainnet',
  crosschainTransactionId: '1',
  provider: 'biconomy',
  fromDate: '2025-01-01',
  toDate: '2025-01-02',
  fromTimestamp: '1',
  wallets: `0x${'ab'.repeat(20)}`,
}
/** Where addresses are of another kind. */
const ON_SOLANA: Record<string, string> = { assetAddress: 'So11111111111111111111111111111111111111112' }
const given = (query: (typeof queries)[number]['query'], more: Record<string, unknown>) => ({
  ...Object.fromEntries(
    Object.entries(REQUIRED).flatMap(([name, value]) => {
      const field = query.shape[name]
      if (!field) return []
      return [[name, field.safeParse(value).success ? value : ON_SOLANA[name]]]
    }),
  ),
  ...more,
})
const errorOf = (read: () => unknown): unknown => {
  try {
    read()
    return undefined
  } catch (error) {
    return error
  }
}

describe('in the documents', () => {
  interface Parameter {
    name: string
    in: string
    description?: string
    schema: { type?: string; enum?: string[]; default?: unknown; example?: unknown; items?: unknown }
  }
  const described = endpoints.flatMap(({ endpoint }) =>
    tiersOf(endpoint).flatMap(tier => {
      const path = `/${tier}${endpoint.path}`
      const operation = openApiDocument(endpoints, tier).paths?.[path]?.[endpoint.method]
      return ((operation?.parameters ?? []) as Parameter[]).map(parameter => ({
        where: `${endpoint.method} ${path}: ${parameter.name}`,
        parameter,
      }))
    }),
  )

  it('each has a description in words', () => {
    const mute = described.filter(({ parameter }) => !/^\S.{5,}\S$/s.test(parameter.description ?? ''))
    expect(mute.map(({ where }) => where)).toEqual([])
  })

  it('each of a path has an example or names its values', () => {
    const bare = described.filter(
      ({ parameter: { in: part, schema } }) =>
        part === 'path' && !schema.enum && schema.example === undefined,
    )
    expect(bare.map(({ where }) => where)).toEqual([])
  })

  it('each that takes one of a few words names them, and takes each', () => {
    const words = new Map(described.map(({ where, parameter }) => [where, parameter.schema.enum]))
    for (const { endpoint } of endpoints) {
      for (const [part, schema] of [
        ['path', endpoint.params],
        ['query', endpoint.query],
      ] as const) {
        for (const [name, field] of Object.entries(schema?.shape ?? {})) {
          const error = errorOf(() => parseStrictly('body', field, '\u2603'))
          const valid = /must be one of ([^"]*?)(, not |, or |\.)/.exec(
            (error as Error | undefined)?.message ?? '',
          )
          if (!valid) continue
          for (const tier of tiersOf(endpoint)) {
            const where = `${endpoint.method} /${tier}${endpoint.path}: ${name}`
            expect(words.get(where), `${part} ${where}`).toEqual(
              expect.arrayContaining((valid[1] ?? '').split(', ')),
            )
          }
          for (const word of (valid[1] ?? '').split(', '))
            expect(errorOf(() => parseStrictly('body', field, word))).toBeUndefined()
        }
      }
    }
    expect(words.get('get /v2/transactions/{action}/{userAddress}/{network}/{vaultId}: action')).toContain(
      'request-redeem',
    )
  })
})

describe.each(queries)('$method $path', ({ query }) => {
  it('refuses an empty value and a value given twice by the name of the parameter', () => {
    for (const [name, field] of Object.entries(query.shape)) {
      // A list says of its values what is wrong with them.
      const isList = [
        ['a', 'b'],
        [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(20)}`],
      ].some(two => {
        const error = errorOf(() => parseStrictly('body', field, two)) as Error | undefined
        return error === undefined || /must be (networks|types of events)/.test(error.message)
      })
      // No claim is a claim of nothing, and not of everything.
      for (const empty of name === 'claimIds' ? [] : isList ? ['', ',', ' , ', ['', '']] : ['']) {
        const error = errorOf(() => parseStrictly('query', query, given(query, { [name]: empty })))
        expect(error, `${name}=${empty}`).toBeInstanceOf(InvalidRequestError)
        expect((error as Error).message).toContain(`"${name}" must`)
      }
      if (isList) continue
      const twice = errorOf(() => parseStrictly('query', query, given(query, { [name]: ['1', '1'] })))
      expect((twice as Error).message).toBe(`The query parameter "${name}" must be given once.`)
    }
  })

  it('refuses a lower bound above the upper one', () => {
    const pairs = Object.keys(query.shape).flatMap(name => {
      const other = name.replace(/^min/, 'max').replace(/^from/, 'to')
      return other !== name && other in query.shape ? [[name, other] as const] : []
    })
    for (const [low, high] of pairs) {
      const [one, two] = low === 'fromDate' ? ['2025-01-01', '2025-01-02'] : ['1', '2']
      const error = errorOf(() => parseStrictly('query', query, given(query, { [low]: two, [high]: one })))
      expect(error, low).toBeInstanceOf(RefusedError)
      expect((error as Error).message).toContain(`"${low}" (${two})`)
      expect((error as Error).message).toContain(`"${high}" (${one})`)
      for (const [from, to] of [
        [one, two],
        [one, one],
      ])
        expect(() => parseStrictly('query', query, given(query, { [low]: from, [high]: to }))).not.toThrow()
    }
  })
})

it('says of all parameters at once what is wrong with them', () => {
  const flows = endpoints.find(({ endpoint }) => endpoint.path.endsWith('daily-flows'))?.endpoint
  expect(() => parseStrictly('query', flows?.query, {})).toThrow(/"fromDate" is missing.*"toDate" is missing/)
  expect(() => parseStrictly('query', flows?.query, { fromDate: 'x', perPage: '0' })).toThrow(
    /"fromDate" must be a date.*"toDate" is missing.*"perPage" must be/,
  )
})

it('says of a body what it must be, and which keys there are', () => {
  const body = endpoints.find(({ endpoint }) => endpoint.path === '/advanced-analytics')?.endpoint.body
  expect(() => parseStrictly('body', body, [])).toThrow(/^The body must be a JSON object\.$/)
  expect(() => parseStrictly('body', body, { select: { drawdown: true } })).toThrow(
    'Unknown body key in "select": "drawdown". Valid ones: maxDrawdown, detailedVault, withdrawalPauseRatio, composition, utilizationRate.',
  )
  expect(() => parseStrictly('body', body, { selected: {} })).toThrow('"selected". Valid ones: select.')
})
