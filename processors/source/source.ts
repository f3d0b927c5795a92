import { EvmBatchProcessor } from '@subsquid/evm-processor'
import type { Batch, Database } from '@subsquid/util-internal-processor-tools'
import { Runner } from '@subsquid/util-internal-processor-tools'
import { UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { adoptSqdLog } from '../../db/process/sqd-log.ts'
import type { SourceBlock } from '../handling/block.ts'
import type { Subscription } from '../handling/decode.ts'
import { type FinalSource, finalBlocks } from './final-blocks.ts'
import type { Pace } from './head.ts'
import { HotBlocks } from './hot-blocks.ts'
import { paced } from './paced-connection.ts'
import { openPortalFinal } from './portal-blocks.ts'
import type { Portal } from './portal-client.ts'
import type { ChainRpc } from './rpc.ts'
import type { FinalBlock, SqdBlock } from './rpc-block.ts'
import { openRpcFinal } from './rpc-final.ts'
import { eachOnce } from './rpc-logs.ts'
import { partsOf, type SqdConfig } from './sqd-parts.ts'

export interface SourceOptions {
  /** History comes from there; without it from a gateway, where there is one, and else from the node. */
  portal?: Portal | undefined
  /** Whether what is left up to a head is little enough for the node, while the Portal is away. */
  isLittle?: (head: number) => boolean
  gateway?: string
  /** The node that is asked for the head, and what asks it, or another one, for final blocks. */
  rpc?: { url: string; client: ChainRpc }
  /** How often a request is repeated before the run fails; then another endpoint may be tried. */
  rpcAttempts?: number
  finality: number
  /** Milliseconds between looks for another final block, where there is none. */
  pollInterval: number
  /** When to look for the head. */
  pace: Pace
  from: number
  /** Last block to process; the source ends there. */
  to?: number
  /** What is asked for; it grows while contracts are met. */
  subscriptions: () => Partial<Subscription>[]
  /** Final blocks that may be handled together. */
  span?: () => number
}

/** Blocks as they are to be handled. */
export interface SourceBatch {
  blocks: SourceBlock[]
  /** The blocks stand on the last one of the batch before, without a gap. */
  isLinked: boolean
  /** The parent of the first. */
  stoodOn: string | undefined
  /** What is subscribed to because of them comes with the next ones. */
  takesMore: boolean
}

/** Milliseconds between looks for another final block of a Portal, at least. */
const PORTAL_POLL = 1_000
/** How often a request is repeated, where there is no other endpoint. */
const ATTEMPTS = 10

export class FilterExtended extends VaultlogError {
  readonly code = 'FILTER_EXTENDED'
  override readonly retryable = true
  constructor() {
    super('New contracts are watched; the source starts again with them.')
  }
}

// What its packages say goes where everything goes: they would name endpoints by their URLs.
adoptSqdLog()

type DataSource = NonNullable<SqdConfig['archive']>

/** One run over a chain, from the database's cursor on; ends by `to`, by an error or when a commit throws. */
export async function runSource<Store>(
  options: SourceOptions,
  database: Database<Store>,
  handle: (store: Store, batch: SourceBatch) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  // Told to stop while the run was being prepared: no event comes for that any more.
  if (signal?.aborted) return
  const processor = new EvmBatchProcessor()
    .setFinalityConfirmation(options.finality)
    .setBlockRange({ from: options.from, to: options.to })
    .setFields({
      log: { topics: true, data: true, transactionHash: true },
      transaction: { hash: true, to: true, input: true },
      block: { timestamp: true },
    })
  if (options.gateway) processor.setGateway(options.gateway)
  if (options.rpc) {
    processor.setRpcEndpoint({
      url: options.rpc.url,
      capacity: 100,
      requestTimeout: 20_000,
      retryAttempts: options.rpcAttempts ?? ATTEMPTS,
    })
    processor.setRpcDataIngestionSettings({ headPollInterval: options.pollInterval })
  }
  const asked = options.subscriptions()
  for (const subscription of asked) processor.addLog(subscription)

  const parts = partsOf(processor)
  let takesMore = false
  const { pollInterval, subscriptions, finality, span = () => Number.POSITIVE_INFINITY } = options
  const finalized = (source: FinalSource, interval: number) =>
    async function* (requests: SqdConfig['requests'], stopOnHead = false) {
      takesMore = true
      const ranges = requests.map(({ range }) => range)
      const options = { source, subscriptions, span, stopOnHead, pollInterval: interval }
      // Of final blocks the runner looks at height and hash alone.
      yield* finalBlocks(ranges, options) as AsyncGenerator<Batch<SqdBlock>>
    }
  if (options.rpc) {
    const client = parts.getChainRpcClient()
    paced(client, options.rpc.url, options.rpcAttempts ?? ATTEMPTS)
    const hot = parts.getHotDataSource()
    const { client: rpc } = options.rpc
    const blocks = new HotBlocks({ client, rpc, subscriptions, finality, pace: options.pace })
    const ask = hot.getFinalizedHeight.bind(hot)
    hot.getFinalizedHeight = async () => blocks.finalHeight() ?? ask()
    hot.processHotBlocks = (requests, state, process) => {
      takesMore = true
      return blocks.follow(state, requests.at(-1)?.range.to ?? Number.POSITIVE_INFINITY, process)
    }
    hot.getFinalizedBlocks = finalized(openRpcFinal({ rpc, finality, span }), pollInterval)
  }
  let before: FinalBlock | undefined
  let abort: (() => void) | undefined
  const aborted = new Promise<void>(resolve => {
    abort = resolve
    signal?.addEventListener('abort', resolve as () => void, { once: true })
  })
  try {
    const run = new Runner<unknown, Store>({
      database,
      requests: parts.getBatchRequests(),
      archive: options.portal
        ? portalArchive(options.portal, options, finalized)
        : options.gateway
          ? parts.getArchiveDataSource()
          : undefined,
      hotDataSource: options.rpc ? parts.getHotDataSource() : undefined,
      allBlocksAreFinal: options.finality === 0,
      log: parts.getLogger(),
      // Metrics are served by the process itself, on one port for all runs.
      prometheus: {
        addRunnerMetrics() {},
        serve: async () => ({ port: 0 }),
      } as unknown as SqdConfig['prometheus'],
      process: (store, batch) => {
        const blocks = batch.blocks as unknown as FinalBlock[]
        assertLinked(blocks)
        const isLinked = blocks.every(
          ({ header }, i) => header.parentHash === (blocks[i - 1] ?? before)?.header.hash,
        )
        before = blocks.at(-1)
        // Walking back to its last known block, evm-processor passes blocks before the first one asked for, bare of
        // logs and times.
        const wanted = blocks.filter(({ header }) => header.height >= options.from)
        const stoodOn = wanted[0]?.header.parentHash
        return handle(store, { blocks: wanted.map(toSourceBlock), isLinked, stoodOn, takesMore })
      },
    }).run()
    // At the head the runner waits for the next block for ever: a stop does not wait for it.
    await Promise.race([run, aborted])
    if (signal?.aborted) run.catch(() => {})
  } finally {
    if (abort) signal?.removeEventListener('abort', abort)
    if (options.rpc) parts.getChainRpcClient().close()
  }
}

function portalArchive(
  portal: Portal,
  { rpc, finality, pollInterval, isLittle }: SourceOptions,
  finalized: (source: FinalSource, interval: number) => DataSource['getFinalizedBlocks'],
): DataSource {
  const source = openPortalFinal({ portal, rpc: rpc?.client, finality })
  return {
    async getFinalizedHeight() {
      try {
        return await source.top()
      } catch (error) {
        if (!(error instanceof UnavailableError) || !rpc || !isLittle) throw error
        if (!isLittle((await rpc.client.head()).number)) throw error
        log.warn({ network: portal.network, error: error.message }, 'the node gives what is left of history')
        return -1
      }
    },
    getBlockHash: async height => (await source.header(height)).header.hash,
    getFinalizedBlocks: finalized(source, Math.max(PORTAL_POLL, pollInterval)),
  }
}

/** Finalized blocks are fetched side by side and by number: a node that changed its mind between would not be noticed. */
function assertLinked(blocks: readonly FinalBlock[]): void {
  for (const [i, { header }] of blocks.entries()) {
    const before = blocks[i - 1]?.header
    if (!before || before.height !== header.height - 1 || header.parentHash === undefined) continue
    if (before.hash !== header.parentHash)
      throw new UnavailableError(
        `Block ${header.height} does not stand on the block ${before.height} that came with it. Fetching again.`,
      )
  }
}

function toSourceBlock({ header, logs, transactions }: FinalBlock): SourceBlock {
  return {
    ref: { number: header.height, hash: header.hash, timestamp: Math.floor(header.timestamp / 1000) },
    logs: eachOnce(logs),
    calls: new Map(transactions.map(({ hash, to, input }) => [hash, { to, input }])),
  }
}
