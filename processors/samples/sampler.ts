import { DEAR_GAS, SAMPLE_GAS, STRANGER_GAS } from '../../db/chain/bounded-reader.ts'
import { StateMissingError } from '../../db/chain/errors.ts'
import type { BlockEvents, BlockRef } from '../../db/events/event-store.ts'
import type { EventWriter } from '../../db/events/event-writer.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { DeadLetter, Handled, SourceBlock } from '../handling/block.ts'
import type { KnownContracts, Slowness, StandingRead } from '../knowledge/known-contracts.ts'
import { ofProtocol, type Protocol, type SampledVault, type StateCall, type StateRead } from '../protocol.ts'
import type { ChainRpc } from '../source/rpc.ts'
import { ACTIVITY, activityOf, collateralHolders } from './activity.ts'
import { Debtors } from './debtors.ts'
import { findBlocks, headersAmong, timesOf } from './hours.ts'
import { readRewardStream } from './reward-streams.ts'
import type { SampleBudget } from './sample-budget.ts'
import { follow, isDue, isEmpty, type Quiet, type Timeline, told } from './slow-samples.ts'
import { finestTimes, type HourlyBlock, hourFor, hourlyTimes, partsByBlock } from './spread.ts'
import { type Readings, readingsOf, readVault } from './vault-state.ts'

const CONCURRENCY = 16
const TOO_DEAR = `its sample used more than ${SAMPLE_GAS} gas, or one call of it more than ${DEAR_GAS}`

interface Task {
  block: BlockRef
  vaults: Map<string, SampledVault>
  /** Vaults that were given rewards in the block: their streams are read too. */
  rewarded: Set<string>
  reads: Map<string, StateRead>
  /** Keys of those of markets that anybody opened and nobody vouches for. */
  ofStrangers: Set<string>
}

const emptyTask = (block: BlockRef): Task => ({
  block,
  vaults: new Map(),
  rewarded: new Set(),
  reads: new Map(),
  ofStrangers: new Set(),
})

/** Whose contracts are asked: what strangers' ones cost a request is not at the cost of others. */
type Lane = 'strangers' | 'made' | 'listed'
const LANES: readonly Lane[] = ['strangers', 'made', 'listed']

export interface SamplerOptions {
  rpc: ChainRpc
  contracts: KnownContracts
  protocols: readonly Protocol[]
  /** Accounts that stored events say ever had collateral in a contract. */
  holders(contract: string): Promise<readonly string[]>
  /** Principals of accounts in a contract as they are stored. */
  principals(contract: string): Promise<ReadonlyMap<string, bigint>>
  /** How many samples vaults cost that nobody listed; absent: all that there is reason for. */
  budget?: SampleBudget | undefined
  /** Seconds behind full hours at which hourly samples are due; absent: none. */
  hourOffset?: number | undefined
}

/** Reads state at the ends of blocks: after events that make it worth while, and every hour. */
export class Sampler {
  private readonly rpc: ChainRpc
  private readonly contracts: KnownContracts
  private readonly protocols: readonly Protocol[]
  private readonly readings: Readings
  private readonly holders: SamplerOptions['holders']
  private readonly debtors: Debtors
  private readonly budget: SampleBudget | undefined
  private readonly hourOffset: number
  private previous: BlockRef | undefined
  /** The newest block that was tried had no state. */
  private isLost = false
  /** Samples for which a contract neither answered nor reverted. */
  private readonly troubled = new WeakSet<DomainEvent>()
  /** Contracts and what is wrong with them, as it was told of. */
  private readonly told = new Set<string>()

  constructor(options: SamplerOptions) {
    this.rpc = options.rpc
    this.holders = options.holders
    this.contracts = options.contracts
    this.protocols = options.protocols
    this.readings = readingsOf(options.protocols)
    this.budget = options.budget
    this.hourOffset = options.hourOffset ?? 0
    this.debtors = new Debtors(options.principals)
  }

  /** The last block of a batch that was handled whole. */
  stood(block: BlockRef): void {
    this.previous = block
    this.debtors.commit()
  }

