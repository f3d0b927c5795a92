import { createHash } from 'node:crypto'
import type pg from 'pg'
import { encodeEventData } from '../../db/events/event-json.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { BranchMismatchError } from '../handling/block.ts'
import type { Decoder } from '../handling/decode.ts'
import { openLogQueries } from '../source/log-queries.ts'
import type { ChainRpc } from '../source/rpc.ts'
import type { KnownContracts } from './known-contracts.ts'

export interface Sum {
  events: number
  /** Order-independent, over block and its time, transaction, log index, contract, type and every field. */
  checksum: string
}

/** What a chain and the store say of the events of a range of blocks. */
export interface RangeComparison {
  from: number
  to: number
  chain: Sum
  store: Sum
  equal: boolean
  /** Contracts that are not compared, as they are not finished. */
  leftOut: readonly string[]
  /** In words, at most ten: which event is on the chain and not in the store, or the other way round. */
  differences: string[]
}

export interface CompletenessOptions {
  pool: pg.Pool
  stream: number
  /** The node that is asked: best another one than that which was indexed from. */
  rpc: ChainRpc
  decoder: Decoder
  contracts: KnownContracts
  /** Contracts of which not all is stored yet; `contracts` ignores them. */
  unfinished?: readonly string[]
}

/** Headers asked for at once. */
const AT_ONCE = 100
const NAMED = 10

/**
 * Compares the store's events of blocks from..to (both included) that stem from logs with those that the chain's own
 * logs give now, with their transaction and their block's time, and each stored event with its block's logs bloom. State
 * samples and prices read elsewhere have no log and are not compared. The contracts are those that the store knows: a
 * contract that it should have met and did not is told by its deposits, which are asked for wherever they are. What is
 * ignored is left out on both sides.
 */
export async function compareRange(
  options: CompletenessOptions,
  from: number,
  to: number,
): Promise<RangeComparison> {
  const headers = openHeaders(options.rpc)
  const [chain, store] = await Promise.all([
    eventsOfChain(options, headers, from, to),
    eventsOfStore(options, from, to),
  ])
  const differences: string[] = []
  const name = ({ type, contract, number, index }: Compared, what: string) => {
    differences.push(`${type} of ${contract} at block ${number}, log ${index}: ${what}`)
  }
  const onlyOnChain = [...chain].filter(([key, { times }]) => (store.get(key)?.times ?? 0) < times)
  const onlyInStore = [...store].filter(([key, { times }]) => (chain.get(key)?.times ?? 0) < times)
  const others = new Map(onlyInStore.map(([key, event]) => [placeOf(event), { key, event }]))
  const told = new Set<string>()
  for (const [, event] of onlyOnChain) {
    const other = others.get(placeOf(event))
    const unlike = other && MARKS.find(mark => other.event[mark] !== event[mark])
    if (unlike) {
      name(event, `${WORDS[unlike]} is ${other.event[unlike]} in the store, ${event[unlike]} on the chain`)
      told.add(other.key)
    } else name(event, 'on the chain and not in the store')
  }
  for (const [key, event] of onlyInStore) if (!told.has(key)) name(event, 'in the store and not on the chain')
  for (const wrong of await againstBlooms(headers, store))
    name(wrong, 'in the store, ruled out by its block’s logs bloom')
  return {
    from,
    to,
    chain: sumOf(chain),
    store: sumOf(store),
    equal: differences.length === 0,
    leftOut: options.unfinished ?? [],
    differences: differences.slice(0, NAMED),
  }
}

/** An event of a log, as both sides tell it. */
interface Compared {
  hash: string
  number: number
  index: number
  contract: string
  type: string
  protocol: string
  transaction: string
  time: number
}

/** By everything that is compared, with how often. */
type Events = Map<string, Compared & { times: number }>

/** What two events of one place may differ by, besides their fields. */
const MARKS = ['hash', 'time', 'transaction', 'protocol'] as const
const WORDS = {
  hash: 'the block',
  time: 'the block’s time',
  transaction: 'the transaction',
  protocol: 'the protocol',
}

const placeOf = ({ number, index, contract, type }: Compared) => `${number} ${index} ${contract} ${type}`

function add(events: Events, event: Compared, data: unknown): void {
  const { hash, number, index, contract, type, protocol, transaction, time } = event
  const key = [hash, number, index, contract, type, protocol, transaction, time, canonical(data)].join('|')
  const known = events.get(key) ?? { ...event, times: 0 }
  known.times++
  events.set(key, known)
}

