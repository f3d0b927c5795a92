import type { Request } from 'express'

/**
 * Which of the media types a caller would rather have, of those as good the first; undefined where it takes none of them.
 * `application/json; charset=utf-8` is JSON as well: of parameters only the weight counts.
 */
export function preferredOf<T extends string>(request: Request, types: T[]): T | undefined {
  const accept = request.headers.accept?.replaceAll(/;(?!\s*q\s*=)[^;,]*/gi, '')
  const accepts = request.accepts as (types: string[]) => string | false
  const found = accepts.call({ headers: { ...request.headers, accept } }, types)
  return types.find(type => type === found)
}
