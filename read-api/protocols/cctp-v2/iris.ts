import { LRUCache } from 'lru-cache'
import { type Hex, isHex } from 'viem'
import { z } from 'zod'
import { log } from '../../../db/process/log.ts'
import { DependencyDownError, RequestError } from '../../http/errors.ts'
import { type Fees, feesAnswer } from './fees.ts'

/** No address of the service that attests is configured. */
export class NotConfiguredError extends RequestError {
  readonly code = 'NOT_CONFIGURED'
  readonly status = 503
}

const hex = z.custom<Hex>(value => isHex(value)).transform(value => value.toLowerCase() as Hex)

/** A message that is attested. */
export interface Attested {
  message: Hex
  attestation: Hex
}

/**
 * The messages of one transaction by log index, V1's left out. Undefined in place of one that is not attested yet.
 * @see developers.circle.com, GET /v2/messages/{sourceDomainId}
 */
const messagesAnswer = z
  .object({
    messages: z.array(
      z.object({
        message: z.string().nullish(),
        attestation: z.string().nullish(),
        cctpVersion: z.union([z.number(), z.string()]).transform(Number),
        status: z.string(),
      }),
    ),
  })
  .transform(({ messages }) =>
    messages
      .filter(({ cctpVersion }) => cctpVersion === 2)
      .map(({ status, message, attestation }): Attested | undefined => {
        if (status !== 'complete') return undefined
        const whole = z.object({ message: hex, attestation: hex }).safeParse({ message, attestation })
        return whole.success ? whole.data : undefined
      }),
  )

/** Circle's service that attests messages, by what it answers. It never fails a request that can do without it. */
export interface Iris {
  readonly isConfigured: boolean
  /** @throws NotConfiguredError, DependencyDownError */
  fees(source: number, destination: number, forward: boolean): Promise<Fees>
  /** Undefined: it does not know the transaction, or cannot be asked now. */
  messages(source: number, transaction: Hex): Promise<readonly (Attested | undefined)[] | undefined>
  /** Asks for a message that has expired to be attested again. */
  reattest(source: number, transaction: Hex, nonce: Hex): Promise<void>
}

export interface IrisOptions {
  baseUrl?: string | undefined
  /** Milliseconds, as of any moment. */
  clock?: () => number
  /** Milliseconds that it may take. Default 10,000. */
  timeoutMs?: number
  /** Requests in one second, at most. Default 25: beyond 35 everything is refused for five minutes. */
  perSecond?: number
}

const MOST_BYTES = 2 * 1024 * 1024
const MINUTE = 60_000
/** Milliseconds for which an answer is good. */
const LIFE = { fees: 30_000, pending: 5_000, fault: 5_000, reattested: MINUTE, refused: 5 * MINUTE }

type Outcome<T> = { value: T } | { fault: string }

export function createIris(options: IrisOptions = {}): Iris {
  const { baseUrl, clock = Date.now, timeoutMs = 10_000, perSecond = 25 } = options
  const kept = new LRUCache<string, { outcome: Promise<Outcome<unknown>>; until: number }>({ max: 20_000 })
  let tokens = perSecond
  let filledAt = clock()
  let closedUntil = 0

  /** Whether one more request may go out now. */
  const mayAsk = (): boolean => {
    const now = clock()
    if (now < closedUntil) return false
    tokens = Math.min(perSecond, tokens + ((now - filledAt) / 1000) * perSecond)
    filledAt = now
    if (tokens < 1) return false
    tokens--
    return true
  }

  const send = async (path: string, method: 'GET' | 'POST'): Promise<Outcome<unknown>> => {
    if (!baseUrl || !mayAsk()) return { fault: 'not asked' }
    try {
      const response = await fetch(new URL(path, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`), {
        method,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        headers: { accept: 'application/json' },
      })
      if (response.status === 429) closedUntil = clock() + LIFE.refused
      if (!response.ok) {
        await response.body?.cancel()
        return { fault: String(response.status) }
      }
      return { value: await jsonOf(response) }
    } catch (error) {
      return { fault: (error as Error).name }
    }
  }

  /** What was answered not long ago, or is being asked for. `lifeOf` an answer in milliseconds. */
  const ask = <T>(
    path: string,
    schema: z.ZodType<T>,
    lifeOf: (value: T) => number,
    method: 'GET' | 'POST' = 'GET',
  ): Promise<Outcome<T>> => {
    const known = kept.get(path)
    if (known && clock() < known.until) return known.outcome as Promise<Outcome<T>>
    const entry = { outcome: undefined as unknown as Promise<Outcome<T>>, until: Number.POSITIVE_INFINITY }
    entry.outcome = send(path, method).then(answer => {
      const parsed = 'value' in answer ? schema.safeParse(answer.value) : undefined
      const outcome: Outcome<T> = parsed?.success
        ? { value: parsed.data }
        : { fault: 'fault' in answer ? answer.fault : 'another form' }
      entry.until = clock() + ('value' in outcome ? lifeOf(outcome.value) : LIFE.fault)
      if ('fault' in outcome && !['404', 'not asked'].includes(outcome.fault))
        log.warn({ service: 'CCTP_URL', fault: outcome.fault }, 'the attestation service failed')
      return outcome
    })
    kept.set(path, entry)
    return entry.outcome
  }

  const messagesPath = (source: number, transaction: Hex) =>
    `v2/messages/${source}?transactionHash=${transaction}`

  return {
    isConfigured: baseUrl !== undefined,
    async fees(source, destination, forward) {
      if (!baseUrl)
        throw new NotConfiguredError('Fees of the bridge are not known here: CCTP_URL is not configured.')
      const path = `v2/burn/USDC/fees/${source}/${destination}${forward ? '?forward=true' : ''}`
      const outcome = await ask(path, feesAnswer, () => LIFE.fees)
      if ('fault' in outcome) throw new DependencyDownError('The service that tells the fees of the bridge')
      return outcome.value
    },
    async messages(source, transaction) {
      if (!baseUrl) return undefined
      const isWhole = (all: readonly unknown[]) => all.length > 0 && all.every(each => each !== undefined)
      const outcome = await ask(messagesPath(source, transaction), messagesAnswer, all =>
        isWhole(all) ? Number.POSITIVE_INFINITY : LIFE.pending,
      )
      return 'value' in outcome ? outcome.value : undefined
    },
    async reattest(source, transaction, nonce) {
      await ask(`v2/reattest/${nonce}`, z.unknown(), () => LIFE.reattested, 'POST')
      // What was taken for final is not.
      kept.delete(messagesPath(source, transaction))
    },
  }
}

/** Throws where it is longer than anything that belongs here. */
async function jsonOf(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > MOST_BYTES) throw new RangeError('longer than an answer may be')
    parts.push(part)
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}
