import { setMaxListeners } from 'node:events'
import type { Express, Request, Response } from 'express'
import { within } from '../../db/process/within.ts'
import type { ApiDeps, Endpoint } from './endpoint.ts'
import { tiersOf } from './endpoint.ts'
import { sendError } from './error-answers.ts'
import { DeadlineError } from './errors.ts'
import { Exchange, type ServeOptions } from './exchange.ts'
import { findAnswer } from './find-answer.ts'
import { sayRemaining } from './limits.ts'
import { hasLeft } from './request-log.ts'
import { prepare, sendAnswer } from './send-answer.ts'

/** Serves an endpoint in each of its tiers. */
export function mountEndpoint(app: Express, endpoint: Endpoint, deps: ApiDeps, options: ServeOptions): void {
  for (const tier of tiersOf(endpoint)) {
    const route = `/${tier}${endpoint.path}`
    app[endpoint.method](
      route.replaceAll(/\{(\w+)\}/g, ':$1'),
      async (request: Request, response: Response) => {
        response.locals['route'] = route
        const exchange = new Exchange({ endpoint, route }, { deps, options }, { request, response })
        try {
          await serve(exchange)
        } catch (error) {
          if (exchange.key && !response.headersSent) await sayRemaining(exchange.key, deps, response)
          sendError(response, error)
        }
      },
    )
  }
}

async function serve(exchange: Exchange): Promise<void> {
  const { request, response, options } = exchange
  const abort = new AbortController()
  // Every question of the request listens to it; Node takes more than ten for a leak.
  setMaxListeners(0, abort.signal)
  response.once('close', () => {
    // After an answer there is nobody left to tell, and an abort is not cheap.
    if (!response.writableFinished) abort.abort()
  })
  const found = within(
    { ms: options.deadlineMs },
    async () => prepare(exchange, await findAnswer(exchange, abort.signal), abort.signal),
    () => {
      abort.abort()
      throw new DeadlineError(options.deadlineMs)
    },
  )
  const prepared = await found.catch(async error => {
    await exchange.payment?.cancel()
    throw error
  })
  if (hasLeft(request, response)) await exchange.payment?.cancel()
  else await sendAnswer(exchange, prepared)
}
