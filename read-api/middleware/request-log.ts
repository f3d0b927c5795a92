import type { RequestHandler } from 'express'
import { log } from '../../db/process/log.ts'

/** One line per request. Keys are never logged, their public code is. */
export const requestLog: RequestHandler = (request, response, next) => {
  const startedAt = performance.now()
  response.on('close', () => {
    log.info(
      {
        requestId: response.locals['requestId'],
        method: request.method,
        path: request.path,
        route: response.locals['route'],
        status: response.writableFinished ? response.statusCode : 499,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        key: response.locals['keyCode'],
      },
      'request',
    )
  })
  next()
}
