import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import type { Queue } from 'bullmq'
import type { Express, RequestHandler, Response } from 'express'
import { Router } from 'express'
import type pg from 'pg'
import type { ApiKey } from '../../db/keys/keys.ts'
import { sendError } from '../http/error-answers.ts'
import { onlyReads, requireAdmin } from './access.ts'
import type { StreamHistory } from './history.ts'
import { readOps } from './status.ts'

export interface OpsParts {
  pool: pg.Pool
  history: StreamHistory
  queue: Queue
  /** Newest blocks of chains as their nodes say, by name. */
  heads: () => Promise<ReadonlyMap<string, number>>
  verifyKey: (key: string) => Promise<ApiKey | undefined>
  /** Where callers reach the API, if not where it listens: a path there stands before /ops. */
  publicUrl?: string
}

/** Nothing from elsewhere is loaded: the board's own page would fetch its fonts from a third party. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';')

const sendPage = (response: Response, kind: 'html' | 'js' | 'css') =>
  // By an absolute path nothing would be sent from below a folder whose name begins with a dot.
  response.sendFile(`page.${kind}`, { root: import.meta.dirname })

/** The operator's pages, to be mounted below /ops: for admin keys only, and reading only. */
export function createOps(parts: OpsParts): RequestHandler {
  const router = Router()
  router.use((_request, response, next) => {
    response.locals['route'] = '/ops'
    response.setHeader('content-security-policy', POLICY)
    response.setHeader('cache-control', 'no-store')
    next()
  })
  router.use(onlyReads, requireAdmin(parts.verifyKey))
  router.get('/', (request, response) => {
    // The page names its parts beside it: below /ops/, wherever a proxy has put that.
    if (request.originalUrl.split('?')[0]?.endsWith('/')) sendPage(response, 'html')
    else response.redirect('./ops/')
  })
  router.get('/page.js', (_request, response) => sendPage(response, 'js'))
  router.get('/page.css', (_request, response) => sendPage(response, 'css'))
  router.get('/status.json', async (_request, response) => {
    try {
      response.json(await readOps(parts))
    } catch (error) {
      sendError(response, error)
    }
  })
  router.use('/queues', createBoard(parts))
  return router
}

/** Jobs are wake-ups: there is nothing to be gained by touching one, so the board shows and does not change. */
function createBoard({ queue, publicUrl }: OpsParts): RequestHandler {
  const prefix = publicUrl ? new URL(publicUrl).pathname.replace(/\/$/, '') : ''
  const adapter = new ExpressAdapter().setBasePath(`${prefix}/ops/queues`)
  createBullBoard({
    queues: [new BullMQAdapter(queue, { readOnlyMode: true })],
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Vaultlog queues' } },
  })
  return (adapter.getRouter() as Express).disable('x-powered-by')
}
