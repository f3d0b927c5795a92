import {
  BaseError,
  createClient,
  type EIP1193RequestFn,
  ExecutionRevertedError,
  fallback,
  type Hex,
  http,
  RpcRequestError,
  webSocket,
} from 'viem'
import { log } from '../../db/process/log.ts'
import { CallRejectedError, ChainUnavailableError } from './errors.ts'

export interface RpcOptions {
  /** Endpoints by network name, the preferred one first. */
  rpc: Readonly<Record<string, readonly string[]>>
  /** Milliseconds that one endpoint may take before the next is asked. Default 2,500. */
  timeoutMs?: number
  /** Milliseconds that a request may take altogether. Default 8,000. */
  deadlineMs?: number
  /** Milliseconds for which an endpoint that failed is asked last. Default 30,000. */
  sulkMs?: number
}

/**
 * JSON-RPC with failover. Rejects with CallRejectedError where a node answered and refused, and with
 * ChainUnavailableError where none answered before the deadline.
 */
export interface Rpc {
  serves(network: string): boolean
  request(network: string, method: string, params: readonly unknown[]): Promise<unknown>
  /** Requests sent to endpoints so far, tries included. */
  readonly sent: number
}

type Request = EIP1193RequestFn<undefined, true>

export function createRpc(options: RpcOptions): Rpc {
  const { timeoutMs = 2_500, deadlineMs = 8_000, sulkMs = 30_000 } = options
  const failedAt = new Map<string, number>()
  const clients = new Map<string, Request>()
  let sent = 0

  /** One client for each order of endpoints that has come up. */
  const clientOf = (urls: readonly string[]): Request => {
    const key = urls.join(' ')
    const known = clients.get(key)
    if (known) return known
    const count = async () => {
      sent++
    }
    const transport = fallback(
      urls.map(url =>
        /^wss?:/.test(url)
          ? webSocket(url, { key: url, timeout: timeoutMs, retryCount: 0 })
          : http(url, { key: url, timeout: timeoutMs, retryCount: 0, onFetchRequest: count }),
      ),
      { retryCount: 0, shouldThrow: error => rejection(error) !== undefined },
    )
    const client = createClient({ transport, cacheTime: 0 })
    client.transport.onResponse(({ status, transport: { config }, ...rest }) => {
      if (status === 'success') {
        failedAt.delete(config.key)
        return
      }
      const error = 'error' in rest ? (rest.error as Error) : undefined
      if (error && rejection(error)) return
      failedAt.set(config.key, Date.now())
      log.warn(
        { rpc: new URL(config.key).host, error: error?.message.split('\n')[0] },
        'an RPC endpoint failed',
      )
    })
    const request = client.request as unknown as Request
    clients.set(key, request)
    return request
  }

  return {
    serves: network => (options.rpc[network]?.length ?? 0) > 0,
    get sent() {
      return sent
    },
    async request(network, method, params) {
      const urls = options.rpc[network] ?? []
      if (urls.length === 0) throw new ChainUnavailableError(network)
      const now = Date.now()
      const sulks = (url: string) => (now - (failedAt.get(url) ?? -sulkMs) < sulkMs ? 1 : 0)
      const order = [...urls].sort((a, b) => sulks(a) - sulks(b))
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new ChainUnavailableError(network)), deadlineMs)
      })
      try {
        return await Promise.race([clientOf(order)({ method, params } as never), late])
      } catch (error) {
        if (error instanceof ChainUnavailableError) throw error
        const refused = rejection(error as Error)
        if (refused) throw refused
        throw new ChainUnavailableError(network, { cause: error })
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** JSON-RPC codes of a request at fault: revert, invalid params, no such method. Others may be the endpoint's. */
const refusals = new Set([3, -32601, -32602])

/** What the node said, where it answered and refused; undefined where another endpoint may do better. */
function rejection(error: Error): CallRejectedError | undefined {
  const said = error instanceof BaseError ? error.walk(inner => inner instanceof RpcRequestError) : undefined
  if (!(said instanceof RpcRequestError)) return undefined
  const reverted =
    refusals.has(said.code) ||
    ExecutionRevertedError.nodeMessage.test(said.details) ||
    /revert|out of gas/i.test(said.details)
  if (!reverted) return undefined
  const data = typeof said.data === 'string' && said.data.startsWith('0x') ? (said.data as Hex) : undefined
  return new CallRejectedError(said.details, data, { cause: error })
}
