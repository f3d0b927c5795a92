import type { DomainEvent, EventData, EventType } from '../db/events/vocabulary.ts'
import type { NetworkName } from '../db/networks.ts'

/** A log as a chain gives it; hex is lower case. */
export interface RawLog {
  address: string
  topics: string[]
  data: string
  logIndex: number
  transactionHash: string
}

/** What a vault said of itself when it was discovered, and its logs do not repeat. */
export interface VaultTerms {
  /** The lending pool whose token it is. */
  pool?: string | undefined
  /** In which it pays its own rewards. */
  rewardToken?: string | undefined
  /** Deposits or redemptions are requested and claimed (ERC-7540). */
  asyncDeposits?: true | undefined
  asyncRedemptions?: true | undefined
}

/**
 * How one kind of log becomes events. A log matches when topic0, the number of topics and the length of data fit;
 * topic0 alone is not enough (the 2017 exchange EtherDelta shares its Deposit topic with ERC-4626).
 */
export interface LogDecoder {
  /** Canonical signature as published, e.g. `Deposit(address,address,uint256,uint256)`. */
  signature: string
  topic0: string
  topicCount: number
  /** Exact byte length of data, or a minimum for logs with dynamic parts. */
  dataLength: number | { min: number }
  /** Event types this decoder can give. */
  gives: readonly EventType[]
  /**
   * Pure. Throws MalformedLogError where the words do not hold what the signature says. vault: what is known of the
   * contract, where it is a vault.
   */
  decode(log: RawLog, vault?: VaultTerms): DomainEvent[]
}

/** Contracts of one kind, and the logs that matter on them. */
export interface Source {
  kind: string
  decoders: readonly LogDecoder[]
  /**
   * 'anywhere': by topic on every contract (discovery by shape; only for rare events).
   * 'discovered': on contracts that `watches` named.
   * A record: on these addresses, by network.
   */
  at: 'anywhere' | 'discovered' | Partial<Record<NetworkName, readonly string[]>>
  /** Anybody may name such a contract: the oracle of his own vault, say. */
  isOpen?: boolean
  /** Whether the transactions of these logs are asked for too, for the suffix of their input. */
  transactions?: boolean
}

export interface StateCall {
  to: string
  data: string
}

/** Calls made at the end of a block, and the events that their answers are. */
export interface StateRead {
  /** Reads of one key are made once a block. */
  key: string
  calls: StateCall[]
  /** The answers are the same at every block. */
  isConstant?: true
  /** Hourly no more from then on, unix seconds: after that only with what is wanted of a block. */
  hourlyUntil?: number
  /** Pure. Calls that want the answers of the first; what they answer comes after those in `events`. */
  follow?(answers: readonly (string | undefined)[]): StateCall[]
  /** Whether it is to be made at all, given what was learned up to the block. */
  isWanted?(known: Facts): boolean
  /** Pure. An answer is undefined where the call reverts; what was not answered gives no event. */
  events(answers: readonly (string | undefined)[]): DomainEvent[]
  /** Made with this one in hours, for each account that owes in the contract: what differs from what is known is kept. */
  ofDebtors?: { contract: string; read(account: string): StateRead }
  /** Pure. What of the answers the operator has to know of, and of which contract. */
  trouble?(answers: readonly (string | undefined)[]): { contract: string; reason: string } | undefined
  /** Pure. The events of the block with what only the answers tell of them, by what is known after it and before it. */
  amend?(
    events: readonly DomainEvent[],
    answers: readonly (string | undefined)[],
    known: Facts,
    knownBefore: Facts,
  ): DomainEvent[]
}

/** A read that is made hourly. */
export interface Sample {
  /** What `wants` names to have it made after a block, too. */
  subject: string
  read: StateRead
  /** The market, or the vault that is one, which it comes with, where anybody may open such. */
  opened?: string
}

/** The event of this type and contract that was learned last, by `<type> <contract>`. */
export type Facts = (fact: string) => DomainEvent | undefined

/** What deserves a read after a block. */
export interface Wanted {
  /** Subjects whose standing reads are made. */
  subjects?: readonly string[]
  /** Reads of this block alone. */
  reads?: readonly StateRead[]
  /** Reads for each account that ever had collateral in the contract. */
  ofHolders?: { contract: string; read(account: string): StateRead }
  /** Made before the others, because of what their events teach; not made where `unless` was learned already. */
  lessons?: readonly (StateRead & { unless?: string })[]
}

/** A vault whose state is read, and why. */
export interface SampledVault {
  vault: string
  asset: string
  protocol: string
  decimals: number
  assetDecimals: number
  /** The lending pool whose token it is. */
  pool?: string | undefined
  reason: EventData<'StateSampled'>['reason']
}

/** Share base units: one whole share, and as many as give the price `fineDigits` more digits than the asset has. */
export interface ShareAmounts {
  whole: bigint
  fine: bigint
  fineDigits: number
}

