import { setTimeout as sleep } from 'node:timers/promises'
import { isDataConsistencyError } from '@subsquid/util-internal-ingest-tools'
import { z } from 'zod'
import { NEAR } from '../../db/chain-state.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'

/** What is used of evm-processor's RPC client. */
export interface HeadClient {
  call(method: string, params?: unknown[]): Promise<unknown>
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

/** A block's header, as it is looked up and as subscriptions tell of it; timestamp in seconds. */
export const headSchema = z
  .object({
    number: z.string().regex(/^0x[0-9a-f]+$/i),
    hash: z.string(),
    parentHash: z.string(),
    timestamp: z.string().regex(/^0x[0-9a-f]+$/i),
    logsBloom: z.string().optional(),
  })
  .transform(({ number, hash, parentHash, timestamp, logsBloom }) => ({
    height: Number(number),
    hash: hash.toLowerCase(),
    parentHash: parentHash.toLowerCase(),
    timestamp: Number(timestamp),
    logsBloom,
  }))

export type Head = z.infer<typeof headSchema>

/** When to look for the head. */
export interface Pace {
  saw(seen: { at: number; height: number }): void
  /** @param isTold the node says by itself when there is another one */
  next(isTold: boolean): number
}

/** Looks every so many milliseconds. */
export function evenPace(interval: number): Pace {
  let lookedAt = 0
  return {
    saw({ at }) {
      lookedAt = at
    },
    next: () => lookedAt + interval,
  }
}

/** Milliseconds between tries to reach a head that moved: so many more with each in vain, up to the longest. */
const PAUSE = 100
const LONGEST_PAUSE = 2_000
/** Milliseconds without a step towards it after which the node is not expected to get there. */
const PATIENCE = 30_000

/**
 * Goes where the head goes, known by its hash. evm-processor itself asks for the head's number alone and waits until
 * it grows: a head replaced by another of the same height, or by a shorter branch, would be served until then. Where
 * the node tells of new heads it is not asked; only when it says nothing for long, since subscriptions go quiet, and say
 * nothing of what was there before them.
 *
 * @param height how far it is
 * @throws UnavailableError the node names heads that cannot be reached by what it has; another one may have it
 */
export async function followHead(
  client: HeadClient,
  pace: Pace,
  goTo: (head: Head) => Promise<void>,
  isEnd: () => boolean,
  height: () => number,
  patienceMs = PATIENCE,
): Promise<void> {
  const news = client.supportsNotifications() ? listen(client) : undefined
  try {
    let reached = ''
    let failures = 0
    let stuck: { at: number; since: number } | undefined
    let isTold = false
    let wasBehind = false
    let head: Head | undefined
    while (!isEnd()) {
      const asked = head === undefined
      head ??=
        headSchema.nullable().parse(await client.call('eth_getBlockByNumber', ['latest', false])) ?? undefined
      if (head) {
        pace.saw({ at: performance.now(), height: head.height })
        const isBehind = height() - head.height > NEAR
        if (isBehind && !wasBehind)
          log.warn(
            { node: head.height, stored: height() },
            'the node is behind what is stored: waiting for it',
          )
        wasBehind = isBehind
        // Found by a look: the node did not tell of it.
        if (asked && head.hash !== reached) isTold = false
      }
      if (head && head.hash !== reached) {
        try {
          await goTo(head)
          reached = head.hash
          failures = 0
          stuck = undefined
        } catch (error) {
          if (!isDataConsistencyError(error)) throw error
          // The chain moved while its blocks were fetched, or a node behind a balancer does not have them yet.
          const now = performance.now()
          if (stuck?.at !== height()) {
            stuck = { at: height(), since: now }
            failures = 0
          }
          if (now - stuck.since >= patienceMs)
            throw new UnavailableError(
              `The node names block ${head.height} as its head, and block ${stuck.at} is the last one that can be had of it: ${error.message}`,
              { cause: error },
            )
          if (++failures % 10 === 0)
            log.warn({ error: error.message, failures }, 'head cannot be reached yet')
          await sleep(Math.min(LONGEST_PAUSE, PAUSE * failures))
          head = undefined
          continue
        }
      }
      head = await news?.next(pace.next(isTold) - performance.now())
      if (head) isTold = true
      else if (!news) await sleep(Math.max(0, pace.next(false) - performance.now()))
    }
  } finally {
    news?.close()
  }
}

interface News {
  /** The newest head that was told and not given yet; undefined where none comes within so many milliseconds. */
  next(wait: number): Promise<Head | undefined>
  close(): void
}

function listen(client: HeadClient): News {
  let newest: Head | undefined
  let tell: () => void = () => {}
  const subscription = client.subscribe({
    method: 'eth_subscribe',
    params: ['newHeads'],
    notification: 'eth_subscription',
    unsubscribe: 'eth_unsubscribe',
    onMessage(message) {
      newest = headSchema.safeParse(message).data ?? newest
      tell()
    },
    onError: error => log.warn({ error: error.message }, 'no subscription to new heads: asking for them'),
    resubscribeOnConnectionLoss: true,
  })
  return {
    async next(wait) {
      if (!newest) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>(resolve => {
          tell = resolve
          timer = setTimeout(resolve, Math.max(0, wait))
        })
        clearTimeout(timer)
      }
      const head = newest
      newest = undefined
      return head
    },
    close: () => subscription.close(),
  }
}
