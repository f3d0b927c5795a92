import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Request, Response } from 'express'
import express from 'express'
import { LRUCache } from 'lru-cache'
import type { Faces } from '../../db/faces.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { authenticate } from './auth.ts'
import type { ApiDeps } from './endpoint.ts'
import { type Ground, standOf } from './entity-tags.ts'
import { sendError } from './error-answers.ts'
import { admit, charge, type Head, sayRemaining } from './limits.ts'
import { hasLeft, type Notes } from './request-log.ts'

const squeeze = {
  gzip: promisify(gzip),
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
}
type Encoding = keyof typeof squeeze

/** As compression's: below this a body goes out as it is. */
export const COMPRESSION_THRESHOLD = 4_096
const MAX_TOTAL_BYTES = 64 * 2 ** 20
const MAX_BODY_BYTES = 2 ** 20

/** Headers of one request, not of its answer. */
const PER_REQUEST =
  /^(x-request-id|x-credits-.*|ratelimit.*|payment-.*|content-length|content-encoding|transfer-encoding|connection|date)$/

/** Headers that an error has, too. */
const OF_ANY_ANSWER = /^(?!(x-as-of-block|etag|content-type|vary)$)/

/** Bytes as they go out, with the headers that are said of them: name, value, name, value. */
interface Form {
  headers: OutgoingHttpHeader[]
  bytes: Buffer
}

interface ReadyAnswer {
  ground: Ground
  face: Faces | undefined
  /** Where its ground stood when it was made. */
  stand: string
  path: string
  route: string
  credits: number
  headers: [name: string, value: string | string[]][]
  plain: Form
  squeezed: Partial<Record<Encoding, Promise<Form>>>
}

export interface ReadyAnswers {
  /** Answers a request whose answer is at hand; false: it is for the endpoints. */
  answer(request: IncomingMessage, response: ServerResponse, notes: Notes): boolean
  /** Keeps an answer that is true until a projection of its ground moves, with the headers that `response` has by now. */
  keep(
    request: Request,
    response: Response,
    answer: {
      catalogue: Catalogue
      ground: Ground
      face: Faces | undefined
      route: string
      credits: number
      text: string
    },
  ): void
}

/** Headers of one request, gathered so that all can be said at once: one by one they cost more than the rest. */
class RequestHead implements Head {
  readonly lines: OutgoingHttpHeader[]
  constructor(requestId: string) {
    this.lines = ['x-request-id', requestId]
  }
  setHeader(name: string, value: OutgoingHttpHeader): void {
    this.lines.push(name, value)
  }
}

/** JSON will do, as far as one can tell without weighing: what is kept is JSON. */
const takesJson = ({ accept }: IncomingMessage['headers']): boolean =>
  accept === undefined ||
  (/\*\/\*|application\/(json|\*)/i.test(accept) &&
    !/csv|parquet|text\/\*|q=0(\.0*)?\s*(,|;|$)/i.test(accept))

/** Only what does not depend on anything else than URL, key and encoding. */
const isPlain = ({ method, headers }: IncomingMessage, isForEveryOrigin: boolean): boolean =>
  method === 'GET' &&
  typeof headers['x-api-key'] === 'string' &&
  headers['x-api-key'].trim() !== '' &&
  headers['if-none-match'] === undefined &&
  takesJson(headers) &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined &&
  (isForEveryOrigin || headers.origin === undefined)

/** Compressed once, however many ask for it meanwhile. */
const formOf = (answer: ReadyAnswer, encoding: Encoding): Promise<Form> => {
  answer.squeezed[encoding] ??= squeeze[encoding](answer.plain.bytes).then(bytes => ({
    bytes,
    headers: [...answer.headers.flat(), 'content-encoding', encoding, 'content-length', bytes.length],
  }))
  return answer.squeezed[encoding]
}

/**
 * Answers as bytes, by URL, for as long as the chains stand that they are made of: what was worked out, serialised and compressed for one
 * caller is sent to the next as it is, before Express has looked at the request. Key, rate and credits of every request
 * are checked and booked all the same.
 */
export function createReadyAnswers(
  deps: Pick<ApiDeps, 'verifyKey' | 'rates' | 'credits' | 'catalogue'>,
  { isForEveryOrigin }: { isForEveryOrigin: boolean },
): ReadyAnswers {
  const answers = new LRUCache<string, ReadyAnswer>({
    maxSize: MAX_TOTAL_BYTES,
    maxEntrySize: 3 * MAX_BODY_BYTES,
    // The body as it is and compressed, the address, and the headers of either form.
    sizeCalculation: ({ plain }, url) => 2 * plain.bytes.length + url.length + 4_096,
  })

  /** An answer for as long as everything stands where it did that it is made of, whatever other chains do. */
  const standing = (url: string): ReadyAnswer | undefined => {
    const answer = answers.get(url)
    if (!answer || !deps.catalogue.isServed) return undefined
    if (standOf(deps.catalogue.current(), answer.ground, answer.face) === answer.stand) return answer
    answers.delete(url)
    return undefined
  }

  const send = async (
    request: IncomingMessage,
    response: ServerResponse,
    answer: ReadyAnswer,
    notes: Notes,
    head: RequestHead,
  ): Promise<void> => {
    const key = await authenticate(request, deps)
    notes.keyCode = key.code
    try {
      await admit(key, deps, head)
      const encoding = encodingOf(request, answer.plain.bytes)
      const form = encoding ? await formOf(answer, encoding) : answer.plain
      if (hasLeft(request, response)) return
      await charge(key, deps, answer.credits, head)
      response.writeHead(200, head.lines.concat(form.headers))
      response.end(form.bytes)
    } catch (error) {
      if (!response.headersSent) await sayRemaining(key, deps, response)
      throw error
    }
  }

  return {
    answer(request, response, notes) {
      const answer = isPlain(request, isForEveryOrigin) ? standing(request.url ?? '') : undefined
      if (!answer) return false
      notes.route = answer.route
      notes.path = answer.path
      const head = new RequestHead(notes.requestId)
      send(request, response, answer, notes, head).catch(error => {
        if (!response.headersSent) {
          response.setHeader('x-credits-used', 0)
          for (let i = 0; i < head.lines.length; i += 2)
            response.setHeader(String(head.lines[i]), head.lines[i + 1] ?? '')
          for (const [name, value] of answer.headers)
            if (OF_ANY_ANSWER.test(name)) response.setHeader(name, value)
        }
        sendError(response, error)
      })
      return true
    },
    keep(request, response, { catalogue, ground, face, route, credits, text }) {
      if (!isPlain(request, isForEveryOrigin) || text.length > MAX_BODY_BYTES) return
      const headers = Object.entries(response.getHeaders()).flatMap(
        ([name, value]): ReadyAnswer['headers'] =>
          value === undefined || PER_REQUEST.test(name)
            ? []
            : [[name, typeof value === 'number' ? String(value) : value]],
      )
      const bytes = Buffer.from(text)
      answers.set(request.originalUrl, {
        ground,
        face,
        stand: standOf(catalogue, ground, face),
        path: request.path,
        route,
        credits,
        headers,
        plain: { bytes, headers: [...headers.flat(), 'content-length', bytes.length] },
        squeezed: {},
      })
    },
  }
}

function encodingOf(request: IncomingMessage, body: Buffer): Encoding | undefined {
  if (body.length < COMPRESSION_THRESHOLD || request.headers['accept-encoding'] === undefined)
    return undefined
  const accepted = express.request.acceptsEncodings.call(request as Request, 'br', 'gzip', 'identity')
  return accepted === 'br' || accepted === 'gzip' ? accepted : undefined
}
