import { setTimeout as sleep } from 'node:timers/promises'
import { hideUrl, withoutUrls } from '../process/hidden-urls.ts'
import { log } from '../process/log.ts'
import { steadyNow } from '../process/steady.ts'
import { RpcRefusedError } from './errors.ts'
import { type FoundLimit, openFoundLimit } from './found-limit.ts'
import { openRate } from './rate.ts'
import { type Answer, type Call, NoAnswerError, type SaidError, type Send, sendByHttp } from './transport.ts'
import { sendByWebSocket } from './websocket.ts'

/** What an endpoint is asked at most; what it takes is found out below that. */
export interface EndpointLimits {
  /** Calls of one request. */
  batch?: number | undefined
  /** Calls a second. */
  rate?: number | undefined
}

export interface AskOptions {
  /** In a request of its own, whose answer has at most so many bytes: what a stranger's contract says harms no other. */
  maxBytes?: number
  /** In a request with others of the same, if there is room, and with no others. */
  group?: object | undefined
  /** Milliseconds for one attempt. */
  timeoutMs?: number
  /** Integers that a number of JavaScript cannot hold come as decimal text: nodes of Solana write 64 bits in digits. */
  isExact?: boolean
  /** How often it is sent, when nothing tells that the answer would be the same. */
  attempts?: number
  /** Told of each attempt. */
  onSend?: () => void
}

const BATCH = 100
const IN_FLIGHT = 16
/** Some that nobody answers leave room for others. */
const FEWEST_IN_FLIGHT = 4
const TIMEOUT = 20_000
const ATTEMPTS = 4
/** How often a node has to answer one call, sent alone, with an error of unknown meaning before that is believed. */
const ASKED_TO_BELIEVE = 3
/** Milliseconds after the first failure, doubled with each. */
const PAUSE = 250
const LONGEST_PAUSE = 10_000
/** Milliseconds in which calls gather for a batch. */
const GATHER = 2
/** No answer of a node is larger than this: blocks with all their transactions, or logs of a range. */
const MOST_BYTES = 64 * 1024 * 1024

interface Waiting extends Call {
  attempts: number
  timeoutMs: number
  maxBytes: number
  /** What it may share a request with: others of the same. */
  group: object | undefined
  isExact: boolean
  failures: number
  onSend?: (() => void) | undefined
  /** When, and with how many others, it got an error that may be of the moment or of the batch. */
  doubt?: { sentAt: number; batch: number }
  resolve(result: unknown): void
  reject(error: Error): void
}

/**
 * One RPC endpoint, as it bears to be asked: how many calls a request and a second it takes, and how many requests at
 * once, is found out by what it refuses, in whatever words, and tried again later. A call that was refused is not sent
 * again as it was: in a smaller batch, alone, later, or not at all.
 */
export class Endpoint {
  readonly host: string
  private readonly send: Send
  private readonly batch: FoundLimit
  private readonly inFlight = openFoundLimit(IN_FLIGHT, FEWEST_IN_FLIGHT)
  private readonly rate: ReturnType<typeof openRate>
  private queue: Waiting[] = []
  private running = 0
  private isScheduled = false
  private pausedUntil = 0
  /** Calls of the longest batch that was answered since one was too long. */
  private taken = 0

  constructor(url: string, limits: EndpointLimits = {}, send?: Send) {
    this.host = new URL(url).host
    this.batch = openFoundLimit(limits.batch ?? BATCH)
    this.rate = openRate(limits.rate ?? Number.POSITIVE_INFINITY)
    this.send = send ?? (/^wss?:/.test(url) ? sendByWebSocket(url) : sendByHttp(url))
  }

