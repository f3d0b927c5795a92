import { BlockConsistencyError, HotProcessor } from '@subsquid/util-internal-ingest-tools'
import type { HotDatabaseState, HotUpdate } from '@subsquid/util-internal-processor-tools'
import { z } from 'zod'
import { RpcRefusedError } from '../../db/chain/errors.ts'
import { log } from '../../db/process/log.ts'
import type { Subscription } from '../handling/decode.ts'
import { followHead, type Head, type HeadClient, headSchema, type Pace } from './head.ts'
import { added, openLogQueries } from './log-queries.ts'
import type { ChainRpc } from './rpc.ts'
import { openLogReader, type RpcLog, type SqdBlock } from './rpc-block.ts'

/** Blocks that are fetched together. */
const TOGETHER = 10
/** Of a block of which more transactions are wanted, all are asked for in one request. */
const ONE_BY_ONE = 2
/** Blocks of which all logs were refused in a row, after which they are asked for by contracts and topics for so many. */
const REFUSALS = 2
const BLOCKS_BETWEEN = 1_000

const NO_LOGS = `0x${'0'.repeat(512)}`

const hex = z
  .string()
  .regex(/^0x[0-9a-f]*$/i)
  .transform(text => text.toLowerCase())
const logsSchema = z.array(
  z.object({
    address: z.string(),
    topics: z.array(z.string()),
    data: z.string(),
    logIndex: z.string(),
    transactionHash: z.string(),
    blockHash: hex,
  }),
)
const transactionSchema = z.object({ hash: hex, to: hex.nullish(), input: hex })
const fullBlockSchema = z.object({ transactions: z.array(transactionSchema) })

export interface HotBlocksOptions {
  client: HeadClient
  /** Asked for logs by contracts and topics, where all logs of a block are not to be had at once. */
  rpc: Pick<ChainRpc, 'logs' | 'header'>
  /** What is asked for; more of it from one batch to the next, as contracts are met. */
  subscriptions: () => readonly Partial<Subscription>[]
  /** Blocks after which one is final. */
  finality: number
  pace: Pace
}

type Logs = z.infer<typeof logsSchema>

/**
 * Blocks above finality, with what forks replace. evm-processor reads a new block twice: once to learn that it is there, and
 * again with all its transactions. Here the look that finds it is what is known of it; beside that, its logs are asked for, and
 * the transactions of those few logs that are wanted with theirs.
 */
export class HotBlocks {
  private readonly options: HotBlocksOptions
  private readonly logsOf: ReturnType<typeof openLogQueries>
  private asked: readonly Partial<Subscription>[]
  private read: ReturnType<typeof openLogReader>
  private newest: Head | undefined
  private to = Number.POSITIVE_INFINITY
  private refusals = 0
  private wholeFrom = 0

  constructor(options: HotBlocksOptions) {
    this.options = options
    this.logsOf = openLogQueries(options.rpc)
    this.asked = options.subscriptions()
    this.read = openLogReader(this.asked)
  }

  /** As of the last head that was seen. */
  finalHeight(): number | undefined {
    return this.newest && Math.max(0, this.newest.height - this.options.finality)
  }

  /** Follows the head until what is final has reached `to`. */
  async follow(
    state: HotDatabaseState,
    to: number,
    process: (update: HotUpdate<SqdBlock>) => Promise<void>,
  ): Promise<void> {
    const { client, pace, finality } = this.options
    this.to = to
    const chain = new HotProcessor<SqdBlock>(state, {
      process,
      getBlock: async ref => {
        const header = headSchema.nullable().parse(await client.call('eth_getBlockByHash', [ref.hash, false]))
        if (!header) throw new BlockConsistencyError(ref)
        const [block] = await this.withLogs([header])
        if (!block) throw new BlockConsistencyError(ref)
        return block
      },
      getBlockRange: (from, head) => this.range(Math.min(from, head.height ?? from), head),
      getHeader: ({ header }) => header,
    })
    await followHead(
      client,
      pace,
      head => {
        this.newest = head
        const finalized = { height: Math.max(0, head.height - finality) }
        return chain.goto({ best: { height: head.height, hash: head.hash }, finalized })
      },
      () => chain.getFinalizedHeight() >= to,
      () => chain.getHeight(),
    )
  }

  /** Blocks up to a head that was seen, as far as they stand on one another. */
  private async *range(
    from: number,
    { height: to = from, hash: at }: { height?: number; hash?: string },
  ): AsyncGenerator<SqdBlock[]> {
    for (let first = from; first <= to; first += TOGETHER) {
      const last = Math.min(to, first + TOGETHER - 1)
      const heights = Array.from({ length: last - first + 1 }, (_, i) => first + i)
      const found = await Promise.all(heights.map(height => this.header(height, at)))
      const headers: Head[] = []
      for (const header of found) {
        const before = headers.at(-1)
        if (!header || (before && before.hash !== header.parentHash)) break
        headers.push(header)
      }
      const blocks = headers.length > 0 ? await this.withLogs(headers) : []
      yield blocks
      const reached = blocks.at(-1)?.header.height ?? first - 1
      if (reached < last) throw new BlockConsistencyError({ height: reached + 1 })
    }
  }

