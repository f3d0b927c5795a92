import { setTimeout as sleep } from 'node:timers/promises'
import type { CreditMeter } from '../../db/keys/credits.ts'
import { log } from '../../db/process/log.ts'
import { steadyNow } from '../../db/process/steady.ts'
import type { TakenWebhook, WebhookBook } from '../../db/webhooks/book.ts'
import type { Attempt, Poster } from '../../db/webhooks/post.ts'
import { type AlertDeps, Alerts } from '../alerts/alerts.ts'
import { nameOfChain } from '../feed/chains.ts'
import type { Feed } from '../feed/feed.ts'
import { filterOf } from '../feed/filter.ts'
import { LOOKED_AT, PER_CREDIT } from '../feed/session.ts'
import { observeAttempt } from './metrics.ts'
import type { WebhookQuery } from './schemas.ts'

/** How often what is none of its messages is written down as passed. */
const PASSED_MS = 10_000
/** Where the database does not answer. */
const AGAIN_MS = 1_000
/** Where the key has no credits left. */
const POOR_MS = 600_000
/** Who waits longer keeps no events in memory meanwhile. */
const SHORT_MS = 2_000
/**
 * A receiver is not given up before so many attempts, which take days, however long ago the first was: nobody may have tried
 * meanwhile, and clocks are set.
 */
const LEAST_ATTEMPTS = 100

export interface DeliveryDeps {
  feed: Feed
  book: WebhookBook
  alerts: AlertDeps | undefined
  poster: Poster
  credits: CreditMeter
  /** The first wait after a failure; each is twice the one before. */
  retryMs: number
  longestRetryMs: number
  /** A receiver that fails for so long is given up. */
  giveUpMs: number
}

/** Somebody else delivers it by now, or it was begun anew, disabled or deleted. */
class OverError extends Error {}
/** The next attempt is not soon. */
class PauseError extends Error {}

/**
 * One subscription being delivered: a message at a time, the chain's next one only after a 2xx for the one before. Ends when it is
 * stopped, and by itself when the subscription is not its own any more.
 */
export class Delivery {
  readonly hook: TakenWebhook
  /** Settles when nothing more is sent. */
  readonly ended: Promise<void>
  hasEnded = false
  private readonly deps: DeliveryDeps
  private readonly filter: ReturnType<typeof filterOf>
  private readonly over = new AbortController()
  private isWoken = true
  private wakeUp: (() => void) | undefined
  private lookedAt = 0
  private passedAt = steadyNow()
  /** As written down. */
  private readonly passed: Map<number, number>
  /** Of the message that is being sent. */
  private isPaid = false
  private readonly alerts: Alerts | undefined
  private evaluating: Promise<void> | undefined

  constructor(hook: TakenWebhook, deps: DeliveryDeps) {
    this.hook = hook
    this.deps = deps
    this.passed = new Map(hook.cursor)
    this.filter = filterOf(hook.filter as WebhookQuery)
    this.alerts =
      deps.alerts &&
      new Alerts(hook, deps.alerts, {
        feed: deps.feed,
        signal: this.over.signal,
        onMessages: () => this.wake(),
      })
    this.ended = this.run()
      .then(() => this.evaluating)
      .finally(() => {
        this.hasEnded = true
      })
  }

  /** Chains have moved. */
  wake(): void {
    this.isWoken = true
    this.wakeUp?.()
  }

  /** Read models may have moved. Whether a receiver takes anything or not: what crosses is written down, and told when it does. */
  async lookAtRules(): Promise<void> {
    const { alerts } = this
    if (!alerts || this.evaluating || this.hasEnded || this.over.signal.aborted) return
    this.evaluating = alerts
      .evaluate()
      .then(isOwn => {
        if (!isOwn) this.stop()
      })
      .catch((error: Error) =>
        log.warn(
          { webhook: this.hook.id, error: error.message },
          'rules could not be looked at; trying again',
        ),
      )
      .finally(() => {
        this.evaluating = undefined
      })
    await this.evaluating
  }

  stop(): void {
    this.over.abort()
    this.wakeUp?.()
  }

