import { VaultlogError } from '../../db/process/errors.ts'
import type { ReadModelFault } from '../../db/read-models.ts'

/** An answer other than 200: `status` and the text of `message` go to the caller. */
export abstract class RequestError extends VaultlogError {
  abstract readonly status: number
  /** Seconds, sent as Retry-After. */
  readonly retryAfter?: number
  readonly headers: Readonly<Record<string, string>> = {}
  /** Goes into the body beside the fields that every error has. */
  readonly details: Readonly<Record<string, unknown>> = {}
}

/** The request cannot be read. The message names the parameter and what would be right. */
export class InvalidRequestError extends RequestError {
  readonly code = 'INVALID_REQUEST'
  readonly status = 400
}

/** The request can be read and makes no sense, or asks for what is not done. */
export class RefusedError extends RequestError {
  readonly code = 'REFUSED'
  readonly status = 422
}

export class MissingKeyError extends RequestError {
  readonly code = 'MISSING_KEY'
  readonly status = 401
}

/** No key, and a payment would do: the terms are in the headers, as x402 has them, and in the body for who reads there. */
export class PaymentRequiredError extends RequestError {
  readonly code = 'PAYMENT_REQUIRED'
  readonly status = 402
  override readonly headers: Readonly<Record<string, string>>
  override readonly details: Readonly<Record<string, unknown>>
  constructor(
    message: string,
    headers: Readonly<Record<string, string>>,
    terms: Record<string, unknown> = {},
  ) {
    super(message)
    this.headers = headers
    this.details = terms
  }
}

/** What the request costs is more than the key has left this month. */
export class CreditsExhaustedError extends RequestError {
  readonly code = 'CREDITS_EXHAUSTED'
  readonly status = 403
  constructor(credits: number, remaining: number) {
    super(
      `This request costs ${credits} credit${credits === 1 ? '' : 's'} and the key has ${remaining} left this month. Credits are renewed on the first of the month (UTC)${remaining > 0 ? '; a smaller page costs less' : ''}.`,
    )
  }
}

/** The key, or an address without one, has used up its requests of this minute. */
export class RateLimitError extends RequestError {
  readonly code = 'RATE_LIMIT'
  readonly status = 429
  override readonly retryable = true
  override readonly retryAfter: number
  constructor(limit: number, seconds: number, who = 'This key') {
    super(`${who} may make ${limit} requests a minute. Try again in ${seconds} s.`)
    this.retryAfter = seconds
  }
}

export class MethodNotAllowedError extends RequestError {
  readonly code = 'METHOD_NOT_ALLOWED'
  readonly status = 405
  override readonly headers: Readonly<Record<string, string>>
  constructor(method: string, path: string, allowed: readonly string[]) {
    super(`${path} does not take ${method}, only ${allowed.join(', ')}.`)
    this.headers = { allow: allowed.join(', ') }
  }
}

/** Nothing that the caller takes is what there is. */
export class NotAcceptableError extends RequestError {
  readonly code = 'NOT_ACCEPTABLE'
  readonly status = 406
  constructor(types: readonly string[]) {
    super(`This is answered as ${types.join(', ')}: the header Accept allows none of them.`)
  }
}

export class NotFoundError extends RequestError {
  readonly code = 'NOT_FOUND'
  readonly status = 404
}

/** What a path names has another name now: the last segment of the path, to be replaced; the query stays. */
export class MovedError extends RequestError {
  readonly code = 'MOVED'
  readonly status = 308
  readonly to: string
  constructor(to: string) {
    super(`This is found under ${to} in place of the last part of the path.`)
    this.to = to
  }
}

/** Our own deadline passed. */
export class DeadlineError extends RequestError {
  readonly code = 'DEADLINE'
  readonly status = 408
  constructor(ms: number) {
    super(`The request took longer than ${ms} ms and was given up. Ask for less: a smaller page or window.`)
  }
}

/** The read models are lost or being made anew: what is there is a part, and a part is not served for the whole. */
export class IncompleteError extends RequestError {
  readonly code = 'INCOMPLETE'
  override readonly retryable = true
  override readonly retryAfter = 30
  readonly status = 503
  constructor({ kind, reason }: ReadModelFault) {
    super(
      kind === 'rebuilding'
        ? `${reason} Nothing is answered from a part of them.`
        : `${reason} The operator has to run \`vaultlog rebuild\`; until then nothing is answered.`,
    )
  }
}

/** A read model that is new is being filled on a chain; the others are served. */
export class FillingError extends RequestError {
  readonly code = 'INCOMPLETE'
  override readonly retryable = true
  override readonly retryAfter = 30
  readonly status = 503
  constructor(table: string, chainId: number) {
    super(
      `The read model ${table} is new and has not caught up on chain ${chainId} yet. Try again later; \`npm run status\` shows how far it is.`,
    )
  }
}

/** A database or chain that this answer needs does not answer. */
export class DependencyDownError extends RequestError {
  readonly code = 'DEPENDENCY_DOWN'
  override readonly retryable = true
  override readonly retryAfter = 5
  readonly status = 503
  constructor(what: string, options?: ErrorOptions) {
    super(`${what} cannot be reached at the moment. Try again in a few seconds.`, options)
  }
}