  /** Adds to `output`: at most one sample per vault and key of a read in a block. */
  async add(
    store: EventWriter,
    first: BlockRef,
    last: BlockRef,
    { queue, output, letters }: Handled,
  ): Promise<void> {
    if (this.previous?.hash !== store.parent.hash) this.debtors.forget()
    await this.learnLessons(output, letters)
    const tasks = new Map<string, Task>()
    const taskOf = (block: BlockRef): Task => {
      const task = tasks.get(block.hash) ?? emptyTask(block)
      tasks.set(block.hash, task)
      return task
    }
    /** By hash. */
    const hourly = new Map<string, HourlyBlock>()
    const want = (block: BlockRef, vault: string, reason: SampledVault['reason']) => {
      const known = this.contracts.isOwnVault(vault) ? this.contracts.vault(vault) : undefined
      if (!known || known.block > block.number) return
      if (tasks.get(block.hash)?.vaults.has(vault)) return
      if (reason !== 'hourly' && this.budget && !this.budget.admits(vault, block)) return
      const { asset, protocol, decimals, assetDecimals, pool } = known
      // One that was paid for is known by its reason when the budget is counted anew.
      const isFree = this.budget?.isListed(vault) ?? true
      const hour = hourly.get(block.hash)
      const why = isFree && hour && hourFor(vault, hour) ? 'hourly' : reason
      taskOf(block).vaults.set(vault, { vault, asset, protocol, decimals, assetDecimals, pool, reason: why })
    }
    const wantReads = (block: BlockRef, reads: readonly StateRead[]) => {
      const known = (fact: string) => this.contracts.learnedBy(block.number, fact)
      for (const read of reads) if (read.isWanted?.(known) ?? true) taskOf(block).reads.set(read.key, read)
    }
    const wantStanding = (block: BlockRef, standing: readonly StandingRead[]) => {
      const reads = standing.map(({ read }) => read)
      wantReads(block, reads)
      const task = tasks.get(block.hash)
      for (const { read, opened } of standing)
        if (opened !== undefined && !(this.budget?.isVouchedFor(opened) ?? true))
          task?.ofStrangers.add(read.key)
    }
    const active = activityOf(output)
    const hours = await this.hoursOf(store, first, last, queue)
    const vaults = hours.length === 0 ? [] : this.contracts.allVaults()
    for (const hour of hours) {
      hourly.set(hour.block.hash, hour)
      for (const vault of vaults) {
        const own = hourFor(vault, hour)
        if (!own) continue
        const slowness = this.slownessOf(vault)
        const isAwake = (active.get(vault)?.[0]?.number ?? Number.POSITIVE_INFINITY) <= hour.block.number
        const isDueHere = !slowness || (isAwake && !slowness.isDear) || isDue(slowness.since, own)
        if (isDueHere && this.hasTurn(vault, hour.block)) want(hour.block, vault, 'hourly')
      }
      const isDueNow = (market: string) => this.budget?.hasMarketTurn(market, hour.block) ?? true
      const isOver = (until = Number.POSITIVE_INFINITY) => hour.block.timestamp >= until
      const standing = this.contracts
        .readsAt(hour.block.number, undefined, isDueNow)
        .filter(({ subject, read }) => hourFor(subject, hour) && !isOver(read.hourlyUntil))
      wantStanding(hour.block, standing)
      for (const { ofDebtors } of standing.map(({ read }) => read))
        if (ofDebtors) wantReads(hour.block, await this.debtors.reads(ofDebtors.contract, ofDebtors.read))
    }
    // What is left of the budget is given out in the order of blocks.
    for (const { block, events } of [...output].sort((a, b) => a.block.number - b.block.number)) {
      const subjects = new Set<string>()
      for (const event of events) {
        if (event.type === 'VaultDiscovered') want(block, event.data.vault, 'discovery')
        else if (ACTIVITY.has(event.type) && !this.slownessOf(event.contract)?.isDear)
          want(block, event.contract, 'activity')
        if (event.type === 'RewardAdded') taskOf(block).rewarded.add(event.contract)
        for (const protocol of this.protocols) {
          const wanted = protocol.wants?.(event)
          if (wanted?.reads) wantReads(block, wanted.reads)
          for (const subject of wanted?.subjects ?? []) subjects.add(subject)
          if (wanted?.ofHolders) {
            const { contract, read } = wanted.ofHolders
            wantReads(block, (await this.holdersOf(contract, output)).map(read))
          }
        }
      }
      const isAdmitted = (market: string) => this.budget?.admitsMarket(market, block) ?? true
      if (subjects.size > 0) wantStanding(block, this.contracts.readsAt(block.number, subjects, isAdmitted))
    }
    const tried = new Map(
      [...tasks.values()].map(({ block, vaults }) => [block.hash, new Set(vaults.keys())]),
    )
    // A vault that turns out to have shares is sampled hourly from there on.
    while (tasks.size > 0) {
      await this.sampleAll([...tasks.values()], letters, output)
      tasks.clear()
      for (const { vault, missing } of this.timelines(hours, output, active, tried)) {
        for (const { block, reason } of missing) {
          want(block, vault, reason)
          tried.set(block.hash, (tried.get(block.hash) ?? new Set()).add(vault))
        }
      }
    }
    this.debtors.leaveOutKnown(output)
    this.tellRhythms(this.timelines(hours, output, active, tried), output)
    output.sort((a, b) => a.block.number - b.block.number)
  }

