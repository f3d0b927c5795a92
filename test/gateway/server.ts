import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { PortInUseError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import type { BlockSource, GatewayBlock } from './blocks.ts'
import { compileQuery, type WorkerQuery, workerQuery } from './query.ts'

export interface GatewayOptions {
  blocks: BlockSource
  /** Absent or 0: any free port. */
  port?: number
  /** Characters of JSON after which an answer ends with the block at hand. */
  maxAnswer?: number
  /** Block headers looked at for one answer. */
  maxRange?: number
}

export interface Gateway {
  /** What setGateway() takes. */
  url: string
  close(): Promise<void>
}

const MAX_ANSWER = 4_000_000
const MAX_RANGE = 100_000
const MAX_QUERY = 64_000_000

/**
 * A gateway with the protocol of SQD's archives (as @subsquid/util-internal-archive-client 0.x speaks it):
 * GET /height, GET /<block>/worker, and POST of the query to the address that the latter answers. An answer holds the
 * blocks with something asked for, and always its first and last block, so that the next query starts after the last.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const server = createServer((request, response) => {
    respond(request, response, options).catch(error => {
      const isRefused = error instanceof z.ZodError || error instanceof SyntaxError
      if (!isRefused) log.error({ error: String(error) }, 'gateway request failed')
      send(
        response,
        isRefused ? 400 : 500,
        'text/plain',
        error instanceof Error ? error.message : String(error),
      )
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new PortInUseError(options.port ?? 0, 'the local gateway', 'GATEWAY_PORT')
          : error,
      )
    })
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: GatewayOptions,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://gateway').pathname
  const { blocks } = options
  if (request.method === 'GET' && path === '/height')
    return send(response, 200, 'text/plain', `${blocks.height()}`)
  const worker = /^\/(\d+)\/worker$/.exec(path)
  if (request.method === 'GET' && worker) {
    if (Number(worker[1]) > blocks.height()) return send(response, 503, 'text/plain', 'no such block yet')
    return send(response, 200, 'text/plain', `http://${request.headers.host}/worker`)
  }
  if (request.method === 'POST' && path === '/worker') {
    const query = workerQuery.parse(JSON.parse(await readBody(request)))
    return send(response, 200, 'application/json', await answer(query, options))
  }
  send(response, 404, 'text/plain', `no ${request.method} ${path} here`)
}

/** The JSON array of blocks that answers a query. */
async function answer(query: WorkerQuery, options: GatewayOptions): Promise<string> {
  const { blocks, maxAnswer = MAX_ANSWER, maxRange = MAX_RANGE } = options
  const { fromBlock } = query
  const last = Math.min(query.toBlock ?? Infinity, blocks.height(), fromBlock + maxRange - 1)
  if (last < fromBlock) return '[]'
  const select = compileQuery(query)
  const parts: string[] = []
  let size = 0
  let next = fromBlock
  let before: GatewayBlock | undefined
  /** False once the answer is full: then the block just added is its last. */
  const add = (block: GatewayBlock, isBoundary: boolean): boolean => {
    const selected = select(block, isBoundary)
    if (!selected) return true
    const part = JSON.stringify(selected)
    parts.push(part)
    size += part.length
    return size < maxAnswer
  }
  const fill = (end: number): boolean => {
    for (; next < end; next++) if (!add(emptyBlock(next, before), true)) return false
    return true
  }
  const done = () => `[${parts.join(',')}]`

  for await (const block of blocks.blocks(fromBlock, last)) {
    const { number } = block.header
    if (query.includeAllBlocks && !fill(number)) return done()
    if (!add(block, number === fromBlock || number === last)) return done()
    before = block
    next = number + 1
  }
  if (query.includeAllBlocks) fill(last + 1)
  else if (next <= last) add(emptyBlock(last, before), true)
  return done()
}

/** Stands for a block that the source does not have: no chain has this hash. */
function emptyBlock(number: number, before: GatewayBlock | undefined): GatewayBlock {
  const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
  return {
    header: {
      number,
      hash: hash(number),
      parentHash: hash(number - 1),
      timestamp: before?.header.timestamp ?? 0,
    },
    transactions: [],
    logs: [],
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_QUERY) throw new SyntaxError(`a query of more than ${MAX_QUERY} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
}
