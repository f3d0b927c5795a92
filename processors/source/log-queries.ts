import { BranchMismatchError } from '../handling/block.ts'
import type { Subscription } from '../handling/decode.ts'
import type { LogFilter } from './receipt-logs.ts'
import type { ChainRpc } from './rpc.ts'
import { openLogSelector } from './rpc-block.ts'
import { type BlockLogs, eachOnce, type LogRange, TooManyLogsError } from './rpc-logs.ts'

type Subscriptions = readonly Partial<Subscription>[]

/** Contracts named in one request: nodes take no more than a thousand, or a body no longer than so much. */
const ADDRESSES = 500
/** Transfer of ERC-20: so common that it is asked of nobody of whom it is not wanted. */
export const COMMON = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Logs that one request gives, about: vendors stop at ten thousand. */
const LOGS_AT_ONCE = 5_000
/** Logs of a range that are held: anybody can log as much as he pays for, after days on which nobody did. */
export const MOST_LOGS = 20_000
/** Logs from which on an answer is long. */
const LONG = 500
/** Blocks by which it is found out how many logs of some topics there are, and ranges after which it is again. */
const PROBED = 10
const RANGES_BETWEEN_PROBES = 50

/**
 * Asks for the logs of subscriptions in as few requests as there is need of: those that count anywhere by their topics,
 * those of named contracts by lists of them, or, where these are many and the topics rare, by topics as well. Gives what
 * is subscribed to, block by block.
 *
 * @throws TooManyLogsError one of the requests has more than `most`
 */
export function openLogQueries(rpc: Pick<ChainRpc, 'logs'>) {
  /** Logs in a block, by topics. */
  const density = new Map<string, { logs: number; ranges: number }>()
  /** Logs in a block that a filter gave last. */
  const given = new Map<string, number>()

  async function isRarer(topics: string[], lists: number, from: number, to: number): Promise<boolean> {
    const key = topics.join()
    let known = density.get(key)
    if (!known || known.ranges >= RANGES_BETWEEN_PROBES) {
      const end = Math.min(to, from + PROBED - 1)
      const found = await rpc.logs({ topics: [topics], from, to: end })
      known = { logs: inBlock(found, from, end), ranges: 0 }
      density.set(key, known)
    }
    known.ranges++
    return Math.ceil((known.logs * (to - from + 1)) / LOGS_AT_ONCE) < lists
  }

  async function logsOf(filter: LogFilter, range: Pick<LogRange, 'from' | 'to' | 'most' | 'onHeader'>) {
    const { from, to } = range
    // Not its length: a list that grows is the same list.
    const key = `${filter.address?.[0]} ${filter.topics?.[0]?.length}`
    const isLong = (given.get(key) ?? 0) * (to - from + 1) >= LONG
    const found = await rpc.logs({ ...filter, ...range, isLong })
    given.set(key, inBlock(found, from, to))
    return found
  }

  return async (
    subscriptions: Subscriptions,
    from: number,
    to: number,
    options: Pick<LogRange, 'most' | 'onHeader'> = {},
  ): Promise<BlockLogs[]> => {
    const { anywhere, named } = groupsOf(subscriptions)
    const filters: LogFilter[] = anywhere ? [anywhere] : []
    for (const { address, topics } of named) {
      const lists = Math.ceil(address.length / ADDRESSES)
      if (lists > 1 && topics && (await isRarer(topics, lists, from, to))) filters.push({ topics: [topics] })
      else
        for (let i = 0; i < address.length; i += ADDRESSES)
          filters.push({
            address: address.slice(i, i + ADDRESSES),
            ...(topics ? { topics: [topics] } : {}),
          })
    }
    const found = await Promise.all(filters.map(filter => logsOf(filter, { from, to, ...options })))
    const select = openLogSelector(subscriptions)
    return merged(found.flat()).flatMap(block => {
      const logs = block.logs.filter(log => select(log.topics[0], log.address) !== undefined)
      return logs.length > 0 ? [{ ...block, logs }] : []
    })
  }
}

