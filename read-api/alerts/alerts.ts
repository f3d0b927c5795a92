import { randomBytes } from 'node:crypto'
import { log } from '../../db/process/log.ts'
import type { TakenWebhook } from '../../db/webhooks/book.ts'
import type { RuleBook, RuleChange, RuleState } from '../../db/webhooks/rules.ts'
import type { Catalogue, CatalogueSource } from '../catalogue/catalogue.ts'
import { areTakenBack, type Feed } from '../feed/feed.ts'
import { checksumIn } from '../http/amounts.ts'
import { type Figures, type Standpoint, standpointOf } from './figures.ts'
import { NOTHING } from './kinds.ts'
import { observeDropped } from './metrics.ts'

export interface AlertDeps {
  catalogue: CatalogueSource
  figures: Figures
  rules: RuleBook
  /** How often a figure is written down that moves and crosses nothing. */
  noteMs?: number
}

const NOTE_MS = 30_000

type AlertType = 'alert.fired' | 'alert.cleared' | 'alert.retracted'

/**
 * What a change of a rule leads to; pure. `isHeld`: the figure is not yet as far back as an open alert needs to be cleared.
 * `isTakenBack`: an event that fired the open alert does not stand any more.
 */
export function nextOf(
  before: RuleState,
  seen: { value: string | undefined; isCrossed: boolean; isHeld: boolean },
  { isTakenBack, fired, newId }: { isTakenBack: boolean; fired: RuleState['fired']; newId: string },
): { after: RuleState; told: { type: AlertType; alertId: string }[] } {
  const told: { type: AlertType; alertId: string }[] = []
  const after = { ...before }
  const close = (type: AlertType) => {
    if (after.alertId) told.push({ type, alertId: after.alertId })
    after.alertId = after.fired = null
  }
  if (isTakenBack) close('alert.retracted')
  after.value = seen.value ?? null
  const isCrossed = seen.isCrossed || (seen.isHeld && after.alertId !== null)
  after.state = seen.value === undefined ? 'unknown' : isCrossed ? 'crossed' : 'clear'
  if (after.state === 'clear') close('alert.cleared')
  if (after.state === 'crossed' && !after.alertId) {
    Object.assign(after, { alertId: newId, fired })
    told.push({ type: 'alert.fired', alertId: newId })
  }
  return { after, told }
}

interface Look extends RuleChange {
  /** Where what it watches stood. */
  stand: string
}

/** The rules of one webhook, held to the read models whenever what they watch may have moved. */
export class Alerts {
  private readonly hook: TakenWebhook
  private readonly deps: AlertDeps
  private readonly feed: Feed
  private readonly signal: AbortSignal
  private readonly onMessages: () => void
  private rules: Map<number, RuleState> | undefined
  /** Messages may wait to be sent: those of a process before this one, at first. */
  mayWait = true
  private seen: Catalogue | undefined
  /** Of each rule, where what it watches stood when it was last looked at. */
  private readonly stands = new Map<number, string>()
  private readonly noted = new Map<number, { value: string | null; at: number }>()
  private readonly failing = new Set<number>()

  /** `onMessages`: some are to be sent. `signal`: the webhook is no more delivered here. */
  constructor(
    hook: TakenWebhook,
    deps: AlertDeps,
    { feed, signal, onMessages }: { feed: Feed; signal: AbortSignal; onMessages: () => void },
  ) {
    this.hook = hook
    this.deps = deps
    this.feed = feed
    this.signal = signal
    this.onMessages = onMessages
  }

  /** False: the webhook is somebody else's by now. */
  async evaluate(): Promise<boolean> {
    const { catalogue: source, rules } = this.deps
    this.rules ??= new Map(
      ((await rules.of([this.hook.id])).get(this.hook.id) ?? []).map(rule => [rule.number, rule]),
    )
    if (this.rules.size === 0 || !source.isServed) return true
    const catalogue = source.current()
    if (catalogue === this.seen) return true
    const looks: Look[] = []
    let isWhole = true
    for (const rule of this.rules.values()) {
      try {
        const look = await this.lookAt(rule, catalogue)
        this.failing.delete(rule.number)
        if (look) looks.push(look)
      } catch (error) {
        if (this.signal.aborted) return true
        // A rule whose figure cannot be read does not keep others from being looked at.
        isWhole = false
        this.sayFailing(rule.number, error as Error)
      }
      // What is to be told does not wait for the next figure.
      if (looks.at(-1)?.messages.length && !(await this.note(looks.splice(0)))) return false
    }
    if (!(await this.note(looks))) return false
    this.seen = isWhole ? catalogue : undefined
    return true
  }