/** Keys in order: jsonb keeps its own. */
function canonical(data: unknown): string {
  return JSON.stringify(Object.entries(data as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function sumOf(events: Events): Sum {
  let count = 0
  let sum = 0n
  for (const [key, { times }] of events) {
    count += times
    sum += BigInt(times) * createHash('sha256').update(key).digest().readBigUInt64BE()
  }
  return { events: count, checksum: sum.toString(16) }
}

type Headers = (height: number) => ReturnType<ChainRpc['bloom']>

/** Each is asked for once. */
function openHeaders(rpc: ChainRpc): Headers {
  const known = new Map<number, ReturnType<Headers>>()
  return height => {
    const header = known.get(height) ?? rpc.bloom(height)
    known.set(height, header)
    return header
  }
}

async function eventsOfChain(
  { rpc, decoder, contracts }: CompletenessOptions,
  headers: Headers,
  from: number,
  to: number,
): Promise<Events> {
  const subscriptions = decoder.subscriptions(kind => contracts.watchedContracts(kind))
  const blocks = await openLogQueries(rpc)(subscriptions, from, to)
  const events: Events = new Map()
  for (let i = 0; i < blocks.length; i += AT_ONCE) {
    const some = blocks.slice(i, i + AT_ONCE)
    const found = await Promise.all(some.map(({ number }) => headers(number)))
    for (const [j, { number, hash, logs }] of some.entries()) {
      const header = found[j]
      if (header?.hash !== hash) throw new BranchMismatchError(number)
      const own = logs.filter(({ address }) => !contracts.isIgnored(address))
      for (const event of decoder.decodeBlock(own, contracts).events) {
        const { logIndex: index, contract, type, protocol = '', transactionHash: transaction = '' } = event
        if (index === undefined || contracts.isIgnored(contract)) continue
        const place = { hash, number, index, contract, type, protocol, transaction, time: header.timestamp }
        add(events, place, ofLog(stored(event)))
      }
    }
  }
  return events
}

/** Data as the store gives it back. */
function stored(event: DomainEvent): Record<string, unknown> {
  return JSON.parse(encodeEventData(event.data))
}

/** What a log alone tells: codes are the transaction's; ledgers, and scaled amounts of some Aave pools, follow from state. */
function ofLog(data: Record<string, unknown>): Record<string, unknown> {
  const { codes: _, ledger: ____, scaledChange: __, ...rest } = data
  if (!('indexRay' in rest) || !('assets' in rest)) return rest
  const { shares: ___, ...told } = rest
  return told
}

async function eventsOfStore(
  { pool, stream, contracts }: CompletenessOptions,
  from: number,
  to: number,
): Promise<Events> {
  const { rows } = await pool.query<Compared & { data: Record<string, unknown> }>(
    `WITH gone AS (
       SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
       FROM event_log WHERE stream = $1 AND type = 'BlockRetracted' AND block_number BETWEEN $2 AND $3
     )
     SELECT '0x' || encode(block_hash, 'hex') AS hash, block_number AS number, log_index AS index,
       '0x' || encode(contract, 'hex') AS contract, type, protocol, coalesce('0x' || encode(tx_hash, 'hex'), '') AS transaction,
       block_time AS time, data
     FROM event_log e
     WHERE stream = $1 AND block_number BETWEEN $2 AND $3 AND log_index IS NOT NULL AND type <> 'BlockRetracted'
       AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)`,
    [stream, from, to],
  )
  const events: Events = new Map()
  for (const { data, ...event } of rows) {
    // Made of a log and of state together; the market's event of the same log is compared.
    if ('supplyIndex' in data || contracts.isIgnored(event.contract)) continue
    add(events, event, ofLog(data))
  }
  return events
}

/** Stored events whose contract is not in the logs bloom of their block: no such log can be in it. */
async function againstBlooms(headers: Headers, store: Events): Promise<Compared[]> {
  const wrong: Compared[] = []
  const events = [...store.values()]
  for (let i = 0; i < events.length; i += AT_ONCE) {
    const some = events.slice(i, i + AT_ONCE)
    const found = await Promise.all(some.map(({ number }) => headers(number)))
    wrong.push(...some.filter(({ contract }, j) => !found[j]?.mayHold(contract)))
  }
  return wrong
}
