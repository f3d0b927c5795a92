import { setMaxListeners } from 'node:events'
import type { Express, Request, Response } from 'express'
import express from 'express'
import type { Face } from '../../db/faces.ts'
import type { ApiKey } from '../../db/keys/keys.ts'
import { networkOfChain } from '../../db/networks.ts'
import { log } from '../../db/process/log.ts'
import { SOLANA } from '../../db/streams.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { authenticate } from './auth.ts'
import type { ApiDeps, CachePolicy, Endpoint } from './endpoint.ts'
import { isPayable, ReadyJson, tiersOf } from './endpoint.ts'
import type { EntityTags, Ground } from './entity-tags.ts'
import { sendError } from './error-answers.ts'
import { DeadlineError } from './errors.ts'
import { admit, charge, refuseExhausted, sayRemaining } from './limits.ts'
import type { Payment, Payments } from './payments.ts'
import { hasLeft, type ReadyAnswers } from './ready-answers.ts'
import { parseStrictly } from './validation.ts'

/** Nothing is kept without asking again: a tag says whether the projections have moved, a clock cannot. */
const CACHE_CONTROL: Record<CachePolicy, string> = {
  none: 'no-store',
  moment: 'private, no-cache',
  static: 'private, no-cache',
}

const parseBody = express.json({ limit: '100kb', type: () => true })

export interface MountOptions {
  deadlineMs: number
  tags: EntityTags
  payments?: Payments
  ready: ReadyAnswers
}

/** Serves an endpoint in each of its tiers. */
export function mountEndpoint(app: Express, endpoint: Endpoint, deps: ApiDeps, options: MountOptions): void {
  for (const tier of tiersOf(endpoint)) {
    const route = `/${tier}${endpoint.path}`
    const what = `${endpoint.summary} (${endpoint.method.toUpperCase()} ${route})`
    app[endpoint.method](
      route.replaceAll(/\{(\w+)\}/g, ':$1'),
      async (request: Request, response: Response) => {
        response.locals['route'] = route
        const exchange: Exchange = { endpoint, deps, options, request, response, what }
        try {
          await answer(exchange)
        } catch (error) {
          if (exchange.key && !response.headersSent) await sayRemaining(exchange.key, deps, response)
          sendError(response, error)
        }
      },
    )
  }
}

/** A request and what has been found out about it. */
interface Exchange {
  readonly endpoint: Endpoint
  readonly deps: ApiDeps
  readonly options: MountOptions
  readonly request: Request
  readonly response: Response
  readonly what: string
  key?: ApiKey
  payment?: Payment
}

interface Input {
  params: unknown
  query: unknown
  body: unknown
}

interface LeftOut {
  count: number
  isEmpty: boolean
  what: string
}

/** What an endpoint found, and on what it stands. `unchanged`: what the caller has already still holds. */
interface Found {
  catalogue: Catalogue
  input: Input
  touched: Set<number>
  read: Map<number, bigint>
  leftOut?: LeftOut
  outcome: { kind: 'unchanged'; tag: string } | { kind: 'made'; text: string; credits: number }
}

