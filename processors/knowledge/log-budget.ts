import type { EventWriter } from '../../db/events/event-writer.ts'
import type { LogsOfDay } from '../../db/events/log-budgets.ts'
import type { WatchedSource } from '../../db/events/watched-sources.ts'
import { DAY } from '../../db/units.ts'
import type { DeadLetter, SourceBlock } from '../handling/block.ts'
import type { Protocol } from '../protocol.ts'
import type { KnownContracts } from './known-contracts.ts'

export interface LogBudgetOptions {
  contracts: KnownContracts
  /** Logs of a contract that are taken with the blocks of a day. */
  perDay: number
  /** Blocks after which a block is final. */
  finality: number
  /** As stored. */
  days: readonly LogsOfDay[]
  protocols: readonly Pick<Protocol, 'name' | 'sources'>[]
  /** Vaults whose logs are taken however many they are. */
  listed: ReadonlySet<string>
}

/**
 * How many logs of a contract that anybody may have brought up, and that nobody listed, are taken with the blocks of a day of the chain: a log costs its contract
 * little, and us for ever. From the block on with which they are more, those of the day are left out, and fetched later beside
 * the blocks, as many a day. All of it follows from the blocks and from rows.
 */
export class LogBudget {
  private readonly options: LogBudgetOptions
  /** Protocols whose vaults anybody may have made: those that are found by the shape of their logs. */
  private readonly byShape = new Set<string>()
  /** Kinds of contracts that anybody may name. */
  private readonly openKinds: readonly string[]
  private readonly days = new Map<string, LogsOfDay>()
  /** Days with logs that are left out, for which it is not known yet where they end, and all of them. */
  private readonly leftOut = new Set<string>()
  /** What the blocks being handled changed, and how it was before. */
  private readonly before = new Map<string, LogsOfDay | undefined>()

  constructor(options: LogBudgetOptions) {
    this.options = options
    for (const { name, sources } of options.protocols)
      if (sources.some(({ at }) => at === 'anywhere')) this.byShape.add(name)
    this.openKinds = options.protocols.flatMap(({ sources }) =>
      sources.flatMap(({ kind, isOpen }) => (isOpen ? [kind] : [])),
    )
    for (const day of options.days) this.set(keyOf(day), day)
  }

  /** Blocks are handled that stand on this one; what was not stored, or is about to be retracted, is undone. */
  begin(baseHeight: number): void {
    for (const [key, day] of this.before) this.set(key, day)
    this.before.clear()
    for (const key of this.leftOut) {
      const day = this.days.get(key)
      if (!day) continue
      const { leftOutFrom = -1, leftOutTo = -1 } = day
      if (leftOutFrom > baseHeight) this.set(key, { ...day, leftOutFrom: undefined, leftOutTo: undefined })
      else if (leftOutTo >= baseHeight) this.set(key, { ...day, leftOutTo: undefined })
    }
  }

  commit(): void {
    this.before.clear()
  }

  /** Contracts that have logs left out. */
  count(): number {
    return this.leftOut.size
  }

  /** The logs of a block without those that are left out. */
  admit({ ref, logs }: SourceBlock, letters: DeadLetter[]): SourceBlock['logs'] {
    const day = Math.floor(ref.timestamp / DAY)
    if (!Number.isFinite(day)) return logs
    this.endDays(day, ref.number)
    const own = new Map<string, number>()
    for (const { address } of logs) if (this.isCounted(address)) own.set(address, (own.get(address) ?? 0) + 1)
    const out = new Set<string>()
    for (const [contract, count] of own) {
      const key = keyOf({ contract, day })
      const known = this.days.get(key) ?? { contract, day, logs: 0 }
      const { leftOutFrom = Number.POSITIVE_INFINITY } = known
      if (ref.number >= leftOutFrom) out.add(contract)
      // One block alone may have a million.
      else if (known.logs + count <= this.options.perDay)
        this.put(key, { ...known, logs: known.logs + count })
      else {
        out.add(contract)
        this.put(key, { ...known, leftOutFrom: ref.number })
        const date = new Date(day * DAY * 1000).toISOString().slice(0, 10)
        const reason = `more than ${this.options.perDay} logs on ${date}: those from block ${ref.number} on are left out and fetched from the next day on`
        letters.push({ stage: 'decode', block: ref, contract, reason })
      }
    }
    return out.size === 0 ? logs : logs.filter(({ address }) => !out.has(address))
  }

  /**
   * Stores what changed with the blocks; what was left out on days that are over for good is fetched from now on. Whether
   * there is any.
   */
  store(
    writer: EventWriter,
    newest: number,
    kindsOf: (contract: string) => readonly WatchedSource[],
  ): boolean {
    const done: LogsOfDay[] = []
    const final =
      (writer.baseHeight === Number.MAX_SAFE_INTEGER ? writer.parent.height : writer.baseHeight) -
      this.options.finality
    for (const [key, day] of this.days) {
      const { leftOutFrom, leftOutTo } = day
      const isOver =
        leftOutFrom === undefined ? day.day < newest - 1 : leftOutTo !== undefined && leftOutTo <= final
      if (!isOver) continue
      const kinds = leftOutFrom === undefined ? [] : kindsOf(day.contract)
      // Ignored, or known beside the blocks for now: what was left out is still to be fetched.
      if (leftOutFrom !== undefined && kinds.length === 0) continue
      done.push(day)
      if (!this.before.has(key)) this.before.set(key, day)
      this.set(key, undefined)
      if (leftOutFrom === undefined || leftOutTo === undefined) continue
      for (const source of kinds) writer.setOlderSource({ ...source, cursor: leftOutFrom - 1, to: leftOutTo })
    }
    const changed = [...this.before.keys()].flatMap(key => this.days.get(key) ?? [])
    if (changed.length + done.length > 0) writer.setLogBudgets(changed, done)
    return done.some(({ leftOutFrom }) => leftOutFrom !== undefined)
  }

  /** A block of a later day: what is left out of those before ends below it. */
  private endDays(day: number, block: number): void {
    for (const key of this.leftOut) {
      const known = this.days.get(key)
      if (known && known.day < day && known.leftOutTo === undefined)
        this.put(key, { ...known, leftOutTo: block - 1 })
    }
  }

  /** Whether the logs of a contract are counted at all. */
  isCounted(contract: string): boolean {
    const { contracts, listed } = this.options
    if (listed.has(contract)) return false
    const vault = contracts.vault(contract)
    if (vault && (this.byShape.has(vault.protocol) || contracts.hasLearned(`VaultCreated ${contract}`)))
      return true
    return this.openKinds.some(kind => contracts.isWatched(kind, contract))
  }

  private put(key: string, day: LogsOfDay): void {
    if (!this.before.has(key)) this.before.set(key, this.days.get(key))
    this.set(key, day)
  }

  private set(key: string, day: LogsOfDay | undefined): void {
    if (day) this.days.set(key, day)
    else this.days.delete(key)
    if (day?.leftOutFrom !== undefined) this.leftOut.add(key)
    else this.leftOut.delete(key)
  }
}

const keyOf = ({ contract, day }: { contract: string; day: number }) => `${contract} ${day}`
