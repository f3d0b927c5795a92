import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip, gunzipSync } from 'node:zlib'
import { z } from 'zod'

/** What stands behind a Portal: the blocks of one chain. */
export interface Dataset {
  name: string
  start: number
  /** The newest final block. */
  head(): { number: number; hash: string }
  hash(number: number): string | undefined
  /**
   * Lines that answer a query, in chunks as workers give them: each has its first and its last block, with what was asked for or without.
   * @throws BadQuery
   */
  chunks(query: Query): Iterable<string[]>
}

export interface Query {
  fromBlock: number
  toBlock?: number
  parentBlockHash?: string
  [rest: string]: unknown
}

export class BadQuery extends Error {}

/**
 * What becomes of a request: a status to refuse it with; bytes of the uncompressed answer after which the connection is cut;
 * lines as they were to be, changed; a head that is given out in place of the real one.
 */
export type Fault =
  | { status: number; retryAfter?: string; body?: unknown }
  | { cutAfter: number }
  | { change(lines: string[]): string[] }
  | { head: number }

export interface TestPortal {
  url: string
  /** Those that came, refused ones too. */
  readonly requests: { path: string; body: string; key: string | undefined; at: number }[]
  /** Bytes of lines that were sent. */
  sent: number
  /** Of the next requests for blocks, one each. */
  readonly faults: Fault[]
  /** Of the next requests for the head. */
  readonly headFaults: Fault[]
  close(): Promise<void>
}

export interface PortalSettings {
  /** Wanted of every request. */
  apiKey?: string
  /** Chunks of one answer. */
  mostChunks?: number
  /** Milliseconds before it says that there is no such block yet: 5 s in the original. */
  noDataDelay?: number
}

/** As subsquid/sqd-portal has them: spec/15-parameters.md. */
const SIZE_LIMIT = 256 * 1024
const ITEM_LIMIT = 100

const common = z.looseObject({
  type: z.string(),
  fromBlock: z.number().int().nonnegative(),
  toBlock: z.number().int().nonnegative().optional(),
  parentBlockHash: z.string().optional(),
  includeAllBlocks: z.boolean().optional(),
  fields: z.record(z.string(), z.record(z.string(), z.boolean())).optional(),
})

/** A Portal as subsquid/sqd-portal describes it (docs/openapi, spec/14-interface-binding.md, src/endpoints/stream.rs), over a real HTTP server. */
export async function startPortal(dataset: Dataset, settings: PortalSettings = {}): Promise<TestPortal> {
  const server = createServer((request, response) => {
    answer(request, response).catch(error => {
      if (error instanceof BadQuery || error instanceof z.ZodError || error instanceof SyntaxError)
        refuse(response, 400, 'invalid_request_error', 'malformed_request', error.message)
      else refuse(response, 500, 'api_error', 'internal_error', String(error))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const portal: TestPortal = {
    url: `http://127.0.0.1:${port}/datasets/${dataset.name}`,
    requests: [],
    sent: 0,
    faults: [],
    headFaults: [],
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    const { url: path = '' } = request
    const key = request.headers['x-api-key']?.toString()
    portal.requests.push({ path, body, key, at: performance.now() })
    if (settings.apiKey !== undefined && key !== settings.apiKey)
      return refuse(response, 401, 'invalid_request_error', 'malformed_request', 'an API key is wanted')
    const [, , name, what] = path.split('/')
    if (name !== dataset.name)
      return refuse(response, 404, 'invalid_request_error', 'unknown_dataset', `no dataset ${name}`)
    if (what === 'metadata')
      return send(response, 200, { dataset: name, aliases: [], real_time: false, start_block: dataset.start })
    if (what === 'finalized-head') {
      const fault = portal.headFaults.shift()
      if (fault && 'status' in fault) return refuseAs(response, fault)
      return send(response, 200, headOf(fault))
    }
    if (what === 'finalized-stream' && request.method === 'POST') return stream(response, body)
    refuse(response, 404, 'invalid_request_error', 'not_found', 'nothing is here')
  }

  const headOf = (fault: Fault | undefined) =>
    fault && 'head' in fault ? { number: fault.head, hash: dataset.hash(fault.head) ?? '0x' } : dataset.head()

  async function stream(response: ServerResponse, body: string): Promise<void> {
    if (Buffer.byteLength(body) > SIZE_LIMIT) throw new BadQuery('Query is too large')
    const query = common.parse(JSON.parse(body)) as Query
    const items = Object.values(query).flatMap(value => (Array.isArray(value) ? value : [])).length
    if (items > ITEM_LIMIT)
      throw new BadQuery(`query contains ${items} item requests, but only 100 is allowed`)
    const { fromBlock, toBlock = Number.POSITIVE_INFINITY, parentBlockHash } = query
    if (toBlock < fromBlock) throw new BadQuery('last block is before the first one')
    if (fromBlock < dataset.start) throw new BadQuery(`first block is below ${dataset.start}`)
    const fault = portal.faults.shift()
    if (fault && 'status' in fault) return refuseAs(response, fault)
    const head = headOf(fault)
    response.setHeader('x-sqd-finalized-head-number', head.number)
    response.setHeader('x-sqd-finalized-head-hash', head.hash)
    response.setHeader('x-sqd-head-number', head.number)
    response.setHeader('x-sqd-data-source', 'network')
    const parent = dataset.hash(fromBlock - 1)
    if (parentBlockHash !== undefined && parent !== undefined && parent !== parentBlockHash) {
      const previousBlocks = [{ number: fromBlock - 1, hash: parent }]
      return send(response, 409, { previousBlocks })
    }
    if (fromBlock > head.number) {
      await sleep(settings.noDataDelay ?? 20)
      return void response.writeHead(204).end()
    }
    response.setHeader('content-type', 'application/jsonl')
    response.setHeader('content-encoding', 'gzip')
    await sendLines(response, chunksOf({ ...query, toBlock: Math.min(toBlock, head.number) }), fault)
  }

  function* chunksOf(query: Query): Generator<string[]> {
    let chunks = 0
    for (const chunk of dataset.chunks(query)) {
      yield chunk
      if (++chunks === settings.mostChunks) return
    }
  }

  async function sendLines(response: ServerResponse, chunks: Iterable<string[]>, fault: Fault | undefined) {
    const gzip = createGzip({ level: 1 })
    gzip.pipe(response)
    // Whoever has enough hangs up.
    response.on('close', () => gzip.destroy())
    const write = (text: string) =>
      new Promise<void>(resolve => {
        portal.sent += text.length
        if (gzip.destroyed) resolve()
        else gzip.write(text, () => gzip.flush(() => resolve()))
      })
    if (fault && 'cutAfter' in fault) {
      const text = [...chunks].flat().join('\n')
      await write(text.slice(0, fault.cutAfter))
      await sleep(20)
      return void response.destroy()
    }
    const change = fault && 'change' in fault ? fault.change : undefined
    for (const lines of change ? [change([...chunks].flat())] : chunks) {
      if (response.destroyed) return
      await write(lines.map(line => `${line}\n`).join(''))
    }
    gzip.end()
  }

  return portal
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const whole = Buffer.concat(parts)
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole).toString()
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, status: number, type: string, code: string, message: string): void {
  if (response.headersSent) return void response.destroy()
  send(response, status, { error: { type, code, message, request_id: 'test' } })
}

function refuseAs(
  response: ServerResponse,
  { status, retryAfter, body }: Extract<Fault, { status: number }>,
) {
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
  if (status === 204) response.writeHead(204).end()
  else
    send(response, status, body ?? { error: { type: 'test', code: 'fault', message: 'as the test wants' } })
}
