import { createHash } from 'node:crypto'
import type pg from 'pg'
import { encodeEventData } from '../db/events/event-json.ts'
import type { DomainEvent } from '../db/events/vocabulary.ts'
import type { KnownContracts } from './contracts.ts'
import type { Decoder } from './decode.ts'
import type { RawLog } from './protocol.ts'
import type { ChainRpc } from './rpc.ts'

export interface Sum {
  events: number
  /** Order-independent, over block, log index, contract, type and every field. */
  checksum: string
}

/** What a chain and the store say of the events of a range of blocks. */
export interface RangeComparison {
  from: number
  to: number
  chain: Sum
  store: Sum
  equal: boolean
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
}

/** Contracts asked for in one eth_getLogs. */
const ADDRESSES = 500
const NAMED = 10

/**
 * Compares the store's events of blocks from..to (both included) that stem from logs with those that the chain's own
 * logs give now, and each stored event with its block's logs bloom. State samples and prices read elsewhere have no
 * log and are not compared. The contracts are those that the store knows: a contract that it should have met and did
 * not is told by its deposits, which are asked for wherever they are.
 */
export async function compareRange(
  options: CompletenessOptions,
  from: number,
  to: number,
): Promise<RangeComparison> {
  const [chain, store] = await Promise.all([
    eventsOfChain(options, from, to),
    eventsOfStore(options, from, to),
  ])
  const differences: string[] = []
  const name = (key: string, what: string) => {
    const [, number, index, contract, type] = key.split('|')
    differences.push(`${type} of ${contract} at block ${number}, log ${index}: ${what}`)
  }
  for (const [key, count] of chain)
    if ((store.get(key) ?? 0) < count) name(key, 'on the chain and not in the store')
  for (const [key, count] of store)
    if ((chain.get(key) ?? 0) < count) name(key, 'in the store and not on the chain')
  for (const wrong of await againstBlooms(options, store))
    name(wrong, 'in the store, ruled out by its block’s logs bloom')
  return {
    from,
    to,
    chain: sumOf(chain),
    store: sumOf(store),
    equal: differences.length === 0,
    differences: differences.slice(0, NAMED),
  }
}

/** Events by identity, with how often. */
type Events = Map<string, number>

function add(events: Events, key: string): void {
  events.set(key, (events.get(key) ?? 0) + 1)
}

function keyOf(
  hash: string,
  number: number,
  event: { logIndex: number; contract: string; type: string },
  data: unknown,
): string {
  return `${hash}|${number}|${event.logIndex}|${event.contract}|${event.type}|${canonical(data)}`
}

/** Keys in order: jsonb keeps its own. */
function canonical(data: unknown): string {
  return JSON.stringify(Object.entries(data as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function sumOf(events: Events): Sum {
  let count = 0
  let sum = 0n
  for (const [key, times] of events) {
    count += times
    sum += BigInt(times) * createHash('sha256').update(key).digest().readBigUInt64BE()
  }
  return { events: count, checksum: sum.toString(16) }
}

async function eventsOfChain(options: CompletenessOptions, from: number, to: number): Promise<Events> {
  const { rpc, decoder, contracts } = options
  const blocks = new Map<number, { hash: string; logs: Map<number, RawLog> }>()
  for (const { address, topic0 } of decoder.subscriptions(kind => contracts.watchedContracts(kind))) {
    const chunks = address
      ? Array.from({ length: Math.ceil(address.length / ADDRESSES) }, (_, i) =>
          address.slice(i * ADDRESSES, (i + 1) * ADDRESSES),
        )
      : [undefined]
    for (const chunk of chunks) {
      for (const { number, hash, logs } of await rpc.logs({
        ...(chunk ? { address: chunk } : {}),
        topics: [topic0],
        from,
        to,
      })) {
        const block = blocks.get(number) ?? { hash, logs: new Map<number, RawLog>() }
        blocks.set(number, block)
        for (const log of logs) block.logs.set(log.logIndex, log)
      }
    }
  }
  const events: Events = new Map()
  for (const [number, { hash, logs }] of blocks) {
    const sorted = [...logs.values()].sort((a, b) => a.logIndex - b.logIndex)
    for (const event of decoder.decodeBlock(sorted, contracts).events) {
      const { logIndex } = event
      if (logIndex !== undefined)
        add(events, keyOf(hash, number, { ...event, logIndex }, ofLog(stored(event))))
    }
  }
  return events
}

/** Data as the store gives it back. */
function stored(event: DomainEvent): Record<string, unknown> {
  return JSON.parse(encodeEventData(event.data))
}

/** What a log alone tells: codes are the transaction's, and scaled amounts of some Aave pools follow from state. */
function ofLog(data: Record<string, unknown>): Record<string, unknown> {
  const { codes: _, scaledChange: __, ...rest } = data
  if (!('indexRay' in rest) || !('assets' in rest)) return rest
  const { shares: ___, ...told } = rest
  return told
}

async function eventsOfStore(
  { pool, stream }: CompletenessOptions,
  from: number,
  to: number,
): Promise<Events> {
  const { rows } = await pool.query<{
    hash: string
    number: number
    index: number
    contract: string
    type: string
    data: Record<string, unknown>
  }>(
    `WITH gone AS (
       SELECT int8range((data->>'fromPosition')::bigint, (data->>'toPosition')::bigint, '[]') AS positions
       FROM event_log WHERE stream = $1 AND type = 'BlockRetracted' AND block_number BETWEEN $2 AND $3
     )
     SELECT '0x' || encode(block_hash, 'hex') AS hash, block_number AS number, log_index AS index,
       '0x' || encode(contract, 'hex') AS contract, type, data
     FROM event_log e
     WHERE stream = $1 AND block_number BETWEEN $2 AND $3 AND log_index IS NOT NULL AND type <> 'BlockRetracted'
       AND NOT EXISTS (SELECT FROM gone WHERE e.position <@ gone.positions)`,
    [stream, from, to],
  )
  const events: Events = new Map()
  for (const { hash, number, index, contract, type, data } of rows) {
    // Made of a log and of state together; the market's event of the same log is compared.
    if ('supplyIndex' in data) continue
    add(events, keyOf(hash, number, { logIndex: index, contract, type }, ofLog(data)))
  }
  return events
}

/** Stored events whose contract is not in the logs bloom of their block: no such log can be in it. */
async function againstBlooms({ rpc }: CompletenessOptions, store: Events): Promise<string[]> {
  const byBlock = new Map<number, string[]>()
  for (const key of store.keys()) {
    const number = Number(key.split('|')[1])
    byBlock.set(number, [...(byBlock.get(number) ?? []), key])
  }
  const wrong: string[] = []
  const numbers = [...byBlock.keys()]
  for (let i = 0; i < numbers.length; i += 100) {
    await Promise.all(
      numbers.slice(i, i + 100).map(async number => {
        const bloom = await rpc.bloom(number)
        for (const key of byBlock.get(number) ?? [])
          if (bloom === undefined || !bloom(key.split('|')[3] ?? '')) wrong.push(key)
      }),
    )
  }
  return wrong
}
