import type { IncomingMessage } from 'node:http'
import type { ApiKey } from '../../db/keys/keys.ts'
import { isConnectionError } from '../moment/query.ts'
import type { ApiDeps } from './endpoint.ts'
import { DependencyDownError, MissingKeyError } from './errors.ts'

/** The key of a request, from x-api-key. */
export async function authenticate(
  request: IncomingMessage,
  deps: Pick<ApiDeps, 'verifyKey'>,
): Promise<ApiKey> {
  const header = request.headers['x-api-key']
  const given = typeof header === 'string' ? header.trim() : undefined
  if (!given) {
    throw new MissingKeyError('No API key: send yours in the header x-api-key.')
  }
  const key = await findKey(given, deps)
  if (!key) throw new MissingKeyError('This API key is not known or has been revoked.')
  return key
}

/** @throws DependencyDownError */
export async function findKey(given: string, deps: Pick<ApiDeps, 'verifyKey'>): Promise<ApiKey | undefined> {
  try {
    return given.length <= 256 ? await deps.verifyKey(given) : undefined
  } catch (error) {
    if (isConnectionError(error)) throw new DependencyDownError('Postgres', { cause: error })
    throw error
  }
}
