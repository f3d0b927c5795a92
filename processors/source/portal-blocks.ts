import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ConfigError, UnavailableError } from '../../db/process/errors.ts'
import type { Subscription } from '../handling/decode.ts'
import { type FinalSource, together } from './final-blocks.ts'
import { type Portal, PortalForkError } from './portal-client.ts'
import { type Density, queriesOf, type Selection } from './portal-query.ts'
import type { ChainRpc } from './rpc.ts'
import { openLogSelector, type SqdBlock } from './rpc-block.ts'
import { TooManyLogsError } from './rpc-logs.ts'

type Subscriptions = readonly Partial<Subscription>[]

/** Blocks that are asked for at once: many, since those without logs weigh nothing. */
const SIZES = { first: 1_000, least: 10, most: 2_000_000, logs: 10_000, ahead: 3 }
/** Logs of a range behind which the rest of it is left to the next one. */
const MOST_LOGS = 2 * SIZES.logs
/** Answers without a block that is of use, in a row, and the milliseconds after the first. */
const TRIES = 5
const PAUSE = 250
/** Blocks by which it is found out how many logs of some topics there are, and questions after which it is again. */
const PROBED = 100
const QUESTIONS_BETWEEN_PROBES = 50

const HEX = /^0x[0-9a-f]*$/
const isHex = (value: unknown) => typeof value === 'string' && HEX.test(value)
const hex = z.string().regex(HEX)
const place = z.number().int().nonnegative()
type Log = SqdBlock['logs'][number]
/** By hand: there may be a hundred thousand of them in a second, and none is copied, nor is the list of them. */
const logs = z.custom<Log[]>(value => Array.isArray(value) && value.every(isLog), 'no logs')
function isLog(value: unknown): value is Log {
  if (typeof value !== 'object' || value === null) return false
  const { address, topics, data, logIndex, transactionHash } = value as Record<keyof Log, unknown>
  return (
    isHex(address) &&
    Array.isArray(topics) &&
    topics.every(isHex) &&
    isHex(data) &&
    Number.isSafeInteger(logIndex) &&
    isHex(transactionHash)
  )
}
const transactions = z.custom<Transaction[]>(
  value => Array.isArray(value) && value.every(isTransaction),
  'no transactions',
)
interface Transaction {
  hash: string
  to?: string | null
  input: string
}
function isTransaction(value: unknown): value is Transaction {
  if (typeof value !== 'object' || value === null) return false
  const { hash, to, input } = value as Record<keyof Transaction, unknown>
  return isHex(hash) && (to === undefined || to === null || isHex(to)) && isHex(input)
}
const blockSchema = z.object({
  header: z.object({ number: place, hash: hex, parentHash: hex, timestamp: place }),
  logs: logs.default([]),
  transactions: transactions.default([]),
})

const FIELDS = {
  block: { number: true, hash: true, parentHash: true, timestamp: true },
  log: { logIndex: true, transactionHash: true, address: true, topics: true, data: true },
  transaction: { hash: true, to: true, input: true },
}

export interface PortalFinalOptions {
  portal: Portal
  /** Compared with, where there is one: what the Portal has is of its chain, and nothing is taken that is not final there. */
  rpc?: Pick<ChainRpc, 'head' | 'header'> | undefined
  /** Blocks after which one is final. */
  finality: number
  /** Milliseconds after an answer without a block that is of use. */
  pause?: number
}

