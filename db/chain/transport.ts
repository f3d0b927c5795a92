import { z } from 'zod'
import type { NoAnswer } from './errors.ts'
import { parseAnswer } from './json-pieces.ts'

export interface Call {
  method: string
  params: readonly unknown[]
}

export interface SaidError {
  code: number
  message: string
  data?: unknown | undefined
}

export type Answer = { result: unknown } | { error: SaidError }

/** A request was not answered call by call. */
export class NoAnswerError extends Error {
  readonly status: number | undefined
  readonly isLate: boolean
  readonly isGone: boolean
  readonly isTooLong: boolean
  /** Milliseconds. */
  readonly retryAfter: number | undefined
  constructor(
    message: string,
    {
      status,
      isLate = false,
      isGone = false,
      isTooLong = false,
      retryAfter,
    }: NoAnswer & { retryAfter?: number | undefined } = {},
    cause?: unknown,
  ) {
    super(message, { cause })
    this.name = 'NoAnswerError'
    this.status = status
    this.isLate = isLate
    this.isGone = isGone
    this.isTooLong = isTooLong
    this.retryAfter = retryAfter
  }

  /** Too many requests, or too busy: fewer, or later ones, may be answered. */
  get isOverloaded(): boolean {
    return this.status === 429 || this.status === 503
  }

  /** Asking the same again will not help. */
  get isFinal(): boolean {
    return this.status !== undefined && this.status >= 400 && this.status < 500 && this.status !== 429
  }
}

/**
 * Sends calls in one request and gives their answers in the same order.
 *
 * @throws NoAnswerError
 */
export type Send = (
  calls: readonly Call[],
  options: { timeoutMs: number; maxBytes: number; isExact?: boolean },
) => Promise<Answer[]>

export const said = z.object({
  code: z.number().catch(0),
  message: z.string().catch(''),
  data: z.unknown().optional(),
})
const single = z.object({ id: z.unknown().optional(), result: z.unknown().optional(), error: said.nullish() })

export function sendByHttp(url: string): Send {
  const { username, password } = new URL(url)
  const target = new URL(url)
  target.username = ''
  target.password = ''
  const headers = {
    'content-type': 'application/json',
    ...(username || password
      ? {
          authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
        }
      : {}),
  }
  let lastId = 0

  return async (calls, { timeoutMs, maxBytes, isExact }) => {
    const asked = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++lastId, method, params }))
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(), timeoutMs)
    let status: number
    let retryAfter: number | undefined
    let bytes: Buffer
    try {
      const body = JSON.stringify(asked.length === 1 ? asked[0] : asked)
      const response = await fetch(target, { method: 'POST', headers, body, signal: over.signal })
      status = response.status
      retryAfter = secondsOf(response.headers.get('retry-after'))
      bytes = await readBounded(response, maxBytes)
    } catch (error) {
      const isLate = over.signal.aborted
      // What is left of an answer is not waited for; after a whole one this would cost as much as the request.
      over.abort()
      if (error instanceof NoAnswerError) throw error
      if (isLate) throw new NoAnswerError(`no answer in ${timeoutMs} ms`, { isLate: true }, error)
      const { cause, message } = error as Error
      throw new NoAnswerError(cause instanceof Error ? cause.message : message, { isGone: true }, error)
    } finally {
      clearTimeout(timer)
    }
    const answers = answersOf(bytes, asked, isExact)
    const http = status === 200 ? {} : { status }
    if (!answers)
      throw new NoAnswerError(beginningOf(bytes) || 'nothing that is JSON-RPC', {
        ...http,
        retryAfter,
      })
    if ('refused' in answers) throw new NoAnswerError(answers.refused, { ...http, retryAfter })
    // Too many requests, in the words of JSON-RPC too.
    const [only] = answers
    if (status === 429 && only && 'error' in only)
      throw new NoAnswerError(only.error.message, { status, retryAfter })
    return answers
  }
}

/**
 * JSON whose integers of 16 digits and more are texts, so that none is rounded; what stands in texts and fractions stays.
 * @example quoteLargeIntegers('{"rentEpoch":18446744073709551615}') === '{"rentEpoch":"18446744073709551615"}'
 */
export function quoteLargeIntegers(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, found =>
    found.startsWith('"') ? found : `"${found}"`,
  )
}

/** In the order asked; undefined where it is not JSON-RPC, `refused` where a batch got one error. */
function answersOf(
  bytes: Buffer,
  asked: readonly { id: number }[],
  isExact = false,
): Answer[] | { refused: string } | undefined {
  let body: unknown
  try {
    body = isExact ? JSON.parse(quoteLargeIntegers(bytes.toString('utf8'))) : parseAnswer(bytes)
  } catch {
    return undefined
  }
  const list = z.array(single).safeParse(Array.isArray(body) ? body : [body])
  if (!list.success) return undefined
  const [first] = list.data
  if (asked.length === 1) return first && isAnswer(first) ? [toAnswer(first)] : undefined
  if (!Array.isArray(body)) return first?.error ? { refused: first.error.message } : undefined
  const byId = new Map(list.data.map(one => [one.id, one]))
  const found = asked.map(({ id }) => byId.get(id))
  if (found.every(one => one !== undefined && isAnswer(one)))
    return found.flatMap(one => (one ? [toAnswer(one)] : []))
  return {
    refused: list.data.find(({ error }) => error)?.error?.message ?? 'answers to some of the calls alone',
  }
}

type Single = z.infer<typeof single>
const isAnswer = ({ error, result }: Single) => Boolean(error) || result !== undefined
const toAnswer = ({ error, result }: Single): Answer => (error ? { error } : { result })

/** Two hundred characters: of four bytes at most. */
const beginningOf = (bytes: Buffer) => bytes.toString('utf8', 0, 800).slice(0, 200).trim()

const secondsOf = (header: string | null) =>
  header !== null && /^\d{1,4}$/.test(header) ? Number(header) * 1000 : undefined

export const tooLong = (maxBytes: number) =>
  new NoAnswerError(`an answer of more than ${maxBytes} bytes`, { isTooLong: true })

async function readBounded(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > maxBytes) throw tooLong(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
