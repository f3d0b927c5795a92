import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import type { Express } from 'express'
import { POLICY } from '../explore/policy.ts'
import type { Endpoint, Tier } from './endpoint.ts'
import { isPayable, tiersOf } from './endpoint.ts'
import type { LoadedEndpoint } from './load-endpoints.ts'
import { serveOpen, serveText } from './serve-text.ts'
import { ErrorBody, PaymentRequiredBody } from './shapes.ts'
import { columnsOf, MEDIA_TYPES } from './tables.ts'

const TIERS: Record<Tier, string> = {
  v2: 'Stable.',
  beta: 'Works and is tested; interfaces may still change.',
  alpha: 'Experimental: may change without notice.',
}

const ERRORS: readonly { status: string; description: string; on?: (endpoint: Endpoint) => boolean }[] = [
  {
    status: '400',
    description: 'The request cannot be read; the message names the parameter and what would be right.',
  },
  { status: '401', description: 'The API key is missing or not known.', on: needsKey },
  {
    status: '402',
    description:
      'No API key. Where the operator takes payments, the header payment-required and the body hold the terms (x402 version 2).',
    on: isPayable,
  },
  {
    status: '403',
    description: 'The key has fewer credits left this month than the request costs.',
    on: needsKey,
  },
  { status: '404', description: 'There is no such thing.' },
  { status: '405', description: 'The path does not take this method; Allow says which it takes.' },
  {
    status: '406',
    description: 'The header Accept allows nothing of what there is; the message names it.',
    on: ({ table }) => table !== undefined,
  },
  { status: '408', description: 'Our own deadline passed.' },
  {
    status: '413',
    description: 'The body is too large: 100 kB at most.',
    on: ({ body }) => body !== undefined,
  },
  { status: '422', description: 'The request can be read and makes no sense.' },
  {
    status: '429',
    description: 'The key has used up its requests of this minute; Retry-After says when to come back.',
    on: needsKey,
  },
  {
    status: '500',
    description: 'Something went wrong on our side; errorId names the request in the logs of the operator.',
  },
  { status: '503', description: 'A dependency is down; Retry-After says when to come back.' },
]

function needsKey({ access }: Endpoint): boolean {
  return access !== 'open'
}

const text = { type: 'string' } as const
const whole = { type: 'integer', minimum: 0 } as const

const HEADERS = {
  'x-request-id': { description: 'Names the request; the errorId of an error body.', schema: text },
  'x-as-of-block': {
    description:
      'Block per network that the answer is of: mainnet=123, base=456; of Solana the slot: solana=789.',
    schema: text,
  },
  'x-credits-used': {
    description: 'Credits that the request cost; 0 for one that failed, was free, or was paid for.',
    schema: whole,
  },
  'x-credits-remaining': { description: 'Credits left this month (UTC).', schema: whole },
  'x-credits-cost': {
    description: 'Answers HEAD: the credits that the same GET would cost now. To ask costs 1.',
    schema: whole,
  },
  'ratelimit-limit': { description: 'Requests per minute.', schema: whole },
  'ratelimit-remaining': { description: 'Requests left of this minute.', schema: whole },
  'ratelimit-reset': { description: 'Seconds until the minute ends.', schema: whole },
  'ratelimit-policy': { description: 'The same as a structured field.', schema: text },
  ratelimit: { description: 'The same as a structured field.', schema: text },
  'retry-after': { description: 'Seconds to wait.', schema: whole },
  etag: {
    description: 'Tied to where the projections stand; send it back as If-None-Match.',
    schema: text,
  },
  'cache-control': { schema: text },
  allow: { schema: text },
  'payment-required': { description: 'Terms of payment, as x402 version 2 encodes them.', schema: text },
  'payment-response': {
    description: 'Receipt of a request that was paid for, as x402 version 2 encodes it.',
    schema: text,
  },
} as const

type HeaderName = keyof typeof HEADERS

