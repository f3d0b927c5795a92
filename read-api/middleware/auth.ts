import type { Request } from 'express'
import type { ApiKey } from '../../db/keys/keys.ts'
import type { ApiDeps } from '../endpoint.ts'
import { DependencyDownError, MissingKeyError } from '../errors.ts'
import { isConnectionError } from '../queries/query.ts'

/** The key of a request, from x-api-key. */
export async function authenticate(request: Request, deps: Pick<ApiDeps, 'verifyKey'>): Promise<ApiKey> {
  const given = request.get('x-api-key')?.trim()
  if (!given) {
    throw new MissingKeyError('No API key: send yours in the header x-api-key.')
  }
  let key: ApiKey | undefined
  try {
    key = given.length <= 256 ? await deps.verifyKey(given) : undefined
  } catch (error) {
    if (isConnectionError(error)) throw new DependencyDownError('Postgres', { cause: error })
    throw error
  }
  if (!key) throw new MissingKeyError('This API key is not known or has been revoked.')
  return key
}
