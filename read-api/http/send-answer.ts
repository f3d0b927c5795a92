import type { Response } from 'express'
import type { Faces } from '../../db/faces.ts'
import { networkOfChain } from '../../db/networks.ts'
import { log } from '../../db/process/log.ts'
import { SOLANA } from '../../db/streams.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { CachePolicy, Endpoint, Stream } from './endpoint.ts'
import type { Ground } from './entity-tags.ts'
import type { Exchange, Outcome } from './exchange.ts'
import { charge } from './limits.ts'
import type { Payment } from './payments.ts'
import { type Table, tableOf } from './tables.ts'

/** Nothing is kept without asking again: a tag says whether the projections have moved, a clock cannot. */
const CACHE_CONTROL: Record<CachePolicy, string> = {
  none: 'no-store',
  moment: 'private, no-cache',
  static: 'private, no-cache',
}

interface Prepared {
  outcome: Outcome
  tag?: string | undefined
  isUnchanged: boolean
  /** In place of the answer as JSON. */
  table?: Table | undefined
}

/** Gives an outcome its tag and its form, before anybody is charged: what cannot be written costs nothing. */
export async function prepare(exchange: Exchange, outcome: Outcome, signal: AbortSignal): Promise<Prepared> {
  const { tag, isUnchanged } = tagOf(exchange, outcome)
  const { endpoint, format, deps, request } = exchange
  if (outcome.kind !== 'made' || isUnchanged || format === 'json') return { outcome, tag, isUnchanged }
  const made = { endpoint, text: outcome.text, url: request.originalUrl, clickhouse: deps.clickhouse, signal }
  return { outcome, tag, isUnchanged, table: await tableOf(format, made) }
}

/** To bytes: what an answer stands on, its price, and then the answer itself. */
export async function sendAnswer(
  exchange: Exchange,
  { outcome, tag, isUnchanged, table }: Prepared,
): Promise<void> {
  describe(exchange)
  await settle(exchange, outcome, isUnchanged)
  if (outcome.kind === 'stream') return openStream(exchange, outcome.stream)
  if (tag) exchange.response.setHeader('etag', tag)
  if (isUnchanged || outcome.kind === 'unchanged') exchange.response.status(304).end()
  else if (table) writeTable(exchange, table)
  else write(exchange, outcome)
}

function describe({ endpoint, response, catalogue, touched, read, leftOut }: Exchange): void {
  const asOf = catalogue && describeMoment(catalogue, endpoint.face, touched, read)
  if (asOf) response.setHeader('x-as-of-block', asOf)
  if (leftOut !== undefined) response.setHeader('x-unlisted-left-out', leftOut.count)
  response.setHeader('cache-control', CACHE_CONTROL[endpoint.cache])
  response.vary(
    endpoint.table || endpoint.stream ? 'accept, x-api-key, accept-encoding' : 'x-api-key, accept-encoding',
  )
}

function tagOf(exchange: Exchange, outcome: Outcome): { tag?: string; isUnchanged: boolean } {
  const { endpoint, options, format, representation, catalogue, touched } = exchange
  if (outcome.kind === 'unchanged') return { tag: outcome.tag, isUnchanged: true }
  if (!exchange.isConditional || !catalogue || outcome.kind === 'stream') return { isUnchanged: false }
  const ground = groundOf(endpoint, touched)
  const text = format === 'json' ? outcome.text : `${format} ${outcome.text}`
  const tag = options.tags.make(representation, catalogue, ground, text, endpoint.face)
  return {
    tag,
    isUnchanged: exchange.key !== undefined && options.tags.isOf(exchange.ifNoneMatch, tag),
  }
}

/** Takes the credits of a key, or the money of who pays for this request alone. */
async function settle(
  { key, payment, deps, response, isHead }: Exchange,
  outcome: Outcome,
  isUnchanged: boolean,
): Promise<void> {
  if (key) {
    const full = outcome.kind === 'unchanged' ? 1 : outcome.credits
    await charge(key, deps, isUnchanged || isHead ? Math.min(1, full) : full, response)
    if (isHead && outcome.kind === 'made') response.setHeader('x-credits-cost', full)
  }
  if (payment && outcome.kind === 'made') {
    await payFor(payment, outcome.text, response)
    response.vary('payment-signature')
  }
}

async function openStream({ response }: Exchange, stream: Stream): Promise<void> {
  response.locals['isLong'] = true
  // No proxy may keep it back or squeeze it: compression waits for more.
  response.set({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  })
  response.flushHeaders()
  await stream(response)
}

/** Express would write its own words about characters into the type. */
function writeTable({ response, isHead }: Exchange, { body, headers }: Table): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(isHead ? undefined : body)
}

function write(exchange: Exchange, { text, credits }: Extract<Outcome, { kind: 'made' }>): void {
  const { endpoint, options, request, response, catalogue, touched } = exchange
  response.type('application/json')
  // What was charged or paid for is sent: Express would make a 304 of it by itself, for If-None-Match: * even.
  Object.defineProperty(request, 'fresh', { value: false })
  if (exchange.key && exchange.isConditional && catalogue) {
    const route = String(response.locals['route'])
    const { face } = endpoint
    const ground = groundOf(endpoint, touched)
    options.ready.keep(request, response, { catalogue, ground, face, route, credits, text })
  }
  response.send(text)
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

/** An answer about one network stands on that chain; any other may stand on all, also on those it found nothing on. */
function groundOf(endpoint: Endpoint, touched: Iterable<number>): Ground {
  if (endpoint.cache === 'static') return []
  return endpoint.params?.shape['network'] && !endpoint.standsOnAll ? [...touched] : 'all'
}

/** `mainnet=123, base=456` for the chains that the answer stands on. */
function describeMoment(
  catalogue: Catalogue,
  face: Faces | undefined,
  touched: ReadonlySet<number>,
  read: ReadonlyMap<number, bigint>,
): string {
  return [...touched]
    .sort((a, b) => a - b)
    .flatMap(chainId => {
      const name = chainId === SOLANA.id ? SOLANA.name : networkOfChain(chainId)?.name
      const moments = ['core' as const, face ?? []].flat(2).flatMap(of => catalogue.chain(chainId, of) ?? [])
      const [earliest] = moments.sort((a, b) => a.position - b.position)
      const block = read.get(chainId) ?? earliest?.blockNumber
      return name && block !== undefined ? [`${name}=${block}`] : []
    })
    .join(', ')
}
