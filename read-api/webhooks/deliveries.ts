import type { ClickHouseClient } from '@clickhouse/client'
import type pg from 'pg'
import { groupBy } from '../../db/group-by.ts'
import type { CreditMeter } from '../../db/keys/credits.ts'
import { log } from '../../db/process/log.ts'
import { behindOf, createWebhookBook } from '../../db/webhooks/book.ts'
import type { Poster } from '../../db/webhooks/post.ts'
import { createRuleBook, type RuleBook } from '../../db/webhooks/rules.ts'
import type { AlertDeps } from '../alerts/alerts.ts'
import { Figures } from '../alerts/figures.ts'
import { observeDropped } from '../alerts/metrics.ts'
import type { Feed } from '../feed/feed.ts'
import { Delivery, type DeliveryDeps } from './delivery.ts'
import { observeSubscriptions } from './metrics.ts'

/** How soon a new subscription is delivered, one that was replayed begins anew, and one of a process that ended is taken over. */
const SWEEP_MS = 1_000
/** Taken by one process at once: others that start with it have their part. */
const MOST_TAKEN = 200
/** How often it is looked for alerts that nobody is to hear of any more. */
const DROP_MS = 60_000
const RETRY_MS = 5_000
const LONGEST_RETRY_MS = 3_600_000
const GIVE_UP_MS = 5 * 86_400_000

export interface DeliveriesOptions extends Omit<Partial<DeliveryDeps>, 'alerts'> {
  /** What alert rules are held to; without, no rule is looked at. */
  readModels?: Omit<AlertDeps, 'rules' | 'figures'> & {
    clickhouse: ClickHouseClient
    readMs?: number
    restMs?: number
  }
  /** Of its own connections: one is kept, for the locks. */
  pool: pg.Pool
  feed: Feed
  poster: Poster
  credits: CreditMeter
  sweepMs?: number
  /** Alerts of a webhook that wait at most. */
  mostWaiting?: number
}

/**
 * Delivers the webhooks that no other process does. Each is under an advisory lock of one connection, which ends with the process
 * however it ends; its generation is a fence besides: what a process does that has lost its lock unawares moves no cursor.
 */
export class Deliveries {
  private readonly options: DeliveriesOptions
  private readonly deps: DeliveryDeps
  private readonly running = new Map<string, Delivery>()
  private connection: pg.PoolClient | undefined
  /** Held by the connection. */
  private readonly locked = new Set<number>()
  private unfollow: (() => void) | undefined
  private timer: NodeJS.Timeout | undefined
  private sweeping: Promise<void> = Promise.resolve()
  private isStopping = false
  /** Keys whose rules are being looked at. */
  private readonly looking = new Set<number>()
  private readonly rules: RuleBook
  private droppedAt = Number.NEGATIVE_INFINITY

  constructor(options: DeliveriesOptions) {
    this.options = options
    const { readModels, ...rest } = options
    this.rules = createRuleBook(options.pool, options)
    this.deps = {
      retryMs: RETRY_MS,
      longestRetryMs: LONGEST_RETRY_MS,
      giveUpMs: GIVE_UP_MS,
      book: createWebhookBook(options.pool),
      alerts: readModels && {
        ...readModels,
        rules: this.rules,
        figures: new Figures(readModels.clickhouse, readModels),
      },
      ...rest,
    }
  }

  start(): void {
    const again = async () => {
      await this.sweep().catch((error: Error) =>
        log.warn({ error: error.message }, 'webhooks could not be looked at; trying again'),
      )
      if (this.isStopping) return
      this.timer = setTimeout(() => {
        this.sweeping = again()
      }, this.options.sweepMs ?? SWEEP_MS)
    }
    this.sweeping = again()
  }

  async stop(): Promise<void> {
    this.isStopping = true
    clearTimeout(this.timer)
    await this.sweeping
    this.unfollow?.()
    await this.letGo(this.connection)
  }