/** Final blocks of a Portal: what is subscribed to, and nothing else but the ends of what was looked through. */
export function openPortalFinal(options: PortalFinalOptions): FinalSource {
  const { portal, rpc, finality, pause = PAUSE } = options
  let isCompared = false
  let start: number | undefined

  const readQuery = openQueryReader(portal, pause)
  const densityAt = openDensities(readQuery)

  async function read(
    subscriptions: Subscriptions,
    from: number,
    to: number,
    most: number,
  ): Promise<SqdBlock[]> {
    await assertBegun(from)
    const queries = await queriesOf(subscriptions, to - from + 1, densityAt(from, to))
    const answers = await Promise.all(
      queries.map(query => readQuery(query, from, to, Math.ceil(most / queries.length))),
    )
    return selected(answers, subscriptions, from)
  }

  /** @throws ConfigError */
  async function assertBegun(from: number): Promise<void> {
    start ??= await portal.start()
    if (from < start)
      throw new ConfigError(
        `The Portal of ${portal.network} has blocks from ${start} on, and block ${from} is to be read: set the network's START_BLOCK to ${start}, or leave its PORTAL unset.`,
      )
  }

  async function headerOf(height: number): Promise<SqdBlock> {
    const known = await rpc?.header(height)
    if (known) {
      const { hash, parentHash, timestamp } = known
      return { header: { height, hash, parentHash, timestamp: timestamp * 1000 }, logs: [], transactions: [] }
    }
    const [block] = await readQuery([], height, height, Number.POSITIVE_INFINITY)
    if (block) return block
    throw new UnavailableError(
      `The Portal of ${portal.network} does not have block ${height}, which is final.`,
    )
  }

  async function top(): Promise<number> {
    const head = await portal.head()
    if (!rpc) return head.number
    const final = Math.max(0, (await rpc.head()).number - finality)
    const height = Math.min(head.number, final)
    if (!isCompared) {
      const [ours] = height === head.number ? [] : await readQuery([], height, height, 1)
      const theirs = await rpc.header(height)
      const hash = ours?.header.hash ?? head.hash
      if (theirs && theirs.hash !== hash)
        throw new UnavailableError(
          `Block ${height} of ${portal.network} is ${hash} to the Portal and ${theirs.hash} to the node: one of them is of another chain, or of a branch that was left. Nothing is stored until they agree.`,
        )
      isCompared = theirs !== undefined
    }
    return height
  }

  return {
    sizes: SIZES,
    widest: () => Number.POSITIVE_INFINITY,
    top,
    read: (subscriptions, from, to) => read(subscriptions, from, to, MOST_LOGS),
    async readMore(subscriptions, from, to) {
      const blocks = await read(subscriptions, from, to, MOST_LOGS)
      const reached = blocks.at(-1)?.header.height ?? to
      if (reached < to) throw new TooManyLogsError({ from, to, most: MOST_LOGS }, reached)
      return blocks
    },
    header: headerOf,
  }
}

type QueryReader = (
  selections: readonly Selection[],
  from: number,
  to: number,
  most: number,
) => Promise<SqdBlock[]>

/** Reads blocks of one query; up to its end, or to the block in which it has had so many logs. */
function openQueryReader(portal: Portal, pause: number): QueryReader {
  return async (selections, from, to, most) => {
    let found = openFound(from, to)
    let trouble = 'it gives none of them'
    for (let vain = 0; found.next() <= to && found.logs() < most; ) {
      if (vain === TRIES)
        throw new UnavailableError(
          `The Portal of ${portal.network} does not give blocks ${found.next()} to ${to}, which are final: ${trouble}.`,
        )
      const before = found.next()
      try {
        found.begin()
        const lines = await portal.stream(queryOf(selections, before, to, found.hash()))
        for await (const line of lines ?? []) {
          found.take(line)
          if (found.logs() >= most) break
        }
      } catch (error) {
        // What came of this range is of other blocks than what is to come.
        if (error instanceof PortalForkError) found = openFound(from, to)
        else if (!(error instanceof UselessError)) throw error
        trouble = error.message
      }
      if (found.next() > before) vain = 0
      else {
        await sleep(pause * 2 ** vain++)
        portal.distrust()
      }
    }
    return found.blocks
  }
}

