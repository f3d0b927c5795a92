import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler, Request, RequestHandler } from 'express'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { isConnectionError } from '../moment/query.ts'
import { checksumIn } from './amounts.ts'
import {
  DependencyDownError,
  InvalidRequestError,
  MethodNotAllowedError,
  MovedError,
  NotFoundError,
  RequestError,
} from './errors.ts'
import { hasLeft, notesOf } from './request-log.ts'

/** The body of every answer that is not 200: {statusCode, error, message, errorId}. */
export function sendError(response: ServerResponse, error: unknown): void {
  const known = asRequestError(error)
  const status = known?.status ?? 500
  const { requestId: errorId, route } = notesOf(response)
  // The work of a caller who went away is aborted: its failure is expected.
  if (hasLeft(response.req, response))
    log.info({ requestId: errorId, error: String(error), route }, 'request abandoned')
  else if (status >= 500) log.error({ requestId: errorId, err: error, route }, 'request failed')
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (known?.retryAfter !== undefined) response.setHeader('retry-after', String(known.retryAfter))
  for (const [name, value] of Object.entries(known?.headers ?? {})) response.setHeader(name, value)
  // Relative, so that it holds behind a proxy that takes a part of the path off.
  if (known instanceof MovedError) {
    const [path = '', ...query] = (response.req as Request).originalUrl.split('?')
    const up = path.endsWith('/') ? '..' : '.'
    response.setHeader('location', [`${up}/${encodeURIComponent(checksumIn(known.to))}`, ...query].join('?'))
  }
  response.removeHeader('etag')
  response.setHeader('cache-control', 'no-store')
  const body = JSON.stringify({
    statusCode: status,
    error: STATUS_CODES[status] ?? 'Error',
    message: known
      ? checksumIn(known.message)
      : 'Something went wrong on our side. The errorId names this request in the logs of the operator.',
    errorId,
    ...known?.details,
  })
  response.statusCode = status
  if (!response.hasHeader('content-type'))
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(body))
  if (response.req.method === 'HEAD') response.end()
  else response.end(body)
}

function asRequestError(error: unknown): RequestError | undefined {
  if (error instanceof RequestError) return error
  if (error instanceof UnavailableError) return new DependencyDownError('A store', { cause: error })
  if (isConnectionError(error)) return new DependencyDownError('A database', { cause: error })
  const { type, status, message } = (error ?? {}) as { type?: string; status?: number; message?: string }
  if (type === 'entity.parse.failed') return new InvalidRequestError('The body is not JSON.')
  if (type === 'entity.too.large') return new TooLargeError('The body is too large: 100 kB at most.')
  if (error instanceof URIError || (status === 400 && /decode/i.test(message ?? ''))) {
    return new InvalidRequestError('The path cannot be decoded: check its percent-encoding.')
  }
  if (status !== undefined && status >= 400 && status < 500)
    return new InvalidRequestError(`The request cannot be read: ${message ?? type}.`)
  return undefined
}

class TooLargeError extends RequestError {
  readonly code = 'BODY_TOO_LARGE'
  readonly status = 413
}

export const handleErrors: ErrorRequestHandler = (error, _request, response, _next) =>
  sendError(response, error)

export function methodNotAllowed(allowed: readonly string[]): RequestHandler {
  return (request, _response, next) => {
    next(new MethodNotAllowedError(request.method, request.path, allowed))
  }
}

export const notFound: RequestHandler = (request, _response, next) => {
  next(
    new NotFoundError(
      `There is no ${request.method} ${request.path}. /documentation lists every endpoint of every tier.`,
    ),
  )
}
