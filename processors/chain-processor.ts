import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { ChainDatabase, type Committed, StoppedError } from '../db/events/chain-database.ts'
import { readCollateralHolders, readStandingLogs } from '../db/events/event-store.ts'
import { type PendingSource, reconcileSources, type WatchedSource } from '../db/events/watched-sources.ts'
import { UnavailableError, VaultlogError } from '../db/process/errors.ts'
import { log } from '../db/process/log.ts'
import { ChainHandler, type ChainHandlerOptions, type DeadLetter } from './chain-handler.ts'
import { MULTICALL3, type Network } from './chains.ts'
import { KnownContracts } from './contracts.ts'
import { createDecoder } from './decode.ts'
import { History, type HistoryOptions, namesOf } from './history.ts'
import { deadLetters, observeCommit, sourceRestarts } from './metrics.ts'
import { readFeeds, watchAggregators, withFeeds } from './prices/feeds.ts'
import type { Protocol } from './protocol.ts'
import { openChainRpc } from './rpc.ts'
import { runSource } from './source.ts'

export interface ChainProcessorOptions {
  network: Network
  protocols: readonly Protocol[]
  pool: pg.Pool
  rpcUrls: readonly string[]
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
  /** Milliseconds between looks at the chain's head. */
  pollInterval?: number
  samples?: boolean
  /** Milliseconds between looks at which aggregators stand behind price feeds. */
  feedInterval?: number
  onCommit?: (committed: Committed) => void | Promise<void>
  signal?: AbortSignal
}

/** Milliseconds between attempts at most: a chain is to be fresh again soon after its node is. */
const LONGEST_PAUSE = 10_000

/** The chain replaced blocks that were taken as final. */
export class DeepForkError extends VaultlogError {
  readonly code = 'DEEP_FORK'
  constructor(network: string, detail: string) {
    super(
      `${network} replaced blocks below finality (${detail}). Nothing was changed. ` +
        `Find the last common block, run \`vaultlog rewind ${network} --to <block>\` to retract what came after it, ` +
        `raise FINALITY_${network.toUpperCase().replaceAll('-', '_')} if this chain reorganises that deep, and start again.`,
    )
  }
}

/** The node is one of another chain. */
class WrongChainError extends VaultlogError {
  readonly code = 'WRONG_CHAIN'
  override readonly retryable: boolean
  /** @param isNew the node has never been of the right chain in this run: a mistake in the configuration */
  constructor(network: Network, found: number, isNew: boolean) {
    super(
      `The node of ${network.name} says eth_chainId ${found}; ${network.name} is ${network.chainId}. ` +
        `Nothing of it is stored. Check RPC_${network.name.toUpperCase().replaceAll('-', '_')}.`,
    )
    this.retryable = !isNew
  }
}

class FilterExtended extends VaultlogError {
  readonly code = 'FILTER_EXTENDED'
  override readonly retryable = true
  constructor() {
    super('New contracts are watched; the source starts again with them.')
  }
}

/**
 * Follows one chain for ever (or to endBlock): a run of the source, and another one when contracts were discovered,
 * a fork happened while stopped, or a dependency failed. Throws only what a restart cannot mend.
 */