  private sayFailing(rule: number, { message }: Error): void {
    if (this.failing.has(rule)) return
    this.failing.add(rule)
    log.warn({ webhook: this.hook.id, rule, error: message }, 'rule not read')
  }

  /** How a rule stands now; undefined where nothing has moved that it stands on. */
  private async lookAt(before: RuleState, catalogue: Catalogue): Promise<Look | undefined> {
    const { rule, number, seen } = before
    const at = standpointOf(before, catalogue)
    if (!at || this.stands.get(number) === at.stand) return undefined
    // What another process has seen already is not seen again by one that is behind.
    for (const [chainId, position] of at.positions) if (position < (seen.get(chainId) ?? 0)) return undefined
    const value = await this.deps.figures.of(rule, at, catalogue, this.signal)
    const crosses = (threshold: string) =>
      value !== undefined && value !== NOTHING && at.kind.isCrossed(value, threshold)
    const threshold = rule['threshold'] ?? '0'
    const isCrossed = crosses(threshold)
    const isHeld = crosses(rule['clearThreshold'] ?? threshold)
    const { after, told } = nextOf(
      before,
      { value, isCrossed, isHeld },
      {
        isTakenBack: await this.isTakenBack(before, at),
        fired: this.movesSince(before, at),
        newId: `al_${randomBytes(9).toString('base64url')}`,
      },
    )
    after.seen = new Map([...seen, ...at.positions])
    const messages = told.map(({ type, alertId }) => this.message(type, alertId, after, at))
    return { after, messages, stand: at.stand }
  }

  /** By chain the positions that have come since a rule was looked at; at first those that are not final. */
  private movesSince({ seen }: RuleState, { positions }: Standpoint): NonNullable<RuleState['fired']> {
    const moves = new Map<number, [from: number, to: number]>()
    for (const [chainId, to] of positions) {
      const from = seen.get(chainId) ?? this.feed.reach(chainId, 'finalized')
      if (from < to) moves.set(chainId, [from, to])
    }
    return moves
  }

  private async isTakenBack({ fired, seen }: RuleState, { positions }: Standpoint): Promise<boolean> {
    for (const [chainId, range] of fired ?? []) {
      const to = positions.get(chainId) ?? 0
      const after = Math.max(range[1], seen.get(chainId) ?? 0)
      if (after >= to) continue
      const { ranges } = await this.feed.retractionsTo(chainId, to)
      if (areTakenBack(ranges, range, [after, to])) return true
    }
    return false
  }

  /** Keeps what was seen, and writes down what has changed. False: the webhook is somebody else's by now. */
  private async note(looks: readonly Look[]): Promise<boolean> {
    const changed = looks.filter(
      ({ after, messages }) =>
        messages.length > 0 ||
        after.state !== this.rules?.get(after.number)?.state ||
        this.isToBeNoted(after),
    )
    if (changed.length > 0) {
      const dropped = await this.deps.rules.save(this.hook, changed).catch(error => {
        // Whether it was written down is not known: it is read again.
        this.rules = this.seen = undefined
        this.stands.clear()
        throw error
      })
      if (dropped === undefined) return false
      observeDropped(dropped)
    }
    const now = performance.now()
    for (const { after } of changed) this.noted.set(after.number, { value: after.value, at: now })
    for (const { after, stand } of looks) {
      this.rules?.set(after.number, after)
      this.stands.set(after.number, stand)
    }
    const messages = changed.flatMap(change => change.messages)
    if (messages.length === 0) return true
    for (const { id } of messages) log.info({ webhook: this.hook.id, message: id }, 'alert')
    this.mayWait = true
    this.onMessages()
    return true
  }

  private isToBeNoted({ number, value }: RuleState): boolean {
    const noted = this.noted.get(number)
    if (!noted) return true
    return noted.value !== value && performance.now() - noted.at >= (this.deps.noteMs ?? NOTE_MS)
  }

  private message(
    type: AlertType,
    alertId: string,
    { rule, value, number }: RuleState,
    { chainId, chain: { blockNumber, blockTime } }: Standpoint,
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
