import type { Express, RequestHandler } from 'express'
import { tiersOf } from './endpoint.ts'
import type { LoadedEndpoint } from './load-endpoints.ts'

/** Parts of the API that went to another tier as a whole: old prefix, new prefix. */
const MOVED: readonly (readonly [from: string, to: string])[] = [
  ['/experimental/svm/positions', '/beta/svm/portfolio/positions'],
  ['/alpha/svm/positions', '/beta/svm/portfolio/positions'],
  ['/experimental/svm', '/beta/svm'],
  ['/alpha/svm', '/beta/svm'],
  ['/alpha/borrow', '/beta/borrow'],
  ['/alpha/nrt', '/v2/nrt'],
  ['/beta/nrt', '/v2/nrt'],
]

/**
 * Older paths, answered with 308: method, body and query stay as they were. /experimental became /alpha; what is
 * served in beta and not in alpha is found under alpha too. Mounted behind the endpoints: a path that is served is never
 * redirected. `base` is the path of the public address, where a proxy takes it off.
 */
export function mountRedirects(app: Express, endpoints: readonly LoadedEndpoint[], base = ''): void {
  const to =
    (from: string, target: string): RequestHandler =>
    (request, response) => {
      response.redirect(308, `${base}${target}${request.originalUrl.slice(from.length)}`)
    }
  for (const [from, target] of MOVED) app.use(from, to(from, target))
  app.use('/experimental', to('/experimental', '/alpha'))
  for (const { endpoint } of endpoints) {
    const tiers = tiersOf(endpoint)
    if (!tiers.includes('beta') || tiers.includes('alpha')) continue
    app[endpoint.method](`/alpha${endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1')}`, to('/alpha', '/beta'))
  }
}
