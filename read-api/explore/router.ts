import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { RequestHandler, Response } from 'express'
import { Router, static as serveFiles } from 'express'
import { factsOfChain } from '../../db/networks.ts'
import { SOLANA } from '../../db/streams.ts'
import type { CatalogueSource } from '../catalogue/catalogue.ts'
import type { ChainMoment, Moment } from '../moment/snapshot.ts'
import { onlyReads } from '../ops/access.ts'
import { POLICY } from './policy.ts'

/** Solana's slots come about this often, in seconds. */
const SLOT_SECONDS = 0.4

const PAGE = join(import.meta.dirname, 'page')
const CHARTS = dirname(createRequire(import.meta.url).resolve('uplot/package.json'))

/** How far answers reach on a network. */
interface Reach {
  network: string
  /** Number of the newest block that answers are of; a slot on Solana. */
  block: number
  /** Unix seconds. */
  blockTime: number
  /** Seconds between two blocks, on average: what is much older than that is behind. */
  secondsPerBlock: number
}

/**
 * The page to look at, to be mounted below /explore. It asks the API as everybody does, with the key of whoever looks: only
 * `reach.json`, which is also in the header x-as-of-block of every answer, wants none.
 */
export function createExplore(catalogue: Pick<CatalogueSource, 'current'>): RequestHandler {
  const router = Router()
  router.use((_request, response, next) => {
    response.locals['route'] = '/explore'
    response.setHeader('content-security-policy', POLICY)
    next()
  })
  router.use(onlyReads)
  router.get('/reach.json', (_request, response) => {
    response.setHeader('cache-control', 'no-store')
    response.json(reachOf(catalogue.current().moment))
  })
  router.get('/', (request, response, next) => {
    // The page names its parts beside it: below /explore/, wherever a proxy has put that.
    if (request.originalUrl.split('?')[0]?.endsWith('/')) next()
    else response.redirect('./explore/')
  })
  router.use('/charts', serveFiles(join(CHARTS, 'dist'), { index: false, setHeaders: mayBeKept }))
  router.use(serveFiles(PAGE, { extensions: [], setHeaders: mayBeKept }))
  return router
}

/** Asked again each time: a newer version is seen at once, and what did not change is not sent again. */
function mayBeKept(response: Response): void {
  response.setHeader('cache-control', 'public, no-cache')
}

function reachOf(moment: Moment): Reach[] {
  const reach = (network: string, { blockNumber, blockTime }: ChainMoment, secondsPerBlock: number) => ({
    network,
    block: blockNumber,
    blockTime,
    secondsPerBlock,
  })
  const evm = [...moment.chains].flatMap(([chainId, chain]) => {
    const facts = factsOfChain(chainId)
    return facts ? [reach(facts.name, chain, facts.blockTime)] : []
  })
  const solana = moment.faces.get('svm')?.get(SOLANA.id)
  return solana ? [...evm, reach(SOLANA.name, solana, SLOT_SECONDS)] : evm
}