/** Asset base units, but for the total supply, which is in share base units. */
export type VaultFigure =
  | 'totalAssets'
  | 'totalSupply'
  | 'sharePrice'
  | 'finePrice'
  | 'maxDeposit'
  | 'idleAssets'
  | 'borrowedAssets'
export type VaultFigures = Partial<Record<VaultFigure, bigint | undefined>>

/** What is asked of a vault, and what the answers say; `at` in unix seconds. */
export interface VaultReading {
  calls: StateCall[]
  figures(answers: readonly (string | undefined)[], at: number): VaultFigures
}

/** Reads contracts at one block; undefined where a call is not answered. */
export interface ContractReader {
  readonly blockNumber: number
  /** What is wrong with contracts that neither answered a call nor reverted, by address. */
  readonly troubles: ReadonlyMap<string, string>
  call(contract: string, data: string): Promise<string | undefined>
  /** Number and unix seconds of the block whose transactions created the contract; undefined if not to be found. */
  deployment(contract: string): Promise<{ block: number; timestamp: number } | undefined>
}

/** A protocol: which contracts it watches, which logs, and what they mean. One module, default export. */
export interface Protocol {
  /** Its slug. */
  name: string
  sources: readonly Source[]
  /** Logs of its own on contracts of another protocol's kind, by that kind. */
  adds?: Readonly<Record<string, readonly LogDecoder[]>>
  /**
   * Event types that `watches` and `samples` answer for: they are asked of no others. What they learn of an event is known at
   * every start.
   */
  teaches?: readonly EventType[]
  /** Event types that `candidates` answers for. */
  proposes?: readonly EventType[]
  /** Event types that reads ask for as facts (`unless`, `isWanted`, `amend`). */
  remembers?: readonly EventType[]
  /** Contracts that have to be watched from now on because of this event. */
  watches?(event: DomainEvent): { kind: string; contract: string }[]
  /** Contracts that may be vaults of ours and deserve a look: given to `inspect` once. */
  candidates?(event: DomainEvent): string[]
  /** Looks at a contract on chain and says what it is (VaultDiscovered) or is not (VaultRejected). */
  inspect?(contract: string, read: ContractReader, hint?: DomainEvent): Promise<DomainEvent[]>
  /** State to be read hourly from this event on, and after blocks that want its subject (a market). Pure. */
  samples?(event: DomainEvent): Sample[]
  /** How a vault of it is read, where that is not as ERC-4626 has it. Pure. */
  reading?(vault: SampledVault, amounts: ShareAmounts): VaultReading | undefined
  /** Tokens that an event names and that are described once. Pure. */
  assets?(event: DomainEvent): readonly (string | undefined)[]
  /** State to be read at the end of this event's block. Pure. */
  wants?(event: DomainEvent): Wanted | undefined
  /** Sees all events of one transaction on one contract, in log order, before they are stored. Pure. */
  reconcile?(events: DomainEvent[]): DomainEvent[]
}

/** A protocol whose events bear its slug. */
export function defineProtocol(protocol: Protocol): Protocol {
  const { name, inspect, samples, wants, reconcile } = protocol
  return {
    ...protocol,
    sources: protocol.sources.map(source => ({
      ...source,
      decoders: source.decoders.map(decoder => decodedAs(name, decoder)),
    })),
    ...(inspect && { inspect: async (...asked) => named(name, await inspect(...asked)) }),
    ...(samples && {
      samples: event => samples(event).map(sample => ({ ...sample, read: ofProtocol(name, sample.read) })),
    }),
    ...(wants && {
      wants: event => {
        const wanted = wants(event)
        return wanted && namedWants(name, wanted)
      },
    }),
    ...(reconcile && { reconcile: events => named(name, reconcile(events)) }),
  }
}

/** A decoder whose events bear a protocol's slug, where they have none yet. */
export function decodedAs(slug: string, decoder: LogDecoder): LogDecoder {
  return { ...decoder, decode: (log, vault) => named(slug, decoder.decode(log, vault)) }
}

/** A read whose events bear a protocol's slug, where they have none yet. */
export function ofProtocol<T extends StateRead>(slug: string, read: T): T {
  const { ofDebtors } = read
  return {
    ...read,
    events: answers => named(slug, read.events(answers)),
    ...(ofDebtors && {
      ofDebtors: { ...ofDebtors, read: account => ofProtocol(slug, ofDebtors.read(account)) },
    }),
  }
}

function named(slug: string, events: DomainEvent[]): DomainEvent[] {
  for (const event of events) event.protocol ??= slug
  return events
}

function namedWants(slug: string, { reads, ofHolders, lessons, ...wanted }: Wanted): Wanted {
  return {
    ...wanted,
    ...(reads && { reads: reads.map(read => ofProtocol(slug, read)) }),
    ...(ofHolders && {
      ofHolders: { ...ofHolders, read: account => ofProtocol(slug, ofHolders.read(account)) },
    }),
    ...(lessons && { lessons: lessons.map(lesson => ofProtocol(slug, lesson)) }),
  }
}
