import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'

/** Names the request; an error body has the same name as errorId. */
export const requestId: RequestHandler = (_request, response, next) => {
  const id = randomUUID()
  response.locals['requestId'] = id
  response.setHeader('x-request-id', id)
  next()
}