  /** @throws RpcRefusedError */
  request(method: string, params: readonly unknown[], options: AskOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.queue.push({
        method,
        params,
        attempts: options.attempts ?? ATTEMPTS,
        timeoutMs: options.timeoutMs ?? TIMEOUT,
        maxBytes: options.maxBytes ?? MOST_BYTES,
        group: options.maxBytes === undefined ? options.group : {},
        isExact: options.isExact ?? false,
        failures: 0,
        onSend: options.onSend,
        resolve,
        reject,
      })
      this.schedule(GATHER)
    })
  }

  private schedule(ms: number): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setTimeout(() => {
      this.isScheduled = false
      this.dispatch()
    }, ms)
  }

  private dispatch(): void {
    const rest = this.pausedUntil - steadyNow()
    if (rest > 0) {
      this.schedule(rest)
      return
    }
    while (this.queue.length > 0 && this.running < this.inFlight.now()) {
      // A batch larger than what a second allows is refused whole.
      const most = Math.max(1, Math.min(this.batch.now(), Math.floor(this.rate.now() / 2)))
      const [first] = this.queue
      const others = this.queue.findIndex(({ group }) => group !== first?.group)
      this.run(this.queue.splice(0, others < 0 ? most : Math.min(most, others)))
    }
  }

  private run(calls: Waiting[]): void {
    this.running++
    this.attempt(calls)
      .catch((error: Error) => {
        for (const call of calls) call.reject(error)
      })
      .finally(() => {
        this.running--
        this.schedule(0)
      })
  }

  private async attempt(calls: Waiting[]): Promise<void> {
    await this.rate.turn(calls.length)
    const sentAt = steadyNow()
    const underWay = this.running
    for (const { onSend } of calls) onSend?.()
    try {
      const answers = await this.send(calls, {
        timeoutMs: Math.max(...calls.map(({ timeoutMs }) => timeoutMs)),
        maxBytes: Math.max(...calls.map(({ maxBytes }) => maxBytes)),
        isExact: calls.some(({ isExact }) => isExact),
      })
      this.inFlight.answered(underWay)
      this.taken = Math.max(this.taken, calls.length)
      this.settle(calls, answers, sentAt)
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error
      const { isOverloaded } = error
      // Of a batch that is longer than any that was answered, it may be the length; of one that was refused before, too.
      const isPace =
        isOverloaded && calls.length <= this.taken && calls.every(({ failures }) => failures === 0)
      if (isPace || (isOverloaded && calls.length === 1)) this.rate.refused(sentAt)
      if (error.isLate || isOverloaded) this.inFlight.refused(underWay)
      // Where nobody is there, fewer calls would not be answered either.
      const isHalved = calls.length > 1 && !error.isGone && !isPace
      if (isHalved) this.refuseBatch(calls.length, error.message)
      else for (const call of calls) call.failures++
      for (const call of calls) this.again(call, error, isHalved)
    }
  }

  private settle(calls: readonly Waiting[], answers: readonly Answer[], sentAt: number): void {
    const doubtful: [Waiting, RpcRefusedError][] = []
    for (const [i, call] of calls.entries()) {
      const answer = answers[i]
      if (!answer || 'error' in answer) {
        const error = this.refusal(call, answer?.error)
        if (error.isPlain) call.reject(error)
        else doubtful.push([call, error])
        continue
      }
      call.resolve(answer.result)
      // It was the batch or the moment, then.
      if (call.doubt && call.doubt.batch > 1)
        this.refuseBatch(call.doubt.batch, 'some of the calls were refused')
      else if (call.doubt) this.rate.refused(call.doubt.sentAt)
    }
    if (doubtful.length < calls.length) this.rate.answered(calls.length - doubtful.length)
    if (doubtful.length === 0) this.batch.answered(calls.length)
    const isBatch = calls.length > 1
    if (isBatch && doubtful.length === calls.length)
      this.refuseBatch(calls.length, doubtful[0]?.[1].said ?? '')
    for (const [call, error] of doubtful) {
      // Believed when it is said again and again of the call alone.
      if (!isBatch && ++call.failures >= Math.min(call.attempts, ASKED_TO_BELIEVE)) {
        call.reject(error)
        continue
      }
      call.doubt = { sentAt, batch: calls.length }
      if (doubtful.length < calls.length) call.group = {}
      this.later(call, isBatch ? 0 : PAUSE * 4 ** (call.failures - 1))
    }
  }

  private refuseBatch(length: number, words: string): void {
    const before = this.batch.now()
    this.taken = Math.min(this.taken, length - 1)
    this.batch.refused(length)
    if (this.batch.now() < before)
      log.info(
        { rpc: this.host, calls: length, said: withoutUrls(words) },
        'the node refused a batch: smaller ones',
      )
  }

  private again(call: Waiting, error: NoAnswerError, isHalved: boolean): void {
    // The same question has as long an answer.
    const isSame = error.isTooLong && !isHalved
    if (isSame || call.failures >= call.attempts || (error.isFinal && call.failures > 1)) {
      call.reject(this.refusal(call, error))
      return
    }
    const pause = Math.min(LONGEST_PAUSE, error.retryAfter ?? PAUSE * 2 ** Math.max(0, call.failures - 1))
    if (error.isOverloaded) this.pausedUntil = Math.max(this.pausedUntil, steadyNow() + pause)
    this.later(call, isHalved ? 0 : pause)
  }

  private later(call: Waiting, ms: number): void {
    void sleep(ms).then(() => {
      this.queue.unshift(call)
      this.schedule(GATHER)
    })
  }

  private refusal({ method }: Call, error: NoAnswerError | SaidError | undefined) {
    if (error instanceof NoAnswerError) {
      const { status, isLate, isGone, isTooLong, message } = error
      return new RpcRefusedError({
        method,
        host: this.host,
        said: withoutUrls(message),
        status,
        isLate,
        isGone,
        isTooLong,
      })
    }
    const { code = 0, message = '', data } = error ?? {}
    return new RpcRefusedError({ method, host: this.host, said: withoutUrls(message), code, data })
  }
}

const known = new Map<string, Endpoint>()
const limitsOf = new Map<string, EndpointLimits>()

/** What an operator said of endpoints; to be called before they are asked. */
export function limitEndpoints(urls: readonly string[], limits: EndpointLimits): void {
  for (const url of urls) limitsOf.set(url, limits)
}

/** What was found out of an endpoint is known for as long as the process lives. */
export function endpointOf(url: string): Endpoint {
  hideUrl(url)
  const endpoint = known.get(url) ?? new Endpoint(url, limitsOf.get(url))
  known.set(url, endpoint)
  return endpoint
}
