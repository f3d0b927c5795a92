import type { BlockRef } from '../../db/events/event-store.ts'
import type { EventWriter } from '../../db/events/event-writer.ts'
import type { WaitingContract } from '../../db/events/waiting-contracts.ts'
import { HOUR } from '../../db/units.ts'
import type { DeadLetter } from '../handling/block.ts'
import type { Candidate } from '../handling/decode.ts'
import type { KnownContracts } from './known-contracts.ts'

/** Seconds of the chain's time between two turns of those that wait. */
export const TURN = 300
/** Rows of a chain and standing: made ones are not kept out by whoever else comes. */
export const MOST_WAITING = 20_000

export interface LooksOptions {
  contracts: KnownContracts
  /** Contracts that strangers brought up and are looked at in an hour, and as many made by known factories. */
  perHour: number
  /** Blocks after which a block is final. */
  finality: number
  /** Those that wait, as stored. */
  waiting: readonly WaitingContract[]
  /** Looked at whatever the budget. */
  listed: ReadonlySet<string>
}

/**
 * How many contracts are looked at: anybody can bring up as many as he likes. Beyond so many in an hour of the chain they
 * wait as rows, those that factories made apart from others, and are looked at in the order in which they came up, some
 * every few minutes. What they log meanwhile is fetched then. All of it follows from stored events and rows.
 */
export class Looks {
  private readonly options: LooksOptions
  private readonly waiting = {
    made: new Map<string, WaitingContract>(),
    found: new Map<string, WaitingContract>(),
  }
  /** How entries were before the blocks being handled changed them, to undo that. */
  private readonly before = new Map<string, WaitingContract | undefined>()
  /** By factories in the blocks being handled. */
  private readonly made = new Set<string>()
  /** Looks that the block being handled has had beside turns. */
  private begun = noneOf(-1)

  constructor(options: LooksOptions) {
    this.options = options
    for (const contract of options.waiting) this.set(keyOf(contract), contract)
  }

  /** Blocks are handled that stand on this one; what was not stored, or is about to be retracted, is undone. */
  begin(baseHeight: number): void {
    for (const [key, contract] of this.before) this.set(key, contract)
    this.before.clear()
    this.made.clear()
    this.begun = noneOf(-1)
    for (const contract of this.rows()) {
      const { block, lookedAt = -1 } = contract
      if (block > baseHeight || (lookedAt >= 0 && lookedAt <= baseHeight - this.options.finality))
        this.set(keyOf(contract), undefined)
      else if (lookedAt > baseHeight) this.set(keyOf(contract), { ...contract, lookedAt: undefined })
    }
  }

  commit(): void {
    this.before.clear()
  }

  /** Stores what changed with the blocks. */
  store(writer: EventWriter): void {
    writer.setWaiting([...this.before.keys()].flatMap(key => this.row(key) ?? []))
  }

  /** Whether a contract may be looked at in the block that brings it up; if not, it waits from now on. */
  admits(candidate: Candidate, block: BlockRef, letters: DeadLetter[]): boolean {
    const { contract, protocol, hint } = candidate
    if (this.options.listed.has(contract)) return true
    const waits = this.row(keyOf(candidate))
    if (waits && waits.lookedAt === undefined) return false
    // Its factory's event is learned with the other events of the block, after those that may be vaults were looked at.
    if (hint?.type === 'VaultCreated') this.made.add(contract)
    const isMade = this.isMade(contract)
    const standing = standingOf(isMade)
    if (this.begun.block !== block.number) this.begun = noneOf(block.number)
    const hasRoom = this.begun[standing].size < this.share && !this.isQueued(isMade)
    if (hasRoom && this.left(isMade, block.timestamp) > 0) {
      this.begun[standing].add(contract)
      return true
    }
    if (!waits && this.waiting[standing].size >= MOST_WAITING) {
      const reason = `${MOST_WAITING} wait to be looked at already: it is left to its next event`
      letters.push({ stage: 'inspect', block, contract, reason })
      return false
    }
    this.put({ contract, protocol, isMade, block: block.number, logIndex: hint?.logIndex ?? 0 })
    return false
  }

