import type { RequestListener } from 'node:http'
import { parse } from 'node:querystring'
import compression from 'compression'
import cors from 'cors'
import type { Express, RequestHandler } from 'express'
import express from 'express'
import helmet from 'helmet'
import { createExplore } from './explore/router.ts'
import { mountFrontDoor } from './front-door/mount.ts'
import { mountDocumentation } from './http/documentation.ts'
import type { ApiDeps } from './http/endpoint.ts'
import { tiersOf } from './http/endpoint.ts'
import { createEntityTags } from './http/entity-tags.ts'
import { handleErrors, methodNotAllowed, notFound } from './http/error-answers.ts'
import type { LoadedEndpoint } from './http/load-endpoints.ts'
import { loadEndpoints } from './http/load-endpoints.ts'
import { mountEndpoint } from './http/mount.ts'
import type { Payments } from './http/payments.ts'
import { COMPRESSION_THRESHOLD, createReadyAnswers } from './http/ready-answers.ts'
import { mountRedirects } from './http/redirects.ts'
import { takeNotes } from './http/request-log.ts'
import { createInProcess } from './mcp/in-process.ts'
import { mountMcp } from './mcp/mount.ts'

export interface AppOptions {
  /** After this a request is answered with 408. */
  deadlineMs?: number
  /** Origins that browsers may ask from; all where absent. */
  corsOrigins?: readonly string[]
  /** Proxies whose X-Forwarded headers are believed: how many, or their addresses as Express takes them. */
  trustProxy?: number | string
  /** Where callers reach the API, if not where it listens. */
  publicUrl?: string
  /** Lets callers without a key pay for a request. */
  payments?: Payments
  /** Addresses in the log of requests are cut short: a wallet does not stand beside a key. */
  shortAddresses?: boolean
  /** The operator's pages, below /ops. */
  ops?: RequestHandler
  /** What is served; the modules below read-api/endpoints where absent. */
  endpoints?: readonly LoadedEndpoint[]
}

/** What a server listens with. `router`: the routes of Express behind it. */
export type App = RequestListener & Pick<Express, 'router'>

function methodsByRoute(endpoints: readonly LoadedEndpoint[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { endpoint } of endpoints) {
    const taken = endpoint.method === 'get' ? ['GET', 'HEAD'] : [endpoint.method.toUpperCase()]
    for (const tier of tiersOf(endpoint)) {
      const route = `/${tier}${endpoint.path}`.replaceAll(/\{(\w+)\}/g, ':$1')
      methods.set(route, [...(methods.get(route) ?? []), ...taken])
    }
  }
  return methods
}

/**
 * The API: an Express app, and before it the answers that are at hand. Everything it stands on is in `deps`; it listens
 * nowhere and closes nothing.
 */
export async function createApp(deps: ApiDeps, options: AppOptions = {}): Promise<App> {
  const app = express()
  app.disable('x-powered-by')
  // Tags are made of positions, and before an answer is charged; Express would hash the body again.
  app.set('etag', false)
  app.set('trust proxy', options.trustProxy ?? false)
  // Node reads the first 1,000 parameters and drops the rest without a word; the length of an address is bounded anyway.
  app.set('query parser', (text: string) => parse(text, '&', '=', { maxKeys: 0 }))
  const ready = createReadyAnswers(deps, { isForEveryOrigin: options.corsOrigins === undefined })
  app.use(
    helmet({
      // Plain http is how people run it at home: a browser told to upgrade would load none of the page's parts.
      contentSecurityPolicy: {
        directives: { 'upgrade-insecure-requests': null, 'img-src': ["'self'", 'data:'] },
      },
      strictTransportSecurity: false,
    }),
  )
  app.use(
    cors({
      origin: options.corsOrigins ? [...options.corsOrigins] : '*',
      methods: ['GET', 'HEAD', 'POST', 'DELETE'],
      maxAge: 86_400,
      exposedHeaders: [
        'x-warnings',
        'x-request-id',
        'x-as-of-block',
        'x-unlisted-left-out',
        'x-credits-used',
        'x-credits-remaining',
        'x-credits-cost',
        'retry-after',
        'etag',
        'link',
        'ratelimit',
        'ratelimit-policy',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit-reset',
        'payment-required',
        'payment-response',
      ],
    }),
  )
  app.use(compression({ threshold: COMPRESSION_THRESHOLD }))
  if (options.ops) app.use('/ops', options.ops)

  app.use('/explore', createExplore(deps.catalogue))

  const endpoints = options.endpoints ?? (await loadEndpoints())
  mountDocumentation(app, endpoints, { publicUrl: options.publicUrl })
  mountFrontDoor(app, endpoints, { publicUrl: options.publicUrl })
  const mounting = {
    deadlineMs: options.deadlineMs ?? 15_000,
    tags: createEntityTags(),
    payments: options.payments,
    ready,
  }
  for (const { endpoint } of endpoints) mountEndpoint(app, endpoint, deps, mounting)
  if (!options.endpoints) {
    mountMcp(app, {
      endpoints,
      ask: createInProcess((request, response) => listen(request, response)),
      catalogue: deps.catalogue,
      origins: [
        ...(options.corsOrigins ?? []),
        ...(options.publicUrl ? [new URL(options.publicUrl).origin] : []),
      ],
    })
  }
  mountRedirects(
    app,
    endpoints,
    options.publicUrl ? new URL(options.publicUrl).pathname.replace(/\/$/, '') : '',
  )
  for (const [route, methods] of methodsByRoute(endpoints)) app.all(route, methodNotAllowed(methods))

  app.use(notFound)
  app.use(handleErrors)
  const listen: RequestListener = (request, response) => {
    const notes = takeNotes(request, response, options)
    if (ready.answer(request, response, notes)) return
    response.setHeader('x-request-id', notes.requestId)
    // Every answer says what it cost, and one that nobody is charged for nothing.
    response.setHeader('x-credits-used', 0)
    app(request, response)
  }
  return Object.assign(listen, { router: app.router })
}
