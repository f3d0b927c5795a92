import { STATUS_CODES } from 'node:http'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { RequestError } from '../http/errors.ts'
import type { ApiAnswer } from './in-process.ts'

type Fields = Record<string, unknown>

/**
 * An answer of the API as a tool's result. `structuredContent` is `{answer, asOfBlock?, credits, unlistedLeftOut?, requestId}`, or, with
 * isError, the body of the error with `credits` and `retryAfterSeconds`. The same as text, for clients that read that alone.
 */
export function resultOf({ status, headers, text }: ApiAnswer): CallToolResult {
  const credits = {
    used: numberIn(headers['x-credits-used']) ?? 0,
    ...present('remaining', numberIn(headers['x-credits-remaining'])),
  }
  const body = parsed(text)
  if (status !== 200 || body === undefined) {
    const error = body ?? {
      statusCode: status,
      error: STATUS_CODES[status] ?? 'Error',
      message: 'The answer of the API cannot be read.',
    }
    return failed({
      ...(error as Fields),
      credits,
      ...present('retryAfterSeconds', numberIn(headers['retry-after'])),
    })
  }
  const receipt = headers['payment-response']
  return {
    ...contentOf({
      answer: body,
      ...present('asOfBlock', blocksIn(headers['x-as-of-block'])),
      credits,
      ...present('unlistedLeftOut', numberIn(headers['x-unlisted-left-out'])),
      requestId: headers['x-request-id'],
    }),
    ...(typeof receipt === 'string' ? { _meta: { 'x402/payment-response': decoded(receipt) } } : {}),
  }
}

/** A request that the API was never asked, since it cannot be read. */
export function refusalOf(error: RequestError): CallToolResult {
  return failed({
    statusCode: error.status,
    error: STATUS_CODES[error.status] ?? 'Error',
    message: error.message,
    credits: { used: 0 },
  })
}

function failed(fields: Fields): CallToolResult {
  return { ...contentOf(fields), isError: true }
}

function contentOf(fields: Fields): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(fields) }], structuredContent: fields }
}

function present<T>(name: string, value: T | undefined): Record<string, T> {
  return value === undefined ? {} : { [name]: value }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decoded(receipt: string): unknown {
  return parsed(Buffer.from(receipt, 'base64').toString('utf8'))
}

function numberIn(header: string | string[] | undefined): number | undefined {
  return header === undefined ? undefined : Number(header)
}

/** `mainnet=123, base=456` by network. */
function blocksIn(header: string | string[] | undefined): Record<string, number> | undefined {
  if (header === undefined) return undefined
  return Object.fromEntries(
    String(header)
      .split(', ')
      .map(part => part.split('='))
      .map(([network = '', block]) => [network, Number(block)]),
  )
}