/** How many logs of some topics there are to a block, by a few blocks, looked at again now and then. */
function openDensities(readQuery: QueryReader): (from: number, to: number) => Density {
  const densities = new Map<string, { logs: number; questions: number }>()
  return (from: number, to: number): Density =>
    async topics => {
      const key = topics.join()
      let known = densities.get(key)
      if (!known || known.questions >= QUESTIONS_BETWEEN_PROBES) {
        const end = Math.min(to, from + PROBED - 1)
        const blocks = await readQuery([{ topic0: [...topics] }], from, end, Number.POSITIVE_INFINITY)
        const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0)
        known = { logs: logs / (end - from + 1), questions: 0 }
        densities.set(key, known)
      }
      known.questions++
      return known.logs
    }
}

/** Of what the queries found, as far as all of them have got, what is subscribed to. */
function selected(answers: readonly SqdBlock[][], subscriptions: Subscriptions, from: number): SqdBlock[] {
  const end = Math.min(...answers.map(blocks => blocks.at(-1)?.header.height ?? from))
  const select = openLogSelector(subscriptions)
  return answers.reduce(together).flatMap(({ header, logs, transactions }) => {
    if (header.height > end) return []
    const wanted = logs.filter(({ topics, address }) => select(topics[0], address))
    // The ends say that nothing is missing between them.
    if (wanted.length === 0 && header.height !== from && header.height !== end) return []
    if (wanted.length === logs.length) return [{ header, logs, transactions }]
    const hashes = new Set(wanted.map(({ transactionHash }) => transactionHash))
    return [{ header, logs: wanted, transactions: transactions.filter(({ hash }) => hashes.has(hash)) }]
  })
}

function queryOf(selections: readonly Selection[], fromBlock: number, toBlock: number, parent?: string) {
  return {
    type: 'evm' as const,
    fromBlock,
    toBlock,
    ...(parent !== undefined && { parentBlockHash: parent }),
    fields: FIELDS,
    ...(selections.length > 0 && { logs: selections }),
  }
}

/** What comes of a stream is no use from here on. */
class UselessError extends Error {}

/** Blocks as they come, held to the order and the ends that a Portal promises (its INV-20, 21 and 29). */
function openFound(from: number, to: number) {
  const blocks: SqdBlock[] = []
  let logs = 0
  const next = () => (blocks.at(-1)?.header.height ?? from - 1) + 1
  let isFirst = true

  return {
    blocks,
    next,
    logs: () => logs,
    /** Of the block before the next one, where it is known. */
    hash: () => blocks.at(-1)?.header.hash,
    take(line: string): void {
      const block = blockOf(line)
      const { height, hash, parentHash } = block.header
      const last = blocks.at(-1)
      if (last?.header.height === height && last.header.hash === hash) {
        blocks.splice(-1, 1, ...together([last], [block]))
        return
      }
      if (height < next() || height > to) throw new UselessError(`block ${height} came out of turn`)
      if (last?.header.height === height - 1 && last.header.hash !== parentHash)
        throw new PortalForkError('this chain', [{ number: height - 1, hash: parentHash }])
      // The first block of every answer is there, whether it holds anything or not.
      if (isFirst && height !== next())
        throw new UselessError(`block ${next()} is missing where ${height} came`)
      blocks.push(block)
      logs += block.logs.length
      isFirst = false
    },
    /** Another answer begins. */
    begin(): void {
      isFirst = true
    },
  }
}

function blockOf(line: string): SqdBlock {
  let said: unknown
  try {
    said = JSON.parse(line)
  } catch {
    throw new UselessError('a line is no JSON')
  }
  const parsed = blockSchema.safeParse(said)
  if (!parsed.success)
    throw new UselessError(`a block is not as it should be: ${z.prettifyError(parsed.error).slice(0, 200)}`)
  const { header, logs, transactions } = parsed.data
  const { number, hash, parentHash, timestamp } = header
  return {
    header: { height: number, hash, parentHash, timestamp: timestamp * 1000 },
    logs,
    transactions: transactions.map(({ hash, to, input }) => ({ hash, to: to ?? undefined, input })),
  }
}
