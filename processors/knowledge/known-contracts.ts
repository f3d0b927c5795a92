import type pg from 'pg'
import { readTeaching } from '../../db/events/teaching.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { SourceCursor, WatchedSource } from '../../db/events/watched-sources.ts'
import { DAY } from '../../db/units.ts'
import type { Protocol, StateRead, VaultTerms } from '../protocol.ts'
import { Teaching, taughtBy } from './teaching.ts'

interface Learned {
  /** Block of the event that taught it; -1 for what configuration says. */
  block: number
}

export interface KnownVault extends Learned, VaultTerms {
  asset: string
  protocol: string
  decimals: number
  assetDecimals: number
  /** Where it is known. */
  deployedBlock?: number | undefined
}

/** With which the reason of VaultRejected begins where a contract neither answered nor reverted. */
export const UNREADABLE = 'unreadable'
/** Seconds of the chain's time after which an event of such a contract has it looked at again. */
const LOOK_AGAIN = 3 * DAY

interface Inspected extends Learned {
  /** Time of the block of the verdict, unix seconds. */
  at: number
  /** The verdict holds until then, unix seconds; absent: for good. */
  until?: number | undefined
}

/** @example learnedKey(event) → 'AssetDescribed 0xa0b8…' */
const learnedKey = (event: DomainEvent) =>
  // What a factory says is of the vault.
  `${event.type} ${event.type === 'VaultCreated' ? event.data.vault : event.contract}`

export interface Slowness {
  /** Unix seconds. */
  since: number
  /** It uses up what calls may cost; else nobody holds a share of it, or it does not say. */
  isDear: boolean
}

export interface StandingRead extends Learned {
  subject: string
  read: StateRead
  opened?: string | undefined
}

interface Fact extends Learned {
  event: DomainEvent
}

const NOTHING: readonly WatchedSource[] = []

/**
 * What a processor knows about contracts: a fold of its own stored events, so that a restart or a fork gives the
 * same. What an attempt learns is undone by the next `begin` unless `commit` came first. Contracts whose history is
 * still being fetched are known apart from those that come with the blocks; what one of the two has is left alone by the other.
 */
export class KnownContracts {
  private readonly teaching: Teaching
  private others: readonly KnownContracts[] = []
  private readonly watched = new Map<string, Map<string, Learned>>()
  private readonly inspected = new Map<string, Inspected>()
  /** Of the block that is being handled, unix seconds. */
  private now = 0
  private readonly vaults = new Map<string, KnownVault>()
  /** Every version of a fact, as learned. */
  private readonly facts = new Map<string, Fact[]>()
  /** By subject and key; what was learned last is the one to make. */
  private readonly reads = new Map<string, Map<string, StandingRead[]>>()
  /** Vaults that gave a market a cap. */
  private readonly caps = new Map<string, (Learned & { vault: string })[]>()
  /** Vaults that are sampled less often, since when (unix seconds), and those that are not any more. */
  private readonly slowed = new Map<string, (Learned & Partial<Slowness>)[]>()
  private readonly forgotten = new Set<string>()
  private undo: (() => void)[] = []
  /** The newest block that anything was learned from, or a later one: forks above it take nothing back. */
  private newest = -1
  /** Verdicts of blocks from a time on, as they were asked for last. */
  private recent: { since: number; contracts: Set<string> } | undefined
  private ignored: ReadonlySet<string> = new Set()
  /** Watched because of events since the last commit, by kind and address. */
  private readonly fresh = new Map<string, WatchedSource & { learnedAt: number }>()

  constructor(protocols: readonly Protocol[]) {
    this.teaching = new Teaching(protocols)
  }

  /** Contracts that no event of these has to name: configuration, a protocol's own table or an unfinished history does. */
  watchSources(sources: readonly WatchedSource[]): void {
    for (const { kind, contract } of sources) if (contract) this.watch(kind, contract)
    this.commit()
  }

  /** Left alone, whatever is known of them. */
  ignore(contracts: ReadonlySet<string>): void {
    this.ignored = contracts
  }

