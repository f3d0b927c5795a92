import type { RequestHandler } from 'express'
import { log } from '../../db/process/log.ts'
import { observeRequest } from '../metrics.ts'

/** One line per request, and its duration as a metric. Keys are never logged, their public code is. */
export const requestLog: RequestHandler = (request, response, next) => {
  const startedAt = performance.now()
  response.on('close', () => {
    const ms = performance.now() - startedAt
    const status = response.writableFinished ? response.statusCode : 499
    observeRequest(response.locals['route'] as string | undefined, request.method, status, ms / 1000)
    log.info(
      {
        requestId: response.locals['requestId'],
        method: request.method,
        path: request.path,
        route: response.locals['route'],
        status,
        ms: Math.round(ms * 10) / 10,
        key: response.locals['keyCode'],
      },
      'request',
    )
  })
  next()
}