async function answer(exchange: Exchange): Promise<void> {
  const { endpoint, deps, options, request, response } = exchange
  const abort = new AbortController()
  // Every question of the request listens to it; Node takes more than ten for a leak.
  setMaxListeners(0, abort.signal)
  response.once('close', () => {
    // After an answer there is nobody left to tell, and an abort is not cheap.
    if (!response.writableFinished) abort.abort()
  })
  const found = await withDeadline(find(exchange, abort.signal), options.deadlineMs, abort).catch(
    async error => {
      await exchange.payment?.cancel()
      throw error
    },
  )
  if (hasLeft(request, response)) {
    await exchange.payment?.cancel()
    return
  }

  const { catalogue, touched, read, leftOut, outcome } = found
  const asOf = describeMoment(catalogue, endpoint.face, touched, read)
  if (asOf) response.setHeader('x-as-of-block', asOf)
  if (leftOut !== undefined) response.setHeader('x-unlisted-left-out', leftOut.count)
  response.setHeader('cache-control', CACHE_CONTROL[endpoint.cache])
  response.vary('x-api-key, accept-encoding')

  const given = request.get('if-none-match')
  let tag: string | undefined
  let isUnchanged = false
  if (outcome.kind === 'unchanged') {
    tag = outcome.tag
    isUnchanged = true
  } else if (isConditional(exchange)) {
    tag = options.tags.make(
      request.originalUrl,
      catalogue,
      groundOf(endpoint, touched),
      outcome.text,
      endpoint.face,
    )
    isUnchanged = exchange.key !== undefined && options.tags.isOf(given, tag)
  }

  if (exchange.key) {
    const full = outcome.kind === 'unchanged' ? 1 : outcome.credits
    const isBodiless = isUnchanged || request.method === 'HEAD'
    await charge(exchange.key, deps, isBodiless ? Math.min(1, full) : full, response)
    if (request.method === 'HEAD' && outcome.kind === 'made') response.setHeader('x-credits-cost', full)
  }
  if (exchange.payment && outcome.kind === 'made') {
    await payFor(exchange.payment, outcome.text, response)
    response.vary('payment-signature')
  }
  if (tag) response.setHeader('etag', tag)
  if (isUnchanged || outcome.kind === 'unchanged') response.status(304).end()
  else {
    response.type('application/json')
    // What was charged or paid for is sent: Express would make a 304 of it by itself, for If-None-Match: * even.
    Object.defineProperty(request, 'fresh', { value: false })
    if (exchange.key && isConditional(exchange)) {
      const { text, credits } = outcome
      const route = String(response.locals['route'])
      options.ready.keep(request, response, { catalogue, face: endpoint.face, route, credits, text })
    }
    response.send(outcome.text)
  }
}

/**
 * Takes the money for an answer that is ready to go out. Whoever went away before paid nothing; whoever goes now has paid,
 * and finds the answer when the same payment comes again.
 */
async function payFor(payment: Payment, text: string, response: Response): Promise<void> {
  const headers = await payment.settle(text)
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  const keep = () =>
    payment.keep({ text, headers }).catch(error => log.error({ err: error }, 'a paid answer was not kept'))
  if (response.destroyed) await keep()
  else
    response.once('close', () => {
      if (!response.writableFinished) void keep()
    })
}

/** From the key to the answer: everything that the deadline is for. */
async function find(exchange: Exchange, signal: AbortSignal): Promise<Found> {
  const { endpoint, deps, options, request, response, what } = exchange
  const wantsToPay =
    options.payments !== undefined && endpoint.access !== 'open' && !request.get('x-api-key')?.trim()
  if (endpoint.access !== 'open' && !(wantsToPay && isPayable(endpoint))) {
    exchange.key = await authenticate(request, deps)
    response.locals['keyCode'] = exchange.key.code
    await admit(exchange.key, deps, response)
  } else if (wantsToPay) await options.payments?.admit(request, deps)
  // Not before: who has no key gets nothing read.
  if (endpoint.body) await readBody(request, response)
  const input: Input = {
    params: parseStrictly('path', endpoint.params, request.params),
    query: parseStrictly('query', endpoint.query, request.query),
    body: parseStrictly('body', endpoint.body, request.body ?? {}),
  }
  const least = price(endpoint, undefined, 0, input)
  if (exchange.key)
    await refuseExhausted(exchange.key, deps, request.method === 'HEAD' ? Math.min(1, least) : least)
  else if (options.payments && endpoint.access !== 'open') {
    const { perPage } = (input.query ?? {}) as { perPage?: number }
    exchange.payment = await options.payments.begin(
      request,
      {
        what,
        credits: request.method === 'HEAD' ? 1 : price(endpoint, undefined, perPage ?? 1, input),
        isPaged: perPage !== undefined && typeof endpoint.cost !== 'number',
      },
      deps,
    )
    // Whoever waited for it has been answered: the payment must not stay taken for nothing.
    if (signal.aborted) await exchange.payment.cancel()
  }

  const catalogue = deps.catalogue.current()
  const touched = new Set<number>()
  const read = new Map<number, bigint>()
  const common = { catalogue, input, touched, read }
  if (exchange.payment?.kept) {
    return { ...common, outcome: { kind: 'made', text: exchange.payment.kept.text, credits: 0 } }
  }
  const given = request.get('if-none-match')
  if (given && exchange.key && isConditional(exchange)) {
    const held = options.tags.stillHolds(given, request.originalUrl, catalogue, endpoint.face)
    if (held) {
      const { ground, tag } = held
      for (const chainId of ground === 'all' ? catalogue.moment.chains.keys() : ground) touched.add(chainId)
      return { ...common, outcome: { kind: 'unchanged', tag } }
    }
  }

  const { allowUnlisted = deps.showUnlisted ?? false } = (input.query ?? {}) as { allowUnlisted?: boolean }
  let leftOut: LeftOut | undefined
  const result = await endpoint.handler(input as never, {
    deps,
    catalogue,
    shown: catalogue.shown(allowUnlisted),
    key: exchange.key,
    signal,
    touch: (...chainIds) => {
      for (const chainId of chainIds) touched.add(chainId)
    },
    leaveOut: (count, isEmpty, what = 'vault') => {
      leftOut = { count, isEmpty, what }
    },
    readAt: (chainId, block) => {
      touched.add(chainId)
      read.set(chainId, block)
    },
  })
  // Who names no chain looked at the whole catalogue.
  if (touched.size === 0 && read.size === 0 && endpoint.cache === 'moment') {
    for (const chainId of catalogue.moment.chains.keys()) touched.add(chainId)
  }
  const isReady = result instanceof ReadyJson
  return {
    ...common,
    ...(leftOut === undefined ? {} : { leftOut }),
    outcome: {
      kind: 'made',
      text: sayLeftOut(isReady ? result.text : JSON.stringify(result), leftOut),
      credits: isReady
        ? price(endpoint, undefined, result.items, input)
        : price(endpoint, result, countItems(result), input),
    },
  }
}

