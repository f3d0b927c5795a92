import { createHash } from 'node:crypto'
import type { Express, Response } from 'express'
import { methodNotAllowed } from './error-answers.ts'

/** Serves GET and HEAD of a path, open to everybody; `isFolder`: it was asked for with a slash at its end. */
export function serveOpen(
  app: Express,
  path: string,
  send: (response: Response, isFolder: boolean) => void,
): void {
  app.get(path, (request, response) => send(response, request.path.endsWith('/')))
  app.all(path, methodNotAllowed(['GET', 'HEAD']))
}

/** Serves a text that stays the same as long as the process runs, known by its tag. Made when it is first asked for. */
export function serveText(app: Express, path: string, type: string, make: () => string): void {
  let made: { text: string; tag: string } | undefined
  serveOpen(app, path, response => {
    made ??= tagged(make())
    response.set({ 'cache-control': 'no-cache', etag: made.tag }).type(type).send(made.text)
  })
}

function tagged(text: string) {
  return { text, tag: `W/"${createHash('sha1').update(text).digest('base64url')}"` }
}
