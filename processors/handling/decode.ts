import type { BlockRef } from '../../db/events/event-store.ts'
import type { DomainEvent, EventType } from '../../db/events/vocabulary.ts'
import type { WatchedSource } from '../../db/events/watched-sources.ts'
import { isNetworkName } from '../../db/networks.ts'
import { MalformedLogError } from '../../db/process/errors.ts'
import type { LogDecoder, Protocol, RawLog, Source, VaultTerms } from '../protocol.ts'
import type { DeadLetter } from './block.ts'

/** What the decoder asks about contracts. */
export interface ContractView {
  isWatched(kind: string, contract: string): boolean
  /** Inspected already, whether it was taken for one of ours or not. */
  isInspected(contract: string): boolean
  /** What is known of a contract as a vault. */
  vault?(contract: string): VaultTerms | undefined
}

export interface RejectedLog {
  log: RawLog
  reason: string
}

export interface Candidate {
  contract: string
  protocol: string
  /** The event that made it a candidate; a factory's event goes before one of the contract itself. */
  hint?: DomainEvent
}

export interface DecodedBlock {
  /** In log order. Includes events of candidates, whose inspection may still say that they are none of ours. */
  events: DomainEvent[]
  /** Logs on contracts of ours that no decoder could read: for the dead-letter table. */
  rejected: RejectedLog[]
  /** Logs with a topic of ours and another shape on contracts that are not ours: counted, left alone. */
  strangers: number
  candidates: Candidate[]
}

export interface Subscription {
  address?: string[]
  topic0: string[]
  transaction?: boolean
}

export interface Decoder {
  /**
   * What is watched because the protocols or the configuration (contracts by kind) say so, each once: their contracts
   * on this network, and kinds whose logs count anywhere.
   */
  sources(configured?: Record<string, readonly string[]>): WatchedSource[]
  /** The topics of a kind. */
  topicsOf(kind: string): string[]
  /** Sources that events taught, with what their protocols take from such contracts because they take it anywhere; each once. */
  withBesides(learned: readonly WatchedSource[]): WatchedSource[]
  /** What to ask a chain for, given the contracts watched of each kind; kinds whose logs count anywhere as long as they are not left out. */
  subscriptions(watched: (kind: string) => readonly string[], leftOut?: ReadonlySet<string>): Subscription[]
  decodeBlock(logs: readonly RawLog[], contracts: ContractView): DecodedBlock
}

interface Entry {
  owner: Owner
  kind: string
  anywhere: boolean
  decoder: LogDecoder
}

interface Owner {
  protocol: Protocol
  /** Kinds whose contracts are learned from events. */
  discovered: string[]
}

interface Found {
  event: DomainEvent
  owner: Owner
}

/** Reads logs by the decoders of the protocols. Holds no state: the same logs and contracts give the same events. */
export function createDecoder(protocols: readonly Protocol[], network: string): Decoder {
  const byTopic = new Map<string, Entry[]>()
  const proposers = new Map<EventType, Owner[]>()
  const sources: Source[] = []
  for (const protocol of protocols) {
    const discovered = protocol.sources.filter(s => s.at === 'discovered').map(s => s.kind)
    const owner = { protocol, discovered }
    for (const type of protocol.proposes ?? []) proposers.set(type, [...(proposers.get(type) ?? []), owner])
    for (const source of protocol.sources) {
      sources.push(source)
      for (const decoder of source.decoders) {
        const entries = byTopic.get(decoder.topic0) ?? []
        entries.push({ owner, kind: source.kind, anywhere: source.at === 'anywhere', decoder })
        byTopic.set(decoder.topic0, entries)
      }
    }
  }

  const addressesOf = (source: Source): readonly string[] =>
    typeof source.at === 'object' && isNetworkName(network) ? (source.at[network] ?? []) : []

  return {
    sources: (configured = {}) => {
      const all = sources.flatMap(({ kind, ...source }) => {
        const own = source.at === 'anywhere' ? [''] : addressesOf({ kind, ...source })
        return [...own, ...(configured[kind] ?? [])].map(contract => ({
          kind,
          contract: contract.toLowerCase(),
        }))
      })
      return distinct(all)
    },
    topicsOf: kind => [
      ...new Set(sources.flatMap(source => (source.kind === kind ? source.decoders.map(d => d.topic0) : []))),
    ],
    withBesides: learned => {
      const anywhere = (kind: string) =>
        protocols
          .filter(protocol => protocol.sources.some(of => of.kind === kind && of.at === 'discovered'))
          .flatMap(protocol => protocol.sources.filter(({ at }) => at === 'anywhere'))
      return distinct([
        ...learned,
        ...learned.flatMap(({ kind, contract }) => anywhere(kind).map(of => ({ kind: of.kind, contract }))),
      ])
    },
    subscriptions: (watched, leftOut) =>
      sources.flatMap(source => {
        const topic0 = [...new Set(source.decoders.map(d => d.topic0))]
        const asked = { topic0, ...(source.transactions ? { transaction: true } : {}) }
        if (source.at === 'anywhere') return leftOut?.has(source.kind) ? [] : [asked]
        const address = [...new Set(watched(source.kind))]
        return address.length > 0 ? [{ address, ...asked }] : []
      }),
    decodeBlock: (logs, contracts) => new BlockDecoding(byTopic, proposers, contracts).run(logs),
  }
}