  private async sampleAll(
    list: readonly Task[],
    letters: DeadLetter[],
    output: BlockEvents[],
  ): Promise<void> {
    for (let i = 0; i < list.length; i += CONCURRENCY) {
      await Promise.all(
        list.slice(i, i + CONCURRENCY).map(async task => {
          put(output, task.block, await this.sample(task, letters, output))
        }),
      )
    }
  }

  /** The blocks that carry hourly samples. */
  private async hoursOf(
    store: EventWriter,
    first: BlockRef,
    last: BlockRef,
    queue: ReadonlyMap<number, SourceBlock>,
  ): Promise<HourlyBlock[]> {
    if (this.contracts.allVaults().length === 0 && !this.contracts.hasReads()) return []
    const previous = await this.previousOf(store, first)
    if (!previous) return []
    if (timesOf(finestTimes(this.hourOffset), previous.timestamp, last.timestamp, 1).length === 0) return []
    const inAnHour = (vaults: readonly string[]) => this.budget?.inAnHour(vaults) ?? vaults.length
    const partsAt = partsByBlock(this.contracts.births(), inAnHour)
    const times = hourlyTimes(this.hourOffset, partsAt(last.number))
    const blocks = await findBlocks(times, previous, last, headersAmong(queue, this.rpc))
    return blocks
      .map((block, i) => ({ block, after: (blocks[i - 1] ?? previous).timestamp }))
      .map(hour => ({ ...hour, offset: this.hourOffset, parts: partsAt(hour.block.number) }))
      .filter(({ block }) => !store.isStored(block.number, block.hash))
  }

  /** How often vaults are to be sampled, by their samples; those of which that does not change left out. */
  private timelines(
    hours: readonly HourlyBlock[],
    output: readonly BlockEvents[],
    active: ReadonlyMap<string, readonly BlockRef[]>,
    tried: ReadonlyMap<string, ReadonlySet<string>>,
  ): (Timeline & { vault: string })[] {
    const samples = new Map<string, { block: BlockRef; event: DomainEvent<'StateSampled'> }[]>()
    for (const { block, events } of output) {
      for (const event of events) {
        if (event.type !== 'StateSampled') continue
        const own = samples.get(event.data.vault) ?? []
        samples.set(event.data.vault, own)
        own.push({ block, event })
      }
    }
    return [...samples].flatMap(([vault, sampled]) => {
      if (this.budget?.isListed(vault)) return []
      const slowness = this.slownessOf(vault)
      const quietOf = (event: DomainEvent<'StateSampled'>) => this.quietOf(event)
      if (!slowness && !sampled.some(({ event }) => quietOf(event))) return []
      const wasTried = ({ hash }: BlockRef) => tried.get(hash)?.has(vault) ?? false
      const born = this.contracts.vault(vault)?.block ?? 0
      const own = hours.flatMap(hour => hourFor(vault, hour) ?? [])
      const later = own.filter(({ block }) => block.number >= born && this.hasTurn(vault, block))
      const of = { slowness, hours: later, samples: sampled, wasTried, quietOf }
      return [{ vault, ...follow({ ...of, active: active.get(vault) ?? [] }) }]
    })
  }

