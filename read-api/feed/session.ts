import { once } from 'node:events'
import type { Response } from 'express'
import type { ApiKey } from '../../db/keys/keys.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { MissingKeyError, RequestError } from '../http/errors.ts'
import { nameOfChain } from './chains.ts'
import { type Cursor, formatCursor } from './cursor.ts'
import type { Feed, Mode } from './feed.ts'
import type { Filter } from './filter.ts'

/** Messages for one credit. */
export const PER_CREDIT = 100
/** Events for one credit, whatever the filters leave of them. */
export const LOOKED_AT = 20_000
const BEAT_MS = 15_000
/** Who has not taken what was written by then is cut off: they come back with the id of what they have. */
const PATIENCE_MS = 60_000
/** Written at once, and held for a slow reader beside what the socket holds. */
const CHUNK = 32_768
/** Where the database does not answer. */
const AGAIN_MS = 1_000

export interface SessionOptions {
  feed: Feed
  filter: Filter
  mode: Mode
  cursor: Cursor
  response: Response
  /** Whether the key is still one: it may be revoked while a stream is open. */
  isAllowed: () => Promise<boolean>
  /** Takes a credit. @throws CreditsExhaustedError */
  pay: () => Promise<void>
  /** How often it says that it stands. */
  beatMs?: number
}

/** One who follows the feed, from the first message to the end of the connection. */
export class Session {
  private readonly options: SessionOptions
  private isWoken = true
  /** Messages are under way: the cursor is ahead of what has been written. */
  private isSending = false
  private wake: (() => void) | undefined
  private sent = 0
  private lookedAt = 0
  /** What the reader was told last. */
  private told = ''
  /** Why it has to end. */
  private refusal: RequestError | undefined
  private readonly over = new AbortController()

  constructor(options: SessionOptions) {
    this.options = options
  }

  async run(): Promise<void> {
    const { feed, response } = this.options
    const end = () => this.end()
    response.once('close', end)
    // A socket that breaks amid a write says so here, and is closed.
    response.once('error', end)
    feed.ending.addEventListener('abort', end)
    if (feed.ending.aborted) end()
    const unfollow = feed.follow(() => {
      this.isWoken = true
      this.wake?.()
    })
    const beat = setInterval(() => void this.beat(), this.options.beatMs ?? BEAT_MS)
    try {
      // Not all of them at once where a process ends.
      await this.write(`retry: ${2_000 + Math.floor(Math.random() * 3_000)}\n\n`)
      await this.sayPosition()
      while (!this.over.signal.aborted) {
        await this.rest()
        this.isWoken = false
        this.isSending = true
        await this.sendAll()
        this.isSending = false
      }
      if (this.refusal) throw this.refusal
    } catch (error) {
      await this.sayWhy(error)
    } finally {
      this.over.abort()
      clearInterval(beat)
      unfollow()
      feed.ending.removeEventListener('abort', end)
      response.end()
    }
  }

  private end(): void {
    this.over.abort()
    this.wake?.()
  }

  private async rest(): Promise<void> {
    if (this.isWoken || this.over.signal.aborted) return
    await new Promise<void>(resolve => {
      this.wake = resolve
    })
    this.wake = undefined
  }

  /** A page of each chain in turn: one with a long past does not keep the others waiting. */
  private async sendAll(): Promise<void> {
    const { feed, filter, cursor, mode } = this.options
    for (let isBehind = true; isBehind && !this.over.signal.aborted; ) {
      isBehind = false
      for (const chainId of feed.current.keys()) {
        const after = cursor.get(chainId)?.position ?? 0
        const to = feed.reach(chainId, mode)
        if (!filter.follows(chainId)) continue
        if (after > feed.reach(chainId, 'instant')) throw new WentBackError(nameOfChain(chainId))
        if (after >= to) continue
        try {
          if ((await this.sendPage(chainId, after, to)) < to) isBehind = true
        } catch (error) {
          if (error instanceof RequestError) throw error
          log.warn({ error: (error as Error).message }, 'the feed could not be read; trying again')
          isBehind = true
          await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
        }
      }
    }
  }

