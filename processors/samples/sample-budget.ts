import type { BlockRef } from '../../db/events/event-store.ts'
import type { SamplingRound, StoredSample } from '../../db/events/sample-budgets.ts'
import { HOUR } from '../../db/units.ts'
import type { KnownContracts } from '../knowledge/known-contracts.ts'

/** Before the id of a market: a vault that is one is sampled as a vault, and read as a market. */
const MARKET = 'market '
/** Share of the samples by events that one vault may have in an hour. */
const SHARE = 20

/**
 * What nobody listed: vaults of known factories and other ones, and markets that anybody may open. Each has a budget of its
 * own.
 */
const RATIONED = ['made', 'found', 'market'] as const
type Rationed = (typeof RATIONED)[number]

export interface SampleBudgetOptions {
  contracts: KnownContracts
  /** Samples of vaults of one standing in an hour of the chain: half of them hourly, half after events. */
  perHour: number
  /** Vaults and markets that are sampled whenever there is reason to, and so are markets to which one of these vaults lends. */
  listed: { vaults: ReadonlySet<string>; markets: ReadonlySet<string> }
  /** Samples after events in the hour under way, as stored. */
  taken: readonly StoredSample[]
}

/** Those of one standing that are sampled hourly, in the order of their turns: by age, those that are slow already last. */
interface Order {
  ranks: Map<string, number>
  awake: number
}

/** Samples after events in an hour. */
interface Taken {
  blocks: Map<string, Set<number>>
  all: Map<Rationed, number>
}

/**
 * How many samples vaults cost that nobody listed: anybody can make as many as he likes, and have them do something in every
 * block. In an hour of the chain each standing has so many. Half of them are hourly: half of that half is for the vaults that
 * were there first, whoever comes after, and the rest goes round among all others, which have their turn every so many hours.
 * The other half is for vaults in whose blocks something happened, in the order of blocks, a twentieth for each at most.
 */
export class SampleBudget {
  private readonly options: SampleBudgetOptions
  private readonly seats: number
  private readonly byEvents: number
  private readonly stored: StoredSample[]
  /** Not stored yet. */
  private fresh: StoredSample[] = []
  private readonly hours = new Map<number, Taken>()
  private orders: Map<Rationed, Order> | undefined

  constructor(options: SampleBudgetOptions) {
    this.options = options
    this.stored = [...options.taken]
    this.seats = Math.max(1, Math.floor(options.perHour / 4))
    this.byEvents = Math.max(1, Math.floor(options.perHour / 2))
  }

  /** Blocks are handled that stand on this one; what was not stored, or is about to be retracted, is undone. */
  begin(baseHeight: number): void {
    const newest = this.stored.at(-1)?.hour ?? 0
    const kept = this.stored.filter(({ block, hour }) => block <= baseHeight && hour >= newest - 1)
    this.stored.splice(0, this.stored.length, ...kept)
    this.fresh = []
    this.orders = undefined
    this.hours.clear()
    for (const sample of kept) this.count(sample)
  }

  commit(): void {
    this.stored.push(...this.fresh)
    this.fresh = []
  }

  /** Another one's vaults are this one's from here on, with what they have taken. */
  adopt(late: SampleBudget): void {
    for (const sample of [...late.stored, ...late.fresh]) {
      this.fresh.push(sample)
      this.count(sample)
    }
  }

  isListed(vault: string): boolean {
    return this.options.listed.vaults.has(vault)
  }

  /** Known by its shape alone. */
  isFound(vault: string): boolean {
    return !this.isListed(vault) && this.standingOf(vault) === 'found'
  }

  /** Whether a vault has its turn at a block with hourly samples. */
  hasTurn(vault: string, { timestamp }: BlockRef): boolean {
    return this.isListed(vault) || this.isTurnOf(vault, timestamp)
  }

  /** Whether a market that anybody may have opened is read at a block with hourly samples. */
  hasMarketTurn(market: string, { timestamp }: BlockRef): boolean {
    return this.isVouchedFor(market) || this.isTurnOf(MARKET + market, timestamp)
  }