  isIgnored(contract: string): boolean {
    return this.ignored.has(contract)
  }

  /** Contracts that are known beside these, each by one of them: `load` finds out by whom, from its sources on. */
  knowBeside(...others: KnownContracts[]): void {
    const all = [this, ...others]
    for (const one of all) one.others = all.filter(other => other !== one)
  }

  async load(db: pg.Pool, stream: number): Promise<void> {
    for (const event of await readTeaching(db, stream)) {
      const taught = taughtBy(event)
      if (event.is_retracted) {
        for (const { contract } of this.teaching.watches(taught)) {
          for (const one of [this, ...this.others]) one.forgotten.add(contract)
        }
      } else {
        const owner = this.others.find(other => other.owns(taught)) ?? this
        owner.learn(taught, event.block_number, event.block_time)
      }
    }
    for (const one of [this, ...this.others]) one.commit()
  }

  /** Whether an event was taught by one of these contracts, or is of a vault among them. */
  private owns(event: DomainEvent): boolean {
    const watches = event.type === 'VaultDiscovered' ? this.teaching.watches(event) : []
    if (watches.length > 0) return watches.some(({ kind, contract }) => this.isWatched(kind, contract))
    return [...this.watched.values()].some(contracts => contracts.has(event.contract))
  }

  /** Takes over what is known of contracts whose history is complete. */
  adopt(late: KnownContracts): void {
    for (const [kind, contracts] of late.watched)
      for (const [contract, learned] of contracts) this.put(this.watchedOf(kind), contract, learned)
    for (const [contract, learned] of late.inspected) this.put(this.inspected, contract, learned)
    for (const [contract, vault] of late.vaults) this.put(this.vaults, contract, vault)
    for (const [key, versions] of late.facts)
      for (const version of versions) this.add(this.facts, key, version)
    for (const [vault, versions] of late.slowed)
      for (const version of versions) this.add(this.slowed, vault, version)
    for (const [market, versions] of late.caps)
      for (const version of versions) this.add(this.caps, market, version)
    for (const [subject, reads] of late.reads)
      for (const [key, versions] of reads)
        for (const version of versions) this.add(this.readsOf(subject), key, version)
  }

  /** Forgets what an unfinished attempt learned, and what was learned above a fork's base. */
  begin(baseHeight: number): void {
    for (const undo of this.undo.reverse()) undo()
    this.undo = []
    this.fresh.clear()
    this.recent = undefined
    if (this.newest <= baseHeight) return
    this.newest = baseHeight
    for (const versions of [
      ...this.facts.values(),
      ...this.slowed.values(),
      ...this.caps.values(),
      ...[...this.reads.values()].flatMap(of => [...of.values()]),
    ])
      while ((versions.at(-1)?.block ?? -1) > baseHeight) versions.pop()
    for (const map of [...this.watched.values(), this.inspected, this.vaults]) {
      for (const [contract, { block }] of map) {
        if (block <= baseHeight) continue
        map.delete(contract)
        this.forgotten.add(contract)
      }
    }
  }

  commit(): void {
    this.undo = []
    this.fresh.clear()
  }

  /** Takes note of an event; gives the contracts that are to be watched from now on. */
  learn(event: DomainEvent, block: number, timestamp = this.now): readonly WatchedSource[] {
    if (this.teaching.isPlain(event.type)) return NOTHING
    if (event.type === 'VaultDiscovered') {
      const { vault, asset, protocol, decimals, assetDecimals, deployedBlock } = event.data
      const { pool, rewardToken, asyncDeposits, asyncRedemptions } = event.data
      const terms: VaultTerms = { pool, rewardToken, asyncDeposits, asyncRedemptions }
      this.judge(vault, { block, at: timestamp })
      const known = { block, asset, protocol, decimals, assetDecimals, deployedBlock, ...terms }
      this.put(this.vaults, vault, known)
    } else if (event.type === 'VaultRejected') {
      const { vault, reason } = event.data
      const until = reason.startsWith(UNREADABLE) ? timestamp + LOOK_AGAIN : undefined
      this.judge(vault, { block, at: timestamp, until })
    }
    if (event.type === 'SamplingSlowed' || event.type === 'SamplingResumed') {
      const slowness =
        event.type === 'SamplingSlowed' ? { since: timestamp, isDear: event.data.isDear ?? false } : {}
      this.add(this.slowed, event.data.vault, { block, ...slowness })
    }
    if (event.type === 'CapChanged' && event.data.market !== undefined)
      this.add(this.caps, event.data.market, { block, vault: event.contract })
    if (this.teaching.isRemembered(event.type)) this.add(this.facts, learnedKey(event), { block, event })
    for (const { subject, read, opened } of this.teaching.samples(event))
      this.add(this.readsOf(subject), read.key, { block, subject, read, opened })
    return this.teaching.watches(event).filter(({ kind, contract }) => this.watch(kind, contract, block))
  }

