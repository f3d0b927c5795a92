import { log } from '../process/log.ts'
import { steadyNow } from '../process/steady.ts'
import { type AskOptions, type Endpoint, endpointOf } from './endpoint.ts'
import { RpcRefusedError } from './errors.ts'

export type Ask = (method: string, params: readonly unknown[], options?: AskOptions) => Promise<unknown>

const SULK = 30_000

interface FailoverOptions {
  /** Milliseconds for which an endpoint that did not answer is asked last. */
  sulkMs?: number | undefined
  /** The log tells of each endpoint that did not answer. */
  isLogged?: boolean
}

/**
 * Asks endpoints, the preferred one first, until one answers. What a node says of the request itself is told of only
 * where no other answers it.
 */
export function openFailover(
  urls: readonly string[],
  options: AskOptions = {},
  { sulkMs = SULK, isLogged = false }: FailoverOptions = {},
): Ask {
  const endpoints = urls.map(endpointOf)
  const failedAt = new Map<Endpoint, number>()
  return async (method, params, more) => {
    const now = steadyNow()
    const sulks = (endpoint: Endpoint) => (now - (failedAt.get(endpoint) ?? -sulkMs) < sulkMs ? 1 : 0)
    let told: RpcRefusedError | undefined
    for (const endpoint of [...endpoints].sort((a, b) => sulks(a) - sulks(b))) {
      try {
        const result = await endpoint.request(method, params, { ...options, ...more })
        failedAt.delete(endpoint)
        return result
      } catch (error) {
        if (!(error instanceof RpcRefusedError)) throw error
        if (error.isPlain) throw error
        if (!error.isAnswered && !error.isTooLong) {
          failedAt.set(endpoint, steadyNow())
          if (isLogged) log.warn({ rpc: error.host, error: error.message }, 'an RPC endpoint failed')
        }
        if (!told?.isAnswered && !told?.isTooLong) told = error
      }
    }
    throw told ?? new RpcRefusedError({ method, host: 'nowhere', said: 'no endpoint is configured' })
  }
}
