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
}

type GoTo = (head: { height: number; hash: string }) => Promise<void>

/** The part of evm-processor's RPC source that looks for new blocks where there is no subscription. */
export interface HotSource {
  polling(goTo: GoTo, isEnd: () => boolean): Promise<void>
}

const header = z
  .object({ number: z.string().regex(/^0x[0-9a-f]+$/i), hash: z.string() })
  .transform(({ number, hash }) => ({ height: Number(number), hash }))
  .nullable()

/**
 * Goes where the head goes, known by its hash. evm-processor itself asks for the head's number alone and waits until
 * it grows: a head replaced by another of the same height, or by a shorter branch, would be served until then.
 */
export async function followHead(
  client: HeadClient,
  interval: number,
  goTo: GoTo,
  isEnd: () => boolean,
): Promise<void> {
  let reached = ''
  let failures = 0
  while (!isEnd()) {
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
    await pause(Math.max(0, interval - (Date.now() - asked)))
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