/** An answer with something in it does not say what is left out: what strangers deploy changes no byte of it. */
function sayLeftOut(text: string, leftOut: LeftOut | undefined): string {
  if (!leftOut?.isEmpty || leftOut.count === 0 || !text.endsWith('}')) return text
  const { count, what } = leftOut
  const warning = `${count} ${what}${count === 1 ? '' : 's'} for which nobody vouches left out: allowUnlisted=true shows ${count === 1 ? 'it' : 'them'}.`
  return `${text.slice(0, -1)},"warnings":${JSON.stringify([warning])}}`
}

function readBody(request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    parseBody(request, response, (error?: unknown) => (error ? reject(error) : resolve()))
  })
}

const isConditional = ({ endpoint, request }: Exchange) =>
  endpoint.cache !== 'none' && (request.method === 'GET' || request.method === 'HEAD')

/** An answer about one network stands on that chain; any other may stand on all, also on those it found nothing on. */
function groundOf(endpoint: Endpoint, touched: Iterable<number>): Ground {
  if (endpoint.cache === 'static') return []
  return endpoint.params?.shape['network'] && !endpoint.standsOnAll ? [...touched] : 'all'
}

function price(endpoint: Endpoint, body: unknown, items: number, input: Input): number {
  return typeof endpoint.cost === 'number'
    ? endpoint.cost
    : endpoint.cost({ body: body as never, items, request: input.body as never })
}

function countItems(result: unknown): number {
  if (Array.isArray(result)) return result.length
  const { itemsOnPage } = (result ?? {}) as { itemsOnPage?: number }
  return itemsOnPage ?? 1
}

/** `mainnet=123, base=456` for the chains that the answer stands on. */
function describeMoment(
  catalogue: Catalogue,
  face: Face | undefined,
  touched: ReadonlySet<number>,
  read: ReadonlyMap<number, bigint>,
): string {
  return [...touched]
    .sort((a, b) => a - b)
    .flatMap(chainId => {
      const name = chainId === SOLANA.id ? SOLANA.name : networkOfChain(chainId)?.name
      const moment = catalogue.chain(chainId, face) ?? catalogue.chain(chainId)
      const block = read.get(chainId) ?? moment?.blockNumber
      return name && block !== undefined ? [`${name}=${block}`] : []
    })
    .join(', ')
}

async function withDeadline<T>(work: Promise<T>, ms: number, abort: AbortController): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new DeadlineError(ms))
      abort.abort()
    }, ms)
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