  private hasTurn(vault: string, block: BlockRef): boolean {
    return this.budget?.hasTurn(vault, block) ?? true
  }

  /** Listed vaults are sampled hourly, whatever they say. */
  private slownessOf(vault: string): Slowness | undefined {
    return this.budget?.isListed(vault) ? undefined : this.contracts.slowness(vault)
  }

  private quietOf(event: DomainEvent<'StateSampled'>): Quiet {
    if (this.troubled.has(event)) return 'dear'
    return isEmpty(event) ? 'empty' : undefined
  }

  private tellRhythms(timelines: readonly Timeline[], output: BlockEvents[]): void {
    const drop = new Set<DomainEvent>(timelines.flatMap(of => of.drop.map(({ event }) => event)))
    const turns = new Set<DomainEvent>(timelines.flatMap(of => of.turns.map(({ event }) => event)))
    if (drop.size === 0 && turns.size === 0) return
    output.sort((a, b) => a.block.number - b.block.number)
    for (const entry of output) {
      const { number, timestamp } = entry.block
      entry.events = told(entry, drop, turns, event => this.quietOf(event))
      for (const event of entry.events)
        if (event.type === 'SamplingSlowed' || event.type === 'SamplingResumed')
          this.contracts.learn(event, number, timestamp)
    }
  }

  private async holdersOf(contract: string, output: readonly BlockEvents[]): Promise<string[]> {
    return [...new Set([...(await this.holders(contract)), ...collateralHolders(contract, output)])]
  }

  /** In the order of blocks: what one teaches decides what is read later. */
  private async learnLessons(output: BlockEvents[], letters: DeadLetter[]): Promise<void> {
    for (const { block, events } of [...output].sort((a, b) => a.block.number - b.block.number)) {
      // What is learned may want a lesson itself: a market's configuration names its assets.
      for (let fresh: readonly DomainEvent[] = [...events]; fresh.length > 0; ) {
        const reads = new Map<string, StateRead>()
        for (const event of fresh) {
          for (const protocol of this.protocols) {
            for (const lesson of protocol.wants?.(event)?.lessons ?? []) {
              if (lesson.unless === undefined || !this.contracts.hasLearned(lesson.unless))
                reads.set(lesson.key, lesson)
            }
          }
        }
        if (reads.size === 0) break
        fresh = await this.sample({ ...emptyTask(block), reads }, letters, output)
        for (const event of fresh) this.contracts.learn(event, block.number)
        put(output, block, fresh)
      }
    }
  }