  /** From here on; false where it is watched already. */
  private watch(kind: string, contract: string, block = -1): boolean {
    if (this.others.some(other => other.isWatched(kind, contract))) return false
    const isFresh = this.put(this.watchedOf(kind), contract, { block })
    if (isFresh) this.fresh.set(kind + contract, { kind, contract, learnedAt: block })
    return isFresh
  }

  /** What is watched since the last commit. */
  watchedLately(): Omit<SourceCursor, 'cursor'>[] {
    return [...this.fresh.values()]
  }

  /** Known once, by an event that a fork or a rewind retracted: part of its logs may be stored already. */
  wasForgotten(contract: string): boolean {
    return this.forgotten.has(contract)
  }

  isWatched(kind: string, contract: string): boolean {
    return this.watched.get(kind)?.has(contract) ?? false
  }

  /** Whether it is watched, by whomever. */
  knows(kind: string, contract: string): boolean {
    return [this, ...this.others].some(one => one.isWatched(kind, contract))
  }

  /** By which verdicts hold or not. */
  setTime(timestamp: number): void {
    this.now = timestamp
  }

  isInspected(contract: string): boolean {
    return (
      this.holds(this.inspected, contract) || this.others.some(one => this.holds(one.inspected, contract))
    )
  }

  private holds(inspected: ReadonlyMap<string, Inspected>, contract: string): boolean {
    const verdict = inspected.get(contract)
    return verdict !== undefined && (verdict.until === undefined || this.now < verdict.until)
  }

  /** Contracts that were looked at in blocks from a time on, unix seconds. */
  verdictsSince(since: number): string[] {
    if (this.recent?.since !== since) {
      const found = [...this.inspected].filter(([, { at }]) => at >= since)
      this.recent = { since, contracts: new Set(found.map(([contract]) => contract)) }
    }
    return [...this.recent.contracts]
  }

  /** A verdict that does not hold any more gives way to another. */
  private judge(contract: string, verdict: Inspected): void {
    if (this.recent && verdict.at >= this.recent.since) this.recent.contracts.add(contract)
    const before = this.inspected.get(contract)
    if (before?.until === undefined) {
      this.put(this.inspected, contract, verdict)
      return
    }
    this.inspected.set(contract, verdict)
    this.newest = Math.max(this.newest, verdict.block)
    this.undo.push(() => this.inspected.set(contract, before))
  }

  /** All contracts watched, with their kinds. */
  watchedSources(): WatchedSource[] {
    return [...this.watched.keys()].flatMap(kind =>
      this.watchedContracts(kind).map(contract => ({ kind, contract })),
    )
  }

  watchedContracts(kind: string): string[] {
    return [...(this.watched.get(kind)?.keys() ?? [])].filter(contract => !this.isIgnored(contract))
  }

  /** Left alone although events say that they are to be watched, by kind. */
  ignoredSources(): WatchedSource[] {
    return [...this.watched].flatMap(([kind, contracts]) =>
      [...contracts.keys()]
        .filter(contract => this.isIgnored(contract))
        .map(contract => ({ kind, contract })),
    )
  }

  /** Whether an event of this type and contract was seen, as `<type> <contract>`. */
  hasLearned(fact: string): boolean {
    return this.versionsOf(fact).length > 0
  }