class BlockDecoding {
  private readonly byTopic: ReadonlyMap<string, readonly Entry[]>
  private readonly proposers: ReadonlyMap<EventType, readonly Owner[]>
  private readonly contracts: ContractView
  private readonly found: Found[] = []
  private readonly rejected: RejectedLog[] = []
  private strangers = 0
  private readonly candidates = new Map<string, Candidate>()
  /** Contracts that a log of this very block made worth watching, as kind and address. */
  private readonly fresh = new Set<string>()

  constructor(
    byTopic: ReadonlyMap<string, readonly Entry[]>,
    proposers: ReadonlyMap<EventType, readonly Owner[]>,
    contracts: ContractView,
  ) {
    this.byTopic = byTopic
    this.proposers = proposers
    this.contracts = contracts
  }

  run(logs: readonly RawLog[]): DecodedBlock {
    let waiting = this.pass(logs, false)
    // A contract's first logs may stand before the one that tells of it: a mint before its Deposit, a constructor's
    // events before the factory's.
    let known = 0
    let passes = 1
    while (this.fresh.size > known && waiting.length > 0) {
      known = this.fresh.size
      waiting = this.pass(waiting, true)
      passes++
    }
    if (passes > 1) this.found.sort((a, b) => (a.event.logIndex ?? 0) - (b.event.logIndex ?? 0))
    return {
      events: this.reconcile(),
      rejected: this.rejected,
      strangers: this.strangers,
      candidates: [...this.candidates.values()],
    }
  }

  /** Decodes what is on watched contracts; gives the logs that only contracts learned meanwhile could explain. */
  private pass(logs: readonly RawLog[], again: boolean): RawLog[] {
    const waiting: RawLog[] = []
    for (const log of logs) {
      const topic0 = log.topics[0]
      const entries = topic0 === undefined ? undefined : this.byTopic.get(topic0)
      if (entries !== undefined && this.decode(log, entries, again)) waiting.push(log)
    }
    return waiting
  }

  /** Whether the log may still find an owner. */
  private decode(log: RawLog, entries: readonly Entry[], again: boolean): boolean {
    let isDecoded = false
    let isOwned = false
    let isStranger = false
    let waits = false
    let reason = ''
    for (const entry of entries) {
      const { owner, kind, decoder } = entry
      let known: boolean
      if (entry.anywhere) {
        if (again) continue
        known = owner.discovered.some(k => this.contracts.isWatched(k, log.address))
        if (!known && this.contracts.isInspected(log.address)) continue
      } else {
        known = this.contracts.isWatched(kind, log.address)
        if (again ? known || !this.fresh.has(kind + log.address) : !known) {
          waits ||= !known
          continue
        }
        // A contract of the second pass is only a candidate so far.
        known = !again
      }
      if (!hasShape(log, decoder)) {
        reason ||= `shape: ${log.topics.length} topics and ${(log.data.length - 2) / 2} bytes are no ${decoder.signature}`
        if (known) isOwned = true
        else isStranger = true
        continue
      }
      try {
        for (const event of decoder.decode(log, this.contracts.vault?.(log.address))) this.take(event, owner)
        isDecoded = true
      } catch (error) {
        reason = describe(error)
        if (known || !(error instanceof MalformedLogError)) isOwned = true
        else isStranger = true
      }
    }
    if (isDecoded) return waits
    if (isOwned) this.rejected.push({ log, reason })
    else if (isStranger) this.strangers++
    return waits
  }