/** How many logs a block of a range has. */
const inBlock = (found: readonly BlockLogs[], from: number, to: number): number =>
  found.reduce((sum, { logs }) => sum + logs.length, 0) / (to - from + 1)

/** What is asked for wherever it is, and contracts with the topics that are not; without topics: whatever they are. */
function groupsOf(subscriptions: Subscriptions) {
  const isNamed = ({ address }: Partial<Subscription>) => address !== undefined
  const everywhere = subscriptions.filter(one => !isNamed(one))
  const covered = new Set(everywhere.flatMap(({ topic0 = [] }) => topic0))
  const isAll = everywhere.some(({ topic0 }) => !topic0)
  const anywhere: LogFilter | undefined =
    everywhere.length === 0 ? undefined : isAll ? {} : { topics: [[...covered]] }
  const named = new Map<string, { address: Set<string>; topics: Set<string> | undefined }>()
  for (const { address = [], topic0 } of isAll ? [] : subscriptions.filter(isNamed)) {
    const topics = topic0?.filter(topic => !covered.has(topic))
    if (address.length === 0 || topics?.length === 0) continue
    const key = !topics ? 'all' : topics.includes(COMMON) ? 'common' : 'rare'
    const group = named.get(key) ?? { address: new Set(), topics: topics && new Set() }
    named.set(key, group)
    for (const contract of address) group.address.add(contract)
    for (const topic of topics ?? []) group.topics?.add(topic)
  }
  return {
    anywhere,
    named: [...named.values()].map(({ address, topics }) => ({
      address: [...address],
      topics: topics && [...topics].sort(),
    })),
  }
}

/** Logs up to a block, or, where they are too many, up to one before it. */
export async function withinBounds(
  to: number,
  fetch: (to: number) => Promise<BlockLogs[]>,
): Promise<{ logs: BlockLogs[]; to: number }> {
  try {
    return { logs: await fetch(to), to }
  } catch (error) {
    if (!(error instanceof TooManyLogsError)) throw error
    return withinBounds(error.reached, fetch)
  }
}

/** The logs of each block together, ascending. */
export function merged(found: readonly BlockLogs[]): BlockLogs[] {
  const blocks = new Map<number, BlockLogs>()
  for (const { number, hash, toldTime, logs } of found) {
    const block = blocks.get(number)
    if (block && block.hash !== hash) throw new BranchMismatchError(number)
    blocks.set(number, {
      number,
      hash,
      toldTime: block && block.toldTime !== toldTime ? undefined : toldTime,
      logs: eachOnce([...(block?.logs ?? []), ...logs]),
    })
  }
  return [...blocks.values()].sort((a, b) => a.number - b.number)
}

/** What was not subscribed to before. */
export function added(before: Subscriptions, now: Subscriptions): Partial<Subscription>[] {
  if (isSame(before, now)) return []
  const keyOf = ({ topic0 }: Partial<Subscription>) => topic0?.join() ?? ''
  const had = new Map<string, Set<string>>()
  const hadAnywhere = new Set<string>()
  for (const one of before) {
    const key = keyOf(one)
    if (!one.address) hadAnywhere.add(key)
    const addresses = had.get(key) ?? new Set()
    had.set(key, addresses)
    for (const contract of one.address ?? []) addresses.add(contract)
  }
  return now.flatMap(one => {
    const key = keyOf(one)
    if (hadAnywhere.has(key)) return []
    if (!one.address) return [one]
    const address = one.address.filter(contract => !had.get(key)?.has(contract))
    return address.length > 0 ? [{ ...one, address }] : []
  })
}

/** In the same order: what is subscribed to seldom changes, and is looked at with every block. */
function isSame(before: Subscriptions, now: Subscriptions): boolean {
  const areEqual = (some: readonly string[] | undefined, others: readonly string[] | undefined) =>
    some?.length === others?.length && (some ?? []).every((one, i) => one === others?.[i])
  return (
    before.length === now.length &&
    before.every(
      ({ address, topic0 }, i) => areEqual(address, now[i]?.address) && areEqual(topic0, now[i]?.topic0),
    )
  )
}