  /** How many wait. */
  count(): number {
    return this.rows().filter(contract => this.waits(contract)).length
  }

  areAny(): boolean {
    return this.isQueued(true) || this.isQueued(false)
  }

  /** Those whose turn it is at blocks of these times, one after the other, as far as it is known now. */
  due(...times: readonly number[]): WaitingContract[][] {
    const turns = times.map((): WaitingContract[] => [])
    for (const isMade of [true, false]) {
      if (!this.isQueued(isMade)) continue
      const queue = this.queue(isMade)
      const taken = new Map<number, number>()
      let at = 0
      for (const [i, time] of times.entries()) {
        const hour = Math.floor(time / HOUR)
        const left = this.left(isMade, time) - (taken.get(hour) ?? 0)
        const some = queue.slice(at, at + Math.max(0, Math.min(this.share, left)))
        taken.set(hour, (taken.get(hour) ?? 0) + some.length)
        at += some.length
        turns[i]?.push(...some)
      }
    }
    return turns
  }

  /** Whether contracts that come up are looked at in their own blocks, as many as one may have. */
  inOwnBlocks(): number {
    return this.areAny() ? 0 : this.share
  }

  /** It had its turn. */
  looked(contract: WaitingContract, block: number): void {
    this.put({ ...contract, lookedAt: block })
  }

  /** Looks that one block, or one turn, may have: those of an hour in one block would hold it back for minutes. */
  private get share(): number {
    return Math.ceil((this.options.perHour * TURN) / HOUR)
  }

  private isQueued(isMade: boolean): boolean {
    for (const contract of this.waiting[standingOf(isMade)].values()) if (this.waits(contract)) return true
    return false
  }

  private queue(isMade: boolean): WaitingContract[] {
    return [...this.waiting[standingOf(isMade)].values()]
      .filter(contract => this.waits(contract))
      .sort((a, b) => a.block - b.block || a.logIndex - b.logIndex || (a.contract < b.contract ? -1 : 1))
  }

  /** Looks that an hour has left. */
  private left(isMade: boolean, timestamp: number): number {
    const { contracts, listed, perHour } = this.options
    const looked = contracts
      .verdictsSince(Math.floor(timestamp / HOUR) * HOUR)
      .filter(contract => !listed.has(contract) && this.isMade(contract) === isMade)
    // Some may have no verdict yet.
    return perHour - new Set([...looked, ...this.begun[standingOf(isMade)]]).size
  }

  private isMade(contract: string): boolean {
    return this.made.has(contract) || this.options.contracts.hasLearned(`VaultCreated ${contract}`)
  }

  private waits({ contract, lookedAt }: WaitingContract): boolean {
    return lookedAt === undefined && !this.options.contracts.isIgnored(contract)
  }

  private put(contract: WaitingContract): void {
    const key = keyOf(contract)
    if (!this.before.has(key)) this.before.set(key, this.row(key))
    this.set(key, contract)
  }

  private rows(): WaitingContract[] {
    return [...this.waiting.made.values(), ...this.waiting.found.values()]
  }

  private row(key: string): WaitingContract | undefined {
    return this.waiting.made.get(key) ?? this.waiting.found.get(key)
  }

  private set(key: string, contract: WaitingContract | undefined): void {
    const own = contract && this.waiting[standingOf(contract.isMade)]
    for (const rows of [this.waiting.made, this.waiting.found]) if (rows !== own) rows.delete(key)
    if (contract) own?.set(key, contract)
  }
}

const noneOf = (block: number) => ({ block, made: new Set<string>(), found: new Set<string>() })

const standingOf = (isMade: boolean) => (isMade ? 'made' : 'found')

const keyOf = ({ contract, protocol }: { contract: string; protocol: string }) => `${protocol} ${contract}`
