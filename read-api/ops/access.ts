import type { Request, RequestHandler } from 'express'
import type { ApiKey } from '../../db/keys/keys.ts'
import { findKey } from '../http/auth.ts'
import { sendError } from '../http/error-answers.ts'
import { MethodNotAllowedError, MissingKeyError, RequestError } from '../http/errors.ts'

/** Makes a browser ask for the key. It keeps it until it is closed; nothing of it is stored, here or there. */
class AdminChallenge extends MissingKeyError {
  override readonly headers = { 'www-authenticate': 'Basic realm="Vaultlog operator", charset="UTF-8"' }
}

class NotAdminError extends RequestError {
  readonly code = 'NOT_ADMIN'
  readonly status = 403
}

const HOW = 'An operator makes one with `vaultlog keys create <name> --admin`.'

/**
 * Lets admin keys through: in x-api-key, or as the password of HTTP Basic, whatever the user name, which is how a
 * browser asks for it. A browser sends that password by itself, also when another site makes it ask: so everything
 * behind this only reads.
 */
export function requireAdmin(verifyKey: (key: string) => Promise<ApiKey | undefined>): RequestHandler {
  return async (request, response, next) => {
    try {
      const { given, isBasic } = readCredentials(request)
      if (!given) {
        throw new AdminChallenge(`This page wants an admin key: as x-api-key, or as the password. ${HOW}`)
      }
      const key = await findKey(given, { verifyKey })
      if (!key) throw new AdminChallenge('This key is not known or has been revoked.')
      response.locals['keyCode'] = key.code
      if (!key.isAdmin) {
        const words = `The key ${key.code} is not an admin key. ${HOW}`
        // Refused with 403 a browser would go on sending it and never ask for another.
        throw isBasic ? new AdminChallenge(words) : new NotAdminError(words)
      }
      next()
    } catch (error) {
      sendError(response, error)
    }
  }
}

export const onlyReads: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'HEAD') next()
  else sendError(response, new MethodNotAllowedError(request.method, request.originalUrl, ['GET', 'HEAD']))
}

function readCredentials(request: Request): { given: string | undefined; isBasic: boolean } {
  const header = request.get('x-api-key')?.trim()
  if (header) return { given: header, isBasic: false }
  const [, encoded] = /^basic +([\w+/=-]+)$/i.exec(request.get('authorization')?.trim() ?? '') ?? []
  const pair = encoded ? Buffer.from(encoded, 'base64').toString() : ''
  return { given: pair.slice(pair.indexOf(':') + 1).trim() || undefined, isBasic: true }
}