  /** The last such event up to a block. */
  learnedBy(block: number, fact: string): DomainEvent | undefined {
    let last: Fact | undefined
    for (const version of this.versionsOf(fact))
      if (version.block <= block && version.block >= (last?.block ?? -1)) last = version
    return last?.event
  }

  private versionsOf(fact: string): Fact[] {
    return [...this.others, this].flatMap(({ facts }) => facts.get(fact) ?? [])
  }

  /** Markets that anybody may have opened and that are read hourly, in the order in which they were learned of. */
  openedMarkets(): Set<string> {
    const markets = new Set<string>()
    for (const reads of this.reads.values())
      for (const versions of reads.values())
        for (const { opened } of versions) if (opened !== undefined) markets.add(opened)
    return markets
  }

  /** Vaults that ever gave a market a cap. */
  cappedBy(market: string): string[] {
    return [...this.others, this].flatMap(({ caps }) => caps.get(market)?.map(({ vault }) => vault) ?? [])
  }

  /** The standing reads known at a block: all, or those of these subjects; without those of markets that have to wait. */
  readsAt(
    block: number,
    subjects?: ReadonlySet<string>,
    isDue: (market: string) => boolean = () => true,
  ): StandingRead[] {
    const standing: StandingRead[] = []
    for (const subject of subjects ?? this.reads.keys()) {
      for (const versions of this.reads.get(subject)?.values() ?? []) {
        const version = versions.findLast(of => of.block <= block)
        if (version && (version.opened === undefined || isDue(version.opened))) standing.push(version)
      }
    }
    return standing
  }

  hasReads(): boolean {
    return this.reads.size > 0
  }

  /** How many samples and standing reads a full hour takes. */
  samplesAnHour(): number {
    let reads = 0
    for (const { size } of this.reads.values()) reads += size
    let slow = 0
    for (const versions of this.slowed.values()) if (versions.at(-1)?.since !== undefined) slow++
    return this.vaults.size - slow + reads
  }

  /** Since when, and why, a vault is sampled less often. */
  slowness(vault: string): Slowness | undefined {
    const { since, isDear = false } = this.slowed.get(vault)?.at(-1) ?? {}
    return since === undefined ? undefined : { since, isDear }
  }

  vault(contract: string): KnownVault | undefined {
    return (
      this.vaults.get(contract) ??
      this.others.find(({ vaults }) => vaults.has(contract))?.vaults.get(contract)
    )
  }

  /** Whether it is a vault whose state is sampled with these contracts' events. */
  isOwnVault(contract: string): boolean {
    return this.vaults.has(contract) && !this.isIgnored(contract)
  }

  allVaults(): string[] {
    return [...this.vaults.keys()].filter(contract => !this.isIgnored(contract))
  }

  /** All vaults with the blocks from which on they are known. */
  births(): { vault: string; block: number }[] {
    return this.allVaults().map(vault => ({ vault, block: this.vaults.get(vault)?.block ?? -1 }))
  }

  private watchedOf(kind: string): Map<string, Learned> {
    let contracts = this.watched.get(kind)
    if (!contracts) {
      contracts = new Map()
      this.watched.set(kind, contracts)
    }
    return contracts
  }

  private readsOf(subject: string): Map<string, StandingRead[]> {
    let reads = this.reads.get(subject)
    if (!reads) {
      reads = new Map()
      this.reads.set(subject, reads)
    }
    return reads
  }

  private add<T extends Learned>(map: Map<string, T[]>, key: string, version: T): void {
    const versions = map.get(key) ?? []
    map.set(key, versions)
    versions.push(version)
    this.newest = Math.max(this.newest, version.block)
    this.undo.push(() => versions.splice(versions.indexOf(version), 1))
  }

  private put<T extends Learned>(map: Map<string, T>, contract: string, value: T): boolean {
    if (map.has(contract)) return false
    map.set(contract, value)
    this.newest = Math.max(this.newest, value.block)
    this.undo.push(() => map.delete(contract))
    return true
  }
}