  private async run(): Promise<void> {
    const { signal } = this.over
    while (!signal.aborted) {
      try {
        await this.rest()
        this.isWoken = false
        await this.deliverAll()
      } catch (error) {
        if (error instanceof OverError || signal.aborted) return
        this.isWoken = true
        if (error instanceof PauseError) {
          await this.sleepUntil(this.hook.retryAt)
          continue
        }
        log.warn(
          { webhook: this.hook.id, error: (error as Error).message },
          'a webhook could not be read on; trying again',
        )
        await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  private async rest(): Promise<void> {
    if (this.isWoken || this.over.signal.aborted) return
    await new Promise<void>(resolve => {
      this.wakeUp = resolve
    })
    this.wakeUp = undefined
  }

  /** A page of each chain in turn: one with a long past does not keep the others waiting. */
  private async deliverAll(): Promise<void> {
    const { feed } = this.deps
    for (let isBehind = true; isBehind && !this.over.signal.aborted; ) {
      isBehind = false
      let failure: unknown
      await this.tellAlerts()
      if (this.hook.filter.events === false) return
      for (const chainId of feed.current.keys()) {
        if (!this.filter.follows(chainId)) continue
        try {
          if (await this.deliverOf(chainId)) isBehind = true
        } catch (error) {
          // What is wrong with a chain keeps no other waiting.
          if (error instanceof OverError || error instanceof PauseError || this.over.signal.aborted)
            throw error
          failure = error
        }
      }
      await this.notePassed()
      if (failure && !isBehind) throw failure
    }
  }

  /** A page of a chain, if there is any. Gives whether there is more. */
  private async deliverOf(chainId: number): Promise<boolean> {
    const { feed } = this.deps
    const { cursor, mode } = this.hook
    const after = cursor.get(chainId) ?? 0
    const to = feed.reach(chainId, mode)
    if (after > feed.reach(chainId, 'instant')) await this.giveUp(wentBack(chainId))
    return after < to && (await this.deliverPage(chainId, after, to)) < to
  }

  private async notePassed(): Promise<void> {
    if (steadyNow() - this.passedAt < PASSED_MS) return
    this.passedAt = steadyNow()
    const moved = new Map([...this.hook.cursor].filter(([chainId, to]) => this.passed.get(chainId) !== to))
    if (moved.size === 0) return
    if (!(await this.deps.book.passed(this.hook, moved))) throw new OverError()
    for (const [chainId, to] of moved) this.passed.set(chainId, to)
  }

  private async deliverPage(chainId: number, after: number, to: number): Promise<number> {
    const { hook } = this
    const page = await this.deps.feed.read(chainId, after, to, hook.mode)
    for (const message of page.messages) {
      if (!this.filter.takes(message)) continue
      // An alert does not wait behind a past that is caught up with.
      await this.tellAlerts()
      const { position, json: body } = message
      await this.deliver({ id: `${hook.id}_${chainId}_${position}`, body }, () =>
        this.deps.book.delivered(hook, chainId, position),
      )
      hook.cursor.set(chainId, position)
      this.passed.set(chainId, position)
    }
    const { position: reached } = page.last
    hook.cursor.set(chainId, reached)
    this.lookedAt += reached - after
    if (this.lookedAt >= LOOKED_AT) {
      this.lookedAt -= LOOKED_AT
      await this.pay()
    }
    return reached
  }

  /** What rules have to say, in the order in which it came about. */
  private async tellAlerts(): Promise<void> {
    const { hook, alerts } = this
    const { rules } = this.deps.alerts ?? {}
    if (!alerts?.mayWait || !rules) return
    // What comes meanwhile says so again.
    alerts.mayWait = false
    try {
      for (let next = await rules.nextWaiting(hook); next; next = await rules.nextWaiting(hook)) {
        const { number, id, body } = next
        await this.deliver({ id, body }, () => rules.sent(hook, number))
      }
    } catch (error) {
      alerts.mayWait = true
      throw error
    }
  }

  /** Until it has been taken, however long that is. `note` writes that down, and says whether this is still its own to deliver. */
  private async deliver(message: { id: string; body: string }, note: () => Promise<boolean>): Promise<void> {
    const { hook, deps } = this
    const { signal } = this.over
    for (;;) {
      await this.waitUntil(hook.retryAt)
      if (!this.isPaid && hook.delivered % PER_CREDIT === 0) await this.pay()
      this.isPaid = true
      const attempt = await deps.poster.post(hook, message, signal)
      // Stopped amid it: whether it arrived is not known, and it is sent again.
      if (signal.aborted) throw new OverError()
      observeAttempt(!attempt.error)
      if (attempt.error) await this.fail(attempt)
      else break
    }
    await this.noteDelivered(note)
    hook.delivered++
    hook.failures = 0
    hook.failingSince = null
    hook.retryAt = null
    hook.lastError = null
    this.isPaid = false
  }

  /** Once it was taken it is not sent again because the database does not answer. */
  private async noteDelivered(note: () => Promise<boolean>): Promise<void> {
    const { hook } = this
    const { signal } = this.over
    for (;;) {
      try {
        if (await note()) return
        throw new OverError()
      } catch (error) {
        if (error instanceof OverError) throw error
        log.warn(
          { webhook: hook.id, error: (error as Error).message },
          'what was delivered could not be written down; trying again',
        )
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {})
      if (signal.aborted) throw new OverError()
    }
  }

  private async waitUntil(time: Date | null): Promise<void> {
    if (this.msUntil(time) > SHORT_MS) throw new PauseError()
    await this.sleepUntil(time)
    if (this.over.signal.aborted) throw new OverError()
  }

  /** A time further off than any wait was reckoned by a clock that has been set since: it counts as now. */
  private msUntil(time: Date | null): number {
    const ms = (time?.getTime() ?? 0) - Date.now()
    return ms > Math.max(1.1 * this.deps.longestRetryMs, POOR_MS) ? 0 : ms
  }

  private async sleepUntil(time: Date | null): Promise<void> {
    const ms = this.msUntil(time)
    if (ms > 0) await sleep(ms, undefined, { signal: this.over.signal }).catch(() => {})
  }

  private async fail({ status, error = '', retryAfter = 0 }: Attempt): Promise<void> {
    const { hook, deps } = this
    if (status === 410) await this.giveUp('The receiver answered 410: it wants nothing more.', error)
    hook.failingSince ??= new Date()
    const since = hook.failingSince
    if (hook.failures + 1 >= LEAST_ATTEMPTS && Date.now() - since.getTime() >= deps.giveUpMs)
      await this.giveUp(
        `Every attempt has failed since ${since.toISOString()}; the last one: ${error}.`,
        error,
      )
    const wait = Math.min(deps.retryMs * 2 ** Math.min(hook.failures, 30), deps.longestRetryMs)
    // Not all of one receiver's at once when it is back.
    const ms = Math.max(wait * (0.9 + Math.random() / 5), Math.min(retryAfter * 1_000, deps.longestRetryMs))
    hook.failures++
    await this.note(new Date(Date.now() + ms), error)
  }

  private async note(retryAt: Date | null, lastError: string, disabled: string | null = null): Promise<void> {
    this.hook.retryAt = retryAt
    this.hook.lastError = lastError
    if (!(await this.deps.book.failed({ ...this.hook }, { ...this.hook, lastError, disabled })))
      throw new OverError()
  }

  private async giveUp(why: string, error = why): Promise<never> {
    log.warn({ webhook: this.hook.id, why }, 'webhook disabled')
    await this.note(null, error, why)
    throw new OverError()
  }

  /** Waits for the next month, or another plan, where nothing is left; a receiver is not at fault then. */
  private async pay(): Promise<void> {
    const { hook, deps } = this
    const account = { id: hook.keyId, creditsPerMonth: hook.creditsPerMonth }
    if ((await deps.credits.charge(account, 1)).isAccepted) return
    await this.note(new Date(Date.now() + POOR_MS), 'The key has no credits left this month.')
    // It is taken again with the plan that its key has by then.
    await this.sleepUntil(hook.retryAt)
    throw new OverError()
  }
}

const wentBack = (chainId: number) =>
  `The events of ${nameOfChain(chainId)} end before what was delivered: they were restored from an older copy, and what follows may differ. Replay from where you want to begin.`
