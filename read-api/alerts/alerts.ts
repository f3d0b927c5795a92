import { randomBytes } from 'node:crypto'
import type { ClickHouseClient } from '@clickhouse/client'
import { findNetwork } from '../../db/networks.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { within } from '../../db/process/within.ts'
import type { TakenWebhook } from '../../db/webhooks/book.ts'
import type { RuleBook, RuleState } from '../../db/webhooks/rules.ts'
import type { Catalogue, CatalogueSource } from '../catalogue/catalogue.ts'
import type { Feed } from '../feed/feed.ts'
import { checksumIn } from '../http/amounts.ts'
import type { ChainMoment } from '../moment/snapshot.ts'
import { kindOf, NOTHING } from './kinds.ts'

export interface AlertDeps {
  catalogue: CatalogueSource
  clickhouse: ClickHouseClient
  rules: RuleBook
  /** How often a figure is written down that moves and crosses nothing. */
  noteMs?: number
}

const NOTE_MS = 5_000
/** How long reading a figure may take: others wait for their turn. */
const READ_MS = 5_000

type AlertType = 'alert.fired' | 'alert.cleared' | 'alert.retracted'

/** What a change of a rule leads to; pure. `isTakenBack`: an event that fired the open alert does not stand any more. */
export function nextOf(
  before: RuleState,
  seen: { value: string | undefined; isCrossed: boolean },
  { isTakenBack, from, to, newId }: { isTakenBack: boolean; from: number; to: number; newId: string },
): { after: RuleState; told: { type: AlertType; alertId: string }[] } {
  const told: { type: AlertType; alertId: string }[] = []
  const after = { ...before }
  const close = (type: AlertType) => {
    if (after.alertId) told.push({ type, alertId: after.alertId })
    after.alertId = after.firedFrom = after.firedTo = null
  }
  if (isTakenBack) close('alert.retracted')
  after.value = seen.value ?? null
  after.state = seen.value === undefined ? 'unknown' : seen.isCrossed ? 'crossed' : 'clear'
  if (after.state === 'clear') close('alert.cleared')
  if (after.state === 'crossed' && !after.alertId) {
    Object.assign(after, { alertId: newId, firedFrom: from, firedTo: to })
    told.push({ type: 'alert.fired', alertId: newId })
  }
  return { after, told }
}

/** The rules of one webhook, held to the read models whenever these have moved. */
export class Alerts {
  private readonly hook: TakenWebhook
  private readonly deps: AlertDeps
  private readonly feed: Feed
  private readonly signal: AbortSignal
  private rules: RuleState[] | undefined
  /** Messages may wait to be sent: those of a process before this one, at first. */
  mayWait = true
  private seen: Catalogue | undefined
  /** Of each rule, the position up to which it was evaluated. */
  private readonly reached = new Map<number, number>()
  private readonly noted = new Map<number, { value: string | null; at: number }>()
  private readonly failing = new Set<number>()

  constructor(hook: TakenWebhook, deps: AlertDeps, feed: Feed, signal: AbortSignal) {
    this.hook = hook
    this.deps = deps
    this.feed = feed
    this.signal = signal
  }

  /** False: the webhook is somebody else's by now. */
  async evaluate(): Promise<boolean> {
    const { catalogue: source, rules } = this.deps
    this.rules ??= (await rules.of([this.hook.id])).get(this.hook.id) ?? []
    if (this.rules.length === 0 || !source.isServed) return true
    const catalogue = source.current()
    if (catalogue === this.seen) return true
    let isWhole = true
    for (const [i, rule] of this.rules.entries()) {
      try {
        const after = await this.evaluateOne(rule, catalogue)
        if (!after) return false
        this.rules[i] = after
        this.failing.delete(rule.number)
      } catch (error) {
        // One that cannot be read keeps no other from being.
        isWhole = false
        if (this.failing.has(rule.number)) continue
        this.failing.add(rule.number)
        log.warn(
          { webhook: this.hook.id, rule: rule.number, error: (error as Error).message },
          'rule not read',
        )
      }
    }
    this.seen = isWhole ? catalogue : undefined
    // What was written down of one that failed is read again.
    if (!isWhole) this.rules = undefined
    return true
  }

  private async evaluateOne(before: RuleState, catalogue: Catalogue): Promise<RuleState | undefined> {
    const { rule, number } = before
    const kind = kindOf(rule.kind)
    const chainId = findNetwork(rule.network)?.chainId ?? 0
    const chain = catalogue.chain(chainId, kind?.face)
    // What another process has seen already is not seen again by one that is behind.
    const least = this.reached.get(number) ?? before.seenTo ?? 0
    if (!kind || !chain || chain.position < least || this.reached.get(number) === chain.position)
      return before
    const value = await within(
      { ms: READ_MS, signal: this.signal },
      signal => kind.read(rule, { catalogue, deps: this.deps, signal, touch() {} }, chainId),
      () => {
        throw new UnavailableError(`It took more than ${READ_MS / 1000} s to read.`)
      },
    )
    const isCrossed =
      value !== undefined && value !== NOTHING && kind.isCrossed(value, rule['threshold'] ?? '0')
    const { after, told } = nextOf(
      before,
      { value, isCrossed },
      {
        isTakenBack: await this.isTakenBack(before, chainId, chain.position),
        from: Math.min(
          this.reached.get(number) ?? before.seenTo ?? this.feed.reach(chainId, 'finalized'),
          chain.position - 1,
        ),
        to: chain.position,
        newId: `al_${randomBytes(9).toString('base64url')}`,
      },
    )
    after.seenTo = chain.position
    const hasChanged = told.length > 0 || after.state !== before.state || this.isToBeNoted(after)
    const messages = told.map(({ type, alertId }) => this.message(type, alertId, after, chainId, chain))
    if (hasChanged && !(await this.deps.rules.save(this.hook, after, messages))) return undefined
    if (hasChanged) this.noted.set(number, { value: after.value, at: Date.now() })
    if (messages.length > 0) this.mayWait = true
    this.reached.set(number, chain.position)
    for (const { type, alertId } of told) log.info({ webhook: this.hook.id, alertId, kind: rule.kind }, type)
    return after
  }

  private isToBeNoted({ number, value }: RuleState): boolean {
    const noted = this.noted.get(number)
    if (!noted) return true
    return noted.value !== value && Date.now() - noted.at >= (this.deps.noteMs ?? NOTE_MS)
  }

  private async isTakenBack({ firedFrom, firedTo, number }: RuleState, chainId: number, to: number) {
    if (firedFrom === null || firedTo === null) return false
    const after = Math.max(firedTo, this.reached.get(number) ?? 0)
    if (after >= to) return false
    const retractions = await this.feed.retractionsBetween(chainId, after, to)
    return retractions.some(range => range.from <= firedTo && range.to > firedFrom)
  }

  private message(
    type: AlertType,
    alertId: string,
    { rule, value, number }: RuleState,
    chainId: number,
    { blockNumber, blockTime }: ChainMoment,
  ) {
    const id = `${this.hook.id}_${alertId}_${type.slice('alert.'.length)}`
    const body = {
      id,
      kind: 'alert',
      type,
      network: rule.network,
      chainId,
      blockNumber: String(blockNumber),
      timestamp: blockTime,
      data: {
        alertId,
        rule: number,
        ...rule,
        ruleKind: rule.kind,
        kind: undefined,
        network: undefined,
        value: value ?? undefined,
      },
    }
    return { id, body: checksumIn(JSON.stringify(body)) }
  }
}
