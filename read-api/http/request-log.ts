import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request } from 'express'
import { log } from '../../db/process/log.ts'
import { observeRequest } from './metrics.ts'

/** What is known of a request, for its log line and metric; to Express it is `response.locals`. */
export interface Notes {
  /** Names the request; an error body has the same name as errorId. */
  readonly requestId: string
  /** The pattern that answers it. */
  route?: string
  keyCode?: string
  /** Where Express has not looked at the request. */
  path?: string
  /** A stream: it lasts as long as its reader wants, and no time limit holds. */
  isLong?: boolean | undefined
}

export function notesOf(response: ServerResponse): Partial<Notes> {
  return (response as ServerResponse & { locals?: Notes }).locals ?? {}
}

/** Whether nobody is there any more: behind a pipelined request that is still answered, a response is not told. */
export function hasLeft(request: IncomingMessage, response: ServerResponse): boolean {
  return response.destroyed || request.socket.destroyed
}

/** Names a request. When it is over: one line, and its duration as a metric. Keys are never logged, their public code is. */
export function takeNotes(
  request: IncomingMessage,
  response: ServerResponse,
  { shortAddresses = false } = {},
): Notes {
  const notes: Notes = {
    requestId: randomUUID(),
    route: undefined,
    keyCode: undefined,
    path: undefined,
    isLong: undefined,
  }
  ;(response as ServerResponse & { locals?: Notes }).locals = notes
  const startedAt = performance.now()
  response.on('close', () => {
    const ms = performance.now() - startedAt
    const status = response.writableFinished ? response.statusCode : 499
    const { requestId, route, keyCode, path, isLong } = notes
    const { method = '' } = request
    if (!isLong) observeRequest(route, method, status, ms / 1000)
    log.info(
      {
        requestId,
        method,
        path: shortAddresses
          ? shortened(path ?? (request as Request).path)
          : (path ?? (request as Request).path),
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        key: keyCode,
      },
      'request',
    )
  })
  return notes
}

/** A path with every address cut down to what still tells one from another in a day's log. */
function shortened(path: string): string {
  return path.replaceAll(/0x([0-9a-f]{4})[0-9a-f]{32}([0-9a-f]{4})(?![0-9a-f])/gi, '0x$1…$2')
}
