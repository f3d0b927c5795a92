import { RpcRefusedError } from '../../db/chain/errors.ts'
import { type Ask, openFailover } from '../../db/chain/failover.ts'
import { within } from '../../db/process/within.ts'
import { CallRejectedError, ChainUnavailableError, chainUnavailable } from './errors.ts'

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
 * JSON-RPC with failover. Rejects with CallRejectedError where nodes answer, and refuse this very request in whatever
 * words, and with ChainUnavailableError where none answered before the deadline.
 */
export interface Rpc {
  serves(network: string): boolean
  request(network: string, method: string, params: readonly unknown[]): Promise<unknown>
  /** The same in the terms of those who read contracts: RpcRefusedError, and no deadline for all of it. */
  ask(network: string): Ask
  /** What a reading of several requests gives, before the deadline of one. */
  inTime<T>(network: string, reading: () => Promise<T>): Promise<T>
  /** Requests sent to endpoints so far, tries included. */
  readonly sent: number
}

/** Bytes of an answer: hundreds of reads of 4 kB. Given at all, it keeps requests out of batches. */
const MOST_BYTES = 4 * 1024 * 1024

export function createRpc(options: RpcOptions): Rpc {
  const { timeoutMs = 2_500, deadlineMs = 8_000, sulkMs } = options
  const asks = new Map<string, Ask>()
  let sent = 0

  const ask = (network: string): Ask => {
    const known = asks.get(network)
    if (known) return known
    const failover = openFailover(
      options.rpc[network] ?? [],
      {
        timeoutMs,
        attempts: 1,
        maxBytes: MOST_BYTES,
        onSend: () => {
          sent++
        },
      },
      { sulkMs, isLogged: true },
    )
    const bounded: Ask = (method, params, more) =>
      // Nobody waits for what is slower than this.
      failover(method, params, { ...more, timeoutMs, attempts: 1 })
    asks.set(network, bounded)
    return bounded
  }

  const inTime = <T>(network: string, reading: () => Promise<T>): Promise<T> =>
    within({ ms: deadlineMs }, reading, () => chainUnavailable(network))

  /** Of the request itself, where the node answers another one. */
  async function refusal(network: string, error: RpcRefusedError): Promise<Error> {
    try {
      if (!error.isPlain) {
        if (error.isGone || error.isLate) throw error
        await ask(network)('eth_blockNumber', [])
      }
    } catch (cause) {
      return new ChainUnavailableError(network, { cause })
    }
    const { data, said } = error
    const hex = typeof data === 'string' && data.startsWith('0x') ? (data as `0x${string}`) : undefined
    return new CallRejectedError(said, hex, { cause: error })
  }

  return {
    serves: network => (options.rpc[network]?.length ?? 0) > 0,
    get sent() {
      return sent
    },
    ask,
    inTime,
    async request(network, method, params) {
      if ((options.rpc[network]?.length ?? 0) === 0) throw new ChainUnavailableError(network)
      return inTime(network, () =>
        ask(network)(method, params).catch(async error => {
          throw error instanceof RpcRefusedError ? await refusal(network, error) : error
        }),
      )
    },
  }
}