  private async sendPage(chainId: number, after: number, to: number): Promise<number> {
    const { feed, filter, cursor, mode } = this.options
    const page = await feed.read(chainId, after, to, mode)
    let text = ''
    for (const message of page.messages) {
      if (!filter.takes(message)) continue
      if (this.sent > 0 && this.sent % PER_CREDIT === 0) {
        // Whatever becomes of the payment: the cursor is past these already.
        if (text) await this.write(text)
        text = ''
        await this.options.pay()
      }
      this.sent++
      cursor.set(chainId, message.place)
      this.told = formatCursor(cursor)
      text += `id: ${this.told}\nevent: ${message.isRetraction ? 'retraction' : 'event'}\ndata: ${message.json}\n\n`
      if (text.length > CHUNK) {
        await this.write(text)
        text = ''
      }
    }
    if (text) await this.write(text)
    cursor.set(chainId, page.last)
    this.lookedAt += page.last.position - after
    if (this.lookedAt >= LOOKED_AT) {
      this.lookedAt -= LOOKED_AT
      await this.options.pay()
    }
    return page.last.position
  }

  /** Of what it leaves out a reader hears no more than how far they are. */
  private async sayPosition(): Promise<void> {
    this.told = formatCursor(this.options.cursor)
    await this.write(`id: ${this.told}\nevent: position\ndata: ${JSON.stringify({ after: this.told })}\n\n`)
  }

  private async beat(): Promise<void> {
    const { response, isAllowed, cursor } = this.options
    if (response.writableNeedDrain || this.over.signal.aborted) return
    // A store that does not answer is no reason to send anybody away.
    const isStill = await isAllowed().catch(() => true)
    if (this.over.signal.aborted) return
    if (!isStill) {
      this.refusal = new MissingKeyError('This API key is none any more: it was revoked.')
      return this.end()
    }
    if (response.writableNeedDrain) return
    if (this.isSending || formatCursor(cursor) === this.told) response.write(':\n\n')
    else await this.sayPosition()
  }

  /** Waits until it has been taken. */
  private async write(text: string): Promise<void> {
    const { response } = this.options
    if (this.over.signal.aborted || response.writableEnded || response.write(text)) return
    const signal = AbortSignal.any([this.over.signal, AbortSignal.timeout(PATIENCE_MS)])
    await once(response, 'drain', { signal }).catch(() => {
      this.over.abort()
      response.destroy()
    })
  }

  private async sayWhy(error: unknown): Promise<void> {
    const known = error instanceof RequestError ? error : undefined
    if (!known && !(error instanceof UnavailableError)) log.error({ err: error }, 'a stream failed')
    const body = {
      statusCode: known?.status ?? 503,
      message: known?.message ?? 'The stream was interrupted; go on from the id of the last message.',
    }
    // The last word, which nobody waits for to be taken.
    if (!this.options.response.writableEnded && !this.options.response.destroyed)
      this.options.response.write(`event: failure\ndata: ${JSON.stringify(body)}\n\n`)
  }
}

/** The event store was restored from a backup that is older than what the reader has. */
class WentBackError extends RequestError {
  readonly code = 'STORE_WENT_BACK'
  readonly status = 409
  constructor(network: string) {
    super(
      `The events of ${network} end before what you have: they were restored from an older copy, and what follows may differ. Begin anew.`,
    )
  }
}

class TooManyStreamsError extends RequestError {
  readonly code = 'TOO_MANY_STREAMS'
  readonly status = 429
  override readonly retryable = true
  override readonly retryAfter = 10
  constructor(limit: number) {
    super(
      `This key has ${limit} streams open, and may not have more at one time. End one, or follow more networks, vaults and wallets in one stream.`,
    )
  }
}

/** Streams that a key has open here. */
export class OpenStreams {
  private readonly counts = new Map<number, number>()

  /** What comes back gives the place free. @throws TooManyStreamsError */
  take({ id, requestsPerMinute }: Pick<ApiKey, 'id' | 'requestsPerMinute'>): () => void {
    const count = this.counts.get(id) ?? 0
    if (count >= requestsPerMinute) throw new TooManyStreamsError(requestsPerMinute)
    this.counts.set(id, count + 1)
    return () => {
      const left = (this.counts.get(id) ?? 1) - 1
      if (left === 0) this.counts.delete(id)
      else this.counts.set(id, left)
    }
  }
}