  private take(event: DomainEvent, owner: Owner): void {
    checkAmounts(event)
    this.found.push({ event, owner })
    const { protocol } = owner
    if (protocol.watches && protocol.teaches?.includes(event.type))
      for (const w of protocol.watches(event)) this.fresh.add(w.kind + w.contract)
    for (const proposer of this.proposers.get(event.type) ?? []) this.propose(event, owner, proposer)
  }

  /** What a log of its own says is for its own protocol to propose; what a factory made, for any. */
  private propose(event: DomainEvent, owner: Owner, { protocol, discovered }: Owner): void {
    for (const contract of protocol.candidates?.(event) ?? []) {
      if (contract === event.contract && protocol !== owner.protocol) continue
      if (this.contracts.isInspected(contract)) continue
      // Its events are needed to read its first transaction, whatever the inspection will say.
      for (const kind of discovered) this.fresh.add(kind + contract)
      const hint = this.candidates.get(contract)?.hint
      if (hint === undefined || (hint.contract === contract && event.contract !== contract))
        this.candidates.set(contract, { contract, protocol: protocol.name, hint: event })
    }
  }

  /** Lets each protocol see its events of one transaction on one contract together. */
  private reconcile(): DomainEvent[] {
    if (!this.found.some(f => f.owner.protocol.reconcile)) return this.found.map(f => f.event)
    const groups = new Map<Owner, Map<string, DomainEvent[]>>()
    const events: DomainEvent[] = []
    for (const { event, owner } of this.found) {
      if (!owner.protocol.reconcile) {
        events.push(event)
        continue
      }
      const transactions = groupOf(groups, owner, () => new Map<string, DomainEvent[]>())
      groupOf(transactions, event.transactionHash ?? '', () => [] as DomainEvent[]).push(event)
    }
    for (const [owner, transactions] of groups) {
      for (const ofTransaction of transactions.values()) {
        for (const group of byContract(ofTransaction))
          events.push(...(owner.protocol.reconcile?.(group) ?? group))
      }
    }
    return events.sort((a, b) => (a.logIndex ?? 0) - (b.logIndex ?? 0))
  }
}

/** No token has as many: so large an amount is none, and sums of smaller ones stay within what the read models hold. */
const TOO_LARGE = 2n ** 192n

/** @throws MalformedLogError where a vault tells of more shares or assets than there can be */
function checkAmounts({ type, data }: DomainEvent): void {
  if (!SUMMED.has(type)) return
  const { shares, assets, amount } = data as Record<string, bigint | undefined>
  checkAmount(shares)
  checkAmount(assets)
  checkAmount(amount)
}

function checkAmount(value: bigint | undefined): void {
  if (value !== undefined && value >= TOO_LARGE)
    throw new MalformedLogError(`${value} is more than any token has`)
}

/** Events whose amounts are added up. */
const SUMMED = new Set<DomainEvent['type']>([
  'Deposited',
  'Redeemed',
  'ShareTransferred',
  'RewardAdded',
  'RewardClaimed',
])

function distinct(sources: readonly WatchedSource[]): WatchedSource[] {
  return [...new Map(sources.map(source => [`${source.kind} ${source.contract}`, source])).values()]
}

/** Most transactions act on one contract. */
function byContract(events: DomainEvent[]): Iterable<DomainEvent[]> {
  if (events.every(({ contract }) => contract === events[0]?.contract)) return [events]
  const groups = new Map<string, DomainEvent[]>()
  for (const event of events) groupOf(groups, event.contract, () => [] as DomainEvent[]).push(event)
  return groups.values()
}

function groupOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const have = map.get(key)
  if (have !== undefined) return have
  const made = make()
  map.set(key, made)
  return made
}

function hasShape(log: RawLog, { topicCount, dataLength }: LogDecoder): boolean {
  if (log.topics.length !== topicCount) return false
  const length = log.data.length - 2
  return typeof dataLength === 'number' ? length === dataLength * 2 : length >= dataLength.min * 2
}

function describe(error: unknown): string {
  if (error instanceof MalformedLogError) return `malformed: ${error.message}`
  return `decoder failed: ${error instanceof Error ? error.message : String(error)}`
}

/** What becomes of a log that cannot be read. */
export function deadLetter({ log: rejected, reason }: RejectedLog, block: BlockRef): DeadLetter {
  return { stage: 'decode', block, contract: rejected.address, reason, log: rejected }
}
