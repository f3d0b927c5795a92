import { z } from 'zod'
import { log } from '../db/process/log.ts'

interface RpcErrorInfo {
  code: number
  message: string
}

interface CallOptions {
  validateError?: (info: RpcErrorInfo, request: unknown) => unknown
}

/** What is used of evm-processor's RPC client. */
export interface HeadClient {
  call(method: string, params?: unknown[], options?: CallOptions): Promise<unknown>
  /** Whether the connection is a WebSocket. */
  supportsNotifications(): boolean
  subscribe(subscription: {
    method: string
    params: unknown[]
    notification: string
    unsubscribe: string
    onMessage(message: unknown): void
    onError(error: Error): void
    resubscribeOnConnectionLoss: boolean
  }): { close(): void }
}

type GoTo = (head: { height: number; hash: string }) => Promise<void>

/** The parts of evm-processor's RPC source that look for new blocks, without and with a subscription. */
export interface HotSource {
  polling(goTo: GoTo, isEnd: () => boolean): Promise<void>
  subscription(goTo: GoTo, isEnd: () => boolean): Promise<void>
}

const header = z
  .object({ number: z.string().regex(/^0x[0-9a-f]+$/i), hash: z.string() })
  .transform(({ number, hash }) => ({ height: Number(number), hash }))
  .nullable()

/**
 * Goes where the head goes, known by its hash. evm-processor itself asks for the head's number alone and waits until
 * it grows: a head replaced by another of the same height, or by a shorter branch, would be served until then. Where
 * the node tells of new heads, it is asked at once; it is asked all the same when it says nothing, since subscriptions
 * go quiet and say nothing of what was there before them.
 */
export async function followHead(
  client: HeadClient,
  interval: number,
  goTo: GoTo,
  isEnd: () => boolean,
): Promise<void> {
  const news = client.supportsNotifications() ? listen(client) : undefined
  try {
    await follow(client, interval, goTo, isEnd, news)
  } finally {
    news?.close()
  }
}

async function follow(
  client: HeadClient,
  interval: number,
  goTo: GoTo,
  isEnd: () => boolean,
  news: News | undefined,
): Promise<void> {
  let reached = ''
  let failures = 0
  while (!isEnd()) {
    const fresh = news?.next()
    const asked = Date.now()
    const head = header.parse(await client.call('eth_getBlockByNumber', ['latest', false]))
    if (head && head.hash !== reached) {
      try {
        await goTo(head)
        reached = head.hash
        failures = 0
      } catch (error) {
        if (!isPassing(error)) throw error
        // The chain moved while its blocks were fetched, or a node behind a balancer does not have them yet.
        if (++failures % 20 === 0) log.warn({ error: error.message, failures }, 'head cannot be reached yet')
        await pause(100)
        continue
      }
    }
    const rest = pause(Math.max(0, interval - (Date.now() - asked)))
    await (fresh ? Promise.race([rest, fresh]) : rest)
  }
}

interface News {
  /** Resolves when the node tells of a new head. */
  next(): Promise<void>
  close(): void
}

function listen(client: HeadClient): News {
  let tell: () => void = () => {}
  const subscription = client.subscribe({
    method: 'eth_subscribe',
    params: ['newHeads'],
    notification: 'eth_subscription',
    unsubscribe: 'eth_unsubscribe',
    onMessage: () => tell(),
    onError: error => log.warn({ error: error.message }, 'no subscription to new heads: asking for them'),
    resubscribeOnConnectionLoss: true,
  })
  return {
    next: () =>
      new Promise(resolve => {
        tell = resolve
      }),
    close: () => subscription.close(),
  }
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

/** DataConsistencyError of @subsquid/util-internal-ingest-tools, known by the mark that it carries. */
function isPassing(error: unknown): error is Error {
  return error instanceof Error && '__sqd_data_consistency_error' in error
}

/** How nodes and their vendors say that a range of logs is too much for one answer. */
const TOO_MUCH =
  /returned more than|too (big|large|many|wide)|size exceed|exceeds? (the )?(max|limit|range)|limited to|limit exceeded|block range|response size|max(imum)? (block )?(range|results)|query timeout/i

/** evm-processor splits a range on two wordings of a refusal alone; here the others read like the first of them. */
export function withPlainRefusals(client: HeadClient): void {
  const call = client.call.bind(client)
  client.call = (method, params, options) => {
    const validateError = options?.validateError
    if (method !== 'eth_getLogs' || !validateError) return call(method, params, options)
    return call(method, params, {
      ...options,
      validateError: (info, request) =>
        validateError(
          TOO_MUCH.test(info.message)
            ? { ...info, message: `query returned more than the node allows: ${info.message}` }
            : info,
          request,
        ),
    })
  }
}