  private async sweep(): Promise<void> {
    const active = new Map((await this.deps.book.active()).map(hook => [hook.id, hook]))
    for (const [id, delivery] of this.running) {
      if (active.get(id)?.generation !== delivery.hook.generation) delivery.stop()
      if (!delivery.hasEnded) continue
      this.running.delete(id)
      if (!active.has(id)) await this.unlock(delivery.hook.number)
    }
    this.lookAtRules()
    await this.dropOld()
    const open = [...active.values()].filter(({ id }) => !this.running.has(id))
    if (open.length > 0) await this.take(open.slice(0, MOST_TAKEN))
    const hooks = [...this.running.values()].map(({ hook }) => hook)
    const failing = hooks.filter(({ failures }) => failures > 0).length
    const most = hooks.reduce(
      (most, hook) => Math.max(most, behindOf(hook, this.options.feed.ends(hook.mode))),
      0,
    )
    observeSubscriptions({ well: hooks.length - failing, failing, most })
    if (this.running.size > 0)
      this.unfollow ??= this.options.feed.follow(() => {
        for (const delivery of this.running.values()) delivery.wake()
      })
  }

  /** One after the other of each key, so that one with many rules keeps no other waiting. */
  private lookAtRules(): void {
    for (const [keyId, own] of groupBy(this.running.values(), ({ hook }) => hook.keyId)) {
      if (this.looking.has(keyId)) continue
      this.looking.add(keyId)
      const look = async () => {
        for (const delivery of own) await delivery.lookAtRules()
      }
      void look().finally(() => this.looking.delete(keyId))
    }
  }

  /** Drops alerts that waited too long, also of webhooks that no process delivers. */
  private async dropOld(): Promise<void> {
    if (performance.now() - this.droppedAt < DROP_MS) return
    this.droppedAt = performance.now()
    const count = await this.rules.dropOld()
    observeDropped(count)
    if (count > 0) log.warn({ alerts: count }, 'alerts were dropped: nobody took them for days')
  }

  private async take(open: readonly { id: string; number: number }[]): Promise<void> {
    const { rows } = await (await this.connect()).query<{ number: number }>(
      `SELECT number FROM unnest($1::int[]) AS number WHERE pg_try_advisory_lock(hashtext('vaultlog webhook'), number)`,
      [open.map(({ number }) => number).filter(number => !this.locked.has(number))],
    )
    for (const { number } of rows) this.locked.add(number)
    const taken = []
    for (const { id, number } of open) {
      const hook = this.locked.has(number) ? await this.deps.book.take(id) : undefined
      if (hook) taken.push(hook)
    }
    if (taken.length === 0) return
    // After the cursors were read: what they have passed is known by then.
    await this.options.feed.look()
    // The connection may have been lost meanwhile, and the locks with it.
    for (const hook of taken)
      if (this.locked.has(hook.number)) this.running.set(hook.id, new Delivery(hook, this.deps))
  }

  private async unlock(number: number): Promise<void> {
    this.locked.delete(number)
    await this.connection?.query(`SELECT pg_advisory_unlock(hashtext('vaultlog webhook'), $1)`, [number])
  }

  private async connect(): Promise<pg.PoolClient> {
    if (this.connection) return this.connection
    const connection = await this.options.pool.connect()
    const lost = () => void this.letGo(connection)
    connection.once('error', lost)
    connection.once('end', lost)
    this.connection = connection
    return connection
  }

  /** Ends everything that stood on its locks; it is closed, and not given back with them. */
  private async letGo(connection: pg.PoolClient | undefined): Promise<void> {
    if (connection !== this.connection) return
    this.connection = undefined
    this.locked.clear()
    const ending = [...this.running.values()]
    this.running.clear()
    for (const delivery of ending) delivery.stop()
    await Promise.all(ending.map(({ ended }) => ended))
    connection?.release(true)
  }
}
