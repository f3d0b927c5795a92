import { z } from 'zod'
import { VaultlogError } from '../../db/process/errors.ts'
import { ProviderFault } from './errors.ts'

export interface OutsideOptions {
  /** What it is called in errors. */
  name: string
  baseUrl: string
  headers: Readonly<Record<string, string>>
  /** Milliseconds that an answer may take, its body included. Default 10,000. */
  timeoutMs?: number
  /** Default 2 MiB. */
  maxBytes?: number
}

export interface Asked<S extends z.ZodType> {
  path: string
  answer: S
  /** Sent as JSON, by POST. Absent: GET. */
  body?: unknown
  signal?: AbortSignal | undefined
}

export interface Answered<T> {
  value: T
  /** The JSON as it came. */
  raw: unknown
}

/** Of an error body; services have more fields, none of which leaves here. */
const errorBody = z.object({ code: z.string().regex(/^[A-Za-z][A-Za-z0-9_]{1,47}$/) })

/** Errors of a connection that was never made: nothing can have been done. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

/**
 * A service that is asked over HTTP. Redirects are not followed, what is longer than `maxBytes` is not read, and every answer is
 * held to its schema. @throws ProviderFault, and whatever the signal was aborted with
 */
export function createOutside({
  name,
  baseUrl,
  headers,
  timeoutMs = 10_000,
  maxBytes = 2 * 1024 * 1024,
}: OutsideOptions) {
  const root = baseUrl.replace(/\/$/, '')

  const send = async <S extends z.ZodType>({
    path,
    answer,
    body,
    signal,
  }: Asked<S>): Promise<Answered<z.output<S>>> => {
    const fault = (code: string, cause?: unknown) =>
      new ProviderFault(name, 'fault', code, { mayHaveActed: true, cause })
    const late = AbortSignal.timeout(timeoutMs)
    let response: Response
    let text: string
    try {
      response = await fetch(`${root}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...headers,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: signal ? AbortSignal.any([late, signal]) : late,
      })
      text = await readText(response, maxBytes)
    } catch (error) {
      if (signal?.aborted) throw error
      if (error instanceof TooLong) throw fault('ANSWER_TOO_LONG')
      if (late.aborted) throw fault('TIMEOUT')
      const code = (error as { cause?: { code?: string } }).cause?.code ?? ''
      throw new ProviderFault(name, 'fault', 'UNREACHABLE', { mayHaveActed: !UNSENT.has(code), cause: code })
    }
    if (!response.ok) throw faultOf(name, response, text)
    const raw = parseJson(text)
    const parsed = answer.safeParse(raw)
    if (!parsed.success) throw fault('MALFORMED_ANSWER', z.prettifyError(parsed.error))
    return { value: parsed.data, raw }
  }

  return {
    ask: send,
    /** The same of what there may not be: 404 is undefined then, and no fault. */
    find: async <S extends z.ZodType>(asked: Asked<S>): Promise<Answered<z.output<S>> | undefined> => {
      try {
        return await send(asked)
      } catch (error) {
        if (error instanceof ProviderFault && error.status === 404) return undefined
        throw error
      }
    },
  }
}

class TooLong extends VaultlogError {
  readonly code = 'ANSWER_TOO_LONG'
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.length
    // Leaving the loop cancels the rest.
    if (length > maxBytes) throw new TooLong('An answer is longer than is read.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function faultOf(name: string, response: Response, text: string): ProviderFault {
  const { status } = response
  const said = errorBody.safeParse(parseJson(text))
  const code = said.success ? said.data.code.toUpperCase() : `HTTP_${status}`
  if (status === 429) {
    const seconds = Number(response.headers.get('retry-after'))
    const retryAfter = Number.isFinite(seconds) && seconds > 0 ? Math.min(Math.ceil(seconds), 3_600) : 5
    return new ProviderFault(name, 'limited', code, { mayHaveActed: false, retryAfter })
  }
  if (status === 401 || status === 403) return new ProviderFault(name, 'key', code, { mayHaveActed: false })
  if (status >= 400 && status < 500)
    return new ProviderFault(name, 'refused', code, { mayHaveActed: status === 408, status })
  return new ProviderFault(name, 'fault', code, { mayHaveActed: true })
}