function headers(...names: HeaderName[]) {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

const METERED: HeaderName[] = [
  'x-credits-remaining',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
]

/** Headers that an answer with this status has. */
function headersOf(endpoint: Endpoint, status: string): HeaderName[] {
  const isMetered = needsKey(endpoint) && status !== '401' && status !== '402' && status !== '405'
  const isTagged = (status === '200' || status === '304') && endpoint.cache !== 'none'
  return [
    'x-request-id',
    'x-credits-used',
    'cache-control',
    ...(status === '200' || status === '304' ? (['x-as-of-block'] as const) : []),
    ...(status === '200' && needsKey(endpoint) && endpoint.method === 'get'
      ? (['x-credits-cost'] as const)
      : []),
    ...(isMetered ? METERED : []),
    ...(isTagged && endpoint.method === 'get' ? (['etag'] as const) : []),
    ...(status === '429' || status === '503' ? (['retry-after'] as const) : []),
    ...(status === '405' ? (['allow'] as const) : []),
    ...(status === '402' ? (['payment-required'] as const) : []),
    ...(status === '200' && isPayable(endpoint) ? (['payment-response'] as const) : []),
  ]
}

/** The OpenAPI 3.1 document of a tier, made of the endpoints' own schemas. */
export function openApiDocument(
  endpoints: readonly LoadedEndpoint[],
  tier: Tier,
  options: { publicUrl?: string } = {},
) {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'Made by the operator with `vaultlog keys create`.',
  })
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent('headers', name, header)
  for (const { endpoint, file } of endpoints) {
    if (tiersOf(endpoint).includes(tier)) registerEndpoint(registry, endpoint, tier, file)
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: `Vaultlog API, ${tier}`,
      version: tier,
      description: `${TIERS[tier]} Amounts are decimal strings in base units, rates are fractions per year, times are unix seconds, addresses are checksummed. What is not known is left out, or null, or an empty string where the description of the field says so; it is never 0. What a request costs stands with each operation; a HEAD request or a 304 costs 1 credit, and the header x-credits-cost of the answer to HEAD says what GET would cost. A request that fails costs nothing.`,
      license: { name: 'GPL-3.0-or-later', identifier: 'GPL-3.0-or-later' },
    },
    tags: tagsOf(endpoints, tier),
    security: [{ apiKey: [] }],
    servers: [{ url: options.publicUrl?.replace(/\/$/, '') ?? '/' }],
  })
}

function registerEndpoint(registry: OpenAPIRegistry, endpoint: Endpoint, tier: Tier, file: string): void {
  registry.registerPath({
    method: endpoint.method,
    path: `/${tier}${endpoint.path}`,
    summary: endpoint.summary,
    description: [endpoint.description, costOf(endpoint)].filter(Boolean).join(' '),
    tags: [tagOf(file)],
    operationId: `${tier}-${file
      .replace(/\.[jt]s$/, '')
      .split('/')
      .slice(1)
      .join('-')}`,
    security: endpoint.access === 'open' ? [] : [{ apiKey: [] }],
    request: {
      ...(endpoint.params ? { params: endpoint.params } : {}),
      ...(endpoint.query ? { query: endpoint.query } : {}),
      ...(endpoint.body
        ? {
            body: {
              content: { 'application/json': { schema: endpoint.body, example: endpoint.example.body } },
            },
          }
        : {}),
    },
    responses: {
      200: {
        description: endpoint.summary,
        content: {
          'application/json': { schema: endpoint.response },
          ...tableContent(endpoint),
          ...(endpoint.stream
            ? {
                'text/event-stream': {
                  schema: { type: 'string' as const, description: endpoint.stream.description },
                },
              }
            : {}),
        },
        headers: headers(...headersOf(endpoint, '200')),
      },
      ...(endpoint.method === 'get' && endpoint.cache !== 'none'
        ? {
            304: {
              description: 'What If-None-Match names still holds. Costs 1 credit.',
              headers: headers(...headersOf(endpoint, '304')),
            },
          }
        : {}),
      ...Object.fromEntries(
        ERRORS.filter(({ on }) => on === undefined || on(endpoint)).map(({ status, description }) => [
          status,
          {
            description,
            content: {
              'application/json': { schema: status === '402' ? PaymentRequiredBody : ErrorBody },
            },
            headers: headers(...headersOf(endpoint, status)),
          },
        ]),
      ),
    },
  })
}

