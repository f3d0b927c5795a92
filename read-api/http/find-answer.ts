import type { Request, Response } from 'express'
import express from 'express'
import { preferredOf } from './accept.ts'
import { authenticate } from './auth.ts'
import { type EndpointContext, isPayable, ReadyJson } from './endpoint.ts'
import type { Exchange, LeftOut, Outcome } from './exchange.ts'
import { admit, refuseExhausted } from './limits.ts'
import { formatFor } from './tables.ts'
import { parseStrictly } from './validation.ts'

interface Input {
  params: unknown
  query: unknown
  body: unknown
}

const parseBody = express.json({ limit: '100kb', type: () => true })

/** From the key to the answer: everything that the deadline is for. `signal`: nobody waits for it any more. */
export async function findAnswer(exchange: Exchange, signal: AbortSignal): Promise<Outcome> {
  await identify(exchange)
  exchange.format = formatFor(exchange.endpoint, exchange.request)
  const input = await validate(exchange)
  await secure(exchange, input, signal)
  exchange.catalogue = exchange.deps.catalogue.current()
  return paidBefore(exchange) ?? stillHeld(exchange, input) ?? (await work(exchange, input, signal))
}

/** Who asks, by key or by address, and whether they may ask now. */
async function identify(exchange: Exchange): Promise<void> {
  const { endpoint, deps, options, request, response } = exchange
  const wantsToPay =
    options.payments !== undefined && endpoint.access !== 'open' && !request.get('x-api-key')?.trim()
  if (endpoint.access !== 'open' && !(wantsToPay && isPayable(endpoint))) {
    exchange.key = await authenticate(request, deps)
    response.locals['keyCode'] = exchange.key.code
    await admit(exchange.key, deps, response)
  } else if (wantsToPay) await options.payments?.admit(request, deps)
}

async function validate({ endpoint, request, response }: Exchange): Promise<Input> {
  // After the key was checked: the body of a caller without one is not read.
  if (endpoint.body) await readBody(request, response)
  return {
    params: parseStrictly('path', endpoint.params, request.params),
    query: parseStrictly('query', endpoint.query, request.query),
    body: parseStrictly('body', endpoint.body, request.body ?? {}),
  }
}

/** Before any work: the credits that the answer is sure to cost are left, or it is paid for. */
async function secure(exchange: Exchange, input: Input, signal: AbortSignal): Promise<void> {
  const { endpoint, deps, options, request, isHead } = exchange
  const least = price(exchange, input, undefined, 0)
  if (exchange.key) await refuseExhausted(exchange.key, deps, isHead ? Math.min(1, least) : least)
  else if (options.payments && endpoint.access !== 'open') {
    const { perPage } = (input.query ?? {}) as { perPage?: number }
    exchange.payment = await options.payments.begin(
      request,
      {
        what: exchange.what,
        credits: isHead ? 1 : price(exchange, input, undefined, perPage ?? 1),
        isPaged: perPage !== undefined && typeof endpoint.cost !== 'number',
      },
      deps,
    )
    // Whoever waited for it has been answered: the payment must not stay taken for nothing.
    if (signal.aborted) await exchange.payment.cancel()
  }
}

function paidBefore({ payment }: Exchange): Outcome | undefined {
  return payment?.kept && { kind: 'made', text: payment.kept.text, credits: 0 }
}

/** Where nothing has moved since the caller's answer was made, it is not made again. */
function stillHeld(exchange: Exchange, { params }: Input): Outcome | undefined {
  const { endpoint, options, representation, catalogue, touched, ifNoneMatch } = exchange
  if (!ifNoneMatch || !catalogue || !exchange.key || !exchange.isConditional) return undefined
  const held = options.tags.stillHolds(ifNoneMatch, representation, catalogue, endpoint.face)
  if (!held) return undefined
  const { ground, tag } = held
  const { network } = (params ?? {}) as { network?: { chainId: number } }
  const all = network ? [network.chainId] : catalogue.moment.chains.keys()
  for (const chainId of ground === 'all' ? all : ground) touched.add(chainId)
  return { kind: 'unchanged', tag }
}

async function work(exchange: Exchange, input: Input, signal: AbortSignal): Promise<Outcome> {
  const { endpoint, deps, request, touched, read, catalogue = deps.catalogue.current() } = exchange
  const { allowUnlisted = deps.showUnlisted ?? false } = (input.query ?? {}) as { allowUnlisted?: boolean }
  const context: EndpointContext = {
    deps,
    catalogue,
    shown: catalogue.shown(allowUnlisted),
    key: exchange.key,
    signal,
    touch: (...chainIds) => {
      for (const chainId of chainIds) touched.add(chainId)
    },
    leaveOut: (count, isEmpty, what = 'vault') => {
      exchange.leftOut = { count, isEmpty, what }
    },
    readAt: (chainId, block) => {
      touched.add(chainId)
      read.set(chainId, block)
    },
  }
  if (endpoint.stream && wantsStream(request)) {
    const stream = await endpoint.stream.open(input as never, context, request)
    return { kind: 'stream', stream, credits: 1 }
  }
  const result = await endpoint.handler(input as never, context)
  // Who names no chain looked at the whole catalogue.
  if (touched.size === 0 && read.size === 0 && endpoint.cache === 'moment') {
    for (const chainId of catalogue.moment.chains.keys()) touched.add(chainId)
  }
  const isReady = result instanceof ReadyJson
  return {
    kind: 'made',
    text: sayLeftOut(isReady ? result.text : JSON.stringify(result), exchange.leftOut),
    credits: isReady
      ? price(exchange, input, undefined, result.items)
      : price(exchange, input, result, countItems(result)),
  }
}

const wantsStream = (request: Request) =>
  request.method === 'GET' &&
  preferredOf(request, ['application/json', 'text/event-stream']) === 'text/event-stream'

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

/** Credits of an answer with so many items. */
function price({ endpoint: { cost } }: Exchange, input: Input, body: unknown, items: number): number {
  return typeof cost === 'number' ? cost : cost({ body: body as never, items, request: input.body as never })
}

function countItems(result: unknown): number {
  if (Array.isArray(result)) return result.length
  const { itemsOnPage } = (result ?? {}) as { itemsOnPage?: number }
  return itemsOnPage ?? 1
}
