import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type pg from 'pg'
import { ChainDatabase, type Committed } from '../db/events/chain-database.ts'
import { ForkedWhileOfflineError, StoppedError } from '../db/events/chain-errors.ts'
import { readCollateralHolders, readPrincipals } from '../db/events/event-store.ts'
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
import {
  type PendingSource,
  reconcileSources,
  setSourcesAside,
  takeSourcesBack,
  type WatchedSource,
} from '../db/events/watched-sources.ts'
import type { Network } from '../db/networks.ts'
import { UnavailableError, VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { explain, isRetryable } from './failures.ts'
import { ChainHandler, type ChainHandlerOptions } from './handling/chain-handler.ts'
import { DeadLetterBox } from './handling/dead-letters.ts'
import { createDecoder } from './handling/decode.ts'
import { firstBlock } from './knowledge/first-block.ts'
import { History, type HistoryOptions, namesOf } from './knowledge/history.ts'
import { KnownContracts } from './knowledge/known-contracts.ts'
import { LogBudget } from './knowledge/log-budget.ts'
import { Looks } from './knowledge/looks.ts'
import { OlderLogs } from './knowledge/older-logs.ts'
import { RegistryWatch } from './knowledge/registry-watch.ts'
import { learnAnew, Teaching } from './knowledge/teaching.ts'
import { observeBudgets, observeCommit, sourceRestarts } from './metrics.ts'
import type { ResolvedFeed } from './prices/chainlink.ts'
import { readFeeds, watchAggregators, withFeeds } from './prices/feeds.ts'
import type { Protocol } from './protocol.ts'
import { blocksOf } from './samples/hours.ts'
import { SampleBudget } from './samples/sample-budget.ts'
import { evenPace, type Pace } from './source/head.ts'
import { openNodes } from './source/nodes.ts'
import type { Portal } from './source/portal-client.ts'
import { Rhythm } from './source/rhythm.ts'
import { WrongChainError } from './source/right-chain.ts'
import type { ChainRpc } from './source/rpc.ts'
import { FilterExtended, runSource } from './source/source.ts'

export interface ChainProcessorOptions {
  network: Network
  protocols: readonly Protocol[]
  pool: pg.Pool
  rpcUrls: readonly string[]
  /** History comes from one of these, where there is one, and else from the node. */
  portal?: Portal
  gateway?: string
  /** Contracts by kind, besides those of the protocols' own tables. */
  contracts?: Record<string, readonly string[]>
  /** Vaults to look at from the start, whether or not an event brings them up. */
  listedVaults?: readonly string[]
  startBlock?: number
  /** Blocks of history asked for at once, when something is watched since lately. */
  backfillRange?: number
  /** Stop after this block; absent: follow the chain for ever. */
  endBlock?: number
  finality?: number
  /** Milliseconds between looks at the chain's head; unset: by the rhythm of its blocks. */
  pollInterval?: number
  /** Looks at the head for each block, in the mean, where no interval is set. */
  headLooks?: number
  /** Milliseconds until a part of what was read is asked of another endpoint. */
  crossCheckMs?: number
  samples?: boolean
  /** Contracts that strangers bring up and are looked at in an hour of the chain. */
  inspectionsPerHour?: number
  /** Logs of a vault that nobody listed that are taken with the blocks of a day. */
  logsPerDay?: number
  /** Samples of vaults that nobody listed in an hour of the chain, by standing. */
  samplesPerHour?: number
  /** Milliseconds between looks at which aggregators stand behind price feeds. */
  feedInterval?: number
  onCommit?: (committed: Committed) => void | Promise<void>
  signal?: AbortSignal
}

/** Hours, and samples, that final blocks may bring at once. */
const HOURS = 100
const SAMPLES = 5_000
const INSPECTIONS_PER_HOUR = 300
const LOGS_PER_DAY = 20_000
const SAMPLES_PER_HOUR = 2_000
/** Milliseconds between attempts at most: a chain is to be fresh again soon after its node is. */
const LONGEST_PAUSE = 10_000

/**
 * Follows one chain for ever (or to endBlock): a run of the source, and another one when contracts were discovered,
 * a fork happened while stopped, or a dependency failed. Throws only what a restart cannot mend.
 */
export async function runChain(options: ChainProcessorOptions): Promise<void> {
  const { network, pool, signal } = options
  let failures = 0
  const kept: Kept = { isRight: false, deadLetters: new DeadLetterBox(pool, network) }
  const pace = options.pollInterval
    ? evenPace(options.pollInterval)
    : new Rhythm(network.blockTime * 1000, options.headLooks)
  while (!signal?.aborted) {
    // After a failure the next endpoint has its turn.
    const turn = failures % Math.max(1, options.rpcUrls.length)
    const rpcUrls = [...options.rpcUrls.slice(turn), ...options.rpcUrls.slice(0, turn)]
    try {
      await runOnce({ ...options, rpcUrls }, kept, pace, () => {
        failures = 0
      })
      return
    } catch (error) {
      if (error instanceof StoppedError || signal?.aborted) return
      const mapped = await explain(options, error)
      if (!isRetryable(mapped)) throw mapped
      const reason = mapped instanceof VaultlogError ? mapped.code.toLowerCase() : 'unavailable'
      sourceRestarts.inc({ chain: network.name, reason })
      if (mapped instanceof FilterExtended || mapped instanceof ForkedWhileOfflineError) {
        log.info({ network: network.name }, mapped.message)
        continue
      }
      const pause = Math.min(LONGEST_PAUSE, 250 * 2 ** Math.min(++failures, 7))
      log[mapped instanceof WrongChainError ? 'error' : 'warn'](
        { network: network.name, error: mapped.message, pause, attempt: failures },
        'processor run failed, trying again',
      )
      // A stop does not wait for the pause.
      await sleep(pause, undefined, { signal }).catch(() => {})
      if (signal?.aborted) return
      await pool.query('SELECT 1').catch(() => {})
    }
  }
}

/** What outlives a run. */
interface Kept {
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

async function runOnce(
  options: ChainProcessorOptions,
  kept: Kept,
  pace: Pace,
  progressed: () => void,
): Promise<void> {
  const { network, pool, signal } = options
  const registry = await RegistryWatch.open(pool, network.chainId)
  const { ignored } = registry
  const [plain, crossCheck] = openNodes(options, ignored, kept.deadLetters)
  const rpc = plain && (crossCheck?.wrap(plain) ?? plain)
  const assertRightChain = async () => {
    if (!rpc) return
    const found = await rpc.chainId()
    if (found !== network.chainId)
      throw new WrongChainError(network, found, !kept.isRight, 'Nothing of it is stored.')
    kept.isRight = true
  }
  await assertRightChain()
  const feeds = await readFeeds(options, rpc)
  const before = kept.known
  kept.known = undefined
  const isSame = before && isDeepStrictEqual([before.feeds, before.ignored], [feeds, ignored])
  const protocols = isSame ? before.protocols : withFeeds(options, feeds)
  const aggregators = watchAggregators(options, rpc, feeds)
  const decoder = createDecoder(protocols, network.name)
  const teaching = new Teaching(protocols)
  let contracts = new KnownContracts(protocols)
  let position: number | undefined
  let failure: unknown
  let handler: ChainHandler | undefined
  let history: History | undefined
  let older: OlderLogs | undefined
  let looks: Looks | undefined
  let logBudget: LogBudget | undefined
  let sampleBudget: SampleBudget | undefined
  let rounds: readonly SamplingRound[] = []
  /** What the last batch brought to be watched comes with the next one. */
  let takesMore = false
  const tell = async (committed: Committed) => {
    observeCommit(network.name, committed)
    await options.onCommit?.(committed)
  }
  const database = new ChainDatabase({
    pool,
    stream: network.chainId,
    name: network.name,
    teaches: teaching.teaches,
    getBlockHash: async height => (await rpc?.header(height))?.hash,
    onCommit: async committed => {
      if (committed.isDiscarded) return tell(committed)
      contracts.commit()
      position = committed.head
      history?.commit()
      older?.commit()
      looks?.commit()
      logBudget?.commit()
      sampleBudget?.commit()
      const now = sampleBudget?.rounds() ?? []
      if (!isDeepStrictEqual(now, rounds)) await storeRounds(pool, network.chainId, now)
      rounds = now
      observeBudgets(network.name, { leftOut: logBudget?.count(), waiting: looks?.count(), rounds })
      progressed()
      await tell(committed)
      if (signal?.aborted) throw new StoppedError(network.name)
      if (
        history?.hasJoined ||
        aggregators.areMore() ||
        (handler?.watchesMore && !takesMore) ||
        (await registry.hasChanged())
      )
        throw new FilterExtended()
    },
  })
  try {
    const state = await database.connect()
    const sources = decoder.sources(options.contracts).filter(({ contract }) => !ignored.has(contract))
    await takeSourcesBack(pool, network.chainId, ignored)
    const from = await firstBlock(options, decoder, rpc)
    await learnAnew(pool, network.chainId, teaching, decoder.sources(options.contracts), from)
    const unfinished = await reconcileSources(pool, network.chainId, sources, from)
    const pending = unfinished.filter(({ contract }) => !ignored.has(contract))
    const isKnown = isSame && pending.length === 0 && before.position === state.position
    if (isKnown) contracts = before.contracts
    contracts.ignore(ignored)
    // What was not stored of an attempt is not known.
    contracts.begin(Number.MAX_SAFE_INTEGER)
    const isPending = ({ kind, contract }: WatchedSource) =>
      pending.some(source => source.kind === kind && source.contract === contract)
    contracts.watchSources(sources.filter(source => !isPending(source)))
    // Those that are as far as the first of them are fetched now, the others wait.
    const [late, waiting] = [new KnownContracts(protocols), new KnownContracts(protocols)]
    for (const others of [late, waiting]) others.ignore(ignored)
    const isNext = ({ cursor }: PendingSource) => cursor === pending[0]?.cursor
    late.watchSources(pending.filter(isNext))
    waiting.watchSources(pending.filter(source => !isNext(source)))
    contracts.knowBeside(late, waiting)
    if (!isKnown) await contracts.load(pool, network.chainId)
    const aside = [contracts, late, waiting].flatMap(known => known.ignoredSources())
    await setSourcesAside(pool, network.chainId, decoder.withBesides(aside))
    const ofFiles = (options.listedVaults ?? []).map(contract => contract.toLowerCase())
    const listed = new Set([...ofFiles, ...registry.listed.vaults])
    const samples = {
      perHour: options.samplesPerHour ?? SAMPLES_PER_HOUR,
      listed: { vaults: listed, markets: registry.listed.markets },
    }
    const common: Omit<ChainHandlerOptions, 'contracts'> = {
      protocols,
      decoder,
      rpc,
      samples: options.samples ?? true,
      // What is made of the past may not be stored yet.
      collateralHolders: async contract => [
        ...(await readCollateralHolders(pool, network.chainId, contract)),
        ...(history?.collateralHolders(contract) ?? []),
      ],
      principals: contract => readPrincipals(pool, network.chainId, contract),
      standingLogs: addresses => readStandingLogs(pool, network.chainId, addresses),
      onDeadLetters: letters => kept.deadLetters.keep(letters),
    }
    older =
      rpc &&
      new OlderLogs({
        rpc,
        contracts,
        finality: options.finality ?? network.finality,
        perDay: options.logsPerDay ?? LOGS_PER_DAY,
        topics: kind => decoder.topicsOf(kind),
        withBesides: decoder.withBesides,
        handle: (found, of) => current.handlePast(found, of),
        read: () => readOlderSources(pool, network.chainId),
      })
    sampleBudget = new SampleBudget({
      ...samples,
      contracts,
      taken: await readRecentSamples(pool, network.chainId),
    })
    const lateBudget = new SampleBudget({
      ...samples,
      contracts: late,
      taken: await samplesBefore(pool, network.chainId, rpc, pending[0]?.cursor ?? -1, late),
    })
    history = openHistory(options, {
      ...common,
      contracts,
      late,
      pending: pending.filter(isNext),
      older: older?.ofHistory(),
      sampleBudget: lateBudget,
      sampleBudgets: { late: lateBudget, live: sampleBudget },
      async store(blocks, cursors, from, itsOlder) {
        const committed = await database.appendPast(blocks, cursors, from, itsOlder)
        if (!committed) return false
        if (itsOlder.length > 0) older?.look()
        await tell(committed)
        return true
      },
    })
    looks = new Looks({
      contracts,
      perHour: options.inspectionsPerHour ?? INSPECTIONS_PER_HOUR,
      finality: options.finality ?? network.finality,
      waiting: await readWaiting(pool, network.chainId),
      listed,
    })
    logBudget = new LogBudget({
      contracts,
      perDay: options.logsPerDay ?? LOGS_PER_DAY,
      finality: options.finality ?? network.finality,
      days: await readLogBudgets(pool, network.chainId),
      protocols,
      listed,
    })
    const current = new ChainHandler({
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
    handler = current
    older?.start()
    const leftOut = new Set(pending.flatMap(({ kind, contract }) => (contract === '' ? [kind] : [])))
    log.info(
      { network: network.name, from: state.height + 1, vaults: contracts.allVaults().length },
      'processor runs',
    )
    await runSource(
      {
        portal: options.portal,
        isLittle: head => (head - state.height) * network.blockTime < 86_400,
        gateway: options.gateway,
        rpc: rpc && { url: options.rpcUrls[0] ?? '', client: rpc },
        ...(options.rpcUrls.length > 1 ? { rpcAttempts: 3 } : {}),
        finality: options.finality ?? network.finality,
        pollInterval: options.pollInterval ?? Math.max(100, Math.min(1000, network.blockTime * 100)),
        pace,
        from,
        to: options.endBlock,
        span: () =>
          blocksOf(
            HOURS,
            Math.floor(SAMPLES / Math.max(1, contracts.samplesAnHour() - (sampleBudget?.spared() ?? 0))),
            network.blockTime,
          ),
        subscriptions: () => decoder.subscriptions(kind => contracts.watchedContracts(kind), leftOut),
      },
      database,
      async (store, batch) => {
        const { blocks, isLinked, stoodOn } = batch
        takesMore = batch.takesMore
        const { height, hash } = store.parent
        if (blocks[0]?.ref.number === height + 1 && stoodOn && hash !== '0x' && stoodOn !== hash)
          throw new UnavailableError(
            `Block ${height + 1} does not stand on block ${height} as it is stored. Fetching again.`,
          )
        // After the blocks were fetched: had the node changed before, they would be another chain's. Blocks that stand on
        // those of this chain prove it themselves.
        await Promise.all([current.handle(store, blocks), isLinked || assertRightChain()])
      },
      signal,
    )
  } catch (error) {
    failure = error
    throw error
  } finally {
    aggregators.stop()
    crossCheck?.stop()
    history?.stop()
    older?.stop()
    await database.close()
    if (failure instanceof FilterExtended && position !== undefined && !history)
      kept.known = { contracts, position, protocols, feeds, ignored }
  }
}

/** What a history that is made up to a block has taken of that block's hour. */
async function samplesBefore(
  pool: pg.Pool,
  stream: number,
  rpc: ChainRpc | undefined,
  cursor: number,
  late: KnownContracts,
): Promise<StoredSample[]> {
  const at = cursor < 0 ? undefined : await rpc?.header(cursor)
  if (!at) return []
  const own = new Set(late.allVaults())
  return (await readRecentSamples(pool, stream, at)).filter(({ vault }) => own.has(vault))
}

function openHistory(
  { network, backfillRange, finality }: ChainProcessorOptions,
  common: Omit<ChainHandlerOptions, 'contracts'> & {
    contracts: KnownContracts
    late: KnownContracts
    pending: readonly PendingSource[]
    sampleBudgets: HistoryOptions['sampleBudgets']
    store: HistoryOptions['store']
  },
): History | undefined {
  const { rpc, pending, late, contracts, decoder, sampleBudgets, store } = common
  if (pending.length === 0) return undefined
  const facts = { network: network.name, sources: namesOf(pending) }
  if (!rpc) {
    log.error(facts, 'history of new sources cannot be fetched without an RPC endpoint: they are left out')
    return undefined
  }
  log.info(facts, 'fetching the history of new sources beside the live blocks')
  return new History({
    rpc,
    pending,
    late,
    contracts,
    handler: new ChainHandler({ ...common, contracts: late }),
    topics: kind => decoder.topicsOf(kind),
    finality: finality ?? network.finality,
    blockTime: network.blockTime,
    range: backfillRange,
    sampleBudgets,
    store,
  })
}