/** The same as a table, for who asks for one by the header Accept. */
function tableContent(endpoint: Endpoint) {
  if (endpoint.table === undefined) return {}
  const names = columnsOf(endpoint).map(({ name }) => name)
  const rows = `The items of ${endpoint.table}, one a row. Columns: ${names.join(', ')}.`
  return {
    [MEDIA_TYPES.csv]: {
      schema: {
        type: 'string' as const,
        description: `${rows} The first line has their names; what is absent, null or not known is empty. A text that a sheet would take for a formula begins with an apostrophe. The header link names the next page.`,
      },
    },
    [MEDIA_TYPES.parquet]: {
      schema: {
        type: 'string' as const,
        format: 'binary',
        description: `${rows} Amounts and USD are text, exact; what is absent is NULL.`,
      },
    },
  }
}

const TAGS: Readonly<Record<string, string>> = {
  'advanced-analytics': 'Drawdown, composition, utilization and pauses of vaults.',
  amm: 'Vaults of concentrated liquidity, wallets in them and their transactions.',
  benchmarks: 'What the largest vaults of a network earn.',
  borrow: 'Lending markets, positions in them and their transactions.',
  feed: 'Events as they happen.',
  'fixed-term':
    'Markets of principal tokens, which pay a fixed rate until they expire, and their transactions.',
  'detailed-vaults': 'Everything known of vaults.',
  general: 'Vaults in short, assets, networks, protocols, tags and curators.',
  historical: 'Time series.',
  holders: 'Who holds the shares of a vault.',
  nrt: 'What contracts say now.',
  portfolio: 'What a wallet holds, has earned, and could do.',
  svm: 'Vaults on Solana, wallets in them and their transactions.',
  webhooks: 'Messages of the feed, sent to a URL.',
  transactions: 'Transactions ready to be signed.',
}

function tagOf(file: string): string {
  return (file.replaceAll('\\', '/').split('/')[1] ?? 'general').replace(/\.[jt]s$/, '')
}

function tagsOf(endpoints: readonly LoadedEndpoint[], tier: Tier) {
  const names = endpoints.flatMap(({ endpoint, file }) =>
    tiersOf(endpoint).includes(tier) ? [tagOf(file)] : [],
  )
  return [...new Set(names)].sort().map(name => ({ name, description: TAGS[name] ?? name }))
}

/** The cost of an operation in words, with the cost of a full page where a page costs by its items. */
function costOf({ cost, costInWords, query }: Endpoint): string {
  const credits = (count: number) => `${count} credit${count === 1 ? '' : 's'}`
  if (costInWords) return costInWords
  if (cost === 0) return 'Free.'
  if (typeof cost === 'number') return `Costs ${credits(cost)}.`
  const of = (items: number) => cost({ body: undefined, items, request: undefined })
  const perPage = query?.shape['perPage']?.parse(undefined) as number | undefined
  const full = perPage === undefined ? '' : `: ${of(perPage)} for a full page of ${perPage}`
  return `Costs ${credits(of(0))} and ${of(1) - of(0)} for each item${full}.`
}

const PAGE = join(import.meta.dirname, '../explore/documentation.html')

/** The documents and the page that shows them. Open to everybody. */
export function mountDocumentation(
  app: Express,
  endpoints: readonly LoadedEndpoint[],
  options: { publicUrl?: string } = {},
): void {
  for (const tier of Object.keys(TIERS) as Tier[]) {
    serveText(app, `/${tier}/documentation/json`, 'application/json', () =>
      JSON.stringify(openApiDocument(endpoints, tier, options)),
    )
    serveOpen(app, `/${tier}/documentation`, (response, isFolder) => {
      response.redirect(308, `${isFolder ? '../' : ''}../documentation?urls.primaryName=${tier}`)
    })
  }
  app.get('/documentation', (request, response, next) => {
    if (!request.path.endsWith('/')) return next()
    const [, ...query] = request.originalUrl.split('?')
    response.redirect(308, ['../documentation', ...query].join('?'))
  })
  app.get('/documentation', (_request, response, next) => {
    response.setHeader('content-security-policy', POLICY)
    next()
  })
  // Its addresses are relative, so that it works behind a proxy that takes a part of the path off.
  serveText(app, '/documentation', 'html', () => readFileSync(PAGE, 'utf8'))
}
