import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { LRUCache } from 'lru-cache'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ApiDeps } from '../endpoint.ts'
import { authenticate } from './auth.ts'
import { sendError } from './errors.ts'
import { admit, charge, sayRemaining } from './limits.ts'

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
  /^(x-request-id|x-credits-.*|ratelimit.*|content-length|content-encoding|transfer-encoding|connection|date)$/

interface ReadyAnswer {
  catalogue: Catalogue
  route: string
  credits: number
  headers: [name: string, value: string | string[]][]
  body: Buffer
  squeezed: Partial<Record<Encoding, Buffer>>
}

export interface ReadyAnswers {
  /** Answers a request whose answer is at hand; everything else goes on to the endpoints. */
  handle: RequestHandler
  /** Keeps an answer that is true until a projection moves, with the headers that `response` has by now. */
  keep(
    request: Request,
    response: Response,
    answer: { catalogue: Catalogue; route: string; credits: number; text: string },
  ): void
}

/**
 * Answers as bytes, by URL, for as long as the catalogue stands: what was worked out, serialised and compressed for one
 * caller is sent to the next as it is. Key, rate and credits of every request are checked and booked all the same.
 */
export function createReadyAnswers(
  deps: Pick<ApiDeps, 'verifyKey' | 'rates' | 'credits' | 'catalogue'>,
  options: { isForEveryOrigin: boolean },
): ReadyAnswers {
  const answers = new LRUCache<string, ReadyAnswer>({
    maxSize: MAX_TOTAL_BYTES,
    maxEntrySize: 3 * MAX_BODY_BYTES,
    sizeCalculation: ({ body }) => 2 * body.length + 1_024,
  })

  /** Only what does not depend on anything else than URL, key and encoding. */
  const isPlain = (request: Request): boolean =>
    request.method === 'GET' &&
    request.headers['x-api-key'] !== undefined &&
    request.headers['if-none-match'] === undefined &&
    request.headers['content-length'] === undefined &&
    request.headers['transfer-encoding'] === undefined &&
    (options.isForEveryOrigin || request.headers.origin === undefined)

  const send = async (request: Request, response: Response, answer: ReadyAnswer): Promise<void> => {
    response.locals['route'] = answer.route
    const key = await authenticate(request, deps)
    response.locals['keyCode'] = key.code
    try {
      await admit(key, deps, response)
      const encoding = encodingOf(request, answer.body)
      const bytes = encoding
        ? (answer.squeezed[encoding] ?? (await squeeze[encoding](answer.body)))
        : answer.body
      if (response.destroyed) return
      await charge(key, deps, answer.credits, response)
      for (const [name, value] of answer.headers) response.setHeader(name, value)
      if (encoding) {
        answer.squeezed[encoding] = bytes
        response.setHeader('content-encoding', encoding)
      }
      response.setHeader('content-length', bytes.length)
      response.end(bytes)
    } catch (error) {
      if (!response.headersSent) await sayRemaining(key, deps, response)
      throw error
    }
  }

  return {
    handle(request, response, next) {
      const answer = isPlain(request) ? answers.get(request.originalUrl) : undefined
      if (!answer) return next()
      if (answer.catalogue !== deps.catalogue.current()) {
        answers.delete(request.originalUrl)
        return next()
      }
      send(request, response, answer).catch(error => {
        for (const [name, value] of answer.headers) {
          if (!/^(x-as-of-block|etag|content-type|vary)$/.test(name)) response.setHeader(name, value)
        }
        sendError(response, error)
      })
    },
    keep(request, response, { catalogue, route, credits, text }) {
      if (!isPlain(request) || text.length > MAX_BODY_BYTES) return
      const headers = Object.entries(response.getHeaders()).flatMap(
        ([name, value]): ReadyAnswer['headers'] =>
          value === undefined || PER_REQUEST.test(name)
            ? []
            : [[name, typeof value === 'number' ? String(value) : value]],
      )
      answers.set(request.originalUrl, {
        catalogue,
        route,
        credits,
        headers,
        body: Buffer.from(text),
        squeezed: {},
      })
    },
  }
}

function encodingOf(request: Request, body: Buffer): Encoding | undefined {
  if (body.length < COMPRESSION_THRESHOLD || request.headers['accept-encoding'] === undefined)
    return undefined
  const accepted = request.acceptsEncodings(['br', 'gzip', 'identity'])
  return accepted === 'br' || accepted === 'gzip' ? accepted : undefined
}
