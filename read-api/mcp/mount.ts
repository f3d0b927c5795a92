import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Express, Request, RequestHandler } from 'express'
import express from 'express'
import { log } from '../../db/process/log.ts'
import { isToLoopback } from '../../db/process/loopback.ts'
import type { CatalogueSource } from '../catalogue/catalogue.ts'
import { methodNotAllowed } from '../http/error-answers.ts'
import { InvalidRequestError, RequestError } from '../http/errors.ts'
import type { LoadedEndpoint } from '../http/load-endpoints.ts'
import { type BoundTool, bindTools } from './bind.ts'
import type { AskApi } from './in-process.ts'
import { createMcpServer } from './server.ts'
import { tools } from './tools.ts'

export interface McpOptions {
  endpoints: readonly LoadedEndpoint[]
  ask: AskApi
  catalogue: CatalogueSource
  /** Origins that browsers may ask from, besides this machine's own. */
  origins: readonly string[]
}

/** Older clients may send several messages at once; each is a request of its own to the API. */
const MOST_MESSAGES = 10
/** Levels of a body; the SDK reads it by recursion. */
const DEEPEST = 32

class ForbiddenOriginError extends RequestError {
  readonly code = 'FORBIDDEN_ORIGIN'
  readonly status = 403
}

/**
 * The MCP server, at /mcp: streamable HTTP without sessions, for clients of 2026-07-28 and older ones. What there is, anybody may list; a tool
 * that is called asks the API as its caller.
 */
export function mountMcp(app: Express, { endpoints, ask, catalogue, origins }: McpOptions): void {
  // Made of the documents, which take a moment: not before somebody asks.
  let bound: BoundTool[] | undefined
  app.all('/mcp', onlyOrigins(new Set(origins)), (_request, response, next) => {
    response.locals['route'] = '/mcp'
    response.setHeader('cache-control', 'no-store')
    // What a tool's call costs is in its result: several calls may be in one request.
    response.removeHeader('x-credits-used')
    next()
  })
  app.post('/mcp', express.json({ limit: '100kb', strict: false }), boundBody, async (request, response) => {
    bound ??= bindTools(tools, endpoints)
    const parts = { tools: bound, ask, catalogue }
    const caller = { headers: request.headers, remoteAddress: request.socket.remoteAddress }
    // One for each request, so that nothing of one can be seen in another; nobody has anything to subscribe to.
    const handler = createMcpHandler(() => createMcpServer(parts, caller), { maxSubscriptions: 0, onerror })
    await toNodeHandler(handler, { onerror, maxRequestBodySize: 100_000 })(request, response, request.body)
  })
  app.all('/mcp', methodNotAllowed(['POST']))
}

const onerror = (error: Error) => log.debug({ err: error }, 'MCP request refused')

/** A page of somebody else must not ask for its visitor, by whatever name it reaches this server. */
function onlyOrigins(allowed: ReadonlySet<string>): RequestHandler {
  return (request, _response, next) => {
    const { origin } = request.headers
    if (origin === undefined || allowed.has(origin) || isOfThisMachine(origin)) return next()
    next(
      new ForbiddenOriginError(
        `Pages of ${origin.slice(0, 80)} may not ask here: the operator names origins in CORS_ORIGINS.`,
      ),
    )
  }
}

function isOfThisMachine(origin: string): boolean {
  const [, host] = /^https?:\/\/([^/]+)$/.exec(origin) ?? []
  return isToLoopback(host)
}

const boundBody: RequestHandler = (request: Request, _response, next) => {
  const { body } = request as { body: unknown }
  if (Array.isArray(body) && body.length > MOST_MESSAGES)
    return next(new InvalidRequestError(`A body has ${MOST_MESSAGES} messages at most, not ${body.length}.`))
  if (isDeeperThan(DEEPEST, body))
    return next(new InvalidRequestError(`The body is nested more than ${DEEPEST} deep.`))
  next()
}

/** Level by level: who walks down by recursion runs out of stack. */
function isDeeperThan(levels: number, value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth < levels; depth++) {
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
    if (level.length === 0) return false
  }
  return true
}
