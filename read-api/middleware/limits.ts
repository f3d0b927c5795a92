import type { RequestHandler, Response } from 'express'
import type { ApiKey } from '../../db/keys/keys.ts'
import { RATE_WINDOW_SECONDS } from '../../db/keys/rates.ts'
import type { ApiDeps } from '../endpoint.ts'
import { CreditsExhaustedError, RateLimitError } from '../errors.ts'
import { creditsCharged } from '../metrics.ts'

/**
 * Takes one of the key's requests of this minute and says so in the headers: RateLimit and RateLimit-Policy as
 * draft-ietf-httpapi-ratelimit-headers-10 has them, and RateLimit-Limit, -Remaining and -Reset (seconds) as drafts up
 * to 06 had, which most clients read.
 *
 * @throws RateLimitError
 */
export async function admit(key: ApiKey, deps: Pick<ApiDeps, 'rates'>, response: Response): Promise<void> {
  const { isAdmitted, limit, remaining, resetMs } = await deps.rates.admit(key)
  const seconds = Math.max(1, Math.ceil(resetMs / 1000))
  response.setHeader('ratelimit-limit', limit)
  response.setHeader('ratelimit-remaining', remaining)
  response.setHeader('ratelimit-reset', seconds)
  response.setHeader('ratelimit-policy', `"minute";q=${limit};w=${RATE_WINDOW_SECONDS}`)
  response.setHeader('ratelimit', `"minute";r=${remaining};t=${seconds}`)
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
  response: Response,
): Promise<void> {
  const { isAccepted, remaining } = await deps.credits.charge(key, credits)
  if (!isAccepted) throw new CreditsExhaustedError(credits, remaining)
  creditsCharged.inc({ plan: key.plan }, credits)
  response.setHeader('x-credits-used', credits)
  response.setHeader('x-credits-remaining', remaining)
}

/** Every answer says what it cost, and one that nobody is charged for nothing. */
export const costless: RequestHandler = (_request, response, next) => {
  response.setHeader('x-credits-used', 0)
  next()
}

/** How much is left, said with an error where it can be found out. */
export async function sayRemaining(
  key: ApiKey,
  deps: Pick<ApiDeps, 'credits'>,
  response: Response,
): Promise<void> {
  try {
    response.setHeader('x-credits-remaining', await deps.credits.remaining(key))
  } catch {
    // The error that is being answered matters more.
    response.removeHeader('x-credits-remaining')
  }
}
