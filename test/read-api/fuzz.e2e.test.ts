import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { networkIds } from '../../db/networks.ts'
import { openApiDocument } from '../../read-api/http/documentation.ts'
import type { Tier } from '../../read-api/http/endpoint.ts'
import { loadEndpoints } from '../../read-api/http/load-endpoints.ts'
import { serve } from '../../read-api/http/serve.ts'
import { type Node, startNode } from '../chain/node.ts'
import type { LoopbackIris } from './cctp/iris.ts'
import { seatBridge } from './cctp/seat.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { stand } from './stand.ts'
import { makeSolana, type SolanaWorld, seatSolana } from './svm/world.ts'
import * as w from './world.ts'
import { seatWorld } from './world-on-chain.ts'

/**
 * Every parameter of every operation of the OpenAPI documents, with what fits it, what nearly fits and what does not at
 * all: never a 5xx, never a hang, and every answer is what the document says of its status.
 */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1)

interface Parameter {
  name: string
  in: 'path' | 'query'
  schema: { type?: string; enum?: string[]; minimum?: number; maximum?: number }
}
interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> }
  responses: Record<string, { content?: object }>
}

const endpoints = await loadEndpoints()
const documents = Object.fromEntries(
  (['v2', 'beta', 'alpha'] as const).map(tier => [tier, openApiDocument(endpoints, tier)]),
) as Record<Tier, ReturnType<typeof openApiDocument>>
const operations = Object.entries(documents).flatMap(([tier, { paths }]) =>
  Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({
      name: `${method} ${path}`,
      tier: tier as Tier,
      method,
      path,
      operation,
      endpoint: endpoints.find(
        ({ endpoint }) => path === `/${tier}${endpoint.path}` && endpoint.method === method,
      )?.endpoint,
    })),
  ),
)

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
for (const [tier, document] of Object.entries(documents)) ajv.addSchema(document, tier)
const validators = new Map<string, ValidateFunction>()
function validatorOf(tier: string, path: string, method: string, status: string): ValidateFunction {
  const pointer = ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema']
    .map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')
  const $ref = `${tier}#/${pointer}`
  const known = validators.get($ref) ?? ajv.compile({ $ref })
  validators.set($ref, known)
  return known
}

let node: Node
let api: ApiHarness
let iris: LoopbackIris
let solana: SolanaWorld
let server: Awaited<ReturnType<typeof serve>>
const tally: Record<number, number> = {}

beforeAll(async () => {
  node = await startNode({ hardfork: 'cancun' })
  const fixedTerm = await seatWorld(node, { fixedTerm: true })
  iris = await seatBridge(node)
  solana = await makeSolana()
  api = await startApi({ rpcUrl: node.rpcUrl, services: { 'cctp-v2': iris.url }, solanaUrl: solana.node.url })
  await w.seed(api, w.makeWorld(fixedTerm?.events))
  await seatSolana(api, solana)
  server = await serve(api.app, { port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server?.close()
  await api?.stop()
  await iris?.stop()
  await solana?.node.close()
  await node?.stop()
  const total = Object.values(tally).reduce((sum, n) => sum + n, 0)
  console.info(`fuzz: ${total} requests, by status ${JSON.stringify(tally)}`)
})

interface Sent {
  params: Record<string, string>
  query: [name: string, value: string][]
  body?: string
}

async function send(operation: (typeof operations)[number], { params, query, body }: Sent): Promise<void> {
  const { tier, method, path, endpoint } = operation
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(query).toString()
  const url = `http://127.0.0.1:${server.port}${filled}${search ? `?${search}` : ''}`
  const what = `${method} ${filled}?${search} ${body ?? ''}`
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { 'x-api-key': api.apiKey, 'content-type': 'application/json' },
    // Over our own deadline: a request that reaches this one hangs.
    signal: AbortSignal.timeout(20_000),
    ...(body === undefined ? {} : { body }),
  })
  tally[answer.status] = (tally[answer.status] ?? 0) + 1
  if (answer.status === 308) return
  // The services that it needs are not configured here.
  if (!(endpoint?.needs && answer.status === 503)) expect(answer.status, what).toBeLessThan(500)
  expect([401, 402, 403, 408, 429], what).not.toContain(answer.status)
  expect(answer.headers.get('content-type'), what).toMatch(/^application\/json/)
  const content = await answer.json()
  // An empty segment, or one that URLs take for a folder, is another endpoint's path.
  if (Object.values(params).some(value => ['', '.', '..'].includes(value))) return
  // What a path no longer leads to an endpoint is outside the document.
  const isOutside = answer.status === 404 || answer.status === 405 || answer.status === 431
  const status = isOutside ? '404' : String(answer.status)
  const validate = validatorOf(tier, path, method, status)
  expect(
    validate(content) ? [] : validate.errors,
    `${what} → ${JSON.stringify(content).slice(0, 400)}`,
  ).toEqual([])
}