  /** Everything that is wanted of a block in one round trip, and what follows from the answers in another. */
  private async sample(
    { block, vaults, rewarded, reads, ofStrangers }: Task,
    letters: DeadLetter[],
    output: readonly BlockEvents[],
  ): Promise<DomainEvent[]> {
    try {
      const all = [...vaults.values()]
      const listed = all.filter(({ vault }) => this.budget?.isListed(vault) ?? true)
      const found = all.filter(({ vault }) => this.budget?.isFound(vault))
      const made = all.filter(vault => !listed.includes(vault) && !found.includes(vault))
      const list = [
        ...[...found, ...made, ...listed].map(vault => readVault(vault, block.timestamp, this.readings)),
        ...[...rewarded]
          .filter(vault => vaults.has(vault))
          .map(vault => ofProtocol('erc-4626', readRewardStream(vault))),
        ...reads.values(),
      ]
      const laneOf = (i: number): Lane => {
        if (i < found.length || ofStrangers.has(list[i]?.key ?? '')) return 'strangers'
        return i < found.length + made.length ? 'made' : 'listed'
      }
      const lanes = LANES.map(lane => ({
        of: [...list.keys()].filter(i => laneOf(i) === lane),
        gas: lane === 'strangers' ? STRANGER_GAS : undefined,
      }))
      const troubled = new Set<string>()
      const onTrouble = (contract: string, trouble: string) => {
        troubled.add(contract)
        if (this.told.has(contract + trouble)) return
        this.told.add(contract + trouble)
        letters.push({ stage: 'sample', block, contract, reason: trouble })
      }
      const used: number[] = []
      const dear = new Set<number>()
      const ask = async (groups: readonly StateCall[][]) => {
        const answers: (string | undefined)[][] = groups.map(() => [])
        const askOne = async ({ of, gas }: (typeof lanes)[number]) => {
          const some = of.map(i => groups[i] ?? [])
          const found = await this.answersTo(some, block, onTrouble, gas, (n, gasUsed) => {
            const i = of[n] ?? -1
            const sum = (used[i] ?? 0) + gasUsed
            used[i] = sum
            if (sum > SAMPLE_GAS || gasUsed > DEAR_GAS) dear.add(i)
          })
          for (const [n, i] of of.entries()) answers[i] = found[n] ?? []
        }
        await Promise.all(lanes.map(askOne))
        return answers
      }
      const first = await ask(list.map(({ calls }) => calls))
      const followed = await ask(list.map((read, i) => read.follow?.(first[i] ?? []) ?? []))
      for (const [i, { vault }] of found.entries()) if (dear.has(i)) onTrouble(vault, TOO_DEAR)
      const events: DomainEvent[] = []
      const by = (number: number) => (fact: string) => this.contracts.learnedBy(number, fact)
      const entries = output.filter(entry => entry.block.hash === block.hash)
      for (const [i, read] of list.entries()) {
        const answers = [...(first[i] ?? []), ...(followed[i] ?? [])]
        const told = read.events(answers)
        events.push(...told)
        const trouble = read.trouble?.(answers)
        if (trouble) onTrouble(trouble.contract, trouble.reason)
        if (read.calls.some(({ to }) => troubled.has(to))) for (const event of told) this.troubled.add(event)
        const { amend } = read
        if (!amend) continue
        for (const entry of entries)
          entry.events = amend(entry.events, answers, by(block.number), by(block.number - 1))
      }
      this.isLost = false
      return events
    } catch (error) {
      if (!(error instanceof StateMissingError)) throw error
      // A node without old states: the state of that block stays unknown, and the operator sees it of the first of a
      // stretch of such blocks.
      const events = await this.readConstants([...reads.values()])
      if (this.isLost) return events
      this.isLost = true
      const [vault = ''] = vaults.keys()
      const [read] = reads.values()
      const contract = vault || (read?.calls[0]?.to ?? '')
      letters.push({ stage: 'sample', block, contract, reason: error.message, keptFrom: error.keptFrom })
      return events
    }
  }

  /** What never changes is read at the newest block where an old one has no state. */
  private async readConstants(reads: readonly StateRead[]): Promise<DomainEvent[]> {
    const lasting = reads.filter(({ isConstant }) => isConstant)
    if (lasting.length === 0) return []
    const calls = lasting.map(of => of.calls)
    const answers = await this.answersTo(calls, await this.rpc.head())
    return lasting.flatMap(({ events }, i) => events(answers[i] ?? []))
  }

  /** Groups of calls in one round trip, and their answers in the same groups. */
  private async answersTo(
    groups: readonly StateCall[][],
    block: BlockRef,
    onTrouble?: (contract: string, trouble: string) => void,
    gas?: number,
    onUsed?: (group: number, gas: number) => void,
  ): Promise<(string | undefined)[][]> {
    const groupOf = groups.flatMap((calls, i) => calls.map(() => i))
    const answers = await this.rpc.calls(groups.flat(), block, onTrouble, gas, each => {
      for (const [i, one] of each.entries()) onUsed?.(groupOf[i] ?? -1, one)
    })
    let at = 0
    return groups.map(({ length }) => {
      at += length
      return answers.slice(at - length, at)
    })
  }

  /** The block after which hours count: that on which the batch stands, however the batches are cut. */
  private async previousOf(
    { parent }: EventWriter,
    first: BlockRef,
  ): Promise<{ number: number; timestamp: number } | undefined> {
    if (this.previous && this.previous.hash === parent.hash) return this.previous
    if (parent.height >= 0) return this.rpc.header(parent.height)
    return first.number > 0 ? this.rpc.header(first.number - 1) : first
  }
}

function put(output: BlockEvents[], block: BlockRef, events: readonly DomainEvent[]): void {
  if (events.length === 0) return
  const existing = output.find(entry => entry.block.hash === block.hash)
  if (existing) existing.events.push(...events)
  else output.push({ block, events: [...events] })
}