  /** How many of these vaults an hour samples at most: of those that nobody listed as many as have their turn in it. */
  inAnHour(vaults: readonly string[]): number {
    const rationed = new Map<Rationed, number>()
    let listed = 0
    for (const vault of vaults) {
      if (this.isListed(vault)) listed++
      else rationed.set(this.standingOf(vault), (rationed.get(this.standingOf(vault)) ?? 0) + 1)
    }
    return [...rationed.values()].reduce((sum, count) => sum + Math.min(count, 2 * this.seats), listed)
  }

  /** Whether a vault is sampled at the end of a block for what happened in it. */
  admits(vault: string, block: BlockRef): boolean {
    return this.isListed(vault) || this.takes(vault, block)
  }

  /** Whether such a market is read at the end of a block for what happened in it. */
  admitsMarket(market: string, block: BlockRef): boolean {
    return this.isVouchedFor(market) || this.takes(MARKET + market, block)
  }

  /** Whether a market, or a vault that is one, is listed, or a listed vault lends to it. */
  isVouchedFor(market: string): boolean {
    const { contracts, listed } = this.options
    if (listed.markets.has(market) || listed.vaults.has(market)) return true
    return contracts.cappedBy(market).some(vault => listed.vaults.has(vault))
  }

  private isTurnOf(subject: string, timestamp: number): boolean {
    const { ranks, awake } = this.order(this.standingOf(subject))
    const rank = ranks.get(subject)
    if (rank === undefined || rank < this.seats) return true
    const hours = this.roundOf(rank < awake ? awake : ranks.size)
    return (rank - this.seats) % hours === Math.floor(timestamp / HOUR) % hours
  }

  private takes(subject: string, { number, timestamp }: BlockRef): boolean {
    const hour = Math.floor(timestamp / HOUR)
    const taken = this.hours.get(hour)
    const own = taken?.blocks.get(subject)
    if (own?.has(number)) return true
    if ((own?.size ?? 0) >= Math.max(1, Math.floor(this.byEvents / SHARE))) return false
    if ((taken?.all.get(this.standingOf(subject)) ?? 0) >= this.byEvents) return false
    const sample = { vault: subject, block: number, hour }
    this.fresh.push(sample)
    this.count(sample)
    return true
  }

  rounds(): SamplingRound[] {
    return RATIONED.map(standing => {
      const { awake } = this.order(standing)
      return { standing, vaults: awake, hours: this.roundOf(awake) }
    })
  }

  /** Hourly samples that are not made, of those that are known. */
  spared(): number {
    return this.rounds().reduce(
      (sum, { vaults, hours }) => sum + Math.floor((Math.max(0, vaults - this.seats) * (hours - 1)) / hours),
      0,
    )
  }

  /** Hours in which each has a turn once that has no seat. */
  private roundOf(vaults: number): number {
    return Math.max(1, Math.ceil((vaults - this.seats) / this.seats))
  }

  private standingOf(subject: string): Rationed {
    if (subject.startsWith(MARKET)) return 'market'
    return this.options.contracts.hasLearned(`VaultCreated ${subject}`) ? 'made' : 'found'
  }

  private count({ vault, block, hour }: StoredSample): void {
    const taken = this.hours.get(hour) ?? { blocks: new Map(), all: new Map() }
    this.hours.set(hour, taken)
    const own = taken.blocks.get(vault) ?? new Set()
    taken.blocks.set(vault, own.add(block))
    const standing = this.standingOf(vault)
    taken.all.set(standing, (taken.all.get(standing) ?? 0) + 1)
  }

  private order(standing: Rationed): Order {
    this.orders ??= this.plan()
    return this.orders.get(standing) ?? { ranks: new Map(), awake: 0 }
  }

  private plan(): Map<Rationed, Order> {
    const { contracts } = this.options
    const orders = new Map<Rationed, Order>(RATIONED.map(of => [of, { ranks: new Map(), awake: 0 }]))
    const slow: [Order, string][] = []
    for (const vault of contracts.allVaults()) {
      const order = this.isListed(vault) ? undefined : orders.get(this.standingOf(vault))
      if (!order) continue
      if (contracts.slowness(vault) === undefined) order.ranks.set(vault, order.awake++)
      else slow.push([order, vault])
    }
    const markets = orders.get('market')
    for (const market of contracts.openedMarkets())
      if (markets && !this.isVouchedFor(market)) markets.ranks.set(MARKET + market, markets.awake++)
    for (const [{ ranks }, vault] of slow) ranks.set(vault, ranks.size)
    return orders
  }
}