const fill = (value: string) => stand[value] ?? value
function exampleOf({ endpoint }: (typeof operations)[number]): Sent {
  const example = endpoint?.example
  return {
    params: Object.fromEntries(
      Object.entries(example?.params ?? {}).map(([name, value]) => [name, fill(value)]),
    ),
    query: Object.entries(example?.query ?? {}).flatMap(([name, value]): [string, string][] =>
      (Array.isArray(value) ? value : [value]).map(one => [name, fill(one)]),
    ),
    ...(example?.body === undefined ? {} : { body: JSON.stringify(example.body) }),
  }
}

const NASTY = [
  '',
  ' ',
  '0',
  '-1',
  '-0',
  '1e309',
  '1.5',
  '.5',
  '0x10',
  '１２',
  '99999999999999999999999999',
  'NaN',
  'Infinity',
  'null',
  'true',
  'TRUE',
  '[]',
  '{"$gt":""}',
  '\u0000',
  "' OR 1=1 --",
  '{vault:String}',
  '../../etc/passwd',
  '%2e%2e%2f',
  '0x',
  `0x${'g'.repeat(40)}`,
  `0x${'0'.repeat(40)}`,
  `0x${'F'.repeat(40)}`,
  'eip155:1',
  'eip155:01',
  'eip155:999999',
  'solana:mainnet',
  'mainnet,base',
  ',,,',
  '__proto__',
  'constructor',
  '🦊',
  '\u202e',
  'x'.repeat(129),
  'y'.repeat(3_000),
]

function valuesOf({ schema }: Parameter): fc.Arbitrary<string> {
  const { minimum = 0, maximum } = schema
  const fitting = [
    ...Object.values(stand),
    ...networkIds.map(({ name }) => name),
    ...(schema.enum ?? []),
    String(minimum),
    String(minimum - 1),
    ...(maximum === undefined ? [] : [String(maximum), String(maximum + 1)]),
    'USDX',
    'weth',
    'morpho',
    'Stable',
    'acme',
    'deposit',
  ]
  return fc.oneof(
    fc.constantFrom(...fitting),
    fc.constantFrom(...NASTY),
    fc.integer({ min: -2, max: 5_000 }).map(String),
    fc.double({ noNaN: true }).map(String),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 260n }).map(String),
    fc.string({ unit: 'binary', maxLength: 200 }).map(text => text.toWellFormed()),
  )
}

const bodies = fc.oneof(
  fc
    .record(
      Object.fromEntries(
        ['maxDrawdown', 'detailedVault', 'withdrawalPauseRatio', 'composition', 'utilizationRate'].map(
          key => [
            key,
            fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.jsonValue() }),
          ],
        ),
      ),
      { requiredKeys: [] },
    )
    .map(select => JSON.stringify({ select })),
  fc.json(),
  fc.constantFrom(
    '',
    '{',
    '[]',
    'null',
    '{"select":null}',
    '{"__proto__":{"x":1}}',
    `"${'x'.repeat(5_000)}"`,
  ),
)

describe.each(operations)('$name', operation => {
  const parameters = operation.operation.parameters ?? []

  it('answers its example as its document says', () => send(operation, exampleOf(operation)))

  if (parameters.length > 0) {
    it.each(parameters)('$in $name', async parameter => {
      const values =
        parameter.in === 'path'
          ? valuesOf(parameter).map(value => [value])
          : fc.array(valuesOf(parameter), { minLength: 1, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(values, async given => {
          const sent = exampleOf(operation)
          if (parameter.in === 'path') sent.params[parameter.name] = given[0] ?? ''
          else {
            sent.query = sent.query.filter(([name]) => name !== parameter.name)
            for (const value of given) sent.query.push([parameter.name, value])
          }
          await send(operation, sent)
        }),
        { numRuns: RUNS, endOnFailure: RUNS > 1 },
      )
    })

    it('several at once', async () => {
      const some = fc
        .subarray(parameters)
        .chain(chosen =>
          fc.tuple(...chosen.map(parameter => valuesOf(parameter).map(value => ({ parameter, value })))),
        )
      await fc.assert(
        fc.asyncProperty(some, async chosen => {
          const sent = exampleOf(operation)
          for (const { parameter, value } of chosen) {
            if (parameter.in === 'path') sent.params[parameter.name] = value
            else sent.query.push([parameter.name, value])
          }
          await send(operation, sent)
        }),
        { numRuns: RUNS * 2, endOnFailure: RUNS > 1 },
      )
    })
  }

  if (operation.operation.requestBody) {
    it('any body', () =>
      fc.assert(
        fc.asyncProperty(bodies, body => send(operation, { ...exampleOf(operation), body })),
        { numRuns: RUNS * 10, endOnFailure: RUNS > 1 },
      ))
  }
})

it('refuses answers that are not as documented', () => {
  const validate = validatorOf('v2', '/v2/networks', 'get', '200')
  expect(validate([{ ...networkIds[0] }])).toBe(true)
  expect(validate([{ ...networkIds[0], extra: 1 }])).toBe(false)
  expect(validate([{ name: 'mainnet' }])).toBe(false)
})
