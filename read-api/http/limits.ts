import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { ApiKey } from '../../db/keys/keys.ts'
import { RATE_WINDOW_SECONDS } from '../../db/keys/rates.ts'
import type { ApiDeps } from './endpoint.ts'
import { CreditsExhaustedError, RateLimitError } from './errors.ts'
import { creditsCharged } from './metrics.ts'

/** Where headers are said: a response, or what becomes its head. */
export interface Head {
  setHeader(name: string, value: OutgoingHttpHeader): unknown
}

/**
 * Takes one of the key's requests of this minute and says so in the headers: RateLimit and RateLimit-Policy as
 * draft-ietf-httpapi-ratelimit-headers-10 has them, and RateLimit-Limit, -Remaining and -Reset (seconds) as drafts up
 * to 06 had, which most clients read.
 *
 * @throws RateLimitError
 */
export async function admit(key: ApiKey, deps: Pick<ApiDeps, 'rates'>, head: Head): Promise<void> {
  const { isAdmitted, limit, remaining, resetMs } = await deps.rates.admit(key)
  const seconds = Math.max(1, Math.ceil(resetMs / 1000))
  head.setHeader('ratelimit-limit', limit)
  head.setHeader('ratelimit-remaining', remaining)
  head.setHeader('ratelimit-reset', seconds)
  head.setHeader('ratelimit-policy', `"minute";q=${limit};w=${RATE_WINDOW_SECONDS}`)
  head.setHeader('ratelimit', `"minute";r=${remaining};t=${seconds}`)
  if (!isAdmitted) throw new RateLimitError(limit, seconds)
}

/** Refuses what is sure to cost more than is left, before any work is done. */
export async function refuseExhausted(
  key: ApiKey,
  deps: Pick<ApiDeps, 'credits'>,
  atLeast: number,
): Promise<void> {
  const remaining = await deps.credits.remaining(key)
  if (remaining < atLeast) throw new CreditsExhaustedError(atLeast, remaining)
}

/** Books an answer, or throws CreditsExhaustedError: then nothing is booked and the answer may not go out. */
export async function charge(
  key: ApiKey,
  deps: Pick<ApiDeps, 'credits'>,
  credits: number,
  head: Head,
): Promise<void> {
  const { isAccepted, remaining } = await deps.credits.charge(key, credits)
  if (!isAccepted) throw new CreditsExhaustedError(credits, remaining)
  creditsCharged.inc({ plan: key.plan }, credits)
  head.setHeader('x-credits-used', credits)
  head.setHeader('x-credits-remaining', remaining)
}

/** How much is left, said with an error where it can be found out. */
export async function sayRemaining(
  key: ApiKey,
  deps: Pick<ApiDeps, 'credits'>,
  response: ServerResponse,
): Promise<void> {
  try {
    response.setHeader('x-credits-remaining', await deps.credits.remaining(key))
  } catch {
    // The error that is being answered matters more.
    response.removeHeader('x-credits-remaining')
  }
}