  private async header(height: number, head: string | undefined): Promise<Head | undefined> {
    // Some nodes tell of heads without their logs' bloom, which says whether there are any.
    const { newest } = this
    if (newest?.logsBloom !== undefined && newest.height === height && newest.hash === head) return newest
    const answer = await this.options.client
      .call('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])
      .catch((error: Error) => {
        // Avalanche's words for a block to come.
        if (/cannot query unfinalized data/i.test(error.message)) return null
        throw error
      })
    return headSchema.nullable().parse(answer) ?? undefined
  }

  /** As many of these blocks, which stand on one another, as the node has the logs of. */
  private async withLogs(headers: readonly Head[]): Promise<SqdBlock[]> {
    const now = this.options.subscriptions()
    if (added(this.asked, now).length > 0) {
      this.asked = now
      this.read = openLogReader(now)
    }
    const wanted = headers.filter(({ height }) => height <= this.to)
    const whole = wanted.length > 0 ? await this.allLogs(wanted) : undefined
    const blocks: SqdBlock[] = []
    for (const header of headers) {
      const block = !wanted.includes(header)
        ? { header: headerOf(header), logs: [], withTransaction: new Set<string>() }
        : whole
          ? this.chosen(header, whole)
          : await this.byContracts(header)
      if (!block) break
      blocks.push({ ...block, transactions: await this.transactions(header, block.withTransaction) })
    }
    return blocks
  }

  private chosen(header: Head, all: ReadonlyMap<string, RpcLog[]>) {
    const found = all.get(header.hash) ?? []
    // The node does not have them yet, or has those of another branch.
    if (found.length === 0 && header.logsBloom !== undefined && header.logsBloom !== NO_LOGS) return undefined
    return { header: headerOf(header), ...this.read(found) }
  }

  /** All logs of blocks that follow one another, by their blocks' hashes; undefined where the node does not give them. */
  private async allLogs(headers: readonly Head[]): Promise<Map<string, RpcLog[]> | undefined> {
    const first = headers[0]?.height ?? 0
    const last = headers.at(-1)?.height ?? first
    if (last < this.wholeFrom) return undefined
    let logs: Logs
    try {
      logs = await this.ask(first, last)
      this.refusals = 0
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (first < last) {
        const each = await Promise.all(headers.map(header => this.allLogs([header])))
        return each.every(one => one !== undefined) ? new Map(each.flatMap(one => [...one])) : undefined
      }
      log.info(
        { block: first, error: (error as Error).message },
        'all logs of a block are not to be had at once',
      )
      if (++this.refusals >= REFUSALS) this.wholeFrom = first + BLOCKS_BETWEEN
      return undefined
    }
    const byBlock = new Map<string, RpcLog[]>()
    for (const one of logs) {
      const some = byBlock.get(one.blockHash)
      if (some) some.push(one)
      else byBlock.set(one.blockHash, [one])
    }
    return byBlock
  }

  private async ask(first: number, last: number): Promise<Logs> {
    const range = { fromBlock: `0x${first.toString(16)}`, toBlock: `0x${last.toString(16)}` }
    const answer = await this.options.client.call('eth_getLogs', [range]).catch((error: Error) => {
      // Avalanche's words for what others give no logs of.
      if (/after last accepted block/i.test(error.message)) return []
      throw error
    })
    return logsSchema.parse(answer)
  }

  private async byContracts(header: Head) {
    const [found] = await this.logsOf(this.asked, header.height, header.height)
    const standing = found?.hash ?? (await this.options.rpc.header(header.height))?.hash
    if (standing !== header.hash) return undefined
    return { header: headerOf(header), logs: found?.logs ?? [], withTransaction: new Set<string>() }
  }

  /** Of a block that nobody replaced meanwhile; without those that the node does not have. */
  private async transactions(
    { height, hash }: Head,
    wanted: ReadonlySet<string>,
  ): Promise<SqdBlock['transactions']> {
    if (wanted.size === 0) return []
    const { client } = this.options
    const found =
      wanted.size <= ONE_BY_ONE
        ? await Promise.all(
            [...wanted].map(async one =>
              transactionSchema.nullable().parse(await client.call('eth_getTransactionByHash', [one])),
            ),
          )
        : []
    if (found.length > 0 && found.every(one => one !== null)) return found.map(given)
    const whole = fullBlockSchema.nullable().parse(await client.call('eth_getBlockByHash', [hash, true]))
    if (!whole) throw new BlockConsistencyError({ height, hash })
    return whole.transactions.filter(one => wanted.has(one.hash)).map(given)
  }
}

const given = ({ hash, to, input }: z.infer<typeof transactionSchema>) => ({
  hash,
  to: to ?? undefined,
  input,
})

const headerOf = ({ height, hash, parentHash, timestamp }: Head): SqdBlock['header'] => ({
  height,
  hash,
  parentHash,
  timestamp: timestamp * 1000,
})

/** Another question may be answered. RpcError is what evm-processor's client throws of an answer over a WebSocket. */
const isRefusal = (error: unknown) =>
  error instanceof RpcRefusedError
    ? error.isAboutQuestion || error.isLate
    : error instanceof Error && error.name === 'RpcError'
