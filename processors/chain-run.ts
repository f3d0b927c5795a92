import { isDeepStrictEqual } from 'node:util'
import { ChainDatabase, type Committed } from '../db/events/chain-database.ts'
import { StoppedError } from '../db/events/chain-errors.ts'
import { readCollateralHolders, readPrincipals } from '../db/events/event-store.ts'
import type { EventWriter } from '../db/events/event-writer.ts'
import { readLogBudgets } from '../db/events/log-budgets.ts'
import { readOlderSources } from '../db/events/older-logs.ts'
import {
  readRecentSamples,
  type SamplingRound,
  type StoredSample,
  storeRounds,
} from '../db/events/sample-budgets.ts'
import { readStandingLogs } from '../db/events/teaching.ts'
import { readWaiting } from '../db/events/waiting-contracts.ts'
import { hourOffsetOf } from '../db/networks.ts'
import { UnavailableError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { DAY } from '../db/units.ts'
import type { ChainProcessorOptions } from './chain-options.ts'
import { ChainHandler, type ChainHandlerOptions } from './handling/chain-handler.ts'
import type { DeadLetterBox } from './handling/dead-letters.ts'
import { createDecoder, type Decoder } from './handling/decode.ts'
import type { History } from './knowledge/history.ts'
import { KnownContracts } from './knowledge/known-contracts.ts'
import { LogBudget } from './knowledge/log-budget.ts'
import { Looks } from './knowledge/looks.ts'
import { OlderLogs } from './knowledge/older-logs.ts'
import { openHistory, samplesBefore } from './knowledge/open-history.ts'
import { RegistryWatch } from './knowledge/registry-watch.ts'
import { readSources, type Sources } from './knowledge/sources.ts'
import { Teaching } from './knowledge/teaching.ts'
import { observeBudgets, observeCommit } from './metrics.ts'
import type { ResolvedFeed } from './prices/chainlink.ts'
import { readFeeds, watchAggregators, withFeeds } from './prices/feeds.ts'
import type { Protocol } from './protocol.ts'
import { blocksOf } from './samples/hours.ts'
import { SampleBudget } from './samples/sample-budget.ts'
import type { Pace } from './source/head.ts'
import { openNodes } from './source/nodes.ts'
import { WrongChainError } from './source/right-chain.ts'
import type { ChainRpc } from './source/rpc.ts'
import { FilterExtended, runSource, type SourceBatch } from './source/source.ts'

/** Hours, and samples, that final blocks may bring at once. */
const HOURS = 100
const SAMPLES = 5_000
const INSPECTIONS_PER_HOUR = 300
const LOGS_PER_DAY = 20_000
const SAMPLES_PER_HOUR = 2_000

/** What outlives a run. */
export interface Kept {
  /** The node has been of the right chain. */
  isRight: boolean
  deadLetters: DeadLetterBox
  /** Of a run that ended for what it met alone. */
  known?: Known | undefined
}

/** What a run knew, which the next one need not read again where nothing else changed. */
interface Known {
  contracts: KnownContracts
  /** Position of the stream. */
  position: number
  /** By which it was understood. */
  protocols: readonly Protocol[]
  feeds: readonly ResolvedFeed[]
  ignored: ReadonlySet<string>
}

/** What a run is given, and what it stands on from its first block to its last. */
interface Ground {
  options: ChainProcessorOptions
  kept: Kept
  pace: Pace
  /** Called at each commit. */
  progressed: () => void
  registry: RegistryWatch
  rpc: ChainRpc | undefined
  crossCheck: ReturnType<typeof openNodes>[1]
  feeds: readonly ResolvedFeed[]
  protocols: readonly Protocol[]
  decoder: Decoder
  teaching: Teaching
  aggregators: ReturnType<typeof watchAggregators>
  /** Of the run before, where this one understands events as that did. */
  before: Known | undefined
}

/** What all handlers of a run have in common. */
type Common = Omit<ChainHandlerOptions, 'contracts'>

/**
 * One run of the source over a chain: as long as what is asked of it stays the same.
 *
 * @throws FilterExtended more is to be watched, or the registry has changed
 * @throws StoppedError
 */
export async function runOnce(
  options: ChainProcessorOptions,
  kept: Kept,
  pace: Pace,
  progressed: () => void,
): Promise<void> {
  const { network, pool } = options
  const registry = await RegistryWatch.open(pool, network.chainId)
  const [plain, crossCheck] = openNodes(options, registry.ignored, kept.deadLetters)
  const rpc = plain && (crossCheck?.wrap(plain) ?? plain)
  await assertRightChain(options, kept, rpc)
  const feeds = await readFeeds(options, rpc)
  const last = kept.known
  kept.known = undefined
  const isSame = last && isDeepStrictEqual([last.feeds, last.ignored], [feeds, registry.ignored])
  const protocols = isSame ? last.protocols : withFeeds(options, feeds)
  const run = new ChainRun({
    options,
    kept,
    pace,
    progressed,
    registry,
    rpc,
    crossCheck,
    feeds,
    protocols,
    decoder: createDecoder(protocols, network.name),
    teaching: new Teaching(protocols),
    aggregators: watchAggregators(options, rpc, feeds),
    before: isSame ? last : undefined,
  })
  let failure: unknown
  try {
    await run.follow()
  } catch (error) {
    failure = error
    throw error
  } finally {
    await run.close(failure)
  }
}

async function assertRightChain(
  { network }: ChainProcessorOptions,
  kept: Kept,
  rpc: ChainRpc | undefined,
): Promise<void> {
  if (!rpc) return
  const found = await rpc.chainId()
  if (found !== network.chainId)
    throw new WrongChainError(network, found, !kept.isRight, 'Nothing of it is stored.')
  kept.isRight = true
}

class ChainRun {
  private readonly ground: Ground
  private readonly database: ChainDatabase
  /** Of the stream, as last committed. */
  private position: number | undefined
  private contracts: KnownContracts
  private handler: ChainHandler | undefined
  private history: History | undefined
  private older: OlderLogs | undefined
  private looks: Looks | undefined
  private logBudget: LogBudget | undefined
  private sampleBudget: SampleBudget | undefined
  private rounds: readonly SamplingRound[] = []
  /** What the last batch brought to be watched comes with the next one. */
  private takesMore = false
  /** Batches that are handled and not stored yet. */
  private ahead = 0

  constructor(ground: Ground) {
    this.ground = ground
    const { options, protocols, rpc, teaching } = ground
    this.contracts = new KnownContracts(protocols)
    this.database = new ChainDatabase({
      pool: options.pool,
      stream: options.network.chainId,
      name: options.network.name,
      teaches: teaching.teaches,
      getBlockHash: async height => (await rpc?.header(height))?.hash,
      onCommit: committed => this.onCommit(committed),
      onHandled: () => this.onHandled(),
    })
  }

  async follow(): Promise<void> {
    const { options, registry, decoder, rpc, pace, kept, before } = this.ground
    const { network, signal } = options
    const state = await this.database.connect()
    const known = before?.position === state.position ? before?.contracts : undefined
    const sources = await readSources(options, { ...this.ground, ignored: registry.ignored }, known)
    const { contracts, pending, from } = sources
    this.contracts = contracts
    const handler = await this.openHandlers(sources)
    this.handler = handler
    this.older?.start()
    const leftOut = new Set(pending.flatMap(({ kind, contract }) => (contract === '' ? [kind] : [])))
    log.info(
      { network: network.name, from: state.height + 1, vaults: contracts.allVaults().length },
      'processor runs',
    )
    await runSource(
      {
        portal: options.portal,
        isLittle: head => (head - state.height) * network.blockTime < DAY,
        gateway: options.gateway,
        rpc: rpc && { url: options.rpcUrls[0] ?? '', client: rpc },
        ...(options.rpcUrls.length > 1 ? { rpcAttempts: 3 } : {}),
        finality: options.finality ?? network.finality,
        pollInterval: options.pollInterval ?? Math.max(100, Math.min(1000, network.blockTime * 100)),
        pace,
        from,
        to: options.endBlock,
        span: () => this.span(),
        subscriptions: () => decoder.subscriptions(kind => contracts.watchedContracts(kind), leftOut),
      },
      this.database,
      async (store, batch) => {
        this.takesMore = batch.takesMore
        assertStandsOn(store, batch)
        // After the blocks were fetched: had the node changed before, they would be another chain's. Blocks that stand on
        // those of this chain prove it themselves.
        if (!batch.isLinked) store.waitFor(assertRightChain(options, kept, rpc))
        await handler.handle(store, batch.blocks)
      },
      signal,
    )
    await this.database.settled()
  }

  async close(failure: unknown): Promise<void> {
    const { aggregators, crossCheck, kept, protocols, feeds, registry } = this.ground
    aggregators.stop()
    crossCheck?.stop()
    this.history?.stop()
    this.older?.stop()
    await this.database.close()
    const { contracts, position, history } = this
    if (failure instanceof FilterExtended && position !== undefined && !history && this.ahead === 0)
      kept.known = { contracts, position, protocols, feeds, ignored: registry.ignored }
  }

  /** Whether the next batch may be handled while this one is stored: nothing that it stands on waits for that. */
  private onHandled(): boolean {
    const { history, older, ground } = this
    if (history || older?.isTouched || this.wantsMore || ground.options.signal?.aborted) return false
    this.ahead++
    this.settleKnowledge()
    return true
  }

  /** The run ends with this batch: more is to be watched from the next one on. */
  private get wantsMore(): boolean {
    const isMet = this.handler?.watchesMore && !this.takesMore
    return this.history?.hasJoined || this.ground.aggregators.areMore() || (isMet ?? false)
  }

  /** What was learned of the batch stays: it is stored, or the run ends. */
  private settleKnowledge(): void {
    const { contracts, history, older, looks, logBudget, sampleBudget } = this
    for (const part of [contracts, history, older, looks, logBudget, sampleBudget]) part?.commit()
  }

  private async onCommit(committed: Committed): Promise<void> {
    if (committed.isDiscarded) return this.tell(committed)
    const { options, registry, progressed } = this.ground
    const { network, pool, signal } = options
    const { looks, logBudget, sampleBudget } = this
    this.position = committed.head
    const isAlone = committed.beside === 0
    if (isAlone) this.settleKnowledge()
    this.ahead -= committed.beside
    const rounds = sampleBudget?.rounds() ?? []
    if (!isDeepStrictEqual(rounds, this.rounds)) await storeRounds(pool, network.chainId, rounds)
    this.rounds = rounds
    observeBudgets(network.name, { leftOut: logBudget?.count(), waiting: looks?.count(), rounds })
    progressed()
    await this.tell(committed)
    if (signal?.aborted) throw new StoppedError(network.name)
    if ((isAlone && this.wantsMore) || (await registry.hasChanged())) throw new FilterExtended()
  }

  private async tell(committed: Committed): Promise<void> {
    const { network, onCommit } = this.ground.options
    observeCommit(network.name, committed)
    await onCommit?.(committed)
  }

  /** Opens what handles live blocks, and beside it the history of late sources and older logs. */
  private async openHandlers(sources: Sources): Promise<ChainHandler> {
    const { options, registry, protocols } = this.ground
    const ofFiles = (options.listedVaults ?? []).map(contract => contract.toLowerCase())
    const listed = new Set([...ofFiles, ...registry.listed.vaults])
    const common = this.common()
    this.older = this.openOlder((found, of) => live.handlePast(found, of))
    const samples = await this.openBudgets(listed)
    this.history = await this.openHistory(common, sources, { listed, samples })
    const { contracts, history, older, looks, logBudget, sampleBudget } = this
    const live = new ChainHandler({
      ...common,
      contracts,
      history,
      older,
      looks,
      logBudget,
      sampleBudget,
      listed: [...(options.listedVaults ?? []), ...registry.taken].flatMap(contract =>
        protocols.flatMap(({ name, inspect }) => (inspect ? [{ contract, protocol: name }] : [])),
      ),
    })
    return live
  }

  /** What is read of the store once all that was handled before is in it. */
  private async stored<T>(read: () => Promise<T>): Promise<T> {
    await this.database.settled()
    return read()
  }

  private common(): Common {
    const { options, protocols, decoder, rpc, kept } = this.ground
    const { pool, network } = options
    return {
      protocols,
      decoder,
      rpc,
      samples: options.samples ?? true,
      finality: this.finality,
      hourOffset: hourOffsetOf(network),
      // What is made of the past may not be stored yet.
      collateralHolders: async contract => [
        ...(await this.stored(() => readCollateralHolders(pool, network.chainId, contract))),
        ...(this.history?.collateralHolders(contract) ?? []),
      ],
      principals: contract => this.stored(() => readPrincipals(pool, network.chainId, contract)),
      standingLogs: addresses => this.stored(() => readStandingLogs(pool, network.chainId, addresses)),
      onDeadLetters: letters => kept.deadLetters.keep(letters),
    }
  }

  private openOlder(handle: ChainHandler['handlePast']): OlderLogs | undefined {
    const { options, decoder, rpc } = this.ground
    if (!rpc) return undefined
    return new OlderLogs({
      rpc,
      contracts: this.contracts,
      finality: this.finality,
      perDay: options.logsPerDay ?? LOGS_PER_DAY,
      topics: kind => decoder.topicsOf(kind),
      withBesides: decoder.withBesides,
      handle,
      read: () => readOlderSources(options.pool, options.network.chainId),
    })
  }

  /** What strangers may cost, of live blocks. */
  private async openBudgets(listed: ReadonlySet<string>): Promise<SampleBudget> {
    const { options, protocols } = this.ground
    const { pool, network } = options
    const { contracts, finality } = this
    const samples = this.samplesOf(contracts, listed, await readRecentSamples(pool, network.chainId))
    this.sampleBudget = samples
    this.looks = new Looks({
      contracts,
      perHour: options.inspectionsPerHour ?? INSPECTIONS_PER_HOUR,
      finality,
      waiting: await readWaiting(pool, network.chainId),
      listed,
    })
    this.logBudget = new LogBudget({
      contracts,
      perDay: options.logsPerDay ?? LOGS_PER_DAY,
      finality,
      days: await readLogBudgets(pool, network.chainId),
      protocols,
      listed,
    })
    return samples
  }

  private samplesOf(
    contracts: KnownContracts,
    listed: ReadonlySet<string>,
    taken: readonly StoredSample[],
  ): SampleBudget {
    const { options, registry } = this.ground
    return new SampleBudget({
      contracts,
      perHour: options.samplesPerHour ?? SAMPLES_PER_HOUR,
      listed: { vaults: listed, markets: registry.listed.markets },
      taken,
    })
  }

  private async openHistory(
    common: Common,
    { next, late }: Sources,
    { listed, samples }: { listed: ReadonlySet<string>; samples: SampleBudget },
  ): Promise<History | undefined> {
    const { options, rpc } = this.ground
    const { contracts, older, database } = this
    const taken = await samplesBefore(options, rpc, next[0]?.cursor ?? -1, late)
    const lateBudget = this.samplesOf(late, listed, taken)
    return openHistory(options, {
      ...common,
      contracts,
      late,
      pending: next,
      older: older?.ofHistory(),
      sampleBudget: lateBudget,
      sampleBudgets: { late: lateBudget, live: samples },
      store: async (blocks, cursors, from, itsOlder) => {
        const committed = await database.appendPast(blocks, cursors, from, itsOlder)
        if (!committed) return false
        if (itsOlder.length > 0) older?.look()
        await this.tell(committed)
        return true
      },
    })
  }

  private get finality(): number {
    const { finality, network } = this.ground.options
    return finality ?? network.finality
  }

  /** Blocks that are asked for at once, when they are final. */
  private span(): number {
    const samples = this.contracts.samplesAnHour() - (this.sampleBudget?.spared() ?? 0)
    return blocksOf(HOURS, Math.floor(SAMPLES / Math.max(1, samples)), this.ground.options.network.blockTime)
  }
}

/** @throws UnavailableError the blocks are of another branch than what is stored */
function assertStandsOn({ parent }: EventWriter, { blocks, stoodOn }: SourceBatch): void {
  const { height, hash } = parent
  if (blocks[0]?.ref.number === height + 1 && stoodOn && hash !== '0x' && stoodOn !== hash)
    throw new UnavailableError(
      `Block ${height + 1} does not stand on block ${height} as it is stored. Fetching again.`,
    )
}
