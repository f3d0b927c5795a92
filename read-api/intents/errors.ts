import { VaultlogError } from '../../db/process/errors.ts'
import { RefusedError, RequestError } from '../http/errors.ts'

/** No provider of this name is configured. The message names the setting that is missing. */
export class NotConfiguredError extends RequestError {
  readonly code = 'NOT_CONFIGURED'
  readonly status = 503
  constructor(provider: string, settings: readonly string[]) {
    super(
      `Intents by ${provider} are not configured here: ${settings.join(' and ')} ${settings.length > 1 ? 'are' : 'is'} not set.`,
    )
  }
}

/** What a provider wants signed is not what was asked for; nothing of it is handed out. */
export class UntrustedQuoteError extends RequestError {
  readonly code = 'UNTRUSTED_QUOTE'
  readonly status = 503
  override readonly retryable = true
  override readonly retryAfter = 5
  constructor(provider: string, what: string) {
    super(`The quote of ${provider} is not what was asked for, and nothing of it is handed out: ${what}.`)
  }
}

/** The quote is being executed, or it is not known whether it has been. */
export class ConflictError extends RequestError {
  readonly code = 'CONFLICT'
  readonly status = 409
  override readonly retryable = true
  override readonly retryAfter = 2
}

/** One thing in a quote that is not as it has to be. The text ends a sentence. */
export class Mismatch extends VaultlogError {
  readonly code = 'QUOTE_MISMATCH'
}

/** @throws Mismatch */
export function hold(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Mismatch(otherwise)
}

/**
 * An outside service did not do what it was asked. `refused`: it answered, and will answer the same again; `limited`: too many
 * requests; `key`: it does not take our key; `fault`: anything else. `mayHaveActed`: it may have done what it was asked all the same.
 */
export class ProviderFault extends VaultlogError {
  readonly code = 'PROVIDER_FAULT'
  readonly provider: string
  readonly kind: 'refused' | 'limited' | 'key' | 'fault'
  /** Upper-case words, of the service or of ours; never its text. */
  readonly fault: string
  readonly mayHaveActed: boolean
  readonly retryAfter: number | undefined
  /** Of an answer that refuses. */
  readonly status: number | undefined
  constructor(
    provider: string,
    kind: ProviderFault['kind'],
    fault: string,
    options: { mayHaveActed: boolean; retryAfter?: number | undefined; status?: number; cause?: unknown },
  ) {
    super(`${provider}: ${fault}`, { cause: options.cause })
    this.provider = provider
    this.kind = kind
    this.fault = fault
    this.mayHaveActed = options.mayHaveActed
    this.retryAfter = options.retryAfter
    this.status = options.status
  }
}

class ProviderDownError extends RequestError {
  readonly code = 'DEPENDENCY_DOWN'
  readonly status = 503
  override readonly retryable = true
  override readonly retryAfter: number
  constructor({ provider, fault, retryAfter = 5 }: ProviderFault, options: ErrorOptions) {
    super(
      `${provider} does not do what it is asked at the moment (${fault}). Try again in ${retryAfter} s.`,
      options,
    )
    this.retryAfter = retryAfter
  }
}

/** What the caller is told of a fault: its code, and no word of the service. */
export function toldOf(error: unknown): unknown {
  if (!(error instanceof ProviderFault)) return error
  return error.kind === 'refused'
    ? new RefusedError(`${error.provider} does not take this request: ${error.fault}.`)
    : new ProviderDownError(error, { cause: error })
}