export async function runChain(options: ChainProcessorOptions): Promise<void> {
  const { network, pool, signal } = options
  let failures = 0
  const node = { isRight: false }
  while (!signal?.aborted) {
    // After a failure the next endpoint has its turn.
    const turn = failures % Math.max(1, options.rpcUrls.length)
    const rpcUrls = [...options.rpcUrls.slice(turn), ...options.rpcUrls.slice(0, turn)]
    try {
      await runOnce({ ...options, rpcUrls }, node, () => {
        failures = 0
      })
      return
    } catch (error) {
      if (error instanceof StoppedError || signal?.aborted) return
      const mapped = await explain(options, error)
      if (!isRetryable(mapped)) throw mapped
      const reason = mapped instanceof VaultlogError ? mapped.code.toLowerCase() : 'unavailable'
      sourceRestarts.inc({ chain: network.name, reason })
      if (
        mapped instanceof FilterExtended ||
        (mapped instanceof VaultlogError && mapped.code === 'FORKED_OFFLINE')
      ) {
        log.info({ network: network.name }, mapped.message)
        continue
      }
      failures++
      const pause = Math.min(LONGEST_PAUSE, 250 * 2 ** Math.min(failures, 7))
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

async function runOnce(
  options: ChainProcessorOptions,
  node: { isRight: boolean },
  progressed: () => void,
): Promise<void> {
  const { network, pool, signal } = options
  const rpc =
    options.rpcUrls.length > 0 ? openChainRpc(options.rpcUrls, network.multicall3 ?? MULTICALL3) : undefined
  const assertRightChain = async () => {
    if (!rpc) return
    const found = await rpc.chainId()
    if (found !== network.chainId) throw new WrongChainError(network, found, !node.isRight)
    node.isRight = true
  }
  await assertRightChain()
  const feeds = await readFeeds(options, rpc)
  const protocols = withFeeds(options, feeds)
  const aggregators = watchAggregators(options, rpc, feeds)
  const decoder = createDecoder(protocols, network.name)
  const contracts = new KnownContracts(protocols)
  let handler: ChainHandler | undefined
  let history: History | undefined
  const database = new ChainDatabase({
    pool,
    stream: network.chainId,
    name: network.name,
    getBlockHash: async height => (await rpc?.header(height))?.hash,
    onCommit: async committed => {
      contracts.commit()
      history?.commit()
      progressed()
      observeCommit(network.name, committed)
      await options.onCommit?.(committed)
      if (signal?.aborted) throw new StoppedError(network.name)
      if (handler?.watchesMore || aggregators.areMore()) throw new FilterExtended()
    },
  })
  try {
    const state = await database.connect()
    const sources = decoder.sources(options.contracts)
    const pending = await reconcileSources(pool, network.chainId, sources, options.startBlock ?? 0)
    const isPending = ({ kind, contract }: WatchedSource) =>
      pending.some(source => source.kind === kind && source.contract === contract)
    contracts.watchSources(sources.filter(source => !isPending(source)))
    // Those that are as far as the first of them are fetched now, the others wait.
    const [late, waiting] = [new KnownContracts(protocols), new KnownContracts(protocols)]
    const isNext = ({ cursor }: PendingSource) => cursor === pending[0]?.cursor
    late.watchSources(pending.filter(isNext))
    waiting.watchSources(pending.filter(source => !isNext(source)))
    contracts.knowBeside(late, waiting)
    await contracts.load(pool, network.chainId)
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
      standingLogs: addresses => readStandingLogs(pool, network.chainId, addresses),
      onDeadLetters: letters => keepDeadLetters(pool, network, letters),
    }
    history = openHistory(options, {
      ...common,
      contracts,
      late,
      pending: pending.filter(isNext),
      async store(blocks, cursors, from) {
        const committed = await database.appendPast(blocks, cursors, from)
        if (!committed) return false
        observeCommit(network.name, committed)
        await options.onCommit?.(committed)
        return true
      },
    })
    handler = new ChainHandler({
      ...common,
      contracts,
      history,
      listed: (options.listedVaults ?? []).flatMap(contract =>
        protocols.flatMap(({ name, inspect }) => (inspect ? [{ contract, protocol: name }] : [])),
      ),
    })
    const current = handler
    log.info(
      { network: network.name, from: state.height + 1, vaults: contracts.allVaults().length },
      'processor runs',
    )
    await runSource(
      {
        gateway: options.gateway,
        rpc: options.rpcUrls[0],
        ...(options.rpcUrls.length > 1 ? { rpcAttempts: 3 } : {}),
        finality: options.finality ?? network.finality,
        pollInterval: options.pollInterval ?? Math.max(100, Math.min(1000, network.blockTime * 100)),
        from: options.startBlock ?? 0,
        to: options.endBlock,
        subscriptions: decoder.subscriptions(
          kind => contracts.watchedContracts(kind),
          new Set(pending.flatMap(({ kind, contract }) => (contract === '' ? [kind] : []))),
        ),
      },
      database,
      async (store, blocks, isLinked, stoodOn) => {
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
  } finally {
    aggregators.stop()
    history?.stop()
    await database.close()
  }
}

function openHistory(
  { network, backfillRange, finality }: ChainProcessorOptions,
  common: Omit<ChainHandlerOptions, 'contracts'> & {
    contracts: KnownContracts
    late: KnownContracts
    pending: readonly PendingSource[]
    store: HistoryOptions['store']
  },
): History | undefined {
  const { rpc, pending, late, contracts, decoder, store } = common
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
    handler: new ChainHandler({ ...common, contracts: late, isPast: true }),
    topics: kind => decoder.topicsOf(kind),
    finality: finality ?? network.finality,
    blockTime: network.blockTime,
    range: backfillRange,
    store,
  })
}

/** evm-processor reports forks below finality as bare assertions and errors; here they say what to do. */
async function explain(options: ChainProcessorOptions, error: unknown): Promise<Error> {
  if (!(error instanceof Error)) return new UnavailableError(String(error))
  if (error instanceof VaultlogError) return error
  const isNotFound = /already indexed block .* was not found on chain/.test(error.message)
  const isFromHot = error.name === 'AssertionError' && /hot\.(ts|js)/.test(error.stack ?? '')
  if (!isNotFound && !isFromHot) return error
  if (options.rpcUrls.length === 0) return new DeepForkError(options.network.name, error.message)
  // A fork while its blocks are being fetched fails in the same way, and the next attempt gets over it.
  const final = await findFinalBlock(options).catch(() => undefined)
  if (!final?.now || final.stored === final.now) {
    return new UnavailableError('The chain changed while its blocks were fetched.', { cause: error })
  }
  return new DeepForkError(
    options.network.name,
    `block ${final.height} was ${final.stored} and is ${final.now}`,
  )
}

/** The hash of the newest final block as stored, and what the chain says of that height now. */
async function findFinalBlock({ network, pool, rpcUrls }: ChainProcessorOptions) {
  const { rows } = await pool.query<{ final_height: number; final_hash: string }>(
    `SELECT final_height, final_hash FROM stream WHERE id = $1 AND final_height >= 0 AND final_hash <> '0x'`,
    [network.chainId],
  )
  const [row] = rows
  if (!row) return undefined
  const rpc = openChainRpc(rpcUrls, network.multicall3 ?? MULTICALL3)
  // What a node of another chain has at that height says nothing of this one.
  if ((await rpc.chainId()) !== network.chainId) return undefined
  const header = await rpc.header(row.final_height)
  return { height: row.final_height, stored: row.final_hash, now: header?.hash }
}

function isRetryable(error: unknown): boolean {
  if (error instanceof VaultlogError) return error.retryable
  // A statement that Postgres does not understand or allow will not get better.
  if (/^42/.test((error as { code?: unknown } | undefined)?.code?.toString() ?? '')) return false
  // Postgres and RPC clients throw their own kinds: connection loss, shutdown, time-outs. Our own faults are VaultlogErrors.
  return true
}

async function keepDeadLetters(pool: pg.Pool, network: Network, letters: DeadLetter[]): Promise<void> {
  const stream = network.chainId
  for (const letter of letters) {
    deadLetters.inc({ chain: network.name, stage: letter.stage })
    log.warn(
      {
        stage: letter.stage,
        stream,
        block: letter.block.number,
        logIndex: letter.log?.logIndex,
        contract: letter.contract,
        reason: letter.reason,
      },
      'dead letter',
    )
  }
  await pool.query(
    `INSERT INTO dead_letter (stage, stream, block_number, block_hash, tx_hash, log_index, contract, reason, payload)
     SELECT l->>'stage', $1, (l->>'block')::bigint, l->>'hash', l->>'tx', (l->>'logIndex')::bigint, l->>'contract', l->>'reason', l->'payload'
     FROM jsonb_array_elements($2::jsonb) l
     ON CONFLICT (stage, stream, coalesce(block_hash, ''), coalesce(log_index, -1), coalesce(contract, ''), md5(reason))
     DO UPDATE SET attempts = dead_letter.attempts + 1, last_at = clock_timestamp()`,
    [
      stream,
      JSON.stringify(
        letters.map(({ stage, block, contract, reason, log: raw }) => ({
          stage,
          block: block.number,
          hash: block.hash,
          tx: raw?.transactionHash,
          logIndex: raw?.logIndex,
          contract,
          reason,
          payload: raw ? { topics: raw.topics, data: raw.data } : {},
        })),
      ),
    ],
  )
}
